"""Which files an interpreter can use: its version and its platform tags."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, generic_tags, mac_platforms
from packaging.version import InvalidVersion, Version

from pins.errors import EnvironmentFailureError, UsageError


class Installer(StrEnum):
    """Whose rules say which files are usable; they differ."""

    UV = "uv"
    """Ignores an upper bound in Requires-Python; takes source distributions as .tar.gz and .zip only."""
    PIP = "pip"
    """Heeds all of Requires-Python; takes the older archive formats too."""


@dataclass(frozen=True)
class Target:
    """What files must fit.

    Attributes:
        python: the interpreter's version, such as 3.11.7.
        tags: every wheel tag that it takes.
        installer: whose rules hold.
        description: for messages: "Python 3.11.7 on linux_x86_64".
    """

    python: Version
    tags: frozenset[Tag]
    installer: Installer = Installer.UV
    description: str = ""

    def takes_wheel(self, tags: frozenset[Tag]) -> bool:
        """Whether a wheel with these tags can be installed."""
        return not self.tags.isdisjoint(tags)

    def takes_python_requirement(self, requires_python: str) -> bool:
        """Whether a file with this Requires-Python may be installed; one that cannot be parsed excludes nothing."""
        return _takes(self.python, requires_python.strip(), self.installer)


@lru_cache(maxsize=1024)
def _takes(python: Version, requires_python: str, installer: Installer) -> bool:
    # Like pip and uv, so that 3.14.0rc1 counts as 3.14.0.
    release = Version(python.base_version)
    try:
        specifiers = SpecifierSet(requires_python)
    except InvalidSpecifier:
        return True
    if installer is Installer.PIP:
        return specifiers.contains(release, prereleases=True)
    return all(_above_lower_bound(release, one.operator, one.version) for one in specifiers)


def _above_lower_bound(python: Version, operator: str, bound: str) -> bool:
    """Whether a version lies above the lower end of one specifier: all that uv looks at (tried with uv 0.13.9)."""
    try:
        lowest = Version(Version(bound.removesuffix(".*")).base_version)
    except InvalidVersion:
        return True
    if operator in (">=", "~=", "==", "==="):
        return python >= lowest
    return python > lowest if operator == ">" else True


_ASK = """\
import json, os, platform, sys, sysconfig
try:
    glibc = os.confstr("CS_GNU_LIBC_VERSION") or ""
except (AttributeError, OSError, ValueError):
    glibc = ""
