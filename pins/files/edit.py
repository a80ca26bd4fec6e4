"""Change what a pin holds, and nothing else of the file.

Only the bytes of the pin's places are replaced, in the quoting that is there. What cannot be written so is refused.
"""

import json
import re
from dataclasses import dataclass

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from pins.errors import UsageError
from pins.files.image_reference import takes
from pins.model import Form, Pin, PinKind, Place, Quoting

_SHELL_SAFE = re.compile(r"[A-Za-z0-9_./:=+@%^,~!-]*\Z")
_REQUIREMENT_SAFE = re.compile(r"[A-Za-z0-9_./:=+@%^,~!*-]*\Z")
_DOCKER_SPECIAL = re.compile(r"([\s\"'$\\])")
_OPERATOR = re.compile(rb"={1,3}[ \t]*\Z")  # conda writes a single one
_STARTS_WITH_OPERATOR = re.compile(r"\s*(?:===|==|~=|!=|<=|>=|<|>)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_REVISION = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//))[^\s~^:?*\[\\\x00-\x20]+(?<![./])\Z")
_IMAGE = re.compile(r"[:@]?[A-Za-z0-9][A-Za-z0-9._:/@+-]*\Z")


@dataclass(frozen=True)
class Edit:
    """Bytes to put in the place of others.

    Attributes:
        start: offset of the first byte replaced.
        end: offset behind the last.
        text: what goes there.
    """

    start: int
    end: int
    text: bytes


def apply(data: bytes, edits: list[Edit]) -> bytes:
    """The file with all edits done; they must not overlap.

    Raises:
        ValueError: two edits overlap.
    """
    result = bytearray()
    position = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < position:
            raise ValueError("edits overlap")
        result += data[position : edit.start]
        result += edit.text
        position = edit.end
    result += data[position:]
    return bytes(result)


def edits_for(data: bytes, pin: Pin, value: str | None) -> list[Edit]:
    """What to change so that `pin` holds `value`; None takes away a requirement's bound or a repository's ref.

    Args:
        data: the file that the pin's places are in.
        pin: the pin, as it was read from `data`.
        value: for a requirement a version or a specifier, else the new text.

    Raises:
        UsageError: the pin cannot be set there, or not to this value.
    """
    where = f"{pin.name} ({pin.file}:{pin.line})"
    if not pin.places:
        raise UsageError(f"{where} cannot be set: {_why_not(pin)}")
    if value is not None and _CONTROL.search(value):
        raise UsageError(f"{where}: a value cannot hold control characters")
    escape = "`" if re.match(rb"(?:#[^\n]*\n)*?#\s*escape\s*=\s*`", data, re.IGNORECASE) else "\\"
    if pin.kind is PinKind.PACKAGE and (pin.form is not Form.VALUE or _replaces_operator(data, pin, value)):
        return [_requirement_edit(data, pin, place, value, where) for place in pin.places]
    if pin.kind is PinKind.GIT and pin.form is Form.OPEN:
        if not value:
            raise UsageError(f"{where} names no revision, so there is none to take away")
        _check(pin, value, where)
        place = pin.places[0]
        return [Edit(place.start, place.end, _encode("@" + value, place, where, escape))]
    if value is None:
        if (
            pin.kind is PinKind.GIT
            and len(pin.places) == 1
            and data[pin.places[0].start - 1 : pin.places[0].start] == b"@"
        ):
            return [Edit(pin.places[0].start - 1, pin.places[0].end, b"")]
        raise UsageError(f"{where} must have a value")
    _check(pin, value, where)
    asterisk = pin.kind in {PinKind.PACKAGE, PinKind.APT}  # a version's asterisk matches no file
    return [
        Edit(place.start, place.end, _encode(value, place, where, escape, asterisk=asterisk)) for place in pin.places
    ]


def _why_not(pin: Pin) -> str:
    if pin.unknown:
        return pin.unknown
    if pin.variable:
        return f"its value is put together from several places, by way of {pin.variable}"
    if pin.kind is PinKind.GIT:
        return "the clone names no ref: add --branch, or a git checkout behind it"
    return "the file does not hold its value in one place, or another tool writes the file"


def _replaces_operator(data: bytes, pin: Pin, value: str | None) -> bool:
    """Whether a bare version stands behind an equals sign that the new value replaces: ``conda install foo=1.4``."""
    if pin.variable or not (value is None or _STARTS_WITH_OPERATOR.match(value)):
        return False
    return all(_OPERATOR.search(data[max(0, place.start - 8) : place.start]) for place in pin.places)


