"""Writing suggestions down: the pin's bytes, a comment above it, and a hold in `pins.toml`. Nothing else changes."""

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pins.errors import EnvironmentFailureError, UsageError
from pins.files.edit import Edit, apply, edits_for
from pins.files.local_git import git_environment
from pins.files.locate import Tree, locate
from pins.files.patch import unified_diff
from pins.files.read import kind_of, read_pins
from pins.files.setting import SetResult
from pins.model import Form, Pin, PinKind, PinSet, Quoting
from pins.suggest.comments import comment_edit, comment_text
from pins.suggest.holds import FILE, Hold, with_hold
from pins.suggest.model import Suggestion


@dataclass(frozen=True)
class Planned:
    """Files as they would become.

    Attributes:
        root: top of the repository, or the directory of the file.
        files: by path from the root, bytes before (None: no such file) and after.
        refused: what cannot be written, and why.
    """

    root: Path
    files: tuple[tuple[str, bytes | None, bytes], ...]
    refused: tuple[str, ...] = ()

    @property
    def patch(self) -> bytes:
        """The change of all files."""
        return b"".join(_patch(path, before, after) for path, before, after in self.files)

    def write(self) -> None:
        """Make the changes on disk, each file as a whole, and none where one of them may not be made.

        Raises:
            UsageError: a file was changed meanwhile, or may not be written.
            EnvironmentFailureError: a file cannot be written.
        """
        for path, before, after in self.files:
            target = self.root / path
            if before is not None:
                SetResult(target, before, after, b"").ensure_writable()
            elif target.exists():
                raise UsageError(f"{target} was changed while it was being edited; nothing is written")
        # What records a hold stands last, and is written first: whoever is stopped in between can do it all again.
        for path, before, after in reversed(self.files):
            target = self.root / path
            if before is None:
                _create(target, after)
            else:
                SetResult(target, before, after, b"").write()


def _create(target: Path, data: bytes) -> None:
    """A new file with all of its content at once.

    Raises:
        UsageError: there is such a file by now, or the directory may not be written.
        EnvironmentFailureError: it cannot be written.
    """
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        os.link(beside, target)
    except FileExistsError as error:
        raise UsageError(f"{target} was changed while it was being edited; nothing is written") from error
    except PermissionError as error:
        raise UsageError(f"{target} may not be written: {error.strerror}; nothing is changed") from error
    except OSError as error:
        raise EnvironmentFailureError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def _patch(path: str, before: bytes | None, after: bytes) -> bytes:
    patch = unified_diff(before or b"", after, path)
    return b"--- /dev/null\n" + patch.split(b"\n", 1)[1] if before is None else patch


def plan(file: Path, suggestions: Sequence[Suggestion], today: date) -> Planned:
    """What to write for suggestions.

    Raises:
        UsageError: the file is gone, or `pins.toml` is wrong.
    """
    tree, relative = locate(file)
    before = file.read_bytes()
    data = before
    refused: list[str] = []
    holds: list[Hold] = []
    for suggestion in suggestions:
        try:
            data = _with_suggestion(data, file, relative, tree, suggestion, today)
        except UsageError as error:
            refused.append(error.message)
            continue
        if suggestion.until:
            holds.append(_hold(suggestion, relative, today))
    files: list[tuple[str, bytes | None, bytes]] = []
    if data != before:
        files.append((relative, before, data))
    if holds:
        known = tree.root / FILE
        old = known.read_bytes() if known.is_file() else None
        new = old or b""
        for hold in holds:
            new = with_hold(new, hold)
        files.append((FILE, old, new))
    return Planned(tree.root, tuple(files), tuple(refused))


def _with_suggestion(data: bytes, file: Path, relative: str, tree: Tree, suggestion: Suggestion, today: date) -> bytes:
    before = _read(data, file, tree)
    pin = _same(before, suggestion.pin)
    edits = _quoted_whole(data, pin, suggestion.suggested) or edits_for(data, pin, suggestion.suggested)
    changed = apply(data, edits)
    moved = pin.places[0].start
    text = comment_text(requirement_of(suggestion), suggestion.why, suggestion.ends, suggestion.review, today)
    comment = comment_edit(changed, kind_of(relative) or "", moved, pin.name, text)
    if comment is not None:
        changed = apply(changed, [comment])
    _verify(before, _read(changed, file, tree), pin)
    return changed


def _quoted_whole(data: bytes, pin: Pin, value: str) -> list[Edit]:
    """``'foo<2'`` rather than ``foo"<2"``, as people write a bound; none where the place is not such a word."""
    if pin.form is not Form.OPEN or pin.kind is not PinKind.PACKAGE or len(pin.places) != 1:
        return []
    place = pin.places[0]
    start = place.start
    while start and re.match(rb"[A-Za-z0-9._,\[\]-]", data[start - 1 : start]):
        start -= 1
    if place.quoting is not Quoting.SHELL_BARE or not re.fullmatch(r"[<>=!~.,\w*+ -]+", value):
        return []
    if start == place.start or data[start - 1 : start] not in (b" ", b"\t", b"\n"):
        return []
    edits_for(data, pin, value)  # refuses what cannot be written there
    return [Edit(start, place.end, b"'" + data[start : place.start] + value.encode() + b"'")]


