"""Calls in a `setup.py`: the few whose result is known without running anything."""

import ast
import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, Protocol

from pins.metadata.setup_py.surroundings import ROOT, TEXT_METHODS, Surroundings
from pins.metadata.setup_py.values import Function, Known, Names, Symbol, Text, Unknown, Value, assumptions_of, plain

_LARGEST_FILE = 2**20
_WORTH_READING = re.compile(
    r"requirement|version|constraint|depend|about|__init__\.py|\.(?:txt|in|cfg|toml)\Z", re.IGNORECASE
)
_ON_PATHS: Mapping[str, Callable[..., str]] = {
    "os.path.join": posixpath.join,
    "os.path.dirname": posixpath.dirname,
    "os.path.basename": posixpath.basename,
    "os.path.normpath": posixpath.normpath,
    "os.path.abspath": lambda path: posixpath.normpath(posixpath.join(ROOT, path)),
    "os.path.realpath": lambda path: posixpath.normpath(posixpath.join(ROOT, path)),
}
_OPENERS = frozenset({"open", "io.open", "codecs.open"})
_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "bool": bool,
    "len": len,
    "any": any,
    "all": all,
}


class Evaluator(Protocol):
    """What calls ask of whoever evaluates the expressions within them."""

    def value(self, node: ast.expr, names: Names) -> Value:
        """What an expression comes to."""

    def members(self, value: Value) -> list[Value] | None:
        """What a loop over a value goes through, None where that is not known."""

    def call_function(self, function: Function, given: list[Value], named: dict[str, Value]) -> Value:
        """Call a function that the file defines."""


def called(expressions: Evaluator, around: Surroundings, node: ast.Call, names: Names) -> Value:
    """What a call gives."""
    given = [expressions.value(part, names) for part in node.args if not isinstance(part, ast.Starred)]
    named = {keyword.arg: expressions.value(keyword.value, names) for keyword in node.keywords if keyword.arg}
    unknown = Unknown(node, node.lineno)
    if len(given) != len(node.args) or len(named) != len(node.keywords):
        return unknown
    if isinstance(node.func, ast.Attribute):
        owner = expressions.value(node.func.value, names)
        if isinstance(owner, Known):
            return _method(expressions, around, node, owner, node.func.attr, given) or unknown
        if isinstance(owner, Unknown):
            return unknown
    function = expressions.value(node.func, names)
    if isinstance(function, Function):
        return expressions.call_function(function, given, named)
    if isinstance(function, Symbol):
        return _library(around, node, function.name, given) or unknown
    return unknown


def _library(around: Surroundings, node: ast.Call, name: str, given: list[Value]) -> Value | None:
    """The result of a function of the standard library, None where it is not known."""
    line, rests = node.lineno, assumptions_of(*given)
    parts = [plain(value) for value in given]
    if not all(known for known, _ in parts):
        return _of_lists(name, given, line)
    values = [part for _, part in parts]
    if name in ("os.environ.get", "os.getenv") and values and isinstance(values[0], str):
        if values[0] in around.variables:
            return Known(around.variables[values[0]], line)
        default = values[1] if len(values) > 1 else None
        return Known(default, line, rests | {f"{values[0]} is not set"})
    if name in _ON_PATHS and values and all(isinstance(value, str | PurePosixPath) for value in values):
        return Known(_ON_PATHS[name](*map(str, values)), line, rests)
    if name in ("pathlib.Path", "pathlib.PurePath") and values and isinstance(values[0], str | PurePosixPath):
        return Known(PurePosixPath(*map(str, values)), line, rests)
    if name in ("os.path.exists", "os.path.isfile") and values and isinstance(values[0], str):
        inside = _inside(values[0], around)
        return Known(around.read(inside) is not None, line, rests) if inside else None
    if name in _OPENERS and values:
        return _opened(around, str(values[0]), line, rests)
    if name in ("platform.system", "platform.machine") and not values:
        return Known(around.markers.get(name.replace(".", "_"), ""), line)
    if name in _CONVERSIONS and len(values) == 1:
        try:
            return Known(_CONVERSIONS[name](values[0]), line, rests)
        except (TypeError, ValueError):
            return None
    return _of_lists(name, given, line)


