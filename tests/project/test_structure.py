"""How the house is built: who may import whom, and which rooms have no door to the outside."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = frozenset(
    {
        "asyncio",
        "builtins",
        "docker",
        "fcntl",
        "glob",
        "httpx",
        "io",
        "multiprocessing",
        "os",
        "pathlib",
        "pty",
        "random",
    }
    | {"requests", "secrets", "select", "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile"}
    | {"threading", "time", "urllib3", "uuid"}
)
"""What reaches beyond a computation: files, programs, hosts, clocks, chance, other threads."""

ALLOWED = {
    "bisector.model": {"pathlib"},  # paths as values
    "bisector.signature.reading": {"signal"},  # the names of signals
    "pins.report.hazards_json": {"os"},  # how a path is encoded
    "pins.report.rules_list": {"pathlib"},
}
"""What is imported all the same, for names and values alone."""


@cache
def modules() -> dict[str, Path]:
    """Every module of both packages, by name."""
    found = {}
    for package in ("bisector", "pins"):
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a module, within functions too, without those for the type checker alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from statements(child)


@cache
def imports(module: str) -> frozenset[str]:
    """The modules that one imports, those of this project in full."""
    found: set[str] = set()
    for statement in statements(ast.parse(modules()[module].read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif statement.module:
            inner = {f"{statement.module}.{alias.name}" for alias in statement.names}
            found |= {name if name in modules() else statement.module for name in inner}
    return frozenset(found)


def within(*places: str) -> list[str]:
    return sorted(name for name in modules() if any(name == place or name.startswith(place + ".") for place in places))


def outside(module: str) -> set[str]:
    return {name for name in imports(module) if name.split(".")[0] in OUTSIDE}


def test_pins_knows_nothing_of_bisector() -> None:
    known = {name: [other for other in imports(name) if other.split(".")[0] == "bisector"] for name in within("pins")}
    assert {name: others for name, others in known.items() if others} == {}


def test_the_search_knows_its_own_modules_alone() -> None:
    for name in within("bisector.search"):
        of_project = {other for other in imports(name) if other.split(".")[0] in ("bisector", "pins")}
        assert of_project <= set(within("bisector.search")), name


@pytest.mark.parametrize(
    "place",
    [
        "bisector.model",
        "bisector.search",
        "bisector.signature",
        "bisector.space",
        "pins.hazards.rules",
        "pins.model",
        "pins.report",
        "pins.resolve",
    ],
)
def test_a_pure_core_reaches_nothing_outside(place: str) -> None:
    found = {name: outside(name) - ALLOWED.get(name, set()) for name in within(place)}
    assert found
    assert {name: others for name, others in found.items() if others} == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: {other for other in imports(name) if other in modules()} for name in modules()}
    assert [circle for circle in circles(graph) if len(circle) > 1] == []


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components (Tarjan's algorithm, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_path: list[str] = []
    found = []
    for start in graph:
        if start in index:
            continue
        index[start] = low[start] = len(index)
        on_path.append(start)
        work = [(start, iter(sorted(graph[start])))]
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    on_path.append(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in on_path:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    place = on_path.index(node)
                    found.append(sorted(on_path[place:]))
                    del on_path[place:]
    return found


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"e"}}
    assert sorted(circles(graph)) == [["a"], ["b", "c"], ["d"], ["e"]]
