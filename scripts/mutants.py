"""Small changes of a module, each of which some test should notice."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        first, last: the lines that are replaced, counted from 1.
        before, after: the expression or statement, as it is and as it becomes.
        source: the whole module with the change.
    """

    first: int
    last: int
    before: str
    after: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every change of a module; annotations, docstrings, messages of errors and assertions are left as they are."""
    lines = source.splitlines(keepends=True)
    for node in _executable(ast.parse(source)):
        for changed in _changes(node):
            before, after = ast.unparse(node), ast.unparse(changed)
            assert isinstance(node, ast.expr | ast.stmt)
            written = after if isinstance(node, ast.stmt) else f"({after})"
            text = _replaced(lines, node, written)
            try:
                compile(text, "mutant", "exec")
            except SyntaxError:  # within an f-string, or where a call stands for a decorator
                continue
            yield Mutant(node.lineno, node.end_lineno or node.lineno, before, after, text)


def _executable(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of function bodies and constants, parents first."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _executable(child)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=operations):
            for number, operation in enumerate(operations):
                changed = copy.deepcopy(node)
                changed.ops[number] = _COMPARISONS[type(operation)]()
                yield changed
        case ast.BoolOp(op=operation, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(operation, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            yield ast.BinOp(left, _OPERATORS[type(operator)](), right)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as number):
            yield ast.Constant(number + 1)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords) if name in _CALLS:
            yield ast.Call(ast.Name(_CALLS[name]), arguments, keywords)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))


def _replaced(lines: list[str], node: ast.expr | ast.stmt, written: str) -> str:
    """The module with other text in a node's place; columns are counted in bytes."""
    assert node.end_lineno is not None
    first, last = lines[node.lineno - 1].encode(), lines[node.end_lineno - 1].encode()
    joined = first[: node.col_offset] + written.encode() + last[node.end_col_offset :]
    return "".join([*lines[: node.lineno - 1], joined.decode(), *lines[node.end_lineno :]])