print(json.dumps({
    "implementation": sys.implementation.name,
    "version": list(sys.version_info),
    "platform": sysconfig.get_platform(),
    "glibc": glibc,
    "host": sysconfig.get_config_var("HOST_GNU_TYPE") or "",
    "mac": list(platform.mac_ver()[::2]),
    "is_32_bit": sys.maxsize <= 2**32,
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "debug": bool(sysconfig.get_config_var("Py_DEBUG")),
    "abi": (sysconfig.get_config_var("EXT_SUFFIX") or "").split(".")[1:2],
}))
"""


@dataclass(frozen=True)
class Facts:
    """What an interpreter says of itself: the answer to `_ASK`."""

    implementation: str
    version: tuple[int, int, int, str, int]
    platform: str
    glibc: str
    host: str
    mac: tuple[str, str]
    is_32_bit: bool
    free_threaded: bool
    debug: bool
    abi: tuple[str, ...]


def target_of(interpreter: Path, installer: Installer = Installer.UV) -> Target:
    """What files an interpreter takes; asked once per process.

    The interpreter is asked for plain facts and the tags are computed here, since it need not have `packaging`.

    Args:
        interpreter: path of a Python interpreter (3.6 or newer), also one of a virtual environment.
        installer: whose rules say which files are usable.

    Raises:
        UsageError: there is no such file, or it is not a Python interpreter.
        EnvironmentFailureError: it could not be started.
    """
    return _target_of(str(interpreter), installer)


@lru_cache(maxsize=64)
def _target_of(interpreter: str, installer: Installer) -> Target:
    facts = _ask(interpreter)
    stage = {"alpha": "a", "beta": "b", "candidate": "rc"}.get(facts.version[3], "")
    python = Version(".".join(map(str, facts.version[:3])) + (f"{stage}{facts.version[4]}" if stage else ""))
    return Target(
        python=python,
        tags=frozenset(_tags(facts)),
        installer=installer,
        description=f"Python {python} on {facts.platform}",
    )


def _ask(interpreter: str) -> Facts:
    if not Path(interpreter).is_file():
        raise UsageError(f"there is no Python interpreter at {interpreter}")
    # Nothing of the caller's Python settings may change what the interpreter says of itself.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["SYSTEM_VERSION_COMPAT"] = "0"  # macOS would say 10.16 to an interpreter built long ago
    try:
        ended = subprocess.run(
            [interpreter, "-I", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )
    except PermissionError as error:
        raise UsageError(f"{interpreter} is not executable") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFailureError(f"could not ask {interpreter} for its version: {error}") from error
    try:
        answer: dict[str, Any] = json.loads(ended.stdout)
        facts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in answer.items()
        }
        return Facts(**facts)
    except (ValueError, TypeError, AttributeError) as error:
        said = " ".join(ended.stderr.split())[-300:] or f"it ended with status {ended.returncode}"
        raise UsageError(f"{interpreter} is not a Python interpreter that can be used: {said}") from error


def _tags(facts: Facts) -> Iterator[Tag]:
    platforms = list(_platforms(facts))
    version = facts.version[:2]
    nodot = "".join(map(str, version))
    if facts.implementation == "cpython":
        interpreter = f"cp{nodot}"
        yield from cpython_tags(version, _cpython_abis(facts), platforms)
    else:
        interpreter = {"pypy": "pp"}.get(facts.implementation, facts.implementation) + nodot
        # pypy311-pp73-x86_64-linux-gnu: what names the platform is no part of the ABI.
        abis = ["_".join(facts.abi[0].split("-")[:2])] if facts.abi else []
        yield from generic_tags(interpreter, abis, platforms)
    yield from compatible_tags(version, interpreter, platforms)


def _cpython_abis(facts: Facts) -> list[str]:
    nodot = "".join(map(str, facts.version[:2]))
    threads = "t" if facts.free_threaded else ""
    memory = "m" if facts.version[:2] < (3, 8) else ""
    if facts.debug:  # from 3.8 on, a debug build loads ordinary modules as well
        return [f"cp{nodot}{threads}d{memory}", *([f"cp{nodot}{threads}"] if not memory else [])]
    return [f"cp{nodot}{threads}{memory}"]


def _platforms(facts: Facts) -> Iterator[str]:
    own = facts.platform.replace("-", "_").replace(".", "_")
    if facts.platform.startswith("macosx"):
        major, minor, *_ = [*map(int, facts.mac[0].split(".")), 0]
        yield from mac_platforms((major, minor), facts.mac[1])
        return
    if not own.startswith("linux_"):
        yield own
        return
    architecture = own.removeprefix("linux_")
    if facts.is_32_bit:
        architecture = {"x86_64": "i686", "aarch64": "armv8l"}.get(architecture, architecture)
    for name in {"armv8l": ("armv8l", "armv7l")}.get(architecture, (architecture,)):
        yield f"linux_{name}"
        yield from _manylinux(name, facts.glibc)
        if "musl" in facts.host:
            yield from _musllinux(name)


def _manylinux(architecture: str, glibc: str) -> Iterator[str]:
    """Platform tags of PEP 600 and its predecessors, for a C library such as "glibc 2.36"."""
    match = re.match(r"glibc 2\.(\d+)", glibc)
    if not match:
        return
    oldest = 5 if architecture in ("x86_64", "i686") else 17
    older_names = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    for minor in range(int(match[1]), oldest - 1, -1):
        yield f"manylinux_2_{minor}_{architecture}"
        if minor in older_names:
            yield f"{older_names[minor]}_{architecture}"


def _musllinux(architecture: str) -> Iterator[str]:
    """Platform tags of PEP 656; the version is what the loader says when started without a program."""
    try:
        loader = f"/lib/ld-musl-{architecture}.so.1"
        ended = subprocess.run(
            [loader], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    match = re.search(r"^Version (\d+)\.(\d+)", ended.stderr, flags=re.MULTILINE)
    if match:
        for minor in range(int(match[2]), -1, -1):
            yield f"musllinux_{match[1]}_{minor}_{architecture}"
