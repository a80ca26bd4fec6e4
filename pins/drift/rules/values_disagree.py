"""The same pin with different values in files that should agree."""

from collections.abc import Iterable
from functools import partial

from pins.drift.model import About, Check, Json, Observations, Outcome, Subject, WatchedPin, finding, found, ok
from pins.drift.readings.repository import slug
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity
from pins.model import Pin, PinKind
from pins.sources.image_registry import parse_image

ID = "values-disagree"
_COMPARED = frozenset({PinKind.GIT, PinKind.URL, PinKind.IMAGE, PinKind.PACKAGE})


def _lists(subject: Subject) -> Iterable[Check]:
    groups: dict[tuple[str, str], list[WatchedPin]] = {}
    for _, watched in subject.pins():
        key = _key(watched.pin)
        if key is not None:
            groups.setdefault(key, []).append(watched)
    taken: set[str] = set()
    for (_, name), pins in groups.items():
        if len({pin.about.place for pin in pins}) > 1 and name not in taken:
            taken.add(name)
            yield Check(About(name), partial(_check, name, tuple(pins)))


def _key(pin: Pin) -> tuple[str, str] | None:
    """What pins that should agree have in common: repository, image, or the variable that a build argument sets."""
    if pin.kind not in _COMPARED or pin.unknown or not pin.value or "$" in pin.value:
        return None
    if pin.kind is PinKind.GIT and (repository := slug(pin.repo)):
        return "repository", repository
    if pin.kind is PinKind.IMAGE:  # of one image, for "BASE_IMAGE" is a name for any
        image = parse_image(pin.effective or pin.value)
        return ("image", f"{image.host}/{image.repository}".lstrip("/")) if image is not None else None
    return ("variable", pin.variable) if pin.variable else None


async def _check(
    name: str,
    pins: tuple[WatchedPin, ...],
    observations: Observations,  # noqa: ARG001 - the files tell
    previous: Json,  # noqa: ARG001
) -> Outcome:
    groups: list[tuple[str, list[WatchedPin]]] = []
    for watched in pins:
        value = watched.pin.value or ""
        for one, some in groups:
            if _same(one, value):
                some.append(watched)
                break
        else:
            groups.append((value, [watched]))
    places = {value: {watched.about.place for watched in some} for value, some in groups}
    everywhere = set().union(*places.values())
    if len(everywhere) < 2 or all(files == everywhere for files in places.values()):  # each file has the same values
        return ok()
    told = [
        f"{value}: {', '.join(f'{watched.about.file}:{watched.about.line}' for watched in some)}"
        for value, some in groups
    ]
    files = sorted({watched.about.file for watched in pins})
    values = ", ".join(value for value, _ in groups)
    return found(
        finding(
            ID,
            About(name, file=files[0], line=next(w.about.line for w in pins if w.about.file == files[0])),
            "values",
            f"{name} is pinned to {len(groups)} values in {len(files)} files: {values}",
            evidence=told,
            suggestion="give the files one value, or one name each where they are meant to differ",
            severity=Severity.NOTE,
        )
    )


def _same(one: str, other: str) -> bool:
    """Whether two values name the same thing: a hash and its beginning do."""
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= 7 and long.startswith(short) and all(c in "0123456789abcdef" for c in long))


VALUES_DISAGREE = ListedRule(ID, Severity.NOTE, "The same pin has different values in files that should agree.", _lists)
