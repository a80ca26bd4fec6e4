"""Makes the virtual environment of this checkout: `make_environment.py runtime|dev`, called by environment.sh.

Needs the standard library alone. One at a time: the checkout's directory is locked, and the installer inherits the
lock, so that one that outlives a killed parent is waited for. A marker stands in the environment while the installer
works; where it is found, the last set-up was interrupted, may have left half a package, and is thrown away.
"""

import fcntl
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UNFINISHED = VENV / "unfinished"
LOG = ROOT / ".venv" / "setup.log"
HEARTBEAT = 10.0
ENVIRONMENT_FAILED = 6
FOREIGN_TARGETS = ("PIP_PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "PYTHONPATH")


class SetupError(Exception):
    """The environment could not be made; the message is for the person at the terminal."""


def main(purpose: str) -> int:
    try:
        with checkout_locked() as lock:
            if not is_ready(purpose):
                make(purpose, lock)
    except SetupError as error:
        say(str(error))
        return ENVIRONMENT_FAILED
    except OSError as error:
        say(f"{VENV} could not be made: {error}.")
        return ENVIRONMENT_FAILED
    except KeyboardInterrupt:
        say("Interrupted; the next call starts the set-up afresh.")
        return 130
    return 0


def stamp_text() -> str:
    """What environment.sh compares, the newlines at its end apart."""
    return f"{ROOT}\n{(ROOT / 'pyproject.toml').read_text(encoding='utf-8')}"


def is_ready(purpose: str) -> bool:
    stamp = VENV / f"ready-{purpose}"
    return os.access(PYTHON, os.X_OK) and stamp.is_file() and stamp.read_text(encoding="utf-8") == stamp_text()


def make(purpose: str, lock: int) -> None:
    say(f"Setting up {VENV}, once; this takes about a minute ...")
    started = time.monotonic()
    remove_what_cannot_be_used()
    if not PYTHON.exists():
        create(lock)
    UNFINISHED.touch()
    if purpose == "dev":  # dependency groups are known to pip from 25.1
        run("updating pip", [*pip(), "install", "--quiet", "--upgrade", "pip>=25.1"], lock)
        groups = ["--group", f"{ROOT / 'pyproject.toml'}:dev"]
    else:
        groups = []
    arguments = [*pip(), "install", "--quiet", "--editable", str(ROOT), *groups]
    run("installing what pyproject.toml asks for", arguments, lock)
    text = stamp_text()
    for name in {"runtime", purpose}:
        stamp = VENV / f"ready-{name}"
        stamp.with_suffix(".new").write_text(text, encoding="utf-8")
        stamp.with_suffix(".new").replace(stamp)
    UNFINISHED.unlink()
    say(f"Ready after {time.monotonic() - started:.0f} s.")


def pip() -> list[str]:
    """The pip of the environment, or while it has none, the one beside the Python that runs this."""
    if any(VENV.glob("lib/python*/site-packages/pip")):
        return [str(PYTHON), "-m", "pip"]
    return [str(Path(sys.executable).resolve()), "-m", "pip", "--python", str(PYTHON)]


def remove_what_cannot_be_used() -> None:
    if not VENV.exists() and not VENV.is_symlink():
        return
    if not (VENV / "pyvenv.cfg").is_file() and not UNFINISHED.exists() and (VENV.is_symlink() or any(VENV.iterdir())):
        raise SetupError(f"{VENV} exists and is no virtual environment; move it away, then call this again.")
    stamps = list(VENV.glob("ready-*"))
    moved = any(stamp.read_text(encoding="utf-8").split("\n", 1)[0] != str(ROOT) for stamp in stamps)
    if UNFINISHED.exists() or moved or not os.access(PYTHON, os.X_OK):
        shutil.rmtree(VENV)


def create(lock: int) -> None:
    VENV.mkdir(exist_ok=True)
    UNFINISHED.touch()
    # The file behind any alias: where "python3" comes to mean another version, this environment must notice.
    arguments = [str(Path(sys.executable).resolve()), "-m", "venv", str(VENV)]
    # A pip that is there serves the environment from outside, which saves a copy; Debian has ensurepip apart.
    if can_serve_from_outside():
        arguments.insert(3, "--without-pip")
    elif not importlib.util.find_spec("ensurepip"):
        raise SetupError(
            f"{sys.executable} has neither pip (22.3 or newer) nor ensurepip, so no virtual environment can be filled. "
            "Install one of them (Debian, Ubuntu: apt-get install python3-pip python3-venv), then call this again."
        )
    run("creating the virtual environment", arguments, lock)


def can_serve_from_outside() -> bool:
    """Whether the Python that runs this has a pip that knows --python."""
    try:
        major, minor = importlib.metadata.version("pip").split(".")[:2]
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False
    return major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= (22, 3)


def run(what: str, arguments: Sequence[str], lock: int) -> None:
    """Run one step with its output in a log, a line now and then as a sign of life, and its last lines on failure."""
    variables = {name: value for name, value in os.environ.items() if name not in FOREIGN_TARGETS}
    variables |= {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    started = time.monotonic()
    with LOG.open("ab") as log:
        process = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables, pass_fds=(lock,)
        )
        try:
            while True:
                try:
                    status = process.wait(HEARTBEAT)
                    break
                except subprocess.TimeoutExpired:
                    say(f"... {what} ({time.monotonic() - started:.0f} s)")
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if status:
        lines = LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        raise SetupError(
            "\n".join(
                [
                    f"The set-up stopped while {what} (exit {status}):",
                    *(f"    {line}" for line in lines),
                    "Is the package index that pip is configured for reachable? The next call starts afresh.",
                    f"Everything that was printed: {LOG}",
                ]
            )
        )


@contextmanager
def checkout_locked() -> Iterator[int]:
    descriptor = os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting for another set-up of {VENV} ...")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
