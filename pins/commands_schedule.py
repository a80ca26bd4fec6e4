"""`pins schedule`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.choices import one_of
from pins.command_line import deliver, guarded, new_app, say
from pins.common_options import Format, NoColor, Output, Quiet, Verbose, check_common
from pins.errors import UsageError

if TYPE_CHECKING:
    from pins.drift.schedules import ScheduleFile

app = new_app("Have drift looked for again and again.")

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


@app.command("schedule", short_help="Print a CI workflow, timer or CronJob for drift.")
@guarded
def _schedule(
    kind: Annotated[str, typer.Argument(metavar="github|systemd|cron|k8s|gitlab|jenkins", help="What starts it.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE|DIR...", help="What is checked; the current directory by default."),
    ] = None,
    every: Annotated[
        str, typer.Option("--every", metavar="DURATION|hour|day|week", help="How often, such as 6h.")
    ] = "day",
    at: Annotated[
        str, typer.Option("--at", metavar="HH:MM", help="When (UTC); by default a time made of the repository's name.")
    ] = "",
    issue: Annotated[
        bool, typer.Option("--issue", help="github: keep one issue up to date with what is open.")
    ] = False,
    drift_option: Annotated[
        list[str] | None,
        typer.Option("--drift-option", metavar="WORD", help="A further word for `pins drift`. Repeatable."),
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the job.")] = "pins-drift",
    requirement: Annotated[
        str,
        typer.Option(
            "--install", metavar="REQ", help="What pip installs there, such as a git URL; this version by default."
        ),
    ] = "",
    image: Annotated[
        str, typer.Option("--image", metavar="IMAGE", help="k8s, gitlab: an image with Python and git.")
    ] = "",
    repository: Annotated[
        str, typer.Option("--repository", metavar="URL", help="k8s: where to clone from; `origin` by default.")
    ] = "",
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""Print a file that runs `pins drift` on a schedule, ready to be committed or installed.

    \b
    Examples:
      pins schedule github docker/ --issue > .github/workflows/pins-drift.yml
      pins schedule systemd docker/ --every 6h --output ~/.config/systemd/user/

    Where it is several files, --output takes a directory. Nothing is installed or started.
    """
    from pins.drift.schedules import (
        INSTALLING,
        KINDS,
        Schedule,
        cadence,
        place_in_day,
        place_in_hour,
        place_in_week,
        says_what_it_installs,
    )

    check_common(output_format, None if output is not None and output.is_dir() else output, quiet, verbose)
    one_of(kind, "the schedule", tuple(KINDS))
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name {name!r} is no name for a job: lower-case letters, digits and hyphens, at most 52")
    if issue and kind != "github":
        raise UsageError("--issue goes with github; the others print what is new, or take --drift-option")
    if requirement and (not requirement.strip() or requirement.lstrip().startswith("-")):
        raise UsageError(f"--install {requirement!r} is nothing to install: give a requirement or a wheel's path")
    top, inside = _inside_one_repository(paths or [Path()])
    origin = repository or _origin(top)
    seed = f"{origin or top} {name}"
    hour, minute = _time(at) if at else (place_in_day(seed), place_in_hour(seed))
    schedule = Schedule(
        name=name,
        paths=inside,
        top=str(top),
        repository=origin,
        every=cadence(every),
        hour=hour,
        minute=minute,
        weekday=place_in_week(seed),
        requirement=requirement or _this_version(),
        program=_program(),
        options=tuple(drift_option or ()),
        issue=issue,
        image=image or "python:3.12",
        written_by=_command_again(),
    )
    for word in (
        *inside,
        *schedule.options,
        str(top),
        origin,
        schedule.requirement,
        schedule.image,
        schedule.written_by,
    ):
        if not word.isprintable():
            raise UsageError(f"{word!r} cannot stand in a schedule file: it holds a line break or control character")
    files = KINDS[kind](schedule)
    if kind in INSTALLING and not quiet:
        say(says_what_it_installs(schedule))
    if output is None or not output.is_dir():
        return deliver(_drawn(files, kind, output_format, output, no_color), output)
    if output_format != "text":
        raise UsageError(
            f"--output {str(output)!r} is a directory, which takes the files themselves; leave --format out"
        )
    return _written(files, output, quiet)


def _inside_one_repository(paths: list[Path]) -> tuple[Path, tuple[str, ...]]:
    """The top of the tree that holds all the paths, and the paths from there.

    Raises:
        UsageError: a path does not exist, or they lie in different repositories.
    """
    from pins.files.locate import locate

    found = [locate(path) for path in paths]
    tops = {tree.root for tree, _ in found}
    if len(tops) > 1:
        shown = ", ".join(sorted(map(str, tops)))
        raise UsageError(f"the paths lie in different places ({shown}): write a schedule for each")
    return tops.pop(), tuple(inside or "." for _, inside in found)


def _origin(top: Path) -> str:
    """The URL of the remote `origin` without credentials; "" where there is none."""
    from pins.errors import EnvironmentFailureError
    from pins.files.local_git import ask_git
    from pins.files.values import without_credentials

    try:
        return without_credentials(ask_git(top, "config", "--get", "remote.origin.url").text.strip())
    except EnvironmentFailureError:
        return ""


def _command_again() -> str:
    import shlex
    import sys

    from pins.files.values import without_credentials

    return without_credentials(shlex.join(("pins", *sys.argv[1:])))


def _time(at: str) -> tuple[int, int]:
    parts = _TIME.fullmatch(at)
    if not parts:
        raise UsageError(f"--at {at!r} is no time of day: give HH:MM, such as 05:37")
    return int(parts[1]), int(parts[2])


def _this_version() -> str:
    from pins.json_document import installed_version

    version = installed_version()
    return "bisector" if version == "unknown" else f"bisector=={version}"


def _program() -> tuple[str, ...]:
    """How this machine starts `pins`: the script of its environment, or its Python."""
    import sys

    script = Path(sys.executable).with_name("pins")
    return (str(script),) if script.is_file() else (sys.executable, "-m", "pins")


def _written(files: "tuple[ScheduleFile, ...]", directory: Path, quiet: bool) -> int:
    for file in files:
        place = directory / Path(file.path).name
        deliver(file.text, place)
        if not quiet:
            say(f"wrote {place}")
    return 0


def _drawn(
    files: "tuple[ScheduleFile, ...]", kind: str, output_format: str, output: Path | None, no_color: bool
) -> str:
    """The files as they are, one after the other, or what else was asked for.

    Raises:
        UsageError: several were to go into one file.
    """
    if output_format == "json":
        import json

        from pins.json_document import opening

        document = opening("pins.schedule/1", "pins")
        document |= {"kind": kind, "files": [{"path": file.path, "text": file.text} for file in files]}
        return json.dumps(document, indent=2, ensure_ascii=True)
    if output_format == "text":
        if output is not None and len(files) > 1:
            raise UsageError(f"these are {len(files)} files: give --output a directory, not {str(output)!r}")
        if len(files) == 1:
            return files[0].text
        return "\n".join(f"# --- {file.path}\n{file.text}" for file in files)
    from pins.drawing import drawn
    from pins.report.blocks import Code, Document, Section
    from pins.report.tones import Tone

    sections = tuple(Section(file.path, (Code(file.text),)) for file in files)
    return drawn(Document(f"A schedule for {kind}", Tone.PLAIN, (), sections), output_format, output, no_color)
