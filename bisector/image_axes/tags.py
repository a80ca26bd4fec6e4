"""Which tags of a repository lie between two of them, and in which order. Pure.

A repository holds tags of many sorts: `latest`, releases, nightly builds for several platforms. Those between two ends
are made as the ends are: `nightly-2026-08-03` belongs between `nightly-2026-08-01` and `nightly-2026-08-10`, and
`latest` does not. So two tags are of one sort where they differ in nothing but dates, hashes and numbers.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase

from bisector.image_axes.request import TaggedImage

_DATE = re.compile(
    r"(?<!\d)(?P<year>20\d\d)(?P<sign>[-_.]?)(?P<month>0[1-9]|1[0-2])(?P=sign)(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:[-_T.]?(?P<hour>[01]\d|2[0-3])[-_.]?(?P<minute>[0-5]\d)(?:[-_.]?(?P<second>[0-5]\d))?Z?)?(?!\d)"
)
_COMMIT = re.compile(r"(?<![0-9a-z])g?(?=[a-f]*\d)[0-9a-f]{7,64}(?![0-9a-z])")
_NUMBER = re.compile(r"\d+")
_OLDEST = datetime(2001, 1, 1, tzinfo=UTC)
"""Images that claim to be older were made by builds that write no time."""


def shape(tag: str) -> str:
    """A tag without what differs from one build to the next: two tags of one sort have the same."""
    for pattern, mark in ((_DATE, "<date>"), (_COMMIT, "<commit>"), (_NUMBER, "<n>")):
        tag = pattern.sub(mark, tag)
    return tag


def date_in(tag: str) -> datetime | None:
    """The date that a tag holds (UTC), None for none, or one that does not exist."""
    found = _DATE.search(tag)
    if found is None:
        return None
    numbers = [int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    try:
        year, month, day, hour, minute, second = numbers
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def wanted(
    tags: Iterable[str], ends: Sequence[str], only: Sequence[str] = (), exclude: Sequence[str] = ()
) -> list[str]:
    """The tags that may lie between the ends, the ends among them, each once.

    Args:
        tags: all that there are.
        ends: those of them that the user named.
        only: patterns; without one, a tag is wanted that is of the sort of an end.
        exclude: patterns of those that are not.
    """
    shapes = {shape(end) for end in ends}
    chosen = [
        tag
        for tag in tags
        if (any(fnmatchcase(tag, pattern) for pattern in only) if only else shape(tag) in shapes)
        and not any(fnmatchcase(tag, pattern) for pattern in exclude)
    ]
    return list(dict.fromkeys([*ends, *chosen]))


def within(tags: Sequence[str], good: str, bad: str) -> list[str]:
    """The tags whose dates lie between those of the ends, where all have one; else all of them.

    So that a registry need not be asked about the nights of years. Without a good end, all that are not newer.
    """
    dates = {tag: date_in(tag) for tag in (*tags, bad, *([good] if good else []))}
    if any(date is None for date in dates.values()):
        return list(tags)
    ends = sorted(date for date in (dates[bad], dates[good] if good else _OLDEST) if date is not None)
    return [tag for tag in tags if ends[0] <= (dates[tag] or _OLDEST) <= ends[-1]]


def in_order(images: Sequence[TaggedImage]) -> tuple[list[TaggedImage], str]:
    """The images from the oldest to the newest, and by what they are ordered, in words.

    A date in the tag says when the sources were taken, which a build that ran late (or anew) does not change; so it
    precedes the time at which the image was made. Where neither is known of all, the numbers in the tags decide.
    """
    dates = [date_in(image.tag) for image in images]
    made = [_made(image) for image in images]
    if all(date is not None for date in dates):
        by, keys = "the date in the tag", dates
    elif all(time is not None for time in made):
        by, keys = "the time at which the image was made", made
    else:
        return sorted(images, key=lambda image: _numbers(image.tag)), "the numbers in the tag"
    order = sorted(
        range(len(images)),
        key=lambda place: (keys[place] or _OLDEST, made[place] or _OLDEST, _numbers(images[place].tag)),
    )
    return [images[place] for place in order], by


def contradictions(images: Sequence[TaggedImage]) -> list[TaggedImage]:
    """Of images in the order of the dates in their tags, those that were made before one that stands before them.

    A day more or less is no contradiction: builds begin at night.
    """
    found: list[TaggedImage] = []
    latest: datetime | None = None
    for image in images:
        time = _made(image)
        if time is None:
            continue
        if latest is not None and time + timedelta(days=1) < latest:
            found.append(image)
        latest = time if latest is None else max(latest, time)
    return found


def _made(image: TaggedImage) -> datetime | None:
    return image.created if image.created is not None and image.created >= _OLDEST else None


def _numbers(tag: str) -> tuple[tuple[int, ...], str]:
    return tuple(int(number) for number in _NUMBER.findall(tag)), tag
