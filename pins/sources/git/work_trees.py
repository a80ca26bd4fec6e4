"""Checkouts of commits: a repository of their own each, that borrows the objects of the clone.

What a build or a script does in a checkout (commits, configuration, refs, files) stays in it. Git itself, as it is run
here, looks at none of that: files are written by the clone's configuration, and hooks are off.

Where a checkout is only looked at, one of a few directories is lent and brought to the commit: what changed is
written, what does not belong there is removed. Its path names the commit, since tools keep what they know of a
directory by its path.
"""

import os
import posixpath
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pins.errors import EnvironmentFailureError, PinsError, SourceError, UsageError
from pins.sources.git.address import RepositoryAddress, parse_address
from pins.sources.git.clone import Clone, configuration, open_clone
from pins.sources.git.contents import Submodule, submodules
from pins.sources.git.lock import lock_on
from pins.sources.git.program import GitFailedError, git

TREES = "trees"
UNUSED = 7 * 24 * 3600.0
"""Seconds after which a checkout that nobody was lent is removed."""
KEPT = 2
"""Checkouts that builds leave and that are kept."""
_DEEPEST = 8
"""Submodules within submodules that are followed."""
_MOST = 256


class UnusableCommitError(PinsError):
    """A commit cannot be checked out as it is meant to be: a submodule's commit exists nowhere, a path is no path."""

    exit_code = 3


@contextmanager
def lent_tree(clone: Clone, commit: str, cache: Path) -> Iterator[Path]:
    """A clean checkout of a commit, for as long as the context lasts; nobody else is given it meanwhile.

    Args:
        clone: the repository.
        commit: full hash.
        cache: the user's cache directory, in which clones of submodules lie.

    Raises:
        UnusableCommitError: the commit's tree cannot be written.
        SourceError: contents cannot be fetched.
        EnvironmentFailureError: the disk, or git itself, fails.
    """
    room = clone.room / TREES
    for number in _slots(room, commit):
        with lock_on(room / f"{number}.lock", wait=False) as mine:
            if mine:
                yield _brought_to(clone, commit, room / str(number), cache)
                return
    raise EnvironmentFailureError(f"all {_MOST} checkouts below {room} are in use; is something left over of old runs?")


def take_tree(clone: Clone, place: Path) -> bool:
    """Have a checkout that nobody is lent become the directory `place`, which does not exist; False without one.

    It is at whatever commit it was: `check_out` writes what differs then, and not everything.
    """
    room = clone.room / TREES
    for number in sorted(int(slot.name) for slot in room.glob("[0-9]*") if slot.name.isdigit()):
        with lock_on(room / f"{number}.lock", wait=False) as mine, suppress(OSError):
            for tree in (room / str(number)).iterdir() if mine else ():
                tree.rename(place)  # fails where the two lie on different disks
                return True
    return False


def give_tree(clone: Clone, place: Path) -> bool:
    """Keep a checkout that is not needed any more for the next one who takes one; False where enough are kept."""
    if not _is_own(place):
        return False
    room = clone.room / TREES
    for number in range(KEPT):
        with suppress(OSError, EnvironmentFailureError), lock_on(room / f"{number}.lock", wait=False) as mine:
            slot = room / str(number)
            if mine and not (slot.is_dir() and any(slot.iterdir())):
                slot.mkdir(parents=True, exist_ok=True)
                place.rename(slot / "kept")
                return True
    return False


def _slots(room: Path, commit: str) -> Iterator[int]:
    """The numbers of directories to try: first those that are at the commit already."""
    there = [number for number in range(_MOST) if (room / str(number) / commit).exists()] if room.exists() else []
    yield from there
    yield from (number for number in range(_MOST) if number not in there)


