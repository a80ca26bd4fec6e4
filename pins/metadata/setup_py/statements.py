"""Going through a `setup.py` statement by statement, down to its call of `setup()`.

Where a condition cannot be decided, both ways are gone, and what differs behind them is unknown.
"""

import ast
from dataclasses import dataclass, field
from enum import Enum

from pins.metadata.setup_py.changes import METHODS, change
from pins.metadata.setup_py.expressions import Expressions
from pins.metadata.setup_py.surroundings import PURE, PURE_METHODS, Surroundings, TooMuchError
from pins.metadata.setup_py.values import Function, Known, Names, Symbol, Unknown, Value, containers, copied, merged

_SETUP = frozenset(
    [
        *("setuptools.setup", "distutils.core.setup", "setup", "skbuild.setup", "numpy.distutils.core.setup"),
        *("torch.utils.cpp_extension.setup",),
    ]
)
_DEEPEST = 12


class Next(Enum):
    """Where it goes on behind a statement."""

    FOLLOWING = 0
    RETURNED = 1
    STOPPED = 2
    OUT_OF_LOOP = 3
    NEXT_IN_LOOP = 4


@dataclass
class SetupCall:
    """One call of `setup()`.

    Attributes:
        line: where it stands.
        arguments: by name.
        unknown: why there may be further arguments, "" where there are none.
    """

    line: int
    arguments: dict[str, Value]
    unknown: str = ""


@dataclass
class _Frame:
    names: Names
    returned: Value | None = None


