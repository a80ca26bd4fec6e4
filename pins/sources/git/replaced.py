"""Commits that never were: those of a repository with a pin that their tree holds set to another value.

Made in our own clone, from the same commit and value always the same one. What checks commits out, installs or builds
them need know nothing of it.
"""

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pins.errors import UsageError
from pins.sources.git.clone import Clone
from pins.sources.git.contents import Entry, entries
from pins.sources.git.program import git

_PINNED = re.compile(rb"(?=[0-9A-Za-z._+-]*\d)[0-9A-Za-z][0-9A-Za-z._+-]*")
_NOBODY = {
    "GIT_AUTHOR_NAME": "bisector", "GIT_AUTHOR_EMAIL": "bisector", "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "bisector", "GIT_COMMITTER_EMAIL": "bisector", "GIT_COMMITTER_DATE": "@0 +0000",
}  # fmt: skip
SUBMODULE = "160000"


def with_replaced(clone: Clone, commit: str, values: Mapping[str, tuple[str, str]]) -> str:
    """The full hash of a commit that is like another one, but for the pins that some paths of its tree hold.

    Args:
        clone: the repository.
        commit: full hash.
        values: by path, the name of the pin and its value: the commit of a submodule, or what a file pins.

    Raises:
        UsageError: a path is not there, or holds no such pin.
    """
    if not values:
        return commit
    found = {entry.path: entry for entry in entries(clone, commit, list(values))}
    lines = [_index_line(clone, commit, found.get(path), path, name, value) for path, (name, value) in values.items()]
    with tempfile.TemporaryDirectory() as directory:
        variables = {"GIT_INDEX_FILE": str(Path(directory) / "index"), **_NOBODY}

        def call(*arguments: str, given: bytes = b"") -> str:
            return git(arguments, repository=clone.directory, given=given, variables=variables).decode().strip()

        with clone.locked():
            call("read-tree", "--end-of-options", commit)
            call("update-index", "-z", "--index-info", given=b"".join(lines))
            tree = call("write-tree", "--missing-ok")
            return call("commit-tree", "-p", commit, "-m", f"{commit} with other pins", tree)


def _index_line(clone: Clone, commit: str, entry: Entry | None, path: str, name: str, value: str) -> bytes:
    if entry is not None and entry.mode == SUBMODULE:
        return os.fsencode(f"{entry.mode} {value}\t{path}") + b"\0"
    changed = _changed(clone, commit, entry, path, name, value)
    assert entry is not None
    blob = clone.git("hash-object", "-w", "--stdin", given=changed).decode().strip()
    return os.fsencode(f"{entry.mode} {blob}\t{path}") + b"\0"


def replaced_file(clone: Clone, commit: str, path: str, name: str, value: str) -> bytes | None:
    """The content of a file of a commit's tree with the pin in it set; None where the path is a submodule.

    Raises:
        UsageError: the path is not there, or holds no such pin.
    """
    entry = {each.path: each for each in entries(clone, commit, [path])}.get(path)
    if entry is not None and entry.mode == SUBMODULE:
        return None
    return _changed(clone, commit, entry, path, name, value)


def _changed(clone: Clone, commit: str, entry: Entry | None, path: str, name: str, value: str) -> bytes:
    if entry is None:
        raise UsageError(f"{clone.address.shown} has no {path} at {commit[:12]}, in which {name} could be set")
    changed = replaced_pin(clone.git("cat-file", "blob", entry.id), path, name, value)
    if changed is None:
        raise UsageError(f"{path} of {clone.address.shown} at {commit[:12]} holds no pin of {name}")
    return changed


def replaced_pin(content: bytes, path: str, name: str, value: str) -> bytes | None:
    """The content of a file with a pin set; None where it holds none.

    A file that says one thing alone (a hash, a version) pins that. Of any other, what is known of its kind is read.
    """
    alone = pinned_alone(content)
    if alone is not None:
        return content.replace(alone.encode(), value.encode(), 1)
    from packaging.utils import canonicalize_name

    from pins.files.edit import apply, edits_for
    from pins.files.read import read_pins
    from pins.model import Form

    pins = [
        pin
        for pin in read_pins(content, path).pins
        if pin.places and pin.value is not None and canonicalize_name(pin.name) == canonicalize_name(name)
    ]
    if not pins:
        return None
    edits = [
        edit
        for pin in pins
        for edit in edits_for(content, pin, value if pin.form in (Form.VALUE, Form.EXACT) else f"=={value}")
    ]
    return apply(content, edits)


def pinned_alone(content: bytes) -> str | None:
    """What a file pins that says nothing else, comments apart: `llvm-hash.txt`, `.python-version`; else None."""
    lines = [line.strip() for line in content.splitlines()]
    said = [line for line in lines if line and not line.startswith(b"#")]
    if len(said) != 1 or len(said[0]) > 200 or _PINNED.fullmatch(said[0]) is None:
        return None
    return said[0].decode()