def _requirement_edit(data: bytes, pin: Pin, place: Place, value: str | None, where: str) -> Edit:
    start = place.start
    if pin.form in {Form.EXACT, Form.VALUE} and (value is None or _STARTS_WITH_OPERATOR.match(value)):
        operator = _OPERATOR.search(data[max(0, place.start - 8) : place.start])
        if operator is None or data[place.end : place.end + 1] == b"=":  # conda's build, which wants an exact version
            raise UsageError(f"{where}: only the version can be changed there, for the operator stands elsewhere")
        start -= len(operator[0])
    if value is None:
        return Edit(start, place.end, b"")
    if _STARTS_WITH_OPERATOR.match(value):
        try:
            SpecifierSet(value)
        except InvalidSpecifier:
            raise UsageError(f"{where}: {value!r} is not a specifier such as '<3.1.0' or '>=1.2,<2'") from None
        text = value
    else:
        _check_version(value, where)
        text = value if pin.form is Form.EXACT else f"=={value}"
    kept = data[place.start : place.start + 1] if place.quoting is Quoting.SHELL_BARE and start < place.end - 1 else b""
    if kept in (b"'", b'"') and data[place.end - 1 : place.end] == kept and kept.decode() not in text:
        return Edit(start, place.end, kept + text.encode("utf-8", "surrogateescape") + kept)
    return Edit(start, place.end, _encode(text, place, where, "\\", requirement=True, asterisk=True))


def _check_version(value: str, where: str) -> None:
    try:
        Version(value.removesuffix(".*"))
    except InvalidVersion:
        raise UsageError(f"{where}: {value!r} is not a version such as 1.2.3") from None


def _check(pin: Pin, value: str, where: str) -> None:
    """Refuse what cannot be a value of this kind."""
    match pin.kind:
        case PinKind.PACKAGE if pin.value and _STARTS_WITH_OPERATOR.match(pin.value) is None:
            if _STARTS_WITH_OPERATOR.match(value):
                raise UsageError(
                    f"{where}: {pin.variable or 'its place'} holds a version alone; give one, without operator"
                )
            if not re.fullmatch(r"[A-Za-z0-9._+!*:-]+", value):
                raise UsageError(f"{where}: {value!r} is not a version")
        case PinKind.GIT if value:
            is_range = ".." in value and pin.name.endswith(("-cherry-pick", "-revert"))
            if not _REVISION.match(value.replace("..", ".") if is_range else value) or value.endswith(".lock"):
                raise UsageError(f"{where}: {value!r} is not a branch, tag or commit")
        case PinKind.IMAGE:
            if not _IMAGE.match(value):
                raise UsageError(f"{where}: {value!r} is not an image reference or tag")
            if not takes(pin, value):
                raise UsageError(f"{where}: its place holds a digest, and {value!r} is none; give sha256:...")
        case PinKind.URL | PinKind.APT:
            if not value or re.search(r"[\s\"'<>]", value):
                raise UsageError(f"{where}: {value!r} is not a version")
        case _:
            pass


def _encode(
    text: str, place: Place, where: str, escape: str, *, requirement: bool = False, asterisk: bool = False
) -> bytes:
    """`text` as it must be written at `place`.

    Raises:
        UsageError: it cannot be written there.
    """
    encoded = text
    match place.quoting:
        case Quoting.DOCKER_BARE:
            encoded = _DOCKER_SPECIAL.sub(lambda m: escape + m[1], text) if escape == "\\" else text
        case Quoting.DOCKER_DOUBLE:
            encoded = re.sub(r"([\"$" + re.escape(escape) + "])", lambda m: escape + m[1], text)
        case Quoting.DOCKER_SINGLE | Quoting.SHELL_SINGLE | Quoting.TOML_LITERAL:
            if "'" in text:
                raise UsageError(f"{where}: the place is in single quotes, which cannot hold {text!r}")
        case Quoting.SHELL_BARE if not (_REQUIREMENT_SAFE if asterisk else _SHELL_SAFE).match(text):
            if requirement:
                encoded = '"' + _in_double_quotes(text) + '"'
            else:
                encoded = re.sub(r"([^A-Za-z0-9_./:=+@%^,~!\x80-\U0010ffff-])", r"\\\1", text)
        case Quoting.SHELL_DOUBLE:
            encoded = _in_double_quotes(text)
        case Quoting.SHELL_HEREDOC:
            encoded = re.sub(r"([$`\\])", r"\\\1", text)
        case Quoting.SHELL_ANSI:
            encoded = re.sub(r"(['\\])", r"\\\1", text)
        case Quoting.JSON | Quoting.TOML_BASIC:
            encoded = json.dumps(text, ensure_ascii=False)[1:-1]
        case _:
            pass
    result = encoded.encode("utf-8", "surrogateescape")
    if place.quoting is Quoting.PLAIN and re.search(r"\s#", text):
        raise UsageError(f"{where}: {text!r} would begin a comment there")
    return result


def _in_double_quotes(text: str) -> str:
    return re.sub(r"([\"$`\\])", r"\\\1", text)
