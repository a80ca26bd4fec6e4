"""`pins show`, `pins diff` and `pins set`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import NoColor, Output, deliver, guarded, new_app, say, wants_color
from pins.errors import UndeterminedError, UsageError

if TYPE_CHECKING:
    from pins.model import PinSet

app = new_app("Read and edit the pins of files.")

FORMATS = ("text", "md", "html", "json")
Format = Annotated[str, typer.Option("--format", metavar="text|md|html|json", help="How the result is written.")]
BuildArg = Annotated[
    list[str] | None, typer.Option("--build-arg", metavar="K=V", help="Read as if the builder were given it.")
]
Target = Annotated[str, typer.Option("--target", metavar="STAGE", help="The stage that is built; the last by default.")]
Repo = Annotated[
    list[str] | None, typer.Option("--repo", metavar="NAME=PATH", help="A clone of a git pin's repository; repeatable.")
]
ContextDirectory = Annotated[Path | None, typer.Option("--context", metavar="DIR", help="The build context.")]


@app.command("show")
@guarded
def _show(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE|DIR...", help="Files, or directories to search.")],
    rev: Annotated[str, typer.Option("--rev", metavar="REV", help="Read at this revision of the repository.")] = "",
    stage: Annotated[
        str, typer.Option("--stage", metavar="STAGE", help="Only what this stage has, and what it ends with.")
    ] = "",
    build_arg: BuildArg = None,
    target: Target = "",
    chain: Annotated[
        list[str] | None,
        typer.Option(
            "--chain", metavar="FILE:TARGET=ARG", help="FILE's stage TARGET is the base image that ARG names."
        ),
    ] = None,
    repo: Repo = None,
    context: ContextDirectory = None,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Ask the package index what floating requirements give now.")
    ] = False,
    output_format: Format = "text",
    output: Output = None,
    no_color: NoColor = False,
) -> int:
    r"""Show every pin of a file: its value, where it is written, who can override it, and what it reaches.

    \b
    Example:
      pins show docker/Dockerfile.rocm_base
      pins show docker/Dockerfile.rocm --chain docker/Dockerfile.rocm_base:final=BASE_IMAGE --stage final

    Exit code 3 when a part of a file could not be read; what was read is shown.
    """
    from pins.files.reading import ReadRequest, read_all

    _check_format(output_format)
    request = ReadRequest(
        tuple(paths), rev, _pairs(build_arg, "--build-arg"), target, tuple(chain or ()), _clones(repo), context
    )
    found = read_all(request)
    if stage:
        from pins.files.reading import only_stage

        found = [only_stage(pin_set, stage) for pin_set in found]
        if not any(s.name == stage.lower() for pin_set in found for s in pin_set.stages):
            names = sorted({s.name for pin_set in found for s in pin_set.stages})
            raise UsageError(f"there is no stage {stage!r}; there is {', '.join(names) or 'none'}")
    resolved: dict[str, str] = {}
    if resolve:
        from pins.files.floating import newest

        resolved = newest(found, say)
    deliver(_shown(output_format, found, resolved, stage, output, no_color), output)
    return 0 if all(pin_set.complete for pin_set in found) else UndeterminedError.exit_code


def _shown(
    output_format: str,
    pin_sets: "list[PinSet]",
    resolved: dict[str, str],
    stage: str,
    output: Path | None,
    no_color: bool,
) -> str:
    if output_format == "json":
        from pins.report.pins_json import show_document

        return show_document(pin_sets, resolved)
    from pins.report import pins_table

    if output_format == "md":
        return pins_table.markdown_report(pin_sets)
    if output_format == "html":
        return pins_table.html_report(pin_sets)
    import shutil
    import sys

    terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else 240
    color = output is None and sys.stdout is not None and wants_color(sys.stdout, no_color)
    return pins_table.text_report(pin_sets, color=color, width=width, stage=stage.lower(), resolved=resolved)


@app.command("diff")
@guarded
def _diff(
    paths: Annotated[
        list[Path], typer.Argument(metavar="OLD [NEW]", help="Two files; or one file or directory with --rev.")
    ],
    rev: Annotated[
        str, typer.Option("--rev", metavar="OLD..NEW", help="Two revisions; without NEW, the files on disk.")
    ] = "",
    build_arg: BuildArg = None,
    target: Target = "",
    repo: Repo = None,
    context: ContextDirectory = None,
    output_format: Format = "text",
    output: Output = None,
) -> int:
    r"""Show which pins moved between two revisions of a file, or between two files.

    \b
    Example:
      pins diff docker/Dockerfile.rocm_base --rev v0.27.0..HEAD --repo triton=../triton
      pins diff Dockerfile.old Dockerfile

    Exit code 3 when a part of a file could not be read; what was read is compared.
    """
    from pins.files.reading import ReadRequest, compare_files, compare_revisions

    _check_format(output_format)
    if len(paths) > 2 or (len(paths) == 2) == bool(rev):
        raise UsageError("give two files, or one file or directory with --rev OLD..NEW")
    request = ReadRequest((), "", _pairs(build_arg, "--build-arg"), target, (), _clones(repo), context)
    if rev:
        old, dots, new = rev.partition("..")
        if not old or not dots:
            raise UsageError(f"--rev {rev!r} must be OLD..NEW, or OLD.. for the files on disk")
        groups, read = compare_revisions(paths[0], old, new.removeprefix("."), request)
    else:
        groups, read = compare_files(paths[0], paths[1], request)
    from pins.report import diff_table

    match output_format:
        case "json":
            from pins.report.pins_json import diff_document

            text = diff_document(groups, read)
        case "md":
            text = diff_table.diff_markdown(groups)
        case "html":
            text = diff_table.diff_html(groups)
        case _:
            text = diff_table.diff_text(groups)
    deliver(text, output)
    for pin_set in read:
        for problem in pin_set.problems:
            if problem.fatal:
                say(f"{problem.file}:{problem.line}: reading stopped: {problem.message}")
    return 0 if all(pin_set.complete for pin_set in read) else UndeterminedError.exit_code


@app.command("set")
@guarded
def _set(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to edit.")],
    assignments: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE...", help="'pybind11=<3.1.0', triton=f0b55c0; no VALUE: open again."),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Change the file; without it the change is only shown.")
    ] = False,
    all_places: Annotated[bool, typer.Option("--all", help="Change every pin of that name.")] = False,
    line: Annotated[int | None, typer.Option("--line", metavar="N", help="Change the pin on this line.")] = None,
    stage: Annotated[str | None, typer.Option("--stage", metavar="STAGE", help="Change the pin of this stage.")] = None,
    comment_date: Annotated[
        str,
        typer.Option(
            "--comment-date", metavar="today|YYYY-MM-DD", help="Put this date for the one in the comment beside it."
        ),
    ] = "",
    output: Output = None,
) -> int:
    r"""Set pins in place: only their bytes change. Prints the change as a patch; --write makes it.

    \b
    Example:
      pins set docker/Dockerfile.rocm_base triton=532137f --comment-date today --write
      pins set docker/Dockerfile.rocm_base 'pybind11=<3.1.0'
    """
    from pins.files.setting import SetRequest, set_pins

    day = None
    if comment_date:
        from datetime import UTC, date, datetime

        try:
            day = datetime.now(UTC).date() if comment_date == "today" else date.fromisoformat(comment_date)
        except ValueError:
            raise UsageError(
                f"--comment-date {comment_date!r} is neither 'today' nor a date such as 2026-08-18"
            ) from None
    done = set_pins(SetRequest(file, tuple(assignments), all_places, line, stage, day))
    for remark in done.remarks:
        say(remark)
    if write and done.patch:
        done.write()
        say(f"{file} is changed.")
    deliver(done.patch or "", output) if done.patch else say("Nothing to change: the pins hold these values.")
    return 0


def _check_format(output_format: str) -> None:
    if output_format not in FORMATS:
        raise UsageError(f"--format {output_format!r} is not one of {', '.join(FORMATS)}")


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"{option} {text!r} must be NAME=VALUE")
        pairs[name] = value
    return pairs


def _clones(given: list[str] | None) -> dict[str, Path]:
    clones = {name.lower(): Path(path) for name, path in _pairs(given, "--repo").items()}
    for name, path in clones.items():
        if not path.is_dir():
            raise UsageError(f"--repo {name}={path}: there is no such directory")
    return clones