@dataclass
class Reading:
    """Goes through a file.

    Attributes:
        around: what the file would find around it.
        calls: of `setup()`, in order.
    """

    around: Surroundings
    calls: list[SetupCall] = field(default_factory=list)
    _globals: Names = field(default_factory=dict)
    _depth: int = 0
    _resting: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._expressions = Expressions(self.around, self._called)

    def module(self, tree: ast.Module) -> str:
        """Read the whole file; gives why the reading ended early, "" where it did not."""
        frame = _Frame(self._globals)
        try:
            self._block(tree.body, frame)
        except TooMuchError:
            return "it does more than is followed"
        except RecursionError:
            return "it is nested too deeply to be followed"
        return ""

    def _block(self, body: list[ast.stmt], frame: _Frame) -> Next:
        for statement in body:
            self._expressions.step()
            method = getattr(self, f"_{type(statement).__name__.lower()}", None)
            goes: Next = method(statement, frame) if method else self._other(statement, frame)
            if goes is not Next.FOLLOWING:
                return goes
        return Next.FOLLOWING

    def _other(self, statement: ast.stmt, frame: _Frame) -> Next:
        """A statement that is not followed: what it gives names to is not known."""
        self._forget(statement, frame)
        return Next.FOLLOWING

    def _forget(self, node: ast.AST, frame: _Frame) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                frame.names[inner.id] = Unknown(f"{inner.id} is computed", inner.lineno)
            elif isinstance(inner, ast.Call):
                self._forget_what_may_change(inner, frame)

    def _forget_what_may_change(self, call: ast.Call, frame: _Frame) -> None:
        """Lists that are handed to something unknown, or whose methods are called, may be others behind it."""
        touched = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            touched.append(call.func.value)
        named = {one.id for part in touched for one in ast.walk(part) if isinstance(one, ast.Name)}
        names = self._names(frame)
        reached = {inner for name in named if name in names for inner in containers(names[name])}
        if not reached:
            return
        said = f"it may be changed by {ast.unparse(call)[:50]}"
        for scope in (frame.names, self._globals):
            for name, value in list(scope.items()):
                if not reached.isdisjoint(containers(value)):
                    scope[name] = Unknown(said, call.lineno)

    # -- statements ----------------------------------------------------------------------------------------------

    def _import(self, statement: ast.Import, frame: _Frame) -> Next:
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            frame.names[name] = Symbol(alias.name if alias.asname else name)
        return Next.FOLLOWING

    def _importfrom(self, statement: ast.ImportFrom, frame: _Frame) -> Next:
        for alias in statement.names:
            frame.names[alias.asname or alias.name] = Symbol(f"{statement.module or ''}.{alias.name}")
        return Next.FOLLOWING

    def _functiondef(self, statement: ast.FunctionDef, frame: _Frame) -> Next:
        frame.names[statement.name] = Function(statement)
        return Next.FOLLOWING

    def _classdef(self, statement: ast.ClassDef, frame: _Frame) -> Next:
        frame.names[statement.name] = Unknown(f"{statement.name} is a class", statement.lineno)
        return Next.FOLLOWING

    def _assign(self, statement: ast.Assign, frame: _Frame) -> Next:
        value = self._value(statement.value, frame)
        for target in statement.targets:
            self._bind(target, value, frame)
        return Next.FOLLOWING

    def _annassign(self, statement: ast.AnnAssign, frame: _Frame) -> Next:
        if statement.value is not None:
            self._bind(statement.target, self._value(statement.value, frame), frame)
        return Next.FOLLOWING

    def _augassign(self, statement: ast.AugAssign, frame: _Frame) -> Next:
        if isinstance(statement.target, ast.Name) and isinstance(statement.op, ast.Add):
            name = statement.target.id
            before = frame.names.get(name) or self._globals.get(name, Unknown(f"{name} is computed", statement.lineno))
            frame.names[name] = self._expressions.added(before, self._value(statement.value, frame), statement)
            return Next.FOLLOWING
        return self._other(statement, frame)

    def _bind(self, target: ast.expr, value: Value, frame: _Frame) -> None:
        if isinstance(target, ast.Name):
            frame.names[target.id] = self._rested(value)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            owner = frame.names.get(target.value.id)
            key = self._value(target.slice, frame)
            if isinstance(owner, Known) and isinstance(owner.value, dict) and isinstance(key, Known):
                owner.value[key.value] = value
            elif isinstance(owner, Known):
                frame.names[target.value.id] = Unknown(f"{target.value.id} is changed", target.lineno)
        elif isinstance(target, ast.Tuple | ast.List):
            members = self._expressions.members(value)
            plain_targets = not any(isinstance(one, ast.Starred) for one in target.elts)
            if members is not None and len(members) == len(target.elts) and plain_targets:
                for one, member in zip(target.elts, members, strict=True):
                    self._bind(one, member, frame)
            else:
                self._forget(target, frame)

    def _delete(self, statement: ast.Delete, frame: _Frame) -> Next:
        for target in statement.targets:
            owner = target
            while isinstance(owner, ast.Subscript | ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name):
                frame.names[owner.id] = Unknown(f"{owner.id} is changed", statement.lineno)
        return Next.FOLLOWING

    def _expr(self, statement: ast.Expr, frame: _Frame) -> Next:
        node = statement.value
        if isinstance(node, ast.Call):
            if self._changes_list(node, frame):
                return Next.FOLLOWING
            function = self._expressions.value(node.func, self._names(frame))
            if isinstance(function, Symbol) and function.name in ("sys.exit", "exit", "quit", "os._exit"):
                return Next.STOPPED
            self._value(node, frame)
        return Next.FOLLOWING

    def _changes_list(self, node: ast.Call, frame: _Frame) -> bool:
        """Do what `append`, `extend` and their like do; False for any other call."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in METHODS:
            return False
        owner = self._expressions.value(node.func.value, self._names(frame))
        given = [self._value(part, frame) for part in node.args]
        done = change(self._expressions, node, node.func.attr, owner, given, self._rested)
        if isinstance(done, Unknown) and isinstance(owner, Known):
            for scope in (frame.names, self._globals):
                for name, value in list(scope.items()):
                    if id(owner.value) in containers(value):  # another name of the list, or what holds it
                        same = isinstance(value, Known) and value.value is owner.value
                        scope[name] = Unknown(done.why, done.line, list(done.members) if same else [])
            return True
        return done is True

    def _if(self, statement: ast.If, frame: _Frame) -> Next:
        holds, rests = self._expressions.truth(statement.test, self._names(frame))
        if holds is not None:
            before, self._resting = self._resting, self._resting | rests
            try:
                return self._block(statement.body if holds else statement.orelse, frame)
            finally:
                self._resting = before
        reason = f"it depends on whether {ast.unparse(statement.test)[:60]}"
        return self._ways([statement.body, statement.orelse], frame, reason, statement.lineno)

    def _ways(self, bodies: list[list[ast.stmt]], frame: _Frame, reason: str, line: int) -> Next:
        """Go every way, and keep what they agree on; a way that stops does not count."""
        ended: list[tuple[Next, _Frame]] = []
        calls = len(self.calls)
        outermost = self._globals
        for body in bodies:
            inner = _Frame(copied(frame.names))
            if frame.names is outermost:
                self._globals = inner.names
            try:
                ended.append((self._block(body, inner), inner))
            finally:
                self._globals = outermost
        for call in self.calls[calls:]:
            call.unknown = call.unknown or (reason if len(self.calls) - calls > 1 else "")
        going = [inner for goes, inner in ended if goes is Next.FOLLOWING]
        if going and any(goes in (Next.OUT_OF_LOOP, Next.NEXT_IN_LOOP) for goes, _ in ended):
            raise TooMuchError  # what follows in the loop is done for some members only, and it is not known for which
        if any(goes is Next.RETURNED for goes, _ in ended):
            frame.returned = Unknown(reason, line)
            if not going:
                return Next.RETURNED
        if not going:
            return ended[0][0]
        names = going[0].names
        for inner in going[1:]:
            names = merged(names, inner.names, reason, line)
        frame.names.clear()
        frame.names.update(names)
        return Next.FOLLOWING

    def _try(self, statement: ast.Try, frame: _Frame) -> Next:
        ways = [[*statement.body, *statement.orelse], *(handler.body for handler in statement.handlers)]
        goes = self._ways(ways, frame, "it depends on whether an error occurs", statement.lineno)
        after = self._block(statement.finalbody, frame)
        return after if after is not Next.FOLLOWING else goes

    def _with(self, statement: ast.With, frame: _Frame) -> Next:
        for item in statement.items:
            value = self._value(item.context_expr, frame)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value, frame)
        return self._block(statement.body, frame)

    def _for(self, statement: ast.For, frame: _Frame) -> Next:
        members = self._expressions.members(self._value(statement.iter, frame))
        if members is None:
            return self._other(statement, frame)
        for member in members:
            self._bind(statement.target, member, frame)
            goes = self._block(statement.body, frame)
            if goes is Next.OUT_OF_LOOP:
                break
            if goes not in (Next.FOLLOWING, Next.NEXT_IN_LOOP):
                return goes
        else:
            return self._block(statement.orelse, frame)
        return Next.FOLLOWING

    def _continue(self, _statement: ast.Continue, _frame: _Frame) -> Next:
        return Next.NEXT_IN_LOOP

    def _break(self, _statement: ast.Break, _frame: _Frame) -> Next:
        return Next.OUT_OF_LOOP

    def _return(self, statement: ast.Return, frame: _Frame) -> Next:
        value = self._value(statement.value, frame) if statement.value else Known(None, statement.lineno)
        frame.returned = frame.returned or value
        return Next.RETURNED

    def _raise(self, _statement: ast.Raise, _frame: _Frame) -> Next:
        return Next.STOPPED

    def _global(self, _statement: ast.Global, _frame: _Frame) -> Next:
        raise TooMuchError  # a function that binds the names of others is not followed

    _nonlocal = _global

    def _pass(self, _statement: ast.Pass, _frame: _Frame) -> Next:
        return Next.FOLLOWING

    def _assert(self, _statement: ast.Assert, _frame: _Frame) -> Next:
        return Next.FOLLOWING

    # -- calls ---------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, frame: _Frame) -> Value:
        names = self._names(frame)
        if isinstance(node, ast.Call):
            function = self._expressions.value(node.func, names)
            if isinstance(function, Symbol) and function.name in _SETUP:
                self._setup(node, names)
                return Unknown("it is what setup() gives", node.lineno)
        value = self._expressions.value(node, names)
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
            return value
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and not _leaves_all_as_it_is(inner, names):
                self._forget_what_may_change(inner, frame)
        return value

    def _names(self, frame: _Frame) -> Names:
        return frame.names if frame.names is self._globals else {**self._globals, **frame.names}

    def _rested(self, value: Value) -> Value:
        """A value that is only there because of what has been taken for granted so far."""
        if self._resting and isinstance(value, Known) and not self._resting <= value.assumptions:
            return Known(value.value, value.line, value.assumptions | self._resting)
        return value

    def _setup(self, node: ast.Call, names: Names) -> None:
        arguments: dict[str, Value] = {}
        unknown = ""
        for keyword in node.keywords:
            value = self._expressions.value(keyword.value, names)
            if keyword.arg:
                arguments[keyword.arg] = value
            elif isinstance(value, Known) and isinstance(value.value, dict):
                arguments.update({str(key): inner for key, inner in value.value.items()})
            else:
                unknown = f"{ast.unparse(keyword.value)[:60]} is computed"
        self.calls.append(SetupCall(node.lineno, copied(arguments), unknown))

    def _called(self, function: Function, given: list[Value], named: dict[str, Value]) -> Value:
        node = function.node
        unknown = Unknown(f"{node.name}() is computed", node.lineno)
        parameters = [*node.args.posonlyargs, *node.args.args]
        odd = node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.decorator_list
        if self._depth >= _DEEPEST or odd or len(given) > len(parameters):
            return unknown
        frame = _Frame({})
        defaults = dict(zip([one.arg for one in parameters[::-1]], node.args.defaults[::-1], strict=False))
        for index, parameter in enumerate(parameters):
            if index < len(given):
                frame.names[parameter.arg] = given[index]
            elif parameter.arg in named:
                frame.names[parameter.arg] = named[parameter.arg]
            elif parameter.arg in defaults:
                frame.names[parameter.arg] = self._expressions.value(defaults[parameter.arg], self._globals)
            else:
                return unknown
        self._depth += 1
        try:
            goes = self._block(node.body, frame)
        finally:
            self._depth -= 1
        if goes is Next.RETURNED and frame.returned is not None:
            return frame.returned
        return Known(None, node.lineno) if goes is Next.FOLLOWING else unknown


def _leaves_all_as_it_is(call: ast.Call, names: Names) -> bool:
    """Whether a call is known to change none of the lists that it is given."""
    if isinstance(call.func, ast.Name):
        return call.func.id in PURE or isinstance(names.get(call.func.id), Function)
    return isinstance(call.func, ast.Attribute) and call.func.attr in PURE_METHODS
