"""`pins show`, `pins diff` and `pins set`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import deliver, guarded, new_app, say
from pins.common_options import AllOptions, Format, NoColor, Output, Quiet, Verbose, check_common
from pins.completions import completion, pins_of_file
from pins.drawing import drawn
from pins.errors import UndeterminedError, UsageError
from pins.file_options import BuildArg, ContextDirectory, Repo, Target, clones, pairs

if TYPE_CHECKING:
    from pins.model import PinSet

app = new_app("Read and edit the pins of files.")


@app.command("show", short_help="Show every pin of a file and where it is set.")
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
        typer.Option("--chain", metavar="FILE:TARGET=ARG", help="FILE builds the image that ARG names. Repeatable."),
    ] = None,
    repo: Repo = None,
    context: ContextDirectory = None,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="Ask the package index what floating requirements give now.")
    ] = False,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Show every pin of a file: its value, where it is written, who can override it, and what it reaches.

    \b
    Examples:
      pins show docker/Dockerfile.rocm_base
      pins show Dockerfile --chain Dockerfile.base:final=BASE_IMAGE --stage final

    Exit code 3 when a part of a file could not be read; what was read is shown.
    """
    from pins.files.comparing import changed_by_arguments
    from pins.files.reading import ReadRequest, read_all, unknown_arguments

    check_common(output_format, output, quiet, verbose)
    request = ReadRequest(
        tuple(paths), rev, pairs(build_arg, "--build-arg"), target, tuple(chain or ()), clones(repo), context
    )
    found = read_all(request)
    if stage:
        found = _of_stage(found, stage)
    if not quiet:
        for name in unknown_arguments(request.build_args, found):
            say(f"--build-arg {name}: nothing that was read has such an ARG")
    resolved: dict[str, str] = {}
    if resolve:
        from pins.files.floating import newest

        resolved = newest(found, say)
    changed = changed_by_arguments(request, found)
    code = 0 if all(pin_set.complete for pin_set in found) else UndeterminedError.exit_code
    if output_format == "json":
        from pins.report.pins_json import show_document

        return deliver(show_document(found, resolved, changed), output, code)
    from pins.report.pins_table import show_report

    document = show_report(found, stage, resolved, changed)
    return deliver(drawn(document, output_format, output, no_color), output, code)


def _of_stage(found: "list[PinSet]", stage: str) -> "list[PinSet]":
    """Of each file what belongs to the stage; files without it are left out.

    Raises:
        UsageError: none has it.
    """
    from pins.files.reading import only_stage, stage_name

    names = sorted({summary.name for pin_set in found for summary in pin_set.stages})
    having = [pin_set for pin_set in found if stage_name(pin_set, stage)]
    if not having:
        raise UsageError(f"--stage: there is no stage {stage!r}; there is {', '.join(names) or 'none'}")
    return [only_stage(pin_set, stage) for pin_set in having]


@app.command("diff", short_help="Show what moved between two revisions.")
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
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Show which pins moved between two revisions of a file, or between two files.

    \b
    Examples:
      pins diff docker/Dockerfile --rev v0.27.0..HEAD --repo triton=../triton
      pins diff Dockerfile.old Dockerfile

    Exit code 3 when a part of a file could not be read; what was read is compared.
    """
    from pins.files.comparing import compare_files, compare_revisions
    from pins.files.reading import ReadRequest

    check_common(output_format, output, quiet, verbose)
    if len(paths) > 2 or (len(paths) == 2) == bool(rev):
        raise UsageError("give two files, or one file or directory with --rev OLD..NEW")
    request = ReadRequest((), "", pairs(build_arg, "--build-arg"), target, (), clones(repo), context)
    if rev:
        old, dots, new = rev.partition("..")
        if not old or not dots:
            raise UsageError(f"--rev {rev!r} must be OLD..NEW, or OLD.. for the files on disk")
        groups, read = compare_revisions(paths[0], old, new.removeprefix("."), request)
    else:
        groups, read = compare_files(paths[0], paths[1], request)
    code = 0 if all(pin_set.complete for pin_set in read) else UndeterminedError.exit_code
    if output_format == "json":
        from pins.report.pins_json import diff_document

        return deliver(diff_document(groups, read), output, code)
    from pins.report.diff_table import diff_report

    return deliver(drawn(diff_report(groups, read), output_format, output, no_color), output, code)


@app.command("set", short_help="Edit a pin in place.")
@guarded
def _set(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to edit.")],
    assignments: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            help="'pybind11=<3.1.0', triton=f0b55c0; no VALUE: open again.",
            autocompletion=completion(pins_of_file),
        ),
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
            "--comment-date", metavar="today|DATE", help="Put this date for the one in the comment beside it."
        ),
    ] = "",
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""Set pins in place: only their bytes change. Prints the change as a patch; --write makes it.

    \b
    Examples:
      pins set docker/Dockerfile 'pybind11=<3.1.0'
      pins set docker/Dockerfile triton=532137f --comment-date today --write
    """
    from pins.files.setting import SetRequest, set_pins

    check_common(output_format, output, quiet, verbose)
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
    if not quiet:
        if not done.patch:
            say("Nothing to change: the pins hold these values.")
        elif write:
            say(f"{file} is changed.")
    match output_format:
        case "json":
            from pins.report.pins_json import set_document

            return deliver(set_document(done, write and bool(done.patch)), output)
        case "text":
            return deliver(done.patch, output) if done.patch or output else 0
        case _:
            from pins.report.blocks import Code, Document
            from pins.report.tones import Tone

            patch = done.patch.decode("utf-8", "backslashreplace")
            document = Document(f"Pins set in {file}", Tone.PLAIN, (Code(patch),), ())
            return deliver(drawn(document, output_format, output, no_color), output)