def requirement_of(suggestion: Suggestion) -> str:
    """What a suggestion comes to, as one word: "pybind11<3.1.0", "triton@f0b55c0"."""
    pin, value = suggestion.pin, suggestion.suggested
    if pin.kind is PinKind.GIT:
        return f"{pin.name}@{value}"
    return f"{pin.name}{value}" if value[:1] in "<>=!~" else f"{pin.name}=={value}"


def _read(data: bytes, file: Path, tree: Tree) -> PinSet:
    return read_pins(data, str(file), None, tree.patterns())


def _same(pins: PinSet, wanted: Pin) -> Pin:
    """The pin of a suggestion in a file that other suggestions may have changed above it."""
    same = [
        p for p in pins.pins if p.name == wanted.name and p.kind is wanted.kind and p.file == pins.file and p.places
    ]
    near = [p for p in same if p.value == wanted.value and p.stage == wanted.stage]
    if not near:
        raise UsageError(f"{wanted.file}:{wanted.line}: {wanted.name} can only be set where it is written")
    return min(near, key=lambda p: abs(p.line - wanted.line))


def _verify(before: PinSet, after: PinSet, changed: Pin) -> None:
    """Refuse an edit after which the file says something else than it should."""
    was = [(p.name, p.kind, p.value) for p in before.pins if p.places != changed.places]
    now = [(p.name, p.kind, p.value) for p in after.pins]
    for entry in was:
        if entry not in now:
            raise UsageError(
                f"{changed.file}:{changed.line}: the edit of {changed.name} changes {entry[0]} too; edit it by hand"
            )
        now.remove(entry)


def _hold(suggestion: Suggestion, relative: str, today: date) -> Hold:
    origin = next((reason.origin for reason in suggestion.because if reason.origin), "")
    package = suggestion.pin.kind is PinKind.PACKAGE
    return Hold(
        suggestion.pin.name,
        requirement_of(suggestion) if package else "",
        relative,
        suggestion.why,
        suggestion.until,
        today,
        suggestion.review,
        origin,
        "" if package else suggestion.suggested,
    )


def commit_on_branch(planned: Planned, name: str, message: str) -> str:
    """Make a local branch with one commit on top of HEAD; the checkout, its index and its files stay as they are.

    Returns:
        The commit.

    Raises:
        UsageError: there is no repository, the branch exists, or a file differs from HEAD.
    """
    root = planned.root
    head = _git(
        root, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], "--branch needs a git repository with a commit"
    )
    _git(root, ["check-ref-format", "--branch", name], f"--branch {name!r} is not a name for a branch")
    if _run(root, ["show-ref", "--verify", "--quiet", f"refs/heads/{name}"]).returncode == 0:
        raise UsageError(f"--branch {name}: there is such a branch already; name another")
    with tempfile.TemporaryDirectory() as directory:
        environment = {"GIT_INDEX_FILE": str(Path(directory) / "index")}
        _git(root, ["read-tree", head], "the commit of HEAD cannot be read", environment)
        for path, before, after in planned.files:
            committed = _run(root, ["cat-file", "blob", f"HEAD:{path}"])
            if (committed.stdout if committed.returncode == 0 else None) != before:
                raise UsageError(
                    f"--branch {name}: {path} differs from what is committed; commit it or put it back first"
                )
            listed = _run(root, ["ls-files", "--stage", "--", path]).stdout.split()
            mode = listed[0].decode() if listed else "100644"
            blob = _git(root, ["hash-object", "-w", "--stdin"], f"{path} cannot be stored", environment, after)
            _git(root, ["update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}"], path, environment)
        tree = _git(root, ["write-tree"], "the tree cannot be written", environment)
        commit = _git(root, ["commit-tree", tree, "-p", head, "-m", message], "the commit cannot be made", environment)
    _git(root, ["update-ref", f"refs/heads/{name}", commit, "0" * 40], f"the branch {name} cannot be made")
    return commit


def _git(
    root: Path, arguments: list[str], failure: str, environment: dict[str, str] | None = None, given: bytes = b""
) -> str:
    done = _run(root, arguments, environment, given)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"{failure}: {said[-1]}" if said else failure)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def _run(
    root: Path, arguments: list[str], environment: dict[str, str] | None = None, given: bytes = b""
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        ["git", "--literal-pathspecs", "-C", str(root), *arguments],
        input=given,
        capture_output=True,
        check=False,
        env={**git_environment(), **(environment or {})},
    )
