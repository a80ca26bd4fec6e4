"""What may follow on a command line, where it is cheap to say: words for the completion of a shell.

Each takes what stands there so far, says nothing where it does not know, and never fails: there is nobody to tell.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from pins.errors import PinsError

Completion = Callable[[typer.Context, str], list[str]]


def completion(words: Callable[[typer.Context], Iterable[str]]) -> Completion:
    """Those of the words that begin as what was typed does; none where they cannot be told."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        try:
            return [f"{before}{comma}{word}" for word in words(context) if word.startswith(begun)]
        except (OSError, PinsError, ValueError):
            return []

    return complete


def rules(context: typer.Context) -> Iterable[str]:
    """Names of rules: of drift for `pins drift`, of hazards else."""
    if context.info_name == "drift":
        from pins.drift.table import RULES as OF_DRIFT

        return [rule.id for rule in OF_DRIFT]
    from pins.hazards.table import RULES

    return [rule.name for rule in RULES]


def pins_of_file(context: typer.Context) -> Iterable[str]:
    """Names of the pins of the FILE that was typed before."""
    from pins.files.reading import ReadRequest, read_all

    file = context.params.get("file")
    if not file:
        return []
    found = read_all(ReadRequest((Path(file),), "", {}, "", (), {}))
    return dict.fromkeys(pin.name for pin_set in found for pin in pin_set.pins)


def findings(_: typer.Context) -> Iterable[str]:
    """Ids of what `pins drift` has found and remembers of this user's."""
    from pins.drift.state.remembering import remembered

    return [name for one in remembered("", "", Path.cwd()) for name in one.findings]
