"""The facts that inferred constraints stand on: one small table. To add a fact, add a line with its source.

A removal says that from some release on something is gone: what uses it excludes these releases.
"""

from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version


@dataclass(frozen=True)
class Removal:
    """Something that releases of a package no longer have.

    Attributes:
        rule: what switches it on and off.
        what: a module as it is imported, an argument of `setup()`, or an option of `setup.cfg`.
        works_with: the releases that still have it.
        because: what happened, for people, without a full stop.
        source: where that is told, or how it was found out.
    """

    rule: str
    what: str
    works_with: str
    because: str
    source: str


_TRIED = "tried: imported from the wheels of the releases on both sides"
MODULES = (
    Removal(
        "pkg-resources",
        "pkg_resources",
        "<82",
        "setuptools 82.0.0 removed pkg_resources",
        "setuptools' history, v82.0.0; the wheels of 81.0.0 and 82.0.0",
    ),
    Removal(
        "setuptools-commands",
        "setuptools.command.test",
        "!=72.0.*",
        "setuptools 72.0.0 removed the command test, which 72.1.0 brought back",
        f"setuptools' history, v72.0.0 and v72.1.0; {_TRIED}",
    ),
    *(
        Removal(
            "setuptools-commands",
            f"setuptools.command.{command}",
            "<75",
            f"setuptools 75.0.0 removed the command {command}",
            _TRIED,
        )
        for command in ("upload", "upload_docs", "register")
    ),
    *(
        Removal("setuptools-modules", module, f"<{version}", f"setuptools {version} removed {module}", _TRIED)
        for module, version in (
            ("setuptools.Feature", "46"),
            ("setuptools.py27compat", "50"),
            ("setuptools.lib2to3_ex", "58"),
            ("setuptools.py34compat", "68"),
            ("setuptools.dep_util", "70"),
            ("setuptools.extern", "71"),
            ("setuptools.sandbox", "80"),
            ("setuptools.package_index", "80.3"),
        )
    ),
)
ARGUMENTS = (
    Removal(
        "setuptools-keys",
        "use_2to3",
        "<58.0.2",
        "setuptools 58.0.0 removed use_2to3, and from 58.0.2 on refuses it",
        "setuptools' history, v58.0.0 and v58.0.2; tried with 58.0.1 and 58.0.2",
    ),
)
DASHED_OPTIONS = Removal(
    "setuptools-keys",
    "options with hyphens or capitals",
    "!=78.0.0,!=78.0.1",
    "setuptools 78.0.0 refused options with hyphens or capitals in setup.cfg, and 78.0.2 took that back",
    "setuptools' history, v78.0.0 and v78.0.2; tried with 78.0.1 and 78.0.2",
)
OLD_CMAKE = Removal(
    "cmake-minimum",
    "cmake_minimum_required(VERSION ...) below 3.5",
    "<4",
    "CMake 4.0 no longer takes projects that ask for compatibility with versions below 3.5",
    "CMake's release notes, 4.0, deprecated and removed features",
)
OLDEST_CMAKE = Version("3.5")
"""What CMake 4 still takes as a minimum."""
DISTUTILS_LEFT_PYTHON = Version("3.12")
"""From this Python on, `distutils` is there only where setuptools brings it (PEP 632)."""


@dataclass(frozen=True)
class Internals:
    """Releases of pybind11 whose compiled modules share their types.

    Attributes:
        number: `PYBIND11_INTERNALS_VERSION`.
        releases: that have it.
        python: for which Pythons that holds.
    """

    number: int
    releases: str
    python: str = ""


INTERNALS = (
    Internals(1, ">=2.2.0,<2.2.4"),
    Internals(2, ">=2.2.4,<2.3.0"),
    Internals(3, ">=2.3.0,<2.5.0"),
    Internals(4, ">=2.5.0,<2.11.0"),
    Internals(4, ">=2.5.0,<3.0.0rc1", "<3.12"),
    Internals(5, ">=2.11.0,<3.0.0rc1", ">=3.12"),
    Internals(9, ">=3.0.0rc1,<3.0.0rc3"),
    Internals(10, "==3.0.0rc3"),
    Internals(11, ">=3.0.0rc4,<3.1.0"),
    Internals(12, ">=3.1.0,<3.2"),
)
"""Taken from `detail/internals.h` and `detail/common.h` in the wheels of every release from 2.2.0 to 3.1.0."""
NEWEST_INTERNALS = Version("3.1.0")
"""The newest release whose headers were looked at: what later ones have is not known."""


def internals_of(version: Version, python: Version) -> Internals | None:
    """The line of the table for a release of pybind11; None where it is not known."""
    if version > NEWEST_INTERNALS:
        return None
    fitting = [
        one
        for one in INTERNALS
        if SpecifierSet(one.releases).contains(version, prereleases=True)
        and (not one.python or SpecifierSet(one.python).contains(python, prereleases=True))
    ]
    return fitting[-1] if fitting else None