def _brought_to(clone: Clone, commit: str, slot: Path, cache: Path) -> Path:
    tree = slot / commit
    try:
        slot.mkdir(parents=True, exist_ok=True)
        before = [entry for entry in slot.iterdir() if entry != tree]
        if before and not tree.exists():
            before.pop(0).rename(tree)
        for entry in before:
            _remove(entry)
        os.utime(slot)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot prepare the checkout {tree}: {error.strerror}") from error
    check_out(clone, commit, tree, cache)
    return tree


def check_out(clone: Clone, commit: str, tree: Path, cache: Path) -> None:
    """Make a directory a clean checkout of a commit, whatever it held before.

    Args:
        clone: the repository.
        commit: full hash.
        tree: the directory; made where it does not exist.
        cache: the user's cache directory, in which clones of submodules lie.

    Raises:
        UnusableCommitError, SourceError, EnvironmentFailureError: as `lent_tree`.
    """
    _check_out(clone, commit, tree, cache, ())


def _check_out(clone: Clone, commit: str, tree: Path, cache: Path, above: tuple[str, ...]) -> None:
    below = submodules(clone, commit)
    if below and (len(above) >= _DEEPEST or clone.address.text in above):
        raise UnusableCommitError(f"submodules of {clone.address.shown} lead in a circle, or too deep")
    if os.path.lexists(tree) and not _is_own(tree):
        _remove(tree)
    try:
        _write_files(clone, commit, tree, below)
    except GitFailedError as error:
        if "unable to read sha1 file" in error.said or "could not fetch" in error.said or "remote:" in error.said:
            raise SourceError(
                f"files of {clone.address.shown} at {commit[:12]} cannot be fetched: {error.said.splitlines()[-1]}"
            ) from error
        _remove(tree)  # whatever was in the way of writing
        _write_files(clone, commit, tree, below)
    for submodule in below:
        place = _inside(tree, submodule)
        inner = _clone_of(submodule, clone, commit, cache)
        _check_out(inner, submodule.commit, place, cache, (*above, clone.address.text))


def _is_own(tree: Path) -> bool:
    """Whether a directory is a checkout as it was left: a script may have put a link to something else in its place."""
    index = tree / ".git" / "index"
    return index.is_file() and not any(path.is_symlink() for path in (tree, index.parent, index))


def _write_files(clone: Clone, commit: str, tree: Path, below: tuple[Submodule, ...]) -> None:
    _lay_out(clone, commit, tree)

    def in_tree(*arguments: str) -> None:
        git(arguments, repository=clone.directory, work_tree=tree)

    in_tree("read-tree", "--reset", "-u", "--end-of-options", commit)
    kept = [f"--exclude=/{_escaped(submodule.path)}/" for submodule in below]
    in_tree("clean", "--quiet", "-ffdx", *kept)


def _lay_out(clone: Clone, commit: str, tree: Path) -> None:
    """A repository of the tree's own, with the tags, at the commit; the index is kept."""
    own = tree / ".git"
    try:
        for entry in own.iterdir() if own.is_dir() and not own.is_symlink() else ():
            if entry.name != "index":
                _remove(entry)
        if own.is_symlink() or own.is_file():
            own.unlink()
        (own / "objects" / "info").mkdir(parents=True)
        (own / "refs").mkdir()
        _text(own / "objects" / "info" / "alternates", f"{clone.directory / 'objects'}\n")
        _text(own / "config", configuration(clone, bare=False))
        _text(own / "HEAD", f"{commit}\n")
        tags = clone.git("for-each-ref", "--format=%(objectname)%00%(*objectname)%00%(refname)", "refs/tags")
        lines = ["# pack-refs with: peeled fully-peeled sorted"]
        for line in tags.decode("utf-8", "surrogateescape").splitlines():
            direct, peeled, name = line.split("\0")
            lines += [f"{direct} {name}", *([f"^{peeled}"] if peeled else [])]
        _text(own / "packed-refs", "\n".join([*lines, ""]))
        shallow = clone.directory / "shallow"
        if shallow.exists():
            shutil.copyfile(shallow, own / "shallow")
    except OSError as error:
        raise EnvironmentFailureError(
            f"cannot prepare the checkout {tree}: {error.strerror}; is the disk full?"
        ) from error


