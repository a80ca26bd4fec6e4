"""`pins ack`."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import guarded, new_app, say
from pins.common_options import Format, NoColor, Output, Quiet, Verbose, check_common
from pins.completions import completion, findings
from pins.errors import UsageError
from pins.recording import Entry as Recorded
from pins.recording import InDirectory, Why, Write, day, recorded, required

if TYPE_CHECKING:
    from pins.drift.state.document import Entry, Remembered

app = new_app("Acknowledge what pins drift has found.")


@app.command("ack", short_help="Accept a finding.")
@guarded
def _ack(
    finding: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="The finding, as `pins drift` names it.", autocompletion=completion(findings)
        ),
    ],
    why: Why = "",
    until: Annotated[
        str,
        typer.Option("--until", metavar="DATE", help="The last day on which it holds; else as long as the finding."),
    ] = "",
    state: Annotated[
        str, typer.Option("--state", metavar="file:PATH|git:BRANCH", help="As for `pins drift`, to look the ID up.")
    ] = "",
    push: Annotated[
        str, typer.Option("--push", metavar="REMOTE", help="With git:BRANCH: the remote that it is read from.")
    ] = "",
    directory: InDirectory = Path(),
    write: Write = False,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""Accept a finding: it is no longer news, and keeps no issue open. Written into pins.toml, to be committed.

    \b
    Example:
      pins ack 3f0c9a1be27d --why "waits for AITER 0.2" --until 2026-12-31 --write

    When the day has passed, the finding is new again.
    """
    from pins.drift.acks import Ack, read_acks, with_ack
    from pins.drift.state.remembering import remembered
    from pins.files.locate import locate
    from pins.suggest.holds import FILE

    check_common(output_format, output, quiet, verbose)
    reason = required(why)
    if not re.fullmatch(r"[0-9a-f]{4,12}", finding):
        raise UsageError(f"{finding!r} is no finding: give the twelve hexadecimal digits that `pins drift` shows")
    tree, relative = locate(directory)
    name, entry = _known(finding, remembered(state, push, tree.root / relative))
    if entry is not None and not quiet:
        say(f"{name}: {_described(entry)}")
    before = tree.read(FILE)
    data = before or b""
    earlier = next((ack for ack in read_acks(data) if ack.id == name), None) if data else None
    ack = Ack(
        name,
        reason,
        day(until, "--until") if until else None,
        datetime.now(UTC).date(),
        _described(entry) if entry is not None else earlier.finding if earlier else "",
    )
    content = {
        "id": ack.id,
        "why": ack.why,
        "until": ack.until.isoformat() if ack.until else None,
        "since": ack.since.isoformat() if ack.since else None,
        "finding": ack.finding or None,
    }
    return recorded(
        Recorded("ack", f"{name} is acknowledged", content),
        tree,
        (before, with_ack(data, ack)),
        write=write,
        quiet=quiet,
        output_format=output_format,
        output=output,
        no_color=no_color,
    )


def _described(entry: "Entry") -> str:
    one = entry.finding
    where = f" of {one.place}" if one.place else ""
    return f"{one.rule}: {one.pin}{where}: {one.summary}"


def _known(finding: str, remembered: "list[Remembered]") -> "tuple[str, Entry | None]":
    """The whole id, and the finding, among those that are remembered.

    Raises:
        UsageError: it is the beginning of several, or of none where it is not whole.
    """
    found = {name: entry for one in remembered for name, entry in one.findings.items() if name.startswith(finding)}
    if len(found) > 1:
        raise UsageError(f"{finding} is the beginning of {', '.join(sorted(found))}; give more of it")
    if found:
        return next(iter(found.items()))
    if len(finding) < 12:
        raise UsageError(f"no finding that is remembered here begins with {finding}; give all its twelve digits")
    say(f"{finding} is not among what is remembered here (see --state); it is written down all the same.")
    return finding, None
