"""Strings that remember where they were written.

`pip install foo==${FOO_VERSION}` runs with one string, yet its parts stand in different places: the name here, the
version on an ARG line far above, perhaps in another stage. A `Value` is that string in fragments; each fragment knows
the bytes of the file that it was read from, how they are quoted there, and the variables that it came through.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pins.model import Quoting


@dataclass(frozen=True, slots=True)
class Declaration:
    """Where a variable got a value.

    Attributes:
        name: such as "TRITON_BRANCH".
        form: "ARG", "ENV", "shell" for an assignment inside RUN, "loop" for a loop variable; "unset" for a variable
            whose absence made a default (``${X:-y}``) take effect.
        stage: name of the stage, "" for a global ARG.
        file: the file that holds it.
        line: counted from 1.
        start: offset of the instruction, which tells two declarations apart.
        comment: what stands beside or above it.
    """

    name: str
    form: str
    stage: str
    file: str
    line: int
    start: int
    comment: str = ""


class Fragment(NamedTuple):
    """A part of a string that was written, or not, in one place.

    A named tuple, for a file makes tens of thousands of them.

    Attributes:
        text: the part; for an unknown one, a placeholder such as "${X}".
        start: offset in the file where it is written, -1 when it is written nowhere.
        end: offset behind it; what is between may be longer than `text` where it holds an escape.
        quoting: how it is quoted there.
        variables: declarations that it came through, the one that holds the literal first.
        unknown: why the text is not known, "" when it is.
        origin: for a text computed from others (``${X%%.*}``), what it was computed from.
        splits: whether the shell splits it at blanks (an expansion outside quotes).
        unset: for the nothing of an ARG without a default, the reference to it, such as "${CUDA_VERSION}".
    """

    text: str
    start: int = -1
    end: int = -1
    quoting: Quoting = Quoting.PLAIN
    variables: tuple[Declaration, ...] = ()
    unknown: str = ""
    origin: "tuple[Fragment, ...]" = ()
    splits: bool = False
    unset: str = ""

    @property
    def written(self) -> bool:
        """Whether the text stands in the file."""
        return self.start >= 0


Value = tuple[Fragment, ...]


def text_of(value: Value) -> str:
    """The string, with a placeholder for each part that is not known."""
    if len(value) == 1:  # nearly always
        return value[0].text
    return "".join([fragment.text for fragment in value])


HIDDEN = "\ue000"
"""What `shape_of` hides text behind: of the private use area, so that it is a part of no word."""


def shape_of(value: Value, hidden: Collection[Fragment] = ()) -> str:
    """The text, as long as it is, without what only a running shell knows and without the fragments of `hidden`.

    A ``$(...)`` holds blanks, quotes and brackets that are no part of the word around it.
    """
    if not hidden and not unknown_of(value):
        return text_of(value)
    parts: list[str] = []
    for fragment in value:
        computed = fragment.unknown and fragment.text.startswith(("$(", "`"))
        parts.append(HIDDEN * len(fragment.text) if computed or fragment in hidden else fragment.text)
    return "".join(parts)


def display_of(value: Value) -> str:
    """As `text_of`, with the reference for an ARG that has no default."""
    return "".join([fragment.unset or fragment.text for fragment in value])


def is_unset(value: Value) -> bool:
    """Whether a value is nothing but an ARG without a default."""
    return bool(value) and all(fragment.unset and not fragment.text for fragment in value)


def unknown_of(value: Value) -> str:
    """Why the string is not known, "" when it is."""
    for fragment in value:
        if fragment.unknown:
            return fragment.unknown
    return ""


def cut(value: Value, start: int, end: int) -> Value:
    """The part of a string from `start` to `end`, in characters."""
    parts: list[Fragment] = []
    position = 0
    for fragment in value:
        length = len(fragment.text)
        low, high = max(start - position, 0), min(end - position, length)
        if low < high or (length == 0 and start <= position <= end and fragment.unknown):
            parts.append(fragment if (low, high) == (0, length) else _cut_fragment(fragment, low, high))
        position += length
        if position >= end:
            break
    return tuple(parts)


def _cut_fragment(fragment: Fragment, low: int, high: int) -> Fragment:
    if fragment.unknown or fragment.origin:
        return fragment._replace(text=fragment.text[low:high])
    if fragment.start < 0:
        return fragment._replace(text=fragment.text[low:high])
    before = len(fragment.text[:low].encode("utf-8", "surrogateescape"))
    inside = len(fragment.text[low:high].encode("utf-8", "surrogateescape"))
    if fragment.end - fragment.start != len(fragment.text.encode("utf-8", "surrogateescape")):
        return fragment._replace(text=fragment.text[low:high], start=-1, end=-1, origin=(fragment,))
    return fragment._replace(
        text=fragment.text[low:high],
        start=fragment.start + before,
        end=fragment.start + before + inside,
    )


_LONGEST_WAY = 64
"""Declarations that a fragment remembers: a variable that grows a thousand times would remember a million."""


def through(value: Value, declaration: Declaration) -> Value:
    """The string after it was stored in a variable; of a long way, the middle is left out."""
    return tuple([f._replace(variables=(*f.variables[: _LONGEST_WAY - 1], declaration), splits=False) for f in value])


def computed(text: str, value: Value) -> Value:
    """A string computed from another: the very same fragments where nothing changed."""
    if text == text_of(value):
        return value
    variables = tuple(dict.fromkeys(d for fragment in value for d in fragment.variables))
    return (Fragment(text, variables=variables, origin=value),)


def place_of(value: Value) -> tuple[int, int, Quoting] | None:
    """The one span of the file that holds the whole string, with its quoting; None when there is none.

    Neighbouring fragments make one span when they touch in the file, are quoted alike and came the same way.
    """
    if not value:
        return None
    first = value[0]
    end = first.end
    for fragment in value[1:]:
        if fragment.start != end or fragment.quoting is not first.quoting or fragment.variables != first.variables:
            return None
        end = fragment.end
    if any(f.start < 0 or f.origin or f.unknown for f in value):
        return None
    return first.start, end, first.quoting


def split_words(value: Value) -> list[Value]:
    """Split at blanks in parts that the shell splits; an empty result vanishes, as in the shell."""
    if not any(fragment.splits for fragment in value):
        return [value]
    words: list[list[Fragment]] = [[]]
    for fragment in value:
        if not fragment.splits or fragment.unknown:
            words[-1].append(fragment)
            continue
        position = 0
        text = fragment.text
        if not text and fragment.written:
            words[-1].append(fragment)
        for index, piece in enumerate(text.split()):
            found = text.index(piece, position)
            if index or found > 0:
                words.append([])
            words[-1].append(_cut_fragment(fragment, found, found + len(piece)) if piece != text else fragment)
            position = found + len(piece)
        if text and text[-1].isspace():
            words.append([])
    # An empty variable vanishes in the shell; one that is written somewhere stays here, for it may be a pin.
    return [tuple(word) for word in words if word]


_BETWEEN_ELEMENTS = Fragment(" ", splits=True, unset="an element of an array ends here")


def array_of(elements: Sequence[Value]) -> Value:
    """The elements of a shell's array as one value."""
    return tuple([fragment for element in elements for fragment in (*element, _BETWEEN_ELEMENTS)])


def elements_of(value: Value) -> list[Value]:
    """The elements of what `array_of` has put together."""
    elements: list[Value] = []
    start = 0
    for index, fragment in enumerate(value):
        if fragment is _BETWEEN_ELEMENTS:
            elements.append(value[start:index])
            start = index + 1
    return elements


def literal(text: str, value: Sequence[Fragment]) -> bool:
    """Whether a string is exactly `text` and known."""
    return not unknown_of(tuple(value)) and text_of(tuple(value)) == text


_CREDENTIALS = re.compile(
    r"(?<=://)[^/@\s]+(?=@)|(?<=[?&])((?:\w*_)?(?:token|key|secret|password|sig|signature)=)[^&\s'\"]+"
)


def without_credentials(text: str) -> str:
    """A text with the user, password and tokens of every address in it masked."""
    return _CREDENTIALS.sub(lambda match: f"{match[1] or ''}***", text) if "://" in text else text
