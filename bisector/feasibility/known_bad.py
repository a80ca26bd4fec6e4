"""Versions that people have written down as bad (`[[known-bad]]` in `pins.toml`): no candidate between the ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bisector.model import Axis, Candidate
from bisector.request import RunRequest
from pins.model import PinKind

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from pins.resolve.problem import Constraint

_KINDS = (PinKind.PACKAGE, PinKind.FLOAT)


@dataclass(frozen=True)
class KnownBad:
    """What is known of the axes' values.

    Attributes:
        reasons: by pin and value; values of ends are never among them, since ends are there to be tried.
    """

    reasons: Mapping[tuple[str, str], str]

    def why_not(self, candidate: Candidate) -> str:
        """Why a candidate is not worth a build, "" where nothing is known against it."""
        return next((self.reasons[pair] for pair in candidate.pins if pair in self.reasons), "")


NOTHING_KNOWN = KnownBad({})


def known_bad(request: RunRequest, axes: Sequence[Axis]) -> KnownBad:
    """What the `pins.toml` (or `pyproject.toml`) at the top of the repository, or here, says of the axes' values.

    Raises:
        UsageError: it is malformed.
    """
    facts = _facts(request)
    reasons: dict[tuple[str, str], str] = {}
    for axis in axes:
        if axis.kind not in _KINDS or not facts:
            continue
        own = [fact for fact in facts if fact[0] == canonicalize_name(axis.pin.partition("@")[0])]
        for value in axis.values[1:-1]:
            for _, specifiers, reason in own:
                if value.text not in (axis.good, axis.bad) and not _takes(specifiers, value.text):
                    reasons[axis.pin, value.text] = f"{axis.pin} {value.text} is known to be bad ({reason})"
    return KnownBad(reasons)


def _facts(request: RunRequest) -> "list[tuple[str, SpecifierSet, str]]":
    """Known-bad versions: name, what excludes them, and who says so."""
    found = []
    read = _reader(request)
    for name in ("pins.toml", "pyproject.toml"):
        content = read(name)
        if content is None:
            continue
        if name == "pins.toml" or b"tool.pins" in content:
            from pins.metadata.known_facts import read_known_facts
            from pins.resolve.problem import OriginKind

            bounds = read_known_facts(content, name).bounds
            found += [_fact(bound) for bound in bounds if bound.origin.kind is OriginKind.KNOWN_BAD]
    return found


def _fact(bound: "Constraint") -> "tuple[str, SpecifierSet, str]":
    from packaging.requirements import Requirement

    requirement = Requirement(bound.requirement)
    said = f"{bound.origin.place}: {bound.origin.sentence}" if bound.origin.sentence else bound.origin.place
    return canonicalize_name(requirement.name), requirement.specifier, said


def _takes(specifiers: "SpecifierSet", text: str) -> bool:
    try:
        return specifiers.contains(Version(text), prereleases=True)
    except InvalidVersion:
        return True


def _reader(request: RunRequest) -> Callable[[str], bytes | None]:
    """What reads files at the top of the repository around the Dockerfile, else in the working directory.

    What people know now counts, so that it is the files on disk that are read; of a repository without files of its
    own, those of the bad end.
    """
    file, revision = request.docker.dockerfile, ""
    if request.files is not None:
        file, revision = request.files.file or request.files.bad_file or file, request.files.bad
    if file is None:
        return _read_here
    from pins.files.locate import locate

    tree, _ = locate(file.parent if file.parent.is_dir() else Path.cwd())
    return locate(file, revision)[0].read if tree.bare and revision else tree.read


def _read_here(name: str) -> bytes | None:
    try:
        return Path(name).read_bytes()
    except OSError:
        return None
