"""What people have the commands write into `pins.toml`: the options that say it, and the change, shown or made."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import deliver, say
from pins.errors import UsageError

if TYPE_CHECKING:
    from pins.files.locate import Tree

Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, for whoever reads it later.")]
InDirectory = Annotated[
    Path, typer.Option("--directory", metavar="DIR", help="In the repository whose pins.toml is meant.")
]
Write = Annotated[bool, typer.Option("--write", help="Change pins.toml; else the change is shown.")]


def required(why: str) -> str:
    """The reason; raises UsageError where there is none."""
    if not why.strip():
        raise UsageError("--why is needed: whoever meets it later wants to know")
    return why.strip()


def day(text: str, option: str) -> date:
    """A day that has not passed; raises UsageError for what is none."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no date such as 2026-12-31") from None
    if found < datetime.now(UTC).date():
        raise UsageError(f"{option} {text} has passed")
    return found


def recorded(tree: "Tree", before: bytes | None, after: bytes, write: bool, output: Path | None, said: str) -> int:
    """Make a change of `pins.toml`, or show it.

    Args:
        tree: that holds the file.
        before: its content, None where there is none.
        after: what it is to be.
        write: whether to make the change.
        output: where it is shown, None for standard output.
        said: what has happened then, as half a sentence.
    """
    from pins.suggest.holds import FILE
    from pins.suggest.writing import Planned

    planned = Planned(tree.root, ((FILE, before, after),))
    if not write:
        say("Nothing is changed without --write; this is what it would do:")
        return deliver(planned.patch, output)
    planned.write()
    say(f"{tree.root / FILE}: {said}; commit it.")
    return 0
