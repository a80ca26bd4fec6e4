"""What comes along with this package: documented, under licences that fit, and needed."""

import ast
import importlib.metadata
import runpy
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "dependencies.py")))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCUMENT = (ROOT / "docs" / "dependencies.md").read_text()
PARTS_OF = {"requests": "docker", "urllib3": "docker", "pydantic-core": "pydantic"}
"""What is imported without being asked for: the errors and types of what is asked for are there."""


def imported() -> set[str]:
    """The top level of everything that a module of either package imports."""
    found: set[str] = set()
    for package in ("bisector", "pins"):
        for module in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(module.read_text())):
                if isinstance(node, ast.Import):
                    found |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.add(node.module.split(".")[0])
    return found


def test_each_direct_dependency_is_imported_and_nothing_else_is_that_comes_along_by_chance() -> None:
    homes = {
        module: {canonicalize_name(name) for name in names}
        for module, names in importlib.metadata.packages_distributions().items()
    }
    needed = set().union(*(homes.get(module, set()) for module in imported()))
    direct = set(SCRIPT.direct_requirements(PROJECT))
    assert direct <= needed
    assert needed - {"bisector", "ray"} - direct == set(PARTS_OF)
    for name, whole in PARTS_OF.items():
        assert name in {canonicalize_name(Requirement(line).name) for line in importlib.metadata.requires(whole) or ()}


def test_licences_of_all_that_comes_along_go_together_with_ours() -> None:
    found = SCRIPT.dependencies(PROJECT)
    assert len(found) > 20
    assert [each for each in found if SCRIPT.doubtful(each)] == []


@pytest.mark.parametrize("licence", ["", "GPL-3.0-only", "MIT AND LGPL-2.1-only", "Proprietary"])
def test_another_licence_asks_for_a_person(licence: str) -> None:
    assert SCRIPT.doubtful(SCRIPT.Dependency("spam", "1.0", licence, ("bisector",)))
    assert SCRIPT.parts("(MIT OR Apache-2.0) AND ISC") == {"MIT", "Apache-2.0", "ISC"}


def test_the_document_names_each_direct_dependency_with_its_bound_and_all_that_come_along() -> None:
    for name, requirement in SCRIPT.direct_requirements(PROJECT).items():
        assert f"| {name} | `{requirement.specifier}` |" in DOCUMENT, "write it again: scripts/dependencies"
    missing = [each.name for each in SCRIPT.dependencies(PROJECT) if f"| {each.name} |" not in DOCUMENT]
    assert missing == [], "write it again: scripts/dependencies"
