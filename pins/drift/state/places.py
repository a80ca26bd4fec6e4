"""How `--state` names a place for the document."""

import hashlib
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from pins.drift.state.file_store import FileStore
from pins.drift.state.git_store import branch_store
from pins.drift.state.store import StateStore
from pins.errors import UsageError
from pins.home import home


def state_store(text: str, *, directory: Path, targets: Sequence[str], push: str = "") -> StateStore:
    """The place that `--state` names.

    Args:
        text: "file:PATH", "git:BRANCH", or "" for the user's own state directory.
        directory: in the repository that is checked.
        targets: what is checked; the default place has one document for each set of them.
        push: the remote that a branch is fetched from and pushed to, "" for none.

    Raises:
        UsageError: it names no place, or `--push` makes no sense with it.
    """
    kind, colon, rest = text.partition(":")
    if kind == "git" and rest:
        return branch_store(directory, rest, push)
    if push:
        raise UsageError("--push goes with --state git:BRANCH")
    if not text:
        return FileStore(default_file(directory, targets, os.environ))
    if kind != "file" or not colon or not rest:
        meant = f"; did you mean --state {shlex.quote(f'file:{text}')}?" if text and not colon else ""
        raise UsageError(f"--state {text!r} must be file:PATH or git:BRANCH{meant}")
    return FileStore(Path(rest))


def default_file(directory: Path, targets: Sequence[str], environment: Mapping[str, str]) -> Path:
    """Below the user's state directory, one file for what is checked of a repository."""
    base = Path(environment.get("XDG_STATE_HOME", ""))
    top = (base if base.is_absolute() else home() / ".local" / "state") / "bisector" / "drift"
    named = "\0".join((str(directory.resolve()), *sorted(targets)))
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", directory.resolve().name)[:40] or "files"
    return top / f"{word}-{hashlib.sha256(named.encode('utf-8', 'surrogateescape')).hexdigest()[:10]}.json"