def _of_lists(name: str, given: list[Value], line: int) -> Value | None:
    if name in ("list", "tuple", "set") and not given:
        return Known([], line)
    if name == "dict" and not given:
        return Known({}, line)
    if name in ("list", "tuple", "set", "sorted") and len(given) == 1 and isinstance(given[0], Known):
        inner = given[0].value
        if isinstance(inner, list | tuple):
            return Known(list(inner), line, given[0].assumptions)
        if isinstance(inner, Text) and name != "sorted":
            rests = given[0].assumptions
            return Known([Known(one, line, rests) for one in inner.content.splitlines()], line, rests)
    return None


def _method(
    expressions: Evaluator, around: Surroundings, node: ast.Call, owner: Known, method: str, given: list[Value]
) -> Value | None:
    parts = [plain(value) for value in given]
    line, rests = node.lineno, owner.assumptions | assumptions_of(*given)
    inner = owner.value
    if isinstance(inner, str) and method in TEXT_METHODS and all(known for known, _ in parts):
        return _text_method(inner, method, [part for _, part in parts], line, rests)
    if isinstance(inner, Text):
        if method == "read":
            return Known(inner.content, line, rests)
        if method == "readlines":
            return Known(expressions.members(owner), line, rests)
    if isinstance(inner, PurePosixPath):
        if method in ("resolve", "absolute"):
            return Known(PurePosixPath(ROOT) / inner, line, rests)
        if method == "joinpath" and all(known for known, _ in parts):
            return Known(inner.joinpath(*(str(part) for _, part in parts)), line, rests)
        if method == "read_text":
            opened = _opened(around, str(inner), line, rests)
            return Known(opened.value.content, line, rests) if opened else None
        if method == "open":
            return _opened(around, str(inner), line, rests)
        if method in ("exists", "is_file"):
            inside = _inside(str(inner), around)
            return Known(around.read(inside) is not None, line, rests) if inside else None
    if isinstance(inner, dict) and method == "get" and parts and parts[0][0]:
        default: Value = given[1] if len(given) > 1 else Known(None, line)
        found: Value = inner.get(parts[0][1], default)
        return found
    return None


def _text_method(text: str, method: str, given: list[Any], line: int, rests: frozenset[str]) -> Value | None:
    if method == "format" and not all(isinstance(part, str | int) for part in given):
        return None
    if method == "format" and not re.fullmatch(r"(?:[^{}]|\{\d*\})*", text):  # attributes, widths: not followed
        return None
    try:
        result = getattr(text, method)(*given)
    except (TypeError, ValueError, IndexError, KeyError):
        return None
    if isinstance(result, list | tuple):
        return Known([Known(part, line, rests) for part in result], line, rests)
    return Known(result, line, rests)


def _opened(around: Surroundings, path: str, line: int, rests: frozenset[str]) -> Known | None:
    inside = _inside(path, around)
    content = around.read(inside) if inside else None
    if content is None or len(content) > _LARGEST_FILE:
        return None
    return Known(Text(content.decode("utf-8", "replace")), line, rests)


def _inside(path: str, around: Surroundings) -> str:
    """A path from the top of the tree, "" for one that is not followed: outside of it, or of another kind of file.

    Builds run beside their `setup.py`. Only files that may hold requirements or a version are followed: others change
    at every other commit, and nothing that is asked here depends on them.
    """
    start = posixpath.join(ROOT, posixpath.dirname(around.file))
    full = posixpath.normpath(posixpath.join(start, path))
    if not full.startswith(ROOT + "/") or not _WORTH_READING.search(posixpath.basename(full)):
        return ""
    return posixpath.relpath(full, ROOT)
