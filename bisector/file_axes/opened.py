"""Requirements files as ends: their versions come from pins, so that candidates are installed with the file opened.

A line such as `numpy==2.0` would forbid every other version. In a copy, the lines of what moves name no version; the
copies lie in the user's cache, named by what they say, so that a resume finds them again.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

from pins.errors import EnvironmentFailureError, UsageError
from pins.files.edit import apply, edits_for
from pins.files.locate import locate
from pins.files.read import kind_of, read_pins
from pins.model import PinKind

_NESTED = re.compile(rb"(?m)^([ \t]*(?:-r|--requirement|-c|--constraint)(?:[ \t]+|=))(?!/|[a-z]+://)(\S+)")


def as_of(path: Path, revision: str, cache: Path) -> Path:
    """A copy of a requirements file as it was at a revision; files that it names are those on disk now.

    Raises:
        UsageError: there is no such file or revision.
    """
    tree, relative = locate(path, revision)
    content = tree.read(relative)
    if content is None:
        raise UsageError(f"{path} does not exist at {revision}")
    return _kept(content, path, cache)


def opened(path: Path, origin: Path, names: Collection[str], cache: Path) -> Path:
    """A copy of a requirements file in which these distributions have no version.

    Args:
        path: the file.
        origin: the file as the user named it, where that is another: names that it includes are beside it.
        names: normalized.
        cache: the user's cache directory of this project.

    Raises:
        UsageError: it cannot be read, is no requirements file, or checks hashes.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if kind_of(origin.name) not in {"requirements", ""}:
        raise UsageError(f"{origin}: of files, --env venv takes requirements files as ends (requirements.txt, say)")
    if b"--hash" in content:
        raise UsageError(
            f"{origin} checks hashes, which other versions cannot have; take them out of copies of both files"
        )
    pins = read_pins(content, origin.name if kind_of(origin.name) else "requirements.txt")
    edits = {
        (edit.start, edit.end): edit
        for pin in pins.pins
        if pin.kind is PinKind.PACKAGE and canonicalize_name(pin.name) in names and pin.places and not pin.floating
        if pin.file == pins.file
        for edit in edits_for(content, pin, None)
    }
    return _kept(apply(content, list(edits.values())), origin, cache)


def without_versions(left_out: Mapping[str, Collection[str]], origin: Path, cache: Path) -> Path:
    """A constraints file in the cache that rules these versions of distributions out.

    Args:
        left_out: versions by normalized name.
        origin: beside which file it is meant, for its name.
        cache: the user's cache directory of this project.
    """
    lines = [f"{name}{','.join(f'!={version}' for version in left_out[name])}\n" for name in sorted(left_out)]
    return _kept("".join(lines).encode(), origin, cache)


def _kept(content: bytes, origin: Path, cache: Path) -> Path:
    """A file with this content in the cache, with the files that it includes named by their whole paths."""
    here = str(origin.parent).encode("utf-8", "surrogateescape")
    content = _NESTED.sub(lambda found: found[1] + here + b"/" + found[2], content)
    name = hashlib.sha256(content).hexdigest()[:24]
    path = cache / "requirements" / f"{name}-{origin.name}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            path.write_bytes(content)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot write to {path.parent}: {error.strerror}") from error
    return path
