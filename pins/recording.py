"""What people have the commands write into `pins.toml`: the options that say it, and the change, shown or made."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Entry:
    """What is written down.

    Attributes:
        command: of `pins`, which names the JSON document: "hold" or "ack".
        said: what has happened once it is written, as half a sentence.
        content: its keys and values, as the JSON document has them.
    """

    command: str
    said: str
    content: Mapping[str, str | None]


def required(why: str) -> str:
    """The reason; raises UsageError where there is none."""
    if not why.strip():
        raise UsageError('--why is needed, for whoever meets it later, for example --why "waits for AITER 0.2"')
    return why.strip()


def day(text: str, option: str) -> date:
    """A day that has not passed; raises UsageError for what is none."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no date such as 2026-12-31") from None
    if found < datetime.now(UTC).date():
        raise UsageError(f"{option} {text} has passed; name a day to come")
    return found


def recorded(
    entry: Entry,
    tree: "Tree",
    content: tuple[bytes | None, bytes],
    *,
    write: bool,
    quiet: bool,
    output_format: str,
    output: Path | None,
    no_color: bool,
) -> int:
    """Show a change of `pins.toml` as a patch, and make it where `write` says so.

    Args:
        entry: what is written down.
        tree: that holds the file.
        content: of the file, before (None where there is none) and after.
        write: whether to make the change.
        quiet: whether only warnings are said.
        output_format: how the change is shown.
        output: where, None for standard output.
        no_color: whether to do without colour.
    """
    from pins.suggest.holds import FILE
    from pins.suggest.writing import Planned

    planned = Planned(tree.root, ((FILE, *content),))
    if write:
        planned.write()
    if not quiet:
        say(
            f"{tree.root / FILE}: {entry.said}; commit it."
            if write
            else "Nothing is changed without --write; this is what it would do:"
        )
    if output_format == "text":
        return deliver(planned.patch, output)
    patch = planned.patch.decode("utf-8", "backslashreplace")
    if output_format == "json":
        from pins.json_document import opening

        document = opening(f"pins.{entry.command}/1", "pins")
        document |= {"file": str(tree.root / FILE), "written": write, entry.command: dict(entry.content)}
        document["patch"] = patch
        return deliver(json.dumps(document, indent=2, ensure_ascii=True), output)
    from pins.drawing import drawn
    from pins.report.blocks import Code, Document
    from pins.report.tones import Tone

    shown = Document(f"pins {entry.command}: {entry.said}", Tone.PLAIN, (Code(patch),), ())
    return deliver(drawn(shown, output_format, output, no_color), output)
