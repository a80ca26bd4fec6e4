"""A file that holds one commit or version and nothing else."""

import posixpath
import re

from pins.files.file_pins import simple_pin
from pins.model import FileProblem, PinKind, PinSet

_VALUE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._+/!-]*\Z")
_COMMIT = re.compile(rb"[0-9a-f]{7,64}\Z")
_NAME_SUFFIX = re.compile(r"[-_.]?(?:hash|commit|version|pin|sha|ref|rev|tag)\Z", re.IGNORECASE)


def is_pin_file(data: bytes) -> bool:
    """Whether a file is one value, comments aside."""
    return len(data) < 4096 and _find(data, strict=True) is not None


def _find(data: bytes, *, strict: bool) -> tuple[int, int] | None:
    found: tuple[int, int] | None = None
    position = 0
    for line in data.splitlines(keepends=True):
        text = line.strip()
        if text and not text.startswith(b"#"):
            value = text.split(b"#")[0].strip()
            if (
                found is not None
                or not _VALUE.match(value)
                or (strict and not re.search(rb"[0-9]|\A(?:main|master|nightly|stable)\Z", value))
            ):
                return None
            start = position + line.find(value)
            found = (start, start + len(value))
        position += len(line)
    return found


def pin_name(path: str) -> str:
    """What a pin file is about: "triton" of `ci_commit_pins/triton.txt` and of `triton-hash.txt`."""
    base = posixpath.basename(path).lstrip(".")
    stem = re.sub(r"\.(?:txt|hash|pin|version|sha|commit)\Z", "", base)
    name = _NAME_SUFFIX.sub("", stem) or stem
    return name.lower().replace("_", "-")


def read_pin_file(data: bytes, file: str) -> PinSet:
    """Read a file that holds one value; never raises for what stands in it."""
    found = _find(data, strict=False)
    if found is None:
        return PinSet(file, (), problems=(FileProblem(file, 1, "not one commit or version alone"),))
    value = data[found[0] : found[1]]
    says_commit = re.search(r"hash|commit|sha", posixpath.basename(file), re.IGNORECASE)
    kind = (
        PinKind.GIT if says_commit or (_COMMIT.match(value) and re.search(rb"[a-f]|\A.{40}\Z", value)) else PinKind.TEXT
    )
    line = data.count(b"\n", 0, found[0]) + 1
    comments = [text.strip().lstrip(b"#").strip() for text in data.splitlines() if text.strip().startswith(b"#")]
    comment = b" ".join(comments).decode("utf-8", "replace")
    return PinSet(file, (simple_pin(pin_name(file), kind, value.decode(), file, line, found, comment=comment),))
