"""Which files an interpreter can use: its version and its platform tags."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag
from packaging.version import InvalidVersion, Version

from pins.errors import EnvironmentFailureError, UsageError
from pins.sources.interpreter_facts import Facts, described_facts, markers_of, tags_of


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
        tag_order: the tags, the most specific first: of several wheels, installers take the one whose tag comes first.
        markers: (name, value) of every environment marker, as PEP 508 names them.
    """

    python: Version
    tags: frozenset[Tag]
    installer: Installer = Installer.UV
    description: str = ""
    tag_order: tuple[Tag, ...] = ()
    markers: tuple[tuple[str, str], ...] = ()

    @cached_property
    def tag_ranks(self) -> dict[Tag, int]:
        """How far down in the order each tag stands."""
        return {tag: rank for rank, tag in enumerate(self.tag_order)}

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
    return target_from(facts, installer)


def target_from(facts: Facts, installer: Installer = Installer.UV) -> Target:
    """What files an interpreter takes that is described by facts."""
    order = tuple(dict.fromkeys(tags_of(facts)))
    return Target(
        python=facts.python,
        tags=frozenset(order),
        installer=installer,
        description=f"Python {facts.python} on {facts.platform}{_c_library(facts)}",
        tag_order=order,
        markers=tuple(markers_of(facts).items()),
    )


def _c_library(facts: Facts) -> str:
    return f" ({facts.glibc})" if facts.platform.startswith("linux") and facts.glibc else ""


def described_target(
    python: str, *, platform: str = "linux-x86_64", glibc: str = "2.28", installer: Installer = Installer.UV
) -> Target:
    """What files an interpreter takes that is not at hand.

    Args:
        python: its version, "3.12" or "3.12.4"; without a third part, the first release counts, as for uv.
        platform: as `sysconfig.get_platform` calls it: "linux-x86_64", "linux-aarch64".
        glibc: version of the C library; 2.28 is what uv takes for Linux where it is not told.
        installer: whose rules hold.

    Raises:
        UsageError: it is no version of Python.
    """
    if not re.fullmatch(r"3(\.\d{1,3}){1,2}", python):
        raise UsageError(f"{python!r} is no version of Python: give one such as 3.12 or 3.12.4")
    return target_from(described_facts(python, platform, glibc), installer)


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
