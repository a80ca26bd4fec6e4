"""`bisector canary`."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bisector.cli.options import RunOptions, with_canary_options
from bisector.cli.output import drawn, page, progress
from bisector.cli.parameters import Typed
from pins.command_line import deliver, guarded, new_app
from pins.common_options import AllOptions, Format, NoColor, Output, Quiet, Verbose, check_common
from pins.errors import UsageError

if TYPE_CHECKING:
    from bisector.canary.model import CanaryReport
    from bisector.canary.preparation import CanaryRequest, Prepared
    from bisector.request import RunRequest

app = new_app("Try the newest that fits.")

OWN_OPTIONS = frozenset({"--since", "--as-of", "--tip", "--only", "--exclude", "--repo"})
"""Options with a value that are the canary's own, or mean something else to the run inside."""


@app.command("canary", short_help="Try the newest that fits; if it is bad, find out why.")
@with_canary_options
@guarded
def _canary(
    invocation: typer.Context,
    options: RunOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Dockerfile or requirements file.")],
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="When its pins worked; else the last that passed.")
    ] = "",
    as_of: Annotated[
        str, typer.Option("--as-of", metavar="DATE", help="The newest of then, not of now.", hidden=True)
    ] = "",
    tip: Annotated[
        list[str] | None, typer.Option("--tip", metavar="NAME[=BRANCH]", help="Move a git pin to the tip. Repeatable.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write a culprit into pins.toml.")] = False,
    run: Annotated[
        str,
        typer.Option("--run", metavar="RUN", help="Take up a canary's run that was resumed to its end.", hidden=True),
    ] = "",
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Build the newest pin set that fits and smoke it; where it fails (exit 1), say what broke it and what to pin.

    Exact pins move to the newest that fit; git pins where --tip says so.

    \b
    Examples:
      bisector canary docker/Dockerfile --smoke ./load.py
      bisector canary requirements.txt --smoke ./smoke.py --since 2026-08-01
    """
    check_common(output_format, output, quiet, verbose)
    typed: Typed = invocation.obj
    if run:
        report = _taken_up(run, file, write)
    else:
        asked = _asked(options, file, since, as_of, tip or [])
        report = _made(asked, options, typed, str(file), write, (quiet, verbose, no_color))
    return deliver(_shown(report, output_format, output, no_color), output, _exit_code(report))


def _asked(options: RunOptions, file: Path, since: str, as_of: str, tips: list[str]) -> "CanaryRequest":
    from bisector.canary.preparation import CanaryRequest
    from bisector.cli import arguments

    if options.only and options.exclude:
        raise UsageError("--only and --exclude: name either what moves or what stays")
    return CanaryRequest(
        file=file.absolute(),
        as_of=arguments.parse_date(as_of, "--as-of") if as_of else datetime.now(UTC),
        since=arguments.parse_date(since, "--since") if since else None,
        tips=tuple(tips),
        repositories={
            name: place for name, place, _ in (arguments.parse_repository(t, Path.cwd()) for t in options.repo)
        },
        only=options.only,
        keep=options.exclude,
        target=options.target or "",
        build_args=dict(arguments.parse_variable(text, "--build-arg") for text in options.build_arg),
        python=options.python or "",
        index_url=options.index_url or "",
        extra_index_url=options.extra_index_url,
    )


def _made(
    asked: "CanaryRequest",
    options: RunOptions,
    typed: Typed,
    shown: str,
    write: bool,
    telling: tuple[bool, bool, bool],
) -> "CanaryReport":
    """Run a canary from its start to its report."""
    from bisector import session
    from bisector.canary.conclusion import concluded, nothing_new
    from bisector.canary.preparation import prepare
    from bisector.file_axes.errors import NothingDiffersError

    if not options.smoke:
        raise UsageError("no smoke script: name a program that tells good from bad, for example --smoke ./smoke.py")
    prepared = prepare(asked)
    request = _run_request(asked, prepared, options, typed)
    with progress(*telling) as reporter:
        try:
            result = session.bisect(request, reporter=reporter)
        except NothingDiffersError:
            return nothing_new(asked, prepared, shown, write=write)
        except session.InterruptedRunError as interruption:
            run = interruption.run_directory
            words = ("bisector", "canary", "--run", str(run), "--", shown)
            raise session.InterruptedRunError(run, shlex.join(words)) from interruption
    return concluded(asked, prepared, result, shown, write=write)


def _run_request(asked: "CanaryRequest", prepared: "Prepared", options: RunOptions, typed: Typed) -> "RunRequest":
    """The run between both ends."""
    from bisector.cli.request import request_from
    from pins.files.read import kind_of

    is_dockerfile = kind_of(asked.file.name) == "dockerfile"
    ends = {
        "good-file": str(prepared.today),
        "bad-file": str(prepared.moved),
        "good-date": prepared.since.isoformat(),
        "bad-date": asked.as_of.isoformat(),
    }
    if is_dockerfile and not options.context and options.environment in {None, "docker", "image"}:
        ends["context"] = str(asked.file.parent)
    if not options.build_failure_is:
        ends["build-failure-is"] = "fail"
    words = ["bisector", "run", *(word for name, value in ends.items() for word in (f"--{name}", value))]
    fields = {name.replace("-", "_"): value for name, value in ends.items()}
    run = replace(options, only=(), exclude=(), **fields)  # type: ignore[arg-type]
    words += _words_of_the_run(typed.words, asked.file)
    return replace(request_from(run, Path.cwd(), typed.script_arguments, words), canary=True)


def _words_of_the_run(words: Sequence[str], file: Path) -> list[str]:
    """What was typed, without the command, its file and the options that are the canary's own."""
    kept: list[str] = []
    place = 1
    while place < len(words) and words[place] != "--":
        word = words[place]
        name, equals, _ = word.partition("=")
        if name in OWN_OPTIONS:
            place += 1 if equals else 2
            continue
        if word not in {"--write"} and (word.startswith("-") or Path(word).absolute() != file):
            kept.append(word)
        place += 1
    return [*kept, *words[place:]]


def _taken_up(run: str, file: Path, write: bool) -> "CanaryReport":
    """The report of a canary whose run was interrupted, and has been resumed to its end."""
    from bisector.canary.conclusion import concluded
    from bisector.canary.preparation import prepared_earlier
    from bisector.results import load_result
    from bisector.runs import find_run

    directory = find_run(run)
    asked, prepared = prepared_earlier(directory, file.absolute())
    return concluded(asked, prepared, load_result(directory), str(file), write=write)


def _shown(report: "CanaryReport", output_format: str, output: Path | None, no_color: bool) -> str:
    from bisector.report.canary import canary_document, canary_json

    if output_format == "json":
        return canary_json(report)
    document = canary_document(report)
    if output_format in {"md", "html"}:
        return drawn(document, output_format)
    from pins.report.text import render_text

    width, color = page(output, no_color)
    return render_text(document, width, color=color)


def _exit_code(report: "CanaryReport") -> int:
    from bisector.canary.model import Sung
    from bisector.report.model import EXIT_CODES, Verdict
    from pins.command_line import interrupted_exit_code

    if report.ended in (Sung.PASSED, Sung.NOTHING_NEW):
        return 0
    if report.ended is Sung.FAILED or report.result is None:
        return 1
    verdict = report.result.verdict
    return interrupted_exit_code() if verdict is Verdict.INTERRUPTED else EXIT_CODES[verdict]
