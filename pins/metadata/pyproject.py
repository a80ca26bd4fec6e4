"""What a `pyproject.toml` says: PEP 518 (build requirements), PEP 621 (the project), setuptools' dynamic fields."""

import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from pins.metadata.declarations import Declarations, Statement, Subject, with_extra

_FIELDS = {
    "dependencies": Subject.RUNTIME,
    "optional-dependencies": Subject.RUNTIME,
    "version": Subject.VERSION,
    "requires-python": Subject.REQUIRES_PYTHON,
    "name": Subject.NAME,
}


class _Lines:
    """Where each string of the file stands."""

    def __init__(self, content: bytes) -> None:
        from pins.files.toml_strings import toml_strings

        newlines = [index for index, byte in enumerate(content) if byte == 0x0A]
        self._lines = {string.path: bisect_right(newlines, string.start - 1) + 1 for string in toml_strings(content)}

    def of(self, *path: str | int) -> int:
        """The line of a string, 1 where it is not found."""
        return self._lines.get(path, 1)


def read_pyproject(content: bytes, file: str = "pyproject.toml") -> Declarations:
    """What the file says; a file that is not valid says that everything is unknown."""
    try:
        table = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = f"{file} is not valid TOML: {str(error)[:100]}"
        return Declarations(file, unknown=dict.fromkeys(Subject, reason))
    lines = _Lines(content)
    says: dict[Subject, tuple[Statement, ...]] = {}
    unknown: dict[Subject, str] = {}
    build = _table(table, "build-system")
    if "requires" in build:
        found = _strings(build["requires"])
        if found is None:
            unknown[Subject.BUILD] = f"build-system.requires of {file} is no list of strings"
        else:
            says[Subject.BUILD] = tuple(
                Statement(text, file, lines.of("build-system", "requires", index)) for index, text in enumerate(found)
            )
    project = table.get("project")
    dynamic: frozenset[Subject] = frozenset()
    if isinstance(project, dict):
        dynamic = frozenset(_FIELDS[name] for name in _strings(project.get("dynamic")) or () if name in _FIELDS)
        _read_project(project, file, lines, dynamic, says, unknown)
    elif isinstance(table.get("tool"), dict) and any(name in table["tool"] for name in ("poetry", "flit", "pdm")):
        tool = next(name for name in ("poetry", "flit", "pdm") if name in table["tool"])
        unknown[Subject.RUNTIME] = f"{file} declares requirements in [tool.{tool}], which is not read"
    backend = build.get("build-backend", "")
    return Declarations(file, says, unknown, dynamic, backend if isinstance(backend, str) else "")


def _read_project(
    project: Mapping[str, Any],
    file: str,
    lines: _Lines,
    dynamic: frozenset[Subject],
    says: dict[Subject, tuple[Statement, ...]],
    unknown: dict[Subject, str],
) -> None:
    for name, subject in (
        ("name", Subject.NAME),
        ("version", Subject.VERSION),
        ("requires-python", Subject.REQUIRES_PYTHON),
    ):
        value = project.get(name)
        if isinstance(value, str):
            says[subject] = (Statement(value, file, lines.of("project", name)),)
        elif value is not None:
            unknown[subject] = f"project.{name} of {file} is no string"
    if Subject.RUNTIME in dynamic:
        return
    found = _strings(project.get("dependencies", []))
    optional = _optional(project)
    if found is None or optional is None:
        unknown[Subject.RUNTIME] = f"the dependencies of {file} are no lists of strings"
        return
    statements = [Statement(text, file, lines.of("project", "dependencies", index)) for index, text in enumerate(found)]
    statements += [
        Statement(with_extra(text, extra), file, lines.of("project", "optional-dependencies", extra, index))
        for extra, texts in optional.items()
        for index, text in enumerate(texts)
    ]
    says[Subject.RUNTIME] = tuple(statements)


def project_requirements(table: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Requirements as a [project] table declares them, extras as markers; None where it leaves them to the build."""
    project = table.get("project")
    if not isinstance(project, dict):
        return None
    dynamic = _strings(project.get("dynamic", []))
    if dynamic is None or {"dependencies", "optional-dependencies"} & set(dynamic):
        return None
    found, optional = _strings(project.get("dependencies", [])), _optional(project)
    if found is None or optional is None:
        return None
    return (*found, *(with_extra(text, extra) for extra, texts in optional.items() for text in texts))


def setuptools_dynamic(content: bytes) -> dict[str, Any]:
    """The table [tool.setuptools.dynamic], which says where setuptools finds fields that are left to it."""
    try:
        table = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return {}
    return _table(_table(_table(table, "tool"), "setuptools"), "dynamic")


def _table(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = table.get(name)
    return value if isinstance(value, dict) else {}


def _optional(project: Mapping[str, Any]) -> dict[str, tuple[str, ...]] | None:
    table = project.get("optional-dependencies", {})
    if not isinstance(table, dict):
        return None
    found: dict[str, tuple[str, ...]] = {}
    for extra, value in table.items():
        texts = _strings(value)
        if texts is None:
            return None
        found[extra] = texts
    return found


def _strings(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        return None
    return tuple(value)
