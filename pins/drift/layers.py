"""When the layer of a line was last built, at the least: since what comes before it in its stages was last changed.

A builder keeps a layer as long as its instruction and everything before it stay the same: the instructions of its stage
up to it, all of the stages that this one is built from, and the ARGs that these use. What is further down, or in other
stages, changes nothing for it.
"""

from collections.abc import Iterator
from datetime import datetime

from pins.drift.model import Observations, WatchedFile


async def last_built(file: WatchedFile, line: int, observations: Observations) -> datetime | None:
    """The time of the last change that had the layer of a line built anew; None where it is not known.

    Args:
        file: that holds the line.
        line: counted from 1.
        observations: where to look.
    """
    changed = file.changed
    if file.line_dates is None or changed is None:
        return changed
    wanted = set(lines_before(file, line))
    if not wanted:
        return changed
    dates = await observations.get(file.line_dates)
    if not dates:
        return changed
    if any(one not in dates for one in wanted):  # not committed yet
        return changed
    return max(dates[one] for one in wanted)


def lines_before(file: WatchedFile, line: int) -> Iterator[int]:
    """The lines whose change has the layer of a line built anew, its own among them; none for a file without stages."""
    reading = file.reading.reading
    if reading is None:
        return
    steps = [s for s in reading.steps if s.instruction.line <= line <= s.instruction.end_line]
    opened = [s for s in reading.stages.stages if s.opening.line <= line <= s.opening.end_line]
    if not steps and not opened:
        yield from _of_global(file, line)
        return
    stage = steps[0].stage if steps else opened[0]
    last = steps[0].instruction.line if steps else stage.line
    names = set()
    for one in stage.ancestry:
        names.add(one.name)
        yield from range(one.opening.line, one.opening.end_line + 1)
        for instruction in one.instructions:
            if one is not stage or instruction.line <= last:
                yield from range(instruction.line, instruction.end_line + 1)
    for watched in file.pins:
        pin = watched.pin
        if any(use.stage in names and use.line <= line for use in pin.uses):
            yield from (place.line for place in pin.places if place.file == file.reading.file)


def _of_global(file: WatchedFile, line: int) -> Iterator[int]:
    """Of an ARG before the first FROM: its own line, and where it is used."""
    for watched in file.pins:
        if any(place.line == line and place.file == file.reading.file for place in watched.pin.places):
            yield line
            yield from (use.line for use in watched.pin.uses)
