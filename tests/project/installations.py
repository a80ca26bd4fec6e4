"""The ways in which the wheel is installed."""

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from email.parser import BytesParser
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement
from uv import find_uv_bin

from bisector.environments.python_interpreters import find_interpreter
from pins.errors import UsageError

PYTHONS = ("3.11", "3.12", "3.13")
"""The versions that CI installs for; pyproject.toml allows newer ones too."""


class NoInterpreterError(Exception):
    """This machine lacks the Python that an installation is for."""


@dataclass(frozen=True)
class Installation:
    """A wheel that has been installed, with a home of its own.

    Attributes:
        programs: the directory that holds the two commands.
        python: the interpreter that they run with.
        variables: the environment in which they are called.
    """

    programs: Path
    python: Path
    variables: dict[str, str]

    def call(self, name: str, *arguments: str, cwd: Path, code: int = 0) -> str:
        """What a command writes to standard output; it must end with this code."""
        return self._ended([str(self.programs / name), *arguments], cwd, code)

    def document(self, name: str, *arguments: str, cwd: Path, code: int = 0) -> dict[str, object]:
        """What a command writes with `--format json`."""
        found: dict[str, object] = json.loads(self.call(name, *arguments, "--format", "json", cwd=cwd, code=code))
        return found

    def evaluate(self, text: str, *arguments: str, cwd: Path) -> str:
        """What a Python text prints."""
        return self._ended([str(self.python), "-c", text, *arguments], cwd, 0)

    def _ended(self, words: list[str], cwd: Path, code: int) -> str:
        ended = subprocess.run(
            words, cwd=cwd, env=self.variables, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        assert ended.returncode == code, f"{words} ended with {ended.returncode}: {ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr
        return ended.stdout


@dataclass(frozen=True)
class WayToInstall:
    """One way: its name, and what installs a wheel into a directory."""

    name: str
    make: Callable[[Path, Path], Installation] = field(repr=False)


def installations() -> list[WayToInstall]:
    """With each Python, with the oldest dependencies that are allowed, and by the two tools that README names."""
    return [
        *(WayToInstall(f"python{version}", partial(_in_environment, version)) for version in PYTHONS),
        WayToInstall("oldest-dependencies", partial(_in_environment, PYTHONS[0], oldest=True)),
        WayToInstall("uv-tool-install", _as_tool_of_uv),
        WayToInstall("pipx", _as_application_of_pipx),
    ]


def _in_environment(version: str, wheel: Path, directory: Path, *, oldest: bool = False) -> Installation:
    uv, environment = find_uv_bin(), directory / "environment"
    python = environment / "bin" / "python"
    subprocess.run([uv, "venv", "--quiet", "--python", _interpreter(version), str(environment)], check=True)
    install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    if oldest:  # "direct" is what is named here, and that would be the wheel alone
        subprocess.run([*install, "--resolution=lowest-direct", *_direct_requirements(wheel)], check=True)
    subprocess.run([*install, str(wheel)], check=True)
    return Installation(python.parent, python, _variables(directory))


def _as_tool_of_uv(wheel: Path, directory: Path) -> Installation:
    programs = directory / "programs"
    places = {"UV_TOOL_DIR": str(directory / "tools"), "UV_TOOL_BIN_DIR": str(programs)}
    install = [find_uv_bin(), "tool", "install", "--quiet", "--python", _interpreter(PYTHONS[-1]), str(wheel)]
    subprocess.run(install, env={**os.environ, **places}, check=True)
    return Installation(programs, directory / "tools" / "bisector" / "bin" / "python", _variables(directory))


def _as_application_of_pipx(wheel: Path, directory: Path) -> Installation:
    programs = directory / "programs"
    places = {
        "PIPX_HOME": str(directory / "pipx"),
        "PIPX_BIN_DIR": str(programs),
        "PIPX_MAN_DIR": str(directory / "man"),
    }
    install = [find_uv_bin(), "tool", "run", "--quiet", "pipx", "install", "--quiet", str(wheel)]
    subprocess.run([*install, "--python", _interpreter(PYTHONS[0])], env={**os.environ, **places}, check=True)
    return Installation(programs, directory / "pipx" / "venvs" / "bisector" / "bin" / "python", _variables(directory))


def _interpreter(version: str) -> str:
    try:
        return str(find_interpreter(version, environment=os.environ).path)
    except UsageError as error:
        raise NoInterpreterError(str(error)) from error


def _direct_requirements(wheel: Path) -> list[str]:
    """What the wheel itself requires, without extras."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = BytesParser().parsebytes(archive.read(name))
    requirements = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    return [str(each) for each in requirements if each.marker is None or each.marker.evaluate({"extra": ""})]


def _variables(directory: Path) -> dict[str, str]:
    """A home without anything in it, and no trace of the checkout or of the index that is configured here."""
    unwanted = ("PIP_", "UV_", "PYTHON", "VIRTUAL_ENV", "XDG_", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    home = directory / "home"
    home.mkdir()
    return {**kept, "HOME": str(home), "PIP_CONFIG_FILE": os.devnull}
