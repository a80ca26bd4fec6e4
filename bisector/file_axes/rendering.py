"""The text of a candidate: a version of the file with pins set; and when two texts say the same."""

import re
from collections.abc import Mapping, Sequence

from bisector.environments.base import InfeasibleError
from bisector.environments.docker.instructions import has_heredoc, read_dockerfile, words
from bisector.file_axes.slots import OPEN, Slot
from bisector.file_axes.versions import Version
from bisector.model import short_text
from pins.errors import UsageError
from pins.files.edit import Edit, apply, edits_for
from pins.files.read import kind_of
from pins.model import Form, Pin, PinKind

_QUOTED_WORD = re.compile(r"""([A-Za-z0-9_.-]*=?)(["'])([A-Za-z0-9_.,:=/+@%~!-]*)\2""")
_STARTS_WITH_OPERATOR = re.compile(r"[=~!<>]")


def rendered(version: Version, slots: Sequence[Slot], values: Mapping[str, str]) -> bytes:
    """The version's text with each slot that has a value set to it; pins that the version lacks stay out.

    Raises:
        InfeasibleError: the version cannot be read, or a pin cannot hold its value there.
    """
    if version.unreadable:
        raise InfeasibleError(version.unreadable)
    edits: dict[tuple[int, int], Edit] = {}
    try:
        for slot in slots:
            pin = slot.find(version.pins) if slot.name in values else None
            if pin is None or holds(pin, values[slot.name]):
                continue
            for edit in edits_for(version.data, pin, written(pin, values[slot.name])):
                edits[edit.start, edit.end] = edit
        return apply(version.data, list(edits.values()))
    except UsageError as error:
        raise InfeasibleError(f"at {short_text(version.name)}: {error}") from error
    except ValueError as error:
        raise InfeasibleError(
            f"{version.path} at {short_text(version.name)}: two pins share their place and differ"
        ) from error


def holds(pin: Pin, value: str) -> bool:
    """Whether a pin has this value already."""
    return pin.value is None if value == OPEN else pin.value == value


def written(pin: Pin, value: str) -> str | None:
    """The value as it is handed to the edit: a place for a version alone takes it without its operator."""
    if value == OPEN:
        return None
    if pin.kind is PinKind.PACKAGE and pin.form is Form.VALUE and not _STARTS_WITH_OPERATOR.match(pin.value or ""):
        return value.removeprefix("==")
    return value


def rest(version: Version, slots: Sequence[Slot]) -> tuple[str, ...]:
    """What is left of a version's file where its pins do not count: equal where two differ in nothing else.

    Comments, blank space and quotes that change nothing do not count either.
    """
    values = {slot.name: "0" for slot in slots}
    try:
        text = rendered(version, slots, values)
    except InfeasibleError:
        return (version.data.decode("utf-8", "surrogateescape"),)
    return essence(text, version.path.name)


def essence(text: bytes, name: str) -> tuple[str, ...]:
    """What a file says, line by line, without what means nothing."""
    decoded = text.decode("utf-8", "surrogateescape")
    if kind_of(name) in {"requirements"}:
        lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in decoded.splitlines())
        return tuple(line for line in lines if line)
    dockerfile = read_dockerfile(decoded)
    lines_of_file = decoded.splitlines()
    said = [f"{name}={value}" for name, value in sorted(dockerfile.directives.items())]
    for instruction in dockerfile.instructions:
        found = words(instruction.text)
        if instruction.keyword == "ARG" and "#" in found:
            found = found[: found.index("#")]  # what people write as a comment declares ARGs that nothing uses
        said.append(" ".join([instruction.keyword, *map(_without_idle_quotes, found)]))
        if has_heredoc(instruction):
            said += lines_of_file[instruction.line : instruction.last_line]
    return tuple(said)


def _without_idle_quotes(word: str) -> str:
    found = _QUOTED_WORD.fullmatch(word)
    return found[1] + found[3] if found else word
