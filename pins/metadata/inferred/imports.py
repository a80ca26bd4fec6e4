"""Modules that a Python file needs: its imports, apart from those that it can do without."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from pins.metadata.python_syntax import body_of


@lru_cache(maxsize=1024)
def needed_imports(content: bytes, *, top_only: bool = False) -> tuple[tuple[str, int], ...]:
    """(module, line) of every import that is not guarded by `try` or a condition.

    `from a import b` names "a" and "a.b", since b may be a module. A file that cannot be parsed needs nothing that is
    known.

    Args:
        content: of the file.
        top_only: whether only imports that run with the module count, and those inside of functions do not.
    """
    return tuple(_imports(content, top_only))


def _imports(content: bytes, top_only: bool) -> Iterator[tuple[str, int]]:
    waiting: list[ast.stmt] = list(body_of(content))
    while waiting:
        statement = waiting.pop(0)
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield alias.name, statement.lineno
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            yield statement.module, statement.lineno
            for alias in statement.names:
                yield f"{statement.module}.{alias.name}", statement.lineno
        elif isinstance(statement, ast.ClassDef | ast.With) or (
            isinstance(statement, ast.FunctionDef) and not top_only
        ):
            waiting = [*statement.body, *waiting]


@lru_cache(maxsize=1024)
def setup_arguments(content: bytes) -> tuple[tuple[str, int], ...]:
    """(name, line) of every named argument of a call of `setup()`; none where the file cannot be parsed."""
    return tuple(_arguments(body_of(content)))


def _arguments(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "setup":
                for keyword in node.keywords:
                    falsy = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                    if keyword.arg and not falsy:
                        yield keyword.arg, keyword.value.lineno
