"""Runs on this machine: where they are kept, which one is meant, and who drives one."""

import contextlib
import fcntl
import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pins.errors import EnvironmentFailureError, UsageError
from pins.home import home

JOURNAL = "journal.sqlite"
LOCK = "lock"


def state_directory() -> Path:
    """Where runs are kept: `$XDG_STATE_HOME/bisector`, by default `~/.local/state/bisector`.

    A relative path in that variable is ignored, as the XDG specification has it.
    """
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (base if base.is_absolute() else home() / ".local" / "state") / "bisector"


def new_run_directory(asked_for: Path | None, *, room: str = "runs") -> Path:
    """Make the directory of a new run.

    Raises:
        UsageError: the directory that was asked for holds something.
        EnvironmentFailureError: it cannot be made.
    """
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"
    directory = asked_for or state_directory() / room / name
    there = next(path for path in (directory, *directory.parents) if path.exists())
    if asked_for is not None and not there.is_dir():
        raise UsageError(f"--run-dir {asked_for}: {there} is not a directory; name one that is empty or does not exist")
    try:
        directory.mkdir(parents=True, exist_ok=asked_for is not None)
        if any(directory.iterdir()):
            hint = (
                f"`bisector resume {directory}` goes on with it" if (directory / JOURNAL).exists() else "name another"
            )
            raise UsageError(f"the run directory {directory} is not empty; {hint}")
    except OSError as error:
        raise EnvironmentFailureError(
            f"cannot make the run directory {directory}: {error.strerror}; name another with --run-dir"
        ) from error
    if asked_for is not None:
        with contextlib.suppress(OSError):  # then it is found by its path only
            (state_directory() / room).mkdir(parents=True, exist_ok=True)
            (state_directory() / room / name).symlink_to(directory.resolve(), target_is_directory=True)
    return directory.resolve()


def identity_of(run_directory: Path) -> str:
    """What labels all that is made for a run.

    The directory's name alone would not do: two runs in directories that the user names (`--run-dir`) may have the
    same, and each would end what belongs to the other.
    """
    place = hashlib.sha256(os.fsencode(run_directory.resolve())).hexdigest()[:12]
    return f"{run_directory.name}.{place}"


def marker_of(run_directory: Path, piece: str) -> str:
    """The id that marks the processes of one piece of a run: a build ("p001") or a run of the script ("p001-run-2")."""
    return f"{identity_of(run_directory)}.{piece}"


CHECK = "check"
"""The piece of a run that finds out, before anything is built, whether its environment can work here."""


def all_runs(room: str = "runs") -> list[Path]:
    """The directories of this user's runs (or single "probes"), newest first, also those that `--run-dir` named."""
    runs = state_directory() / room
    found = {path.parent.resolve() for path in runs.glob(f"*/{JOURNAL}")} if runs.is_dir() else set()
    return sorted(found, key=lambda run: (run / JOURNAL).stat().st_mtime, reverse=True)


def find_run(named: str | None) -> Path:
    """The directory of a run: by path, by its name or the beginning of it, or the latest when None.

    Raises:
        UsageError: there is none, or several begin so.
    """
    if named is None:
        runs = all_runs()
        if not runs:
            raise UsageError(f"no runs under {state_directory() / 'runs'}; start one with `bisector run`")
        return runs[0]
    as_path = Path(named)
    if (as_path / JOURNAL).is_file():
        return as_path.resolve()
    if as_path.is_dir() and os.sep in named:
        raise UsageError(f"the directory {named} holds no run: there is no {JOURNAL} in it")
    matching = [run for run in all_runs() if run.name.startswith(named)] if named else []
    exact = [run for run in matching if run.name == named]
    if len(exact or matching) == 1:
        return (exact or matching)[0]
    known = ", ".join(run.name for run in (matching or all_runs())[:5]) or "none"
    problem = "several runs begin with" if matching else "no run is called"
    raise UsageError(f"{problem} {named!r}; runs here: {known}")


@contextmanager
def driving(run_directory: Path) -> Iterator[None]:
    """Hold a run's lock: at most one process drives a run.

    Raises:
        UsageError: another process drives it.
    """
    path = run_directory / LOCK
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(descriptor, 200).decode(errors="replace").strip() or "another process"
            raise UsageError(
                f"run {run_directory.name} is being driven by {holder}; watch it with"
                f" `bisector status {run_directory.name}`, or stop that process first"
            ) from error
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def is_driven(run_directory: Path) -> bool:
    """Whether a process on this machine drives the run now."""
    try:
        descriptor = os.open(run_directory / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
