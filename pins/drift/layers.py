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
    holding = [s for s in reading.steps if s.instruction.line <= line <= s.instruction.end_line]
    if not holding:
        return
    stage, own = holding[0].stage, holding[0].instruction
    names = set()
    for one in stage.ancestry:
        names.add(one.name)
        yield from range(one.opening.line, one.opening.end_line + 1)
        for instruction in one.instructions:
            if one is not stage or instruction.line <= own.line:
                yield from range(instruction.line, instruction.end_line + 1)
    for watched in file.pins:
        pin = watched.pin
        if any(use.stage in names and use.line <= line for use in pin.uses):
            yield from (place.line for place in pin.places if place.file == file.reading.file)