def _inside(tree: Path, submodule: Submodule) -> Path:
    """Where a submodule goes; no part of the way there is a link, by which it would end up elsewhere."""
    parts = submodule.path.split("/")
    place = tree.joinpath(*parts)
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        raise UnusableCommitError(f"the submodule {submodule.path!r} lies at no path of a tree")
    if any(way.is_symlink() for way in (place, *place.parents) if way != tree and tree in way.parents):
        raise UnusableCommitError(f"the submodule {submodule.path!r} lies behind a link")
    return place


def _clone_of(submodule: Submodule, outer: Clone, commit: str, cache: Path) -> Clone:
    what = f"the submodule {submodule.path} of {outer.address.shown} at {commit[:12]}"
    if not submodule.url:
        raise UnusableCommitError(f"{what}: .gitmodules does not say where its repository is")
    try:
        inner = open_clone(submodule_address(submodule.url, outer.address), cache)
    except UsageError as error:
        raise UnusableCommitError(f"{what}: {error}") from error
    if not inner.has_commit(submodule.commit):
        inner.refresh()
        if not inner.has_commit(submodule.commit) and not inner.fetch_commit(submodule.commit):
            raise UnusableCommitError(f"{what}: {inner.address.shown} has no commit {submodule.commit}")
    return inner


def submodule_address(url: str, outer: RepositoryAddress) -> RepositoryAddress:
    """Where a submodule's repository is; `./` and `../` start at the outer repository's address.

    A tree that came by the network names no path of this machine.

    Raises:
        UsageError: it is no address, or one that a tree may not name.
    """
    if url.startswith(("./", "../")):
        if outer.local or "://" not in outer.text:
            head, separator, path = ("", "", outer.text) if outer.local else outer.text.partition(":")
            return parse_address(f"{head}{separator}{posixpath.normpath(posixpath.join(path, url))}", Path(os.sep))
        parts = urlsplit(outer.text)
        return parse_address(
            urlunsplit(parts._replace(path=posixpath.normpath(posixpath.join(parts.path, url)))), Path(os.sep)
        )
    address = parse_address(url, Path(os.sep))
    here = address.local or address.text.startswith("file:")
    if here and not (outer.local or outer.text.startswith("file:")):
        raise UsageError(f"{address.shown} is a path of this machine, which a tree from elsewhere may not name")
    return address


def remove_unused(cache: Path, *, dry_run: bool = False) -> tuple[str, ...]:
    """Remove checkouts that have not been lent for `UNUSED` seconds; says what that was, or would be.

    Clones stay: what they hold would have to be fetched again.
    """
    removed = []
    for slot in (cache / "git").glob(f"*/{TREES}/*"):
        with suppress(OSError, EnvironmentFailureError):
            if not slot.is_dir() or time.time() - slot.stat().st_mtime < UNUSED:
                continue
            with lock_on(slot.with_name(f"{slot.name}.lock"), wait=False) as mine:
                if mine:
                    removed.append(f"a checkout that is not used any more ({slot})")
                    if not dry_run:
                        _remove(slot)
    return tuple(removed)


def _escaped(path: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\*?[!# " else sign for sign in path)


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _remove(path: Path) -> None:
    """Remove whatever there is, also below read-only directories.

    Raises:
        EnvironmentFailureError: it cannot be removed.
    """

    def make_writable_and_retry(function: Callable[..., object], name: str, _: object) -> None:
        Path(name).parent.chmod(0o700)
        if function in (os.unlink, os.rmdir):
            function(name)
        else:
            Path(name).chmod(0o700)
            shutil.rmtree(name)

    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, onerror=make_writable_and_retry)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot remove {path}: {error.strerror}") from error
