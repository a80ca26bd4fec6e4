"""What a project's code implies: every rule reads files of the tree and names the line that it stands on."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from packaging.version import InvalidVersion, Version

from pins.metadata.inferred.cmake import old_minimums
from pins.metadata.inferred.facts import (
    ARGUMENTS,
    DASHED_OPTIONS,
    DISTUTILS_LEFT_PYTHON,
    MODULES,
    OLD_CMAKE,
    Removal,
)
from pins.metadata.inferred.imports import needed_imports, setup_arguments
from pins.metadata.project_state import Implied
from pins.metadata.tree import TreeRequirements

RULES = (
    *("cmake-minimum", "pkg-resources", "setuptools-commands", "setuptools-modules", "setuptools-keys", "distutils"),
    "pybind11-internals",
)
"""Every rule by the name that switches it off."""
_ODD_OPTION = re.compile(r"((?=\S*[A-Z-])[A-Za-z][A-Za-z0-9_-]*)\s*[=:]")
_BUILDS_WITH_CMAKE = ("scikit_build_core", "skbuild", "cmake_build_extension")
Read = Callable[[str], bytes | None]


def implied_by(
    read: Read, directory: str, tree: TreeRequirements, *, python: str, rules: Collection[str] = RULES
) -> tuple[Implied, ...]:
    """What building a project implies beyond what it declares.

    Args:
        read: gives a file by its path from the top of the tree, None when there is none.
        directory: of the project.
        tree: what its build files say.
        python: the version that it is built with.
        rules: those that are switched on.
    """
    found = [*_of_setup_py(read, directory, python), *_of_setup_cfg(read, directory)]
    if "cmake-minimum" in rules and _uses_cmake(read, directory, tree):
        found += _of_cmake(read, directory)
    first: dict[tuple[str, str], Implied] = {}
    for one in found:
        if one.rule in rules:
            first.setdefault((one.rule, one.text), one)
    return tuple(first.values())


def implied_by_modules(files: Iterable[tuple[str, bytes]], rules: Collection[str] = RULES) -> tuple[Implied, ...]:
    """What installed modules imply by what they import as soon as they are imported themselves.

    Args:
        files: path and content of Python files that are installed.
        rules: those that are switched on.
    """
    first: dict[str, Implied] = {}
    for path, content in files:
        for module, line in needed_imports(content, top_only=True):
            for removal in MODULES:
                if removal.rule in rules and (module == removal.what or module.startswith(f"{removal.what}.")):
                    implied = _implied(removal, "setuptools", path, line, f"it imports {removal.what}")
                    first.setdefault(implied.text, implied)
    return tuple(first.values())


def _prefix(directory: str) -> str:
    return f"{directory.strip('/')}/" if directory.strip("/") else ""


def _implied(removal: Removal, package: str, file: str, line: int, what: str) -> Implied:
    return Implied(removal.rule, f"{package}{removal.works_with}", file, line, f"{what}, and {removal.because}")


def _of_setup_py(read: Read, directory: str, python: str) -> Iterator[Implied]:
    file = f"{_prefix(directory)}setup.py"
    content = read(file)
    if content is None:
        return
    imports = needed_imports(content, top_only=True)
    for module, line in imports:
        for removal in MODULES:
            if module == removal.what or module.startswith(f"{removal.what}."):
                yield _implied(removal, "setuptools", file, line, f"it imports {removal.what}")
                break
    for name, line in setup_arguments(content):
        for removal in ARGUMENTS:
            if name == removal.what:
                yield _implied(removal, "setuptools", file, line, f"it gives setup() {name}")
    distutils = next((line for module, line in imports if module.split(".")[0] == "distutils"), 0)
    if distutils and _at_least(python, DISTUTILS_LEFT_PYTHON):
        yield Implied(
            "distutils",
            "setuptools",
            file,
            distutils,
            "it imports distutils, which Python 3.12 and later have only where setuptools brings it",
        )


def _of_setup_cfg(read: Read, directory: str) -> Iterator[Implied]:
    file = f"{_prefix(directory)}setup.cfg"
    content = read(file)
    section = ""
    for number, text in enumerate((content or b"").decode("utf-8", "replace").splitlines(), start=1):
        if text.startswith("["):
            section = text.strip("[] \t")
        elif section in ("metadata", "options") and (match := _ODD_OPTION.match(text)):
            yield _implied(DASHED_OPTIONS, "setuptools", file, number, f"it writes the option {match[1]}")
            return


def _of_cmake(read: Read, directory: str) -> Iterator[Implied]:
    starts = dict.fromkeys([directory, *([""] if directory else [])])
    for start in starts:
        for file, line, version in old_minimums(read, start):
            yield _implied(OLD_CMAKE, "cmake", file, line, f"it asks for compatibility with CMake {version}")
            return


def _uses_cmake(read: Read, directory: str, tree: TreeRequirements) -> bool:
    """Whether the build runs CMake: it says so, or its `setup.py` does."""
    if any(re.match(r"cmake(?![\w-])", one.text, re.IGNORECASE) for one in tree.build):
        return True
    if tree.backend.startswith(_BUILDS_WITH_CMAKE):
        return True
    return b"cmake" in (read(f"{_prefix(directory)}setup.py") or b"").lower()


def _at_least(python: str, version: Version) -> bool:
    try:
        return Version(python) >= version
    except InvalidVersion:
        return False
