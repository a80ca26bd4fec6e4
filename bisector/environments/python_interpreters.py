"""Finding the Python that candidates are installed for.

Where interpreters lie in pyenv, the programs on PATH are shims that fail for every version that is not the selected
one, and uv then downloads another. So shims are passed over, the versions themselves are looked at, and what is found
is always an absolute path.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pins.errors import EnvironmentFailureError, UsageError
from pins.home import expanded, home

PATIENCE = 30.0
"""Seconds that an interpreter may take to say what it is."""
LONGEST_COMPLAINT = 300
"""Characters of what one says that fails, for a message."""

_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?(t?)")
_NAMED_VERSION = re.compile(r"(?:cpython|python)[-@]?(\d+(?:\.\d+){0,2}t?)", re.IGNORECASE)
"""A version as programs are called, and as version managers say it: `python3.12`, `cpython-3.12`."""
_QUESTION = """
import json, platform, sys, sysconfig
facts = {
    "version": platform.python_version(),
    "implementation": sys.implementation.name,
    "platform": sysconfig.get_platform(),
    "libc": "-".join(platform.libc_ver()),
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
}
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that was found and has answered.

    Attributes:
        path: absolute; not resolved further, since a virtual environment's Python is a link.
        version: with its patch level, such as "3.11.7".
        implementation: "cpython", "pypy".
        platform: what decides which wheels fit: "linux-x86_64 glibc-2.35".
        free_threaded: built without the global lock.
    """

    path: Path
    version: str
    implementation: str
    platform: str
    free_threaded: bool = False

    @property
    def identity(self) -> str:
        """Everything about it that decides a build, in one line."""
        threads = " free-threaded" if self.free_threaded else ""
        return f"{self.implementation} {self.version}{threads} {self.platform}"


def find_interpreter(wanted: str, *, environment: Mapping[str, str], uv: str = "") -> Interpreter:
    """The interpreter that `--python` names.

    Looked for in this order: the Python that runs this program, PATH, pyenv, uv's own.

    Args:
        wanted: a version ("3", "3.9", "3.9.18", "3.13t", "cpython-3.9"), a program's name or path, or "" for the Python
            that runs this program.
        environment: gives PATH, HOME and PYENV_ROOT.
        uv: the program uv, "" not to ask it.

    Raises:
        UsageError: there is none, and the message lists those that there are; or it is a Python 2.
    """
    found = inspect_interpreter(sys.executable) if not wanted else _found(wanted, environment, uv)
    if found.version.startswith("2."):
        raise UsageError(f"--python {wanted}: {found.path} is Python {found.version}; {_SUPPORTED}")
    return found


_SUPPORTED = "virtual environments are made for Python 3 only: name another, such as 3.12"


def _found(wanted: str, environment: Mapping[str, str], uv: str) -> Interpreter:
    if (named := _NAMED_VERSION.fullmatch(wanted)) and _on_path(wanted, environment) is None:
        wanted = named[1]
    version = _VERSION.fullmatch(wanted)
    if version is None:
        return _named(wanted, environment)
    if int(version[1]) < 3:
        raise UsageError(f"--python {wanted}: {_SUPPORTED}")
    for path in _places(wanted, version, environment, uv):
        try:
            found = inspect_interpreter(str(path))
        except UsageError:
            continue
        if _answers(found, version):
            return found
    raise UsageError(_not_found(wanted, environment))


def inspect_interpreter(path: str) -> Interpreter:
    """Ask an interpreter what it is; asked once, until the file changes.

    Raises:
        UsageError: it cannot be started, or is no Python.
    """
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError as error:
        raise UsageError(f"there is no Python at {path}: {error.strerror}") from error
    return _inspect(path, status.st_mtime_ns, status.st_ino)


@lru_cache(maxsize=64)
def _inspect(path: str, changed: int, inode: int) -> Interpreter:  # noqa: ARG001  (both name the file's state)
    try:
        facts = _own_facts() if path == sys.executable else _asked(path)
        return Interpreter(
            Path(path).absolute(),
            str(facts["version"]),
            str(facts["implementation"]),
            f"{facts['platform']} {facts['libc']}".rstrip(" -"),
            bool(facts["free_threaded"]),
        )
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailureError(f"{path} did not say within {PATIENCE:.0f} s which Python it is") from error
    except subprocess.CalledProcessError as error:
        raise UsageError(f"{path} is not a Python that works here: {_complaint(error)}") from error
    except OSError as error:
        raise UsageError(f"{path} is not a Python that works here: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a Python: it does not answer as one does") from error


def _complaint(error: subprocess.CalledProcessError) -> str:
    """What a program said that failed; a program that is no Python may give back all that it was asked."""
    said: list[str] = error.stderr.decode(errors="replace").strip().splitlines()
    how = f"exit status {error.returncode}" if error.returncode >= 0 else f"signal {-error.returncode}"
    if not said or any("sysconfig" in line for line in said) or len(said[-1]) > LONGEST_COMPLAINT:
        return f"asked for its version, it fails ({how})"
    return said[-1].strip()


def _own_facts() -> dict[str, object]:
    """What the Python that runs this program says of itself, without starting it once more."""
    names: dict[str, dict[str, object]] = {}
    exec(_QUESTION, names)  # noqa: S102  (the same question as for the others, and no one else's text)
    return names["facts"]


def _asked(path: str) -> dict[str, object]:
    answer = subprocess.run(
        [path, "-I", "-S", "-c", f"{_QUESTION}print(json.dumps(facts))"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=True,
        cwd="/",
    ).stdout
    facts: dict[str, object] = json.loads(answer)
    return facts


def _named(wanted: str, environment: Mapping[str, str]) -> Interpreter:
    if wanted.startswith("-") or "\0" in wanted or "\n" in wanted:
        raise UsageError(f"--python {wanted!r} is neither a version, such as 3.12, nor the path of an interpreter")
    path = expanded(wanted)
    if path.is_dir():  # a virtual environment, or the prefix of an installation
        for below in ("bin/python", "bin/python3"):
            if (path / below).exists():
                return inspect_interpreter(str((path / below).absolute()))
        raise UsageError(f"--python {wanted}: a directory without a Python in its bin; name the interpreter itself")
    if os.sep in wanted:
        if not path.exists():
            raise UsageError(f"--python {wanted}: no such file")
        return inspect_interpreter(str(path.absolute()))
    found = _on_path(wanted, environment)
    if found is None:
        raise UsageError(
            f"--python {wanted}: no such program on PATH; give a version, such as 3.12, or the path of an interpreter"
        )
    return inspect_interpreter(found)


def _on_path(name: str, environment: Mapping[str, str]) -> str | None:
    where = os.pathsep.join(_search_path(environment))
    return shutil.which(name, path=where) if where else None


def _answers(found: Interpreter, version: re.Match[str]) -> bool:
    wanted = [part for part in version.groups()[:3] if part is not None]
    numbers = re.match(r"\d+\.\d+\.\d+", found.version)
    return (
        numbers is not None
        and numbers[0].split(".")[: len(wanted)] == wanted
        and found.free_threaded == bool(version[4])
        and found.implementation == "cpython"
    )


def _places(wanted: str, version: re.Match[str], environment: Mapping[str, str], uv: str) -> Iterator[Path]:
    """Where an interpreter of this version may be, likeliest first; each that exists is asked in turn."""
    yield Path(sys.executable)
    major, minor, _, threads = version.groups()
    name = f"python{major}.{minor}{threads}" if minor else f"python{major}"
    for directory in _search_path(environment):
        for program in dict.fromkeys((name, f"python{major}", "python")):
            path = Path(directory) / program
            if path.is_file() and os.access(path, os.X_OK):
                yield path.absolute()
    for installed, path in _version_managers(environment):
        if _starts_alike(installed, wanted):
            yield path
    if uv and (managed := _managed_by_uv(wanted, environment, uv)) is not None:
        yield managed


def _starts_alike(installed: str, wanted: str) -> bool:
    bare = wanted.rstrip("t")
    return installed == wanted or installed.rstrip("t") == bare or installed.startswith(bare + ".")


def _search_path(environment: Mapping[str, str]) -> list[str]:
    """The directories of PATH that hold real programs: no shims, which fail for versions that are not selected."""
    directories = environment.get("PATH", os.defpath).split(os.pathsep)
    return [entry for entry in directories if entry and Path(entry).name != "shims"]


def _version_managers(environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    """(version, interpreter) of what pyenv and its like have installed, newest first."""
    at_home = Path(environment.get("HOME") or home())
    roots = [
        Path(environment.get("PYENV_ROOT") or at_home / ".pyenv") / "versions",
        at_home / ".pyenv" / "versions",
        Path(environment.get("ASDF_DATA_DIR") or at_home / ".asdf") / "installs" / "python",
        Path(environment.get("MISE_DATA_DIR") or at_home / ".local/share/mise") / "installs" / "python",
    ]
    found = {}
    for root in dict.fromkeys(roots):
        try:
            entries = list(root.iterdir())
        except OSError:
            continue
        for entry in entries:
            path = entry / "bin" / "python"
            if _VERSION.match(entry.name) and path.exists():
                found[path] = entry.name
    return sorted(((name, path) for path, name in found.items()), key=lambda item: _sort_key(item[0]), reverse=True)


def _sort_key(version: str) -> tuple[tuple[int, ...], bool]:
    numbers = re.match(r"[\d.]*", version)
    assert numbers is not None
    # A final release has nothing after its numbers, and comes before its own pre-releases when read backwards.
    return tuple(int(part) for part in numbers[0].split(".") if part), numbers[0] == version


def _managed_by_uv(wanted: str, environment: Mapping[str, str], uv: str) -> Path | None:
    """An interpreter that uv has installed; nothing is downloaded."""
    command = [uv, "python", "find", "--no-config", "--managed-python", "--no-python-downloads", "--offline", wanted]
    try:
        answer = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
            cwd="/",
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    path = Path(os.fsdecode(answer).strip())
    return path if path.is_absolute() and path.exists() else None


def _not_found(wanted: str, environment: Mapping[str, str]) -> str:
    found = {f"{'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})": None}
    for directory in _search_path(environment):
        for path in sorted(Path(directory).glob("python3.*")):
            if re.fullmatch(r"python3\.\d+t?", path.name):
                found[f"{path.name.removeprefix('python')} ({path})"] = None
    for version, path in _version_managers(environment):
        if not version.startswith("2"):
            found[f"{version} ({path})"] = None
    listed = "\n".join(f"  {line}" for line in found)
    return (
        f"no Python {wanted} was found on this machine. These were:\n{listed}\n"
        f"Get one with `uv python install {wanted}` or `pyenv install {wanted}`, or name another by --python:"
        " a version or the path of an interpreter."
    )
