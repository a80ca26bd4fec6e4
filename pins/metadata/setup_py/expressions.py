"""The value of an expression: constants, what is made of them, the environment, and files of the tree.

Nothing is run: operations are done here, on plain values, and only those listed. Everything else is unknown.
"""

import ast
import operator
import posixpath
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pins.metadata.setup_py.calls import called
from pins.metadata.setup_py.surroundings import BUILT_IN, LONGEST, MOST_STEPS, ROOT, Surroundings, TooMuchError
from pins.metadata.setup_py.values import Function, Known, Names, Symbol, Text, Unknown, Value, assumptions_of, plain

_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}


class Expressions:
    """Evaluates expressions in the light of names.

    Args:
        around: what the file would find around it.
        call: calls a function that the file defines.
    """

    def __init__(self, around: Surroundings, call: Callable[[Function, list[Value], dict[str, Value]], Value]) -> None:
        self._around = around
        self._call_function = call
        self._steps = 0

    def step(self) -> None:
        """Count one step.

        Raises:
            TooMuchError: there were too many.
        """
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooMuchError

    def value(self, node: ast.expr, names: Names) -> Value:
        """What an expression comes to."""
        self.step()
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        found: Value = method(node, names) if method else self._unknown(node)
        if (
            isinstance(found, Known)
            and isinstance(found.value, str | bytes | list | tuple)
            and len(found.value) > LONGEST
        ):
            raise TooMuchError
        return found

    def truth(self, node: ast.expr, names: Names) -> tuple[bool | None, frozenset[str]]:
        """Whether a condition holds, None where that is not known; and what that rests on."""
        found = self.value(node, names)
        if isinstance(found, Known):
            return bool(found.value), assumptions_of(found)
        return None, frozenset()

    def members(self, value: Value) -> list[Value] | None:
        """What a loop over a value goes through, None where that is not known."""
        if not isinstance(value, Known):
            return None
        inner = value.value
        if isinstance(inner, Text):
            return [Known(line, value.line, value.assumptions) for line in inner.content.splitlines(keepends=True)]
        if isinstance(inner, dict):
            return [Known(key, value.line, value.assumptions) for key in inner]
        return list(inner) if isinstance(inner, list | tuple | set) else None

    def _unknown(self, node: ast.expr) -> Unknown:
        return Unknown(node, node.lineno)

    def _constant(self, node: ast.Constant, _names: Names) -> Value:
        return Known(node.value, node.lineno)

    def _name(self, node: ast.Name, names: Names) -> Value:
        if node.id in names:
            return names[node.id]
        if node.id == "__file__":
            return Known(posixpath.join(ROOT, self._around.file), node.lineno)
        if node.id == "__name__":
            return Known("__main__", node.lineno)
        return Symbol(node.id) if node.id in BUILT_IN else self._unknown(node)

    def _list(self, node: ast.List, names: Names) -> Value:
        return self._sequence(node, names, list)

    def _tuple(self, node: ast.Tuple, names: Names) -> Value:
        return self._sequence(node, names, tuple)

    def _set(self, node: ast.Set, names: Names) -> Value:
        return self._sequence(node, names, list)

    def _sequence(
        self, node: ast.List | ast.Tuple | ast.Set, names: Names, kind: Callable[[list[Value]], Any]
    ) -> Value:
        parts: list[Value] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.members(self.value(element.value, names))
                if inner is None:
                    return Unknown(element, element.lineno, parts)
                parts += inner
            else:
                parts.append(self.value(element, names))
        return Known(kind(parts), node.lineno)

    def _dict(self, node: ast.Dict, names: Names) -> Value:
        found: dict[Any, Value] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.value(part, names)
                if not isinstance(inner, Known) or not isinstance(inner.value, dict):
                    return self._unknown(node)
                found.update(inner.value)
                continue
            known, name = plain(self.value(key, names))
            if not known or not isinstance(name, str | int | float | bool | None):
                return self._unknown(node)
            found[name] = self.value(part, names)
        return Known(found, node.lineno)

    def _joinedstr(self, node: ast.JoinedStr, names: Names) -> Value:
        parts = [self.value(part, names) for part in node.values]
        if not all(isinstance(part, Known) for part in parts):
            return self._unknown(node)
        text = "".join(str(part.value) for part in parts if isinstance(part, Known))
        return Known(text, node.lineno, assumptions_of(*parts))

    def _formattedvalue(self, node: ast.FormattedValue, names: Names) -> Value:
        found = self.value(node.value, names)
        if node.conversion != -1 or node.format_spec is not None or not isinstance(found, Known):
            return self._unknown(node)
        return (
            Known(str(found.value), node.lineno, found.assumptions) if _is_scalar(found.value) else self._unknown(node)
        )

    def _binop(self, node: ast.BinOp, names: Names) -> Value:
        left, right = self.value(node.left, names), self.value(node.right, names)
        if isinstance(node.op, ast.Add):
            return self.added(left, right, node)
        if not isinstance(left, Known) or not isinstance(right, Known):
            return self._unknown(node)
        rests = assumptions_of(left, right)
        if isinstance(node.op, ast.Div) and isinstance(left.value, PurePosixPath) and isinstance(right.value, str):
            return Known(left.value / right.value, node.lineno, rests)
        if isinstance(node.op, ast.Mod) and isinstance(left.value, str):
            known, given = plain(right)
            if known and _are_scalars(given):
                try:
                    return Known(left.value % given, node.lineno, rests)
                except (TypeError, ValueError):
                    return self._unknown(node)
        return self._unknown(node)

    def added(self, left: Value, right: Value, node: ast.expr | ast.stmt) -> Value:
        """The sum of two values; of lists of which one is not known, the other's members are."""
        if (
            isinstance(left, Known)
            and isinstance(right, Known)
            and type(left.value) is type(right.value)
            and isinstance(left.value, str | int | float | list | tuple)
        ):
            return Known(left.value + right.value, left.line, left.assumptions | right.assumptions)
        members: list[Value] = []
        reason: str | ast.AST = ""
        for part in (left, right):
            if isinstance(part, Known) and isinstance(part.value, list | tuple):
                members += part.value
            elif isinstance(part, Unknown):
                members += part.members
                reason = reason or part.why
        return Unknown(reason or node, node.lineno, members)

    def _boolop(self, node: ast.BoolOp, names: Names) -> Value:
        stops = isinstance(node.op, ast.Or)
        rests: frozenset[str] = frozenset()
        found: Value = self._unknown(node)
        unknown = False
        for operand in node.values:
            found = self.value(operand, names)
            if not isinstance(found, Known):
                unknown = True
            elif bool(found.value) is stops:
                # "unknown or True" is true, though what it comes to need not be known
                if unknown and not isinstance(found.value, bool):
                    return self._unknown(node)
                return Known(found.value, node.lineno, rests | assumptions_of(found))
            else:
                rests |= assumptions_of(found)
        if unknown or not isinstance(found, Known):
            return self._unknown(node)
        return Known(found.value, node.lineno, rests)

    def _unaryop(self, node: ast.UnaryOp, names: Names) -> Value:
        found = self.value(node.operand, names)
        if not isinstance(found, Known):
            return self._unknown(node)
        if isinstance(node.op, ast.Not):
            return Known(not found.value, node.lineno, assumptions_of(found))
        if isinstance(node.op, ast.USub) and isinstance(found.value, int | float):
            return Known(-found.value, node.lineno, found.assumptions)
        return self._unknown(node)

    def _compare(self, node: ast.Compare, names: Names) -> Value:
        operands = [self.value(part, names) for part in (node.left, *node.comparators)]
        if any(isinstance(one, Symbol) and one.name == "os.environ" for one in operands[1:]):
            return self._in_environment(node, operands)
        parts = [plain(operand) for operand in operands]
        if not all(known for known, _ in parts):
            return self._unknown(node)
        try:
            holds = all(
                _COMPARE[type(sign)](one[1], other[1])
                for sign, one, other in zip(node.ops, parts, parts[1:], strict=False)
            )
        except TypeError:
            return self._unknown(node)
        return Known(holds, node.lineno, assumptions_of(*operands))

    def _in_environment(self, node: ast.Compare, operands: list[Value]) -> Value:
        known, name = plain(operands[0])
        if len(operands) != 2 or not known or not isinstance(name, str):
            return self._unknown(node)
        inside = name in self._around.variables
        rests = frozenset() if inside else frozenset([f"{name} is not set"])
        return Known(inside is isinstance(node.ops[0], ast.In), node.lineno, rests)

    def _ifexp(self, node: ast.IfExp, names: Names) -> Value:
        holds, rests = self.truth(node.test, names)
        if holds is None:
            return self._unknown(node)
        found = self.value(node.body if holds else node.orelse, names)
        return Known(found.value, found.line, found.assumptions | rests) if isinstance(found, Known) else found

    def _subscript(self, node: ast.Subscript, names: Names) -> Value:
        found = self.value(node.value, names)
        if isinstance(found, Symbol) and found.name == "os.environ":
            known, name = plain(self.value(node.slice, names))
            variables = self._around.variables
            return Known(variables[name], node.lineno) if known and name in variables else self._unknown(node)
        if not isinstance(found, Known):
            return self._unknown(node)
        try:
            if isinstance(node.slice, ast.Slice):
                bounds = [
                    plain(self.value(part, names)) if part else (True, None)
                    for part in (node.slice.lower, node.slice.upper, node.slice.step)
                ]
                if not all(known for known, _ in bounds):
                    return self._unknown(node)
                return Known(found.value[slice(*(bound for _, bound in bounds))], node.lineno, found.assumptions)
            known, key = plain(self.value(node.slice, names))
            inner = found.value[key] if known else None
        except (KeyError, IndexError, TypeError, ValueError):
            return self._unknown(node)
        if isinstance(inner, Known | Unknown | Symbol | Function):
            return inner
        return Known(inner, node.lineno, found.assumptions) if isinstance(inner, str) else self._unknown(node)

    def _attribute(self, node: ast.Attribute, names: Names) -> Value:
        owner = self.value(node.value, names)
        if isinstance(owner, Symbol):
            name = f"{owner.name}.{node.attr}"
            if name == "sys.version_info":
                version = self._around.markers.get("python_full_version", "3.12.0").split(".")
                parts: list[Value] = [Known(int(part), node.lineno) for part in version if part.isdigit()]
                return Known(tuple(parts), node.lineno)
            constants = {
                "sys.platform": self._around.markers.get("sys_platform", "linux"),
                "os.name": self._around.markers.get("os_name", "posix"),
                "os.sep": "/",
                "os.curdir": ".",
                "os.pardir": "..",
            }
            return Known(constants[name], node.lineno) if name in constants else Symbol(name)
        if isinstance(owner, Known) and isinstance(owner.value, PurePosixPath):
            if node.attr == "parent":
                return Known(owner.value.parent, node.lineno, owner.assumptions)
            if node.attr in ("name", "stem", "suffix"):
                return Known(getattr(owner.value, node.attr), node.lineno, owner.assumptions)
        if isinstance(owner, Known) and isinstance(owner.value, tuple) and node.attr in ("major", "minor", "micro"):
            index = ("major", "minor", "micro").index(node.attr)
            if index < len(owner.value):
                part: Value = owner.value[index]
                return part
        return self._unknown(node)

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, names: Names) -> Value:
        found: list[Value] = []
        for inner in self._comprehended(node.generators, dict(names)):
            if inner is None:
                return self._unknown(node)
            found.append(self.value(node.elt, inner))
        return Known(found, node.lineno)

    _generatorexp = _listcomp

    def _comprehended(self, generators: list[ast.comprehension], names: Names) -> Iterator[Names | None]:
        if not generators:
            yield names
            return
        first, *rest = generators
        members = self.members(self.value(first.iter, names))
        if members is None or not isinstance(first.target, ast.Name):
            yield None
            return
        for member in members:
            inner = {**names, first.target.id: member}
            tests = [self.truth(test, inner)[0] for test in first.ifs]
            if None in tests:
                yield None
                return
            if all(tests):
                yield from self._comprehended(rest, inner)

    def _call(self, node: ast.Call, names: Names) -> Value:
        return called(self, self._around, node, names)

    def call_function(self, function: Function, given: list[Value], named: dict[str, Value]) -> Value:
        """Call a function that the file defines."""
        return self._call_function(function, given, named)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool | PurePosixPath)


def _are_scalars(value: object) -> bool:
    return all(map(_is_scalar, value)) if isinstance(value, tuple) else _is_scalar(value)
