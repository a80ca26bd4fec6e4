"""When the layer that a pin is in was last built, at the least: since what comes before it in its stages was changed.

A builder keeps a layer as long as its instruction and everything before it stay the same: the instructions of its stage
up to it, all of the stages that this one is built from, the ARGs that these use, and the files that they copy. What is
further down, or in other stages, changes nothing for it.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pins.drift.model import Observations, WatchedFile
from pins.drift.readings.line_dates import PathDate
from pins.files.dockerfile.close_reading import CloseReading
from pins.files.dockerfile.stages import Stage
from pins.files.dockerfile.syntax import Instruction
from pins.model import Pin

_IN_LINE = re.compile(r"\(line (\d+)\)\Z")
"""How the use of a pin of a nested file names the line that reads that file."""


@dataclass(frozen=True)
class Layer:
    """What has a layer built anew when it changes.

    Attributes:
        lines: of the file.
        paths: of the build context.
    """

    lines: frozenset[int]
    paths: frozenset[str]


async def last_built(file: WatchedFile, pin: Pin, observations: Observations) -> datetime | None:
    """The time of the last change that had a pin's layer built anew, of several layers the oldest; None if not known.

    Args:
        file: whose pin it is.
        pin: a pin of it, or of a file that it installs from.
        observations: where to look.
    """
    changed = file.changed
    if file.line_dates is None or changed is None:
        return changed
    layers = layers_of(file, pin)
    dates = await observations.get(file.line_dates) if layers else {}
    if not dates:
        return changed
    built: list[datetime] = []
    for layer in layers:
        moments = [dates.get(line) for line in layer.lines]
        moments += [await _of_path(file, path, observations) for path in layer.paths]
        if any(dates.get(line) is None for line in layer.lines):  # not committed yet
            return changed
        built.append(max(moment for moment in moments if moment is not None))
    return min(built)


async def _of_path(file: WatchedFile, path: str, observations: Observations) -> datetime | None:
    """When what lies at a path of the build context was changed; the context is the repository, or a part of it."""
    assert file.line_dates is not None, "asked only where there is a repository"
    here = posixpath.dirname(file.line_dates.path)
    for place in dict.fromkeys((path, posixpath.normpath(posixpath.join(here, path)))):
        date = await observations.get(PathDate(file.line_dates.root, file.line_dates.revision, place))
        if date is not None:
            return date
    return None


def layers_of(file: WatchedFile, pin: Pin) -> list[Layer]:
    """The layers that a pin is in; none for a file without stages."""
    reading = file.reading.reading
    if reading is None:
        return []
    if pin.file == file.reading.file:
        lines = [use.line for use in pin.uses if use.runs is not False] or [pin.line]
        paths: frozenset[str] = frozenset()
    else:
        lines = [int(match[1]) for use in pin.uses if (match := _IN_LINE.search(use.command))]
        paths = frozenset((pin.file,))
    found = [_layer(file, reading, line) for line in dict.fromkeys(lines)]
    return [Layer(layer.lines, layer.paths | paths) for layer in found if layer is not None]


def _layer(file: WatchedFile, reading: CloseReading, line: int) -> Layer | None:
    """The layer of a line, None for one that is in no stage."""
    steps = [s for s in reading.steps if s.instruction.line <= line <= s.instruction.end_line]
    opened = [s for s in reading.stages.stages if s.opening.line <= line <= s.opening.end_line]
    if not steps and not opened:
        return None
    stage = steps[0].stage if steps else opened[0]
    last = steps[0].instruction.line if steps else stage.line
    before = list(_before(stage, last))
    lines = {number for one in before for number in range(one.line, one.end_line + 1)}
    names = {one.name for one in stage.ancestry}
    for watched in file.pins:
        if any(use.stage in names and use.line <= line for use in watched.pin.uses):
            lines |= {place.line for place in watched.pin.places if place.file == file.reading.file}
    paths = {path for one in before if one.keyword in ("COPY", "ADD") for path in _copied(one)}
    return Layer(frozenset(lines), frozenset(paths))


def _before(stage: Stage, last: int) -> Iterator[Instruction]:
    """The instructions up to a line, those of the stages that its stage is built from included."""
    for one in stage.ancestry:
        yield one.opening
        yield from (each for each in one.instructions if one is not stage or each.line <= last)


def _copied(instruction: Instruction) -> Iterator[str]:
    """What of the build context an instruction copies, wildcards by the directory that they look in."""
    if any(flag.text.startswith(b"--from=") for flag in instruction.flags):
        return
    text = instruction.body.text.decode("utf-8", "replace").strip()
    try:
        words = json.loads(text) if text.startswith("[") else text.split()
    except ValueError:
        return
    for word in words[:-1]:
        if "$" in word or "://" in word or word.startswith("<<"):
            continue
        path = re.split(r"[^/]*[*?\[]", word, maxsplit=1)[0] if re.search(r"[*?\[]", word) else word
        yield posixpath.normpath(path.lstrip("/") or ".")
