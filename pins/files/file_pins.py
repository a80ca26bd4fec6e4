"""From mentions to pins, for files that have no stages."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from pins.files.mention import Mention
from pins.model import Form, Override, Pin, PinKind, PinUse, Place, Quoting, Scope


def line_counter(data: bytes) -> Callable[[int], int]:
    """A function that gives the line of an offset."""
    newlines = [match.start() for match in re.finditer(b"\n", data)]
    return lambda offset: bisect_right(newlines, offset - 1) + 1


def file_pins(mentions: Sequence[Mention], files: Mapping[str, bytes]) -> tuple[Pin, ...]:
    """The pins of mentions that each stand in one of `files`, by path."""
    counters = {path: line_counter(data) for path, data in files.items()}
    pins: list[Pin] = []
    for mention in mentions:
        part = mention.parts[0]
        count = counters[mention.file]
        places = tuple(
            Place(mention.file, count(p.span[0]), p.span[0], p.span[1], p.span[2])
            for p in mention.parts
            if p.span is not None
        )
        line = places[0].line if places else mention.line
        value = None if part.unknown or mention.form is Form.OPEN else part.text
        uses = (PinUse(mention.stage, mention.line, mention.command, mention.effective),) if mention.command else ()
        pins.append(
            Pin(
                mention.name,
                mention.kind,
                value,
                mention.file,
                line,
                form=mention.form,
                places=places,
                unknown=part.unknown,
                comment=mention.comment,
                repo=mention.repo,
                effective=mention.effective,
                uses=uses,
                note=mention.note,
            )
        )
    return tuple(pins)


def simple_pin(
    name: str,
    kind: PinKind,
    value: str,
    file: str,
    line: int,
    span: tuple[int, int] | None,
    quoting: Quoting = Quoting.PLAIN,
    *,
    said: str = "",
    comment: str = "",
    repo: str = "",
    variable: str = "",
    unknown: str = "",
    how: tuple[str, ...] = (),
) -> Pin:
    """A pin that is a value in one place of a file without stages."""
    places = (Place(file, line, span[0], span[1], quoting),) if span else ()
    uses = (PinUse("", line, said, value),) if said else ()
    return Pin(
        name,
        kind,
        None if unknown else value,
        file,
        line,
        scope=Scope.FILE,
        places=places,
        unknown=unknown,
        comment=comment,
        repo=repo,
        variable=variable,
        effective=value,
        uses=uses,
        override=Override(how),
    )
