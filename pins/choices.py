"""One word of a few, or a path: what is said where it is none that there is, with the nearest named."""

from collections.abc import Collection, Sequence
from pathlib import Path

from pins.errors import UsageError


def one_of(text: str, option: str, choices: Sequence[str]) -> str:
    """The word itself.

    Raises:
        UsageError: it is none of the choices.
    """
    if text in choices:
        return text
    *most, last = choices
    raise UsageError(f"{option} {text!r} is none of {', '.join(most)} or {last}{did_you_mean(text, choices)}")


def did_you_mean(word: str, known: Collection[str], most: int = 3) -> str:
    """The words "; did you mean ...?" with those that are spelled much the same, nearest first; "" where none is."""
    import difflib

    alike = {name.casefold(): name for name in known}
    near = [alike[name] for name in difflib.get_close_matches(word.casefold(), sorted(alike), n=most, cutoff=0.6)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def not_there(path: Path) -> str:
    """What to say of a path that does not exist: from where on it does not, and what is spelled much the same there."""
    if str(path) == "-":
        return "-: standard input is not read; put it into a file and name that"
    place = path
    while not place.parent.is_dir() and place.parent != place:
        place = place.parent
    try:
        near = did_you_mean(place.name, [found.name for found in place.parent.iterdir()])
    except OSError:
        near = ""
    beyond = "" if place == path else f": there is no {place}"
    return f"{path} does not exist{beyond}{near}"
