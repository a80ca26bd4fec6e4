"""`bisector run`, `resume` and `probe`: the commands that build and run. Each imports what it uses."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bisector.cli.options import RunOptions, with_probe_options, with_run_options
from bisector.cli.output import progress, show
from bisector.cli.parameters import Run, Typed
from pins.command_line import deliver, guarded, new_app, say
from pins.common_options import AllOptions, Format, NoColor, Output, Quiet, Verbose, check_common

app = new_app("Find the first bad pin.")


@app.command("run", short_help="Find the first bad pin.")
@with_run_options
@guarded
def _run(
    invocation: typer.Context,
    options: RunOptions,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="bisect.toml, or a pyproject.toml, with options.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done, then stop.")] = False,
    replay: Annotated[
        str, typer.Option("--replay", metavar="RUN", hidden=True, help="Judge a run's record anew, run nothing.")
    ] = "",
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Find the first bad pin.

    \b
    Examples:
      bisector run --pin setuptools=80.9.0..82.0.1 --smoke ./smoke.py
      bisector run --pin numpy=1.26.4..2.2.0 --with pandas==2.2.0 --smoke ./it.py
      bisector run --dockerfile Dockerfile --good v1.0 --bad HEAD --smoke ./it.py
    """
    check_common(output_format, output, quiet, verbose)
    typed: Typed = invocation.obj
    if replay:
        from bisector.cli.replay_options import changes_from
        from bisector.recomputation import recompute

        return show(recompute(replay, changes_from(options)), output_format, output, no_color)
    from bisector.cli.request import request_from

    options = _with_configuration(options, file, quiet)
    words = ("bisector", *typed.words)
    request = request_from(options, Path.cwd(), typed.script_arguments, words, to_plan=plan)
    _warn_of_unset(request.smoke.pass_environment)
    if plan:
        from bisector.cli.plan_text import render_plan
        from bisector.preview import plan as planned

        return deliver(render_plan(planned(request), output_format), output)
    from bisector import session

    with progress(quiet, verbose, no_color, plain=request.ask) as reporter:
        result = session.bisect(request, reporter=reporter)
        if options.descend and request.images is not None:
            from bisector.image_axes.descent import go_on

            result = go_on(request, result, reporter=reporter)
        elif options.descend:
            from bisector.descent import descend

            result = descend(request, result, reporter=reporter)
    return show(result, output_format, output, no_color)


@app.command("resume", short_help="Go on with an interrupted run.")
@guarded
def _resume(
    run: Run = None,
    index_url: Annotated[
        str, typer.Option("--index-url", metavar="URL", help="The same once more, if it had a password.")
    ] = "",
    budget: Annotated[
        str, typer.Option("--budget", metavar="DURATION", help="A new time limit for the whole, such as 6h.")
    ] = "",
    max_runs: Annotated[str, typer.Option("--max-runs", metavar="N", help="A new limit of runs for the whole.")] = "",
    retry_builds: Annotated[
        bool, typer.Option("--retry-builds", help="Build once more what could not be built.")
    ] = False,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""Go on with an interrupted run (the latest, if none is named). What has ended is not repeated.

    \b
    Example:
      bisector resume 20260801-1200
    """
    check_common(output_format, output, quiet, verbose)
    from bisector import session
    from bisector.cli.arguments import parse_duration, parse_max_runs
    from bisector.inputs import enter_directory_of
    from bisector.runs import find_run

    seconds = parse_duration(budget, "--budget") if budget else None
    runs = parse_max_runs(max_runs) if max_runs else None
    run_directory = find_run(run)
    output = None if output is None else output.absolute()
    enter_directory_of(run_directory)
    request = session.request_of(run)
    with progress(quiet, verbose, no_color, plain=request.ask) as reporter:
        result = session.resume(
            str(run_directory),
            reporter=reporter,
            index_url=index_url,
            budget=seconds,
            max_runs=runs,
            retry_builds=retry_builds,
        )
        if request.descend:
            from bisector.descent import descend
            from bisector.inputs import with_index_again

            result = descend(with_index_again(request, run_directory, index_url), result, reporter=reporter)
    return show(result, output_format, output, no_color)


@app.command("probe", short_help="Build and smoke one pin set, no search.")
@with_probe_options
@guarded
def _probe(
    invocation: typer.Context,
    options: RunOptions,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="bisect.toml, or a pyproject.toml, with options.")
    ] = None,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Build and smoke one pin set, without a search; --pin is NAME==VALUE here. Exit code 0: passed, 1: not.

    \b
    Example:
      bisector probe --pin setuptools==82.0.0 --smoke ./smoke.py
    """
    check_common(output_format, output, quiet, verbose)
    typed: Typed = invocation.obj
    from bisector.cli.request import request_for_one

    options = _with_configuration(options, file, quiet)
    request = request_for_one(options, Path.cwd(), typed.script_arguments, ("bisector", *typed.words))
    _warn_of_unset(request.smoke.pass_environment)
    from bisector import session
    from bisector.cli.probe_text import exit_code, render_probe
    from bisector.model import Candidate

    candidate = Candidate(tuple((pin.pin, pin.good) for pin in request.pins))
    with progress(quiet, verbose, no_color) as reporter:
        record = session.probe(request, candidate, reporter=reporter)
    return deliver(render_probe(record, output_format), output, exit_code(record))


def _warn_of_unset(names: Sequence[str]) -> None:
    for name in names:
        if name not in os.environ:
            say(f"Warning: --pass-env {name}: it is not set here, so the script does not see it.")


def _with_configuration(options: RunOptions, file: Path | None, quiet: bool) -> RunOptions:
    from bisector.cli.configuration import combined, find_configuration, read_configuration

    path = file or find_configuration(Path.cwd())
    if path is None:
        return options
    if file is None and not quiet:
        say(f"Options not given here are taken from {path.name}.")
    return combined(options, read_configuration(path))
