"""The command `bisector`.

Only what `--help` needs is imported here; each command imports what it uses. How a command ends, and where its result
goes, is said in `pins.command_line`.
"""

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bisector.cli.options import RunOptions, with_probe_options, with_run_options
from bisector.cli.output import check_format, page, progress, show
from pins.command_line import (
    NoColor,
    Output,
    Quiet,
    Verbose,
    deliver,
    guarded,
    new_app,
    say,
    start,
)

app = new_app(
    "Find the pin that broke it: between a good and a bad set of versions, build candidates, run a smoke script in each"
    " and name the first bad version.\n\n"
    "\b\nExample:\n  bisector run --pin setuptools=80.9.0..82.0.1 --smoke ./smoke.py"
)

Format = Annotated[str, typer.Option("--format", metavar="text|md|html|json", help="How the result is written.")]
Run = Annotated[str | None, typer.Argument(metavar="RUN", help="A run's name, its beginning, or its directory.")]


@dataclass(frozen=True)
class Typed:
    """What was typed: the words after `bisector`, and those of them that follow `--`."""

    words: tuple[str, ...]
    script_arguments: tuple[str, ...]


def main() -> None:
    """The console command. Words after `--` are the smoke script's, and never looked at as options."""
    gc.set_threshold(50_000, 20, 20)  # imports make many objects that stay: looking through them again slows the start
    words = tuple(sys.argv[1:])
    end = words.index("--") if "--" in words else len(words)
    start(app, "bisector", args=words[:end], obj=Typed(words, words[end + 1 :]))


def _version(asked: bool) -> None:
    if asked:
        from pins.json_document import installed_version

        print(f"bisector {installed_version()}")
        raise typer.Exit


def _all_options(context: typer.Context, asked: bool) -> None:
    if asked:
        for parameter in context.command.params:
            setattr(parameter, "hidden", False)  # noqa: B010 - an attribute of options that typer's types do not tell
        print(context.get_help())
        raise typer.Exit


AllOptions = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_all_options, help="Show every option and exit.")
]


@app.callback()
def _bisector(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Show it.")] = False,
) -> None:
    pass


@app.command("run")
@with_run_options
@guarded
def _run(
    invocation: typer.Context,
    options: RunOptions,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="bisect.toml, or a pyproject.toml: options.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done, then stop.")] = False,
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
      bisector run --pin numpy=1.26.4..2.2.0 --with pandas==2.2.0 --python 3.11 --smoke ./smoke.py -- --fast
      bisector run --pin pybind11=3.0.0..3.1.0 --dockerfile Dockerfile --smoke ./load.py --gpu rocm
    """
    check_format(output_format)
    typed: Typed = invocation.obj
    from bisector.cli.request import request_from

    options = _with_configuration(options, file, quiet)
    request = request_from(options, Path.cwd(), typed.script_arguments, ("bisector", *typed.words))
    _warn_of_unset(request.smoke.pass_environment)
    from bisector import session

    if plan:
        from bisector.cli.plan_text import render_plan

        return deliver(render_plan(session.plan(request), output_format), output)
    with progress(quiet, verbose, no_color) as reporter:
        result = session.bisect(request, reporter=reporter)
    return show(result, output_format, output, no_color)


@app.command("resume")
@guarded
def _resume(
    run: Run = None,
    index_url: Annotated[str, typer.Option("--index-url", metavar="URL", help="Once more, if it had a password.")] = "",
    budget: Annotated[str, typer.Option("--budget", metavar="6h", help="A new time limit for the whole run.")] = "",
    max_runs: Annotated[str, typer.Option("--max-runs", metavar="N", help="A new limit of runs for the whole.")] = "",
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
    check_format(output_format)
    from bisector import session
    from bisector.cli.arguments import parse_duration, parse_max_runs

    seconds = parse_duration(budget, "--budget") if budget else None
    runs = parse_max_runs(max_runs) if max_runs else None
    with progress(quiet, verbose, no_color) as reporter:
        result = session.resume(run, reporter=reporter, index_url=index_url, budget=seconds, max_runs=runs)
    return show(result, output_format, output, no_color)


@app.command("status")
@guarded
def _status(
    run: Run = None,
    output_format: Format = "text",
    output: Output = None,
    no_color: NoColor = False,
) -> int:
    r"""Where a run stands (the latest, if none is named), also while it is running.

    \b
    Example:
      bisector status
    """
    check_format(output_format)
    from datetime import UTC, datetime

    from bisector.report import render
    from bisector.results import load_result
    from bisector.runs import find_run, is_driven

    run_directory = find_run(run)
    running = is_driven(run_directory)
    result = load_result(run_directory)
    if output_format != "text":
        return deliver(render(result, output_format), output)
    from bisector.cli.activity import activity_of
    from bisector.report.status import render_status

    now = datetime.now(UTC)
    activity = activity_of(run_directory, now) if running else ()
    width, color = page(output, no_color)
    text = render_status(result, now=now, activity=activity, running=running, width=width, color=color)
    return deliver(text, output)


@app.command("report")
@guarded
def _report_again(
    run: Run = None, output_format: Format = "text", output: Output = None, no_color: NoColor = False
) -> int:
    r"""Render a run (the latest, if none is named): for the terminal, as Markdown, HTML or JSON.

    \b
    Example:
      bisector report --format md --output finding.md
    """
    check_format(output_format)
    from bisector.results import load_result
    from bisector.runs import find_run

    show(load_result(find_run(run)), output_format, output, no_color)
    return 0


@app.command("probe")
@with_probe_options
@guarded
def _probe(
    invocation: typer.Context,
    options: RunOptions,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="bisect.toml, or a pyproject.toml: options.")
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
    check_format(output_format)
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


@app.command("gc")
@guarded
def _gc(
    everything: Annotated[
        bool, typer.Option("--all", help="Also builds of interrupted runs, and those kept with --keep.")
    ] = False,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="30d", help="Also whole runs, last touched longer ago.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    output_format: Format = "text",
    output: Output = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No list on standard output, only warnings.")] = False,
) -> int:
    r"""Remove what runs have left behind: processes, containers, scratch space, builds of finished runs.

    \b
    Example:
      bisector gc --older-than 30d
    """
    check_format(output_format)
    from datetime import timedelta

    from bisector.cli.arguments import parse_duration
    from bisector.cli.garbage_text import render_garbage
    from bisector.leftovers import collect_garbage

    age = timedelta(seconds=parse_duration(older_than, "--older-than")) if older_than else None
    garbage = collect_garbage(everything=everything, older_than=age, dry_run=dry_run)
    for what in garbage.not_looked_for:
        say(f"not looked for: {what}")
    code = 6 if garbage.not_looked_for else 0
    if quiet and output is None and output_format == "text":
        return code
    return deliver(render_garbage(garbage, output_format, dry_run=dry_run), output, code)


@app.command("doctor")
@guarded
def _doctor(
    need: Annotated[
        list[str],
        typer.Option("--need", metavar="NAME", help="Exit 1 unless it is there: docker, gpu, ... Repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    output_format: Format = "text",
    output: Output = None,
) -> int:
    r"""What this machine can run: Python versions, package index, Docker, GPUs, disk.

    \b
    Example:
      bisector doctor --need docker
    """
    check_format(output_format)
    from bisector.cli.doctor import check_names, examine, lacking, render_findings

    check_names(need)
    findings = examine()
    missing = lacking(need, findings)
    deliver(render_findings(findings, output_format), output)
    for finding in missing:
        say(f"needed and not there: {finding.name}: {finding.detail}")
    return 1 if missing else 0


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
