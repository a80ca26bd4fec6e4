"""`pins suggest`."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.choices import not_there, one_of
from pins.command_line import deliver, guarded, new_app, say
from pins.common_options import AllOptions, Format, NoColor, Output, Quiet, Verbose, check_common
from pins.drawing import drawn
from pins.errors import NoSolutionError, UsageError
from pins.file_options import BuildArg, Repo, Target, clones, pairs
from pins.index_options import ExcludeNewer, Offline, Platform, Python

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pins.report.windows_model import EnvironmentWindows
    from pins.suggest.model import SuggestReport
    from pins.windows_request import WindowsRequest

app = new_app("Say what to pin, why, and until when.")


@app.command("suggest", short_help="Say what to pin, why, and until when.")
@guarded
def _suggest(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file whose pins are meant.")],
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN|FILE", help="A bisect run, or the JSON report of one. Repeatable."),
    ] = None,
    policy: Annotated[
        str, typer.Option("--policy", metavar="minimal|newest|lowest|exact", help="Which of several answers is wanted.")
    ] = "minimal",
    windows: Annotated[
        bool | None,
        typer.Option("--windows/--no-windows", help="Work out what fits together; by default without --run."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Change the file, with a comment, and record the hold in pins.toml.")
    ] = False,
    branch: Annotated[
        str,
        typer.Option("--branch", metavar="NAME", help="Make a local git branch with one commit instead.", hidden=True),
    ] = "",
    build_arg: BuildArg = None,
    target: Target = "",
    repo: Repo = None,
    python: Python = "",
    platform: Platform = "",
    exclude_newer: ExcludeNewer = "",
    offline: Offline = False,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Say for each pin what it should be, why, how sure that is, and until when.

    \b
    Examples:
      pins suggest docker/Dockerfile
      pins suggest docker/Dockerfile --run 20260819-101500-a1b2 --format md
      pins suggest docker/Dockerfile --run result.json --write

    Nothing is changed without --write. Exit code 3 when nothing could be told, 5 when nothing fits.
    """
    from pins.suggest.bisection import document_of, read_bisection
    from pins.suggest.looking_up import releases_of
    from pins.suggest.model import Policy
    from pins.suggest.suggesting import SuggestRequest, suggest
    from pins.windows_request import WindowsRequest, moment

    check_common(output_format, output, quiet, verbose)
    wanted = Policy(one_of(policy, "--policy", tuple(Policy)))
    if write and branch:
        raise UsageError("--write changes the file, --branch makes a commit beside it; give one of them")
    if not file.is_file():
        raise UsageError(f"{file} is not a file" if file.exists() else not_there(file))
    from datetime import UTC

    bisected = tuple(read_bisection(document_of(name), f"--run {name}") for name in run or ())
    asked = WindowsRequest(
        file=file,
        python=python,
        platform=platform,
        exclude_newer=exclude_newer,
        offline=offline,
        build_args=pairs(build_arg, "--build-arg"),
        target=target,
        clones=clones(repo),
    )
    now = datetime.now(UTC)
    request = SuggestRequest(
        file,
        now.date(),
        bisected,
        wanted,
        asked.build_args,
        target,
        asked.clones,
        _typed(),
        moment(exclude_newer) if exclude_newer else now,
    )
    with_windows = windows if windows is not None else not bisected
    report, planned = suggest(
        request,
        lambda names: releases_of(names, asked, say),
        (lambda: _windows(asked)) if with_windows else None,
    )
    if write and planned.files:
        planned.write()
        say(f"{', '.join(path for path, _, _ in planned.files)}: changed.")
    if branch:
        if not planned.files:
            raise UsageError(f"--branch {branch}: there is nothing to change")
        from pins.report.suggest_document import commit_message
        from pins.suggest.writing import commit_on_branch

        commit = commit_on_branch(planned, branch, commit_message(report))
        say(f"The branch {branch} has one commit, {commit[:12]}; your checkout is as it was.")
    unsolved = report.conflicts and not report.suggestions
    code = NoSolutionError.exit_code if unsolved else 0
    return deliver(_drawn(report, output_format, output, no_color), output, code)


def _windows(asked: "WindowsRequest") -> "tuple[Sequence[EnvironmentWindows], Sequence[str]]":
    from pins.sign_of_life import doing
    from pins.suggest.looking_up import windows_of_file

    with doing("working out which versions fit together"):
        return windows_of_file(asked)


def _typed() -> str:
    import sys

    from pins.report.suggest_document import command_line

    return command_line(["pins", *sys.argv[1:]])


def _drawn(report: "SuggestReport", output_format: str, output: Path | None, no_color: bool) -> str:
    if output_format == "json":
        from pins.report.suggest_json import suggest_document_json

        return suggest_document_json(report)
    from pins.report.suggest_document import suggest_document

    if output_format != "text":
        return drawn(suggest_document(report, all_windows=output_format == "html"), output_format, output, no_color)
    import shutil
    import sys

    from pins.command_line import wants_color
    from pins.report.text import render_text

    stream = sys.stdout if output is None else None
    width = min(shutil.get_terminal_size().columns, 100) if stream is not None and stream.isatty() else 100
    color = stream is not None and wants_color(stream, no_color)
    return render_text(suggest_document(report), width, color=color).rstrip("\n") + "\n"
