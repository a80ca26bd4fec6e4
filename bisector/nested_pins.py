"""Pins that the tree of a commit carries itself: a submodule, a file that says a hash, a version among requirements."""

import posixpath
import re
from collections.abc import Sequence

from packaging.utils import canonicalize_name

from bisector.report.model import NestedMove
from pins.errors import PinsError
from pins.model import PinKind
from pins.sources.git.clone import Clone
from pins.sources.git.contents import submodules
from pins.sources.git.replaced import SUBMODULE, pinned_alone
from pins.sources.git.work_trees import submodule_address

MOST_FILES = 40
"""Files of one commit that are looked into: a commit that changes more is a merge of many things."""
_REQUIREMENTS = re.compile(r"(?:.*/)?(?:[\w.-]*requirements[\w.-]*\.(?:txt|in)|[\w.-]*constraints[\w.-]*\.txt)")
_HASH = re.compile(r"[0-9a-f]{7,64}")


def moved_within(clone: Clone, old: str, new: str) -> tuple[NestedMove, ...]:
    """The pins that differ between the trees of two commits, by path.

    Args:
        clone: the repository.
        old: full hash of the commit before.
        new: full hash of the commit.
    """
    printed = clone.git(
        "diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", "--raw", "--abbrev=64", "--end-of-options", old, new
    )
    fields = printed.decode("utf-8", "surrogateescape").split("\0")
    found: list[NestedMove] = []
    modules = None
    for head, path in list(zip(fields[::2], fields[1::2], strict=False))[:MOST_FILES]:
        before_mode, after_mode, before, after, status = head.removeprefix(":").split(" ")
        if status != "M":
            continue
        if (before_mode, after_mode) == (SUBMODULE, SUBMODULE):
            modules = modules if modules is not None else {each.path: each.url for each in submodules(clone, new)}
            found.append(_submodule(clone, path, before, after, modules.get(path, "")))
        elif after_mode.startswith("100") and _is_pin_file(path):
            found += _in_file(clone, path, before, after)
    return tuple(found)


def _submodule(clone: Clone, path: str, before: str, after: str, url: str) -> NestedMove:
    try:
        repository = submodule_address(url, clone.address).text if url else ""
    except PinsError:
        repository = ""
    name = str(canonicalize_name(posixpath.basename(path)))
    return NestedMove(path, name, PinKind.GIT.value, before, after, repository)


def _is_pin_file(path: str) -> bool:
    name = posixpath.basename(path)
    return _REQUIREMENTS.fullmatch(path) is not None or re.search(r"hash|commit|pin|version|rev\b", name) is not None


def _in_file(clone: Clone, path: str, before: str, after: str) -> Sequence[NestedMove]:
    contents = [clone.git("cat-file", "blob", blob) for blob in (before, after)]
    old, new = (pinned_alone(content) for content in contents)
    if old is not None and new is not None:
        kind = PinKind.GIT if _HASH.fullmatch(old) and _HASH.fullmatch(new) else PinKind.PACKAGE
        return [NestedMove(path, _named_by(path), kind.value, old, new)]
    if _REQUIREMENTS.fullmatch(path) is None:
        return []
    from pins.files.read import read_pins

    versions = [
        {
            pin.name: pin.value.lstrip("= ")
            for pin in read_pins(content, path).pins
            if pin.value and _is_exact(pin.value)
        }
        for content in contents
    ]
    return [
        NestedMove(path, name, PinKind.PACKAGE.value, versions[0][name], value)
        for name, value in versions[1].items()
        if versions[0].get(name, value) != value
    ]


def _is_exact(value: str) -> bool:
    return re.fullmatch(r"(?:==)?\s*[\w.+!-]*\d[\w.+!-]*", value) is not None


def _named_by(path: str) -> str:
    """What a file such as `cmake/llvm-hash.txt` pins, by its name."""
    stem = posixpath.basename(path).split(".")[0] or posixpath.basename(path).strip(".")
    name = re.sub(r"[-_.]?(?:hash|commit|pinned|pin|version|revision|rev|sha)$", "", stem, flags=re.IGNORECASE)
    return str(canonicalize_name(name or stem))
