"""Which commands a piece of shell runs, with their words expanded, their directory, and what must hold for them to run.

Nothing is executed. Variables, `cd`, subshells, functions and loops over literal words are followed; a branch whose
test is decided by known values is marked taken or not. Where a variable differs between exclusive branches, commands
behind them are given once for each of its values.
"""

import math
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from pins.files.joined import JoinedText
from pins.files.shell.command import Command, Condition
from pins.files.shell.conditions import (
    all_hold,
    choice_of,
    if_holds,
    if_list_fails,
    leaves,
    other_way,
    raw_text,
    text_of_node,
)
from pins.files.shell.decide import Decider, is_true
from pins.files.shell.scripts import heredoc_text, script_in
from pins.files.shell.state import ShellState, carry, merge
from pins.files.shell.syntax import (
    AndOr,
    Case,
    For,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Redirection,
    Sequence,
    Simple,
    While,
    parse_shell,
)
from pins.files.shell.tokens import Token, Tokenizer, TokenKind, closing
from pins.files.shell_pattern import shell_pattern
from pins.files.values import (
    Declaration,
    Fragment,
    Value,
    array_of,
    elements_of,
    split_words,
    text_of,
    through,
    unknown_of,
)
from pins.files.words import MOST_FRAGMENTS, Dialect, Lookup, bounded, expand, literal

_ASSIGNMENT = re.compile(rb"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_WHOLE_ARRAY = re.compile(rb"\"?\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\[[@*]\]\}|[@*]|\{[@*]\})\"?")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_DEEPEST = 6
_MOST_ALTERNATIVES = 6
_MOST_LOOPS = 24
_MOST_COMBINATIONS = 256
_MOST_STEPS = 2000
"""Commands that are followed for a script, besides one for each of its bytes: loops in loops soon make millions."""


Declare = Callable[[str, int, str], Declaration]


@dataclass(slots=True)
class ShellReader:
    """Follows a script.

    Attributes:
        outer: variables from outside the script.
        declare: makes the declaration of a variable assigned in the script, from (name, offset, form).
        commands: what was found.
        problems: offsets in the file that could not be parsed.
    """

    outer: Lookup
    declare: Declare
    unset_is_false: Callable[[str], bool] = lambda _: False
    commands: list[Command] = field(default_factory=list)
    problems: list[int] = field(default_factory=list)
    pipelines: int = 0
    functions: dict[bytes, tuple[JoinedText, Node]] = field(default_factory=dict)
    steps_left: int = _MOST_STEPS

    def read(self, joined: JoinedText, directory: str, *, docker: bool = False) -> str:
        """Follow `joined`; gives the directory at its end. `docker`: a bare heredoc is a script, as in RUN."""
        state = ShellState(directory, {}, {})
        self.steps_left += len(joined.text)
        _Run(self, joined, 0, docker=docker).script(state)
        return state.directory


@dataclass(slots=True)
class _Run:
    """One text being followed (a RUN body, a heredoc, the argument of ``sh -c``)."""

    reader: ShellReader
    joined: JoinedText
    depth: int
    docker: bool = False
    conditions: tuple[Condition, ...] = ()
    positional: tuple[Value, ...] = ()
    tolerated: bool = False
    pipeline: int = 0

    def script(self, state: ShellState, start: int = 0, end: int = -1) -> None:
        parsed = parse_shell(self.joined.text, start, end)
        self.reader.problems.extend(self.joined.source(min(o, len(self.joined.text) - 1)) for o in parsed.problems)
        self.node(parsed.tree, state)

    def node(self, node: Node, state: ShellState) -> None:
        match node:
            case Simple():
                self.simple(node, state)
            case Sequence():
                for part in node.parts:
                    self.node(part, state)
            case AndOr():
                self.and_or(node, state)
            case Pipeline():
                self.in_pipeline(node, state)
            case If():
                self.conditional(node, state)
            case Case():
                self.case(node, state)
            case For():
                self.loop(node, state)
            case While():
                self.node(node.condition, state)
                self.node(node.body, state)
            case Group():
                self.node(node.body, state.copy() if node.subshell else state)
            case Function():
                self.reader.functions[node.name] = (self.joined, node.body)

    # -- words ---------------------------------------------------------------------------------------------------

    def lookup(self, state: ShellState) -> Lookup:
        def find(name: str) -> Value | None:
            value = state.variables.get(name)
            if value is not None:
                return value
            if name.isdigit() and 0 < int(name) <= len(self.positional):
                return self.positional[int(name) - 1]
            if name in {"@", "*"} and self.positional:
                return tuple(f for value in self.positional for f in (*value, Fragment(" ")))
            return self.reader.outer(name)

        return find

    def expand(self, token: Token, lookup: Lookup) -> list[Value]:
        if token.text:  # plain, as nearly always
            return [literal(self.joined, token.start, token.end, Dialect.SHELL)]
        if elements := self._elements(token, lookup):
            return elements
        return split_words(expand(self.joined, token.start, token.end, lookup, Dialect.SHELL))

    def _elements(self, token: Token, lookup: Lookup) -> list[Value]:
        """The elements of an array that a word is, such as ``"${PACKAGES[@]}"``; none for any other word."""
        match = _WHOLE_ARRAY.fullmatch(self.joined.text, token.start, token.end)
        value = lookup(f"{(match[1] or b'').decode()}[@]") if match else None
        return elements_of(value) if value is not None else []

    def word(self, start: int, end: int, lookup: Lookup) -> Value:
        return expand(self.joined, start, end, lookup, Dialect.SHELL)

    def decider(self, state: ShellState) -> Decider:
        lookup = self.lookup(state)
        return Decider(lambda token: self.word(token.start, token.end, lookup), self.reader.unset_is_false)

    # -- commands ------------------------------------------------------------------------------------------------

    def simple(self, node: Simple, state: ShellState) -> None:
        if not node.words:
            self.only_redirections(node.redirections, state)
            return
        names = [name for name in state.alternatives if self._mentions(node, name)]
        combinations = math.prod(min(len(state.alternatives[name]), _MOST_ALTERNATIVES) for name in names)
        if not names or combinations > _MOST_COMBINATIONS or self.reader.steps_left <= 0:
            self.one(node, state)
            return
        name = names[0]
        known = {condition.choice: condition.arm for condition in self.conditions}
        options = [o for o in state.alternatives[name] if known.get(o[0].choice, o[0].arm) == o[0].arm]
        ends: list[tuple[Condition, ShellState]] = []
        for condition, value in options[:_MOST_ALTERNATIVES]:
            inner = state.copy()
            inner.variables[name] = value
            del inner.alternatives[name]
            self._with((condition,)).simple(node, inner)
            ends.append((condition, inner))
        if len(ends) == 1:
            state.become(ends[0][1])
        else:
            carry(state, ends)

    def _mentions(self, node: Simple, name: str) -> bool:
        text = self.joined.text[node.start : node.end]
        return re.search(rb"\$\{?" + re.escape(name.encode()) + rb"(?![A-Za-z0-9_\[])", text) is not None

    def _with(self, conditions: Iterable[Condition]) -> "_Run":
        return _Run(
            self.reader,
            self.joined,
            self.depth,
            self.docker,
            (*self.conditions, *conditions),
            self.positional,
            self.tolerated,
            self.pipeline,
        )

    def one(self, node: Simple, state: ShellState) -> None:
        self.reader.steps_left -= 1
        lookup = self.lookup(state)
        tokens = node.words
        prefix: list[tuple[str, Value]] = []
        index = 0
        while index < len(tokens) and (assigned := self._assignment(tokens[index], lookup)):
            prefix.extend(assigned)
            index += 1
        if index == len(tokens):
            self._store(prefix, tokens, state)
            return
        words = [word for token in tokens[index:] for word in self.expand(token, lookup)]
        if not words:
            return
        name = text_of(words[0])
        if name in {"export", "declare", "local", "readonly", "typeset"}:
            exported = [a for token in tokens[index + 1 :] for a in self._assignment(token, lookup)]
            self._store(exported, tokens, state)
            return
        self._substitutions(tokens[index:], state)
        command = self._command(node, words, prefix, state, lookup)
        function = self.reader.functions.get(name.encode("utf-8", "replace"))
        if function and self.depth < _DEEPEST and self._goes_on():
            joined, body = function
            given = tuple(words[1:]) if len(words) <= MOST_FRAGMENTS else ()
            run = _Run(self.reader, joined, self.depth + 1, conditions=self.conditions, positional=given)
            run.node(body, state)
            return
        self.reader.commands.append(command)
        self._builtins(command, state)

    def _assignment(self, token: Token, lookup: Lookup) -> list[tuple[str, Value]]:
        """What a word assigns, an array's elements under ``NAME[@]``; nothing where it is no assignment."""
        match = _ASSIGNMENT.match(self.joined.text, token.start, token.end)
        if not match:
            return []
        name = match[1].decode()
        declaration = self.reader.declare(name, self.joined.source(token.start), "shell")
        if self.joined.text[match.end() : match.end() + 1] == b"(":
            before = lookup(f"{name}[@]") if match[2] else None
            added = [through(value, declaration) for value in self._array(match.end() + 1, token.end - 1, lookup)]
            elements = [*(elements_of(before) if before else []), *added]
            most = MOST_FRAGMENTS + token.end - token.start
            array = bounded(array_of(elements), self.joined.text[token.start : token.end], most)
            return [(f"{name}[@]", array), (name, elements[0] if elements else ())]
        value = self.word(match.end(), token.end, lookup)
        if match[2]:
            value = bounded((*(lookup(name) or ()), *value), self.joined.text[token.start : token.end])
        if not value:
            place = self.joined.source_end(match.end())
            value = (Fragment("", place, place),)
        return [(name, through(value, declaration))]

    def _array(self, start: int, end: int, lookup: Lookup) -> list[Value]:
        tokens = Tokenizer(self.joined.text, start, end).tokens()
        return [value for token in tokens if token.kind is TokenKind.WORD for value in self.expand(token, lookup)]

    def _store(self, pairs: list[tuple[str, Value]], tokens: list[Token], state: ShellState) -> None:
        for name, value in pairs:
            state.variables[name] = value
            state.alternatives.pop(name, None)
        self._substitutions(tokens, state)

    def _substitutions(self, tokens: list[Token], state: ShellState) -> None:
        """Follow ``$(...)`` inside words: what runs there runs too."""
        if self.depth >= _DEEPEST or not self._goes_on():
            return
        for token in tokens:
            position = self.joined.text.find(b"$(", token.start, token.end)
            while 0 <= position < token.end:
                close = closing(self.joined.text, position + 1, token.end, 0x28, 0x29)
                if self.joined.text[position : position + 3] != b"$((":
                    run = self._with(())
                    run.depth += 1
                    run.docker = False
                    run.script(state.copy(), position + 2, close - 1)
                position = self.joined.text.find(b"$(", close, token.end)

    def _command(
        self, node: Simple, words: list[Value], prefix: list[tuple[str, Value]], state: ShellState, lookup: Lookup
    ) -> Command:
        inputs = [
            self.word(r.start, r.end, lookup)
            for r in node.redirections
            if r.start >= 0 and r.operator.lstrip(b"0") in (b"<", b"<<<")
        ]
        outputs = [
            self.word(r.start, r.end, lookup)
            for r in node.redirections
            if r.start >= 0 and r.operator in (b">", b">>", b"1>", b"1>>", b">|", b"&>", b"&>>")
        ]
        heredoc = next((r.heredoc for r in node.redirections if r.heredoc and r.heredoc.start >= 0), None)
        body = heredoc_text(self.joined, heredoc) if heredoc else None
        return Command(
            tuple(words),
            self.joined.source(node.start),
            self.joined.source_end(node.end),
            self.conditions,
            state.directory,
            tuple(prefix),
            tuple(inputs),
            tuple(outputs),
            body,
            self.tolerated,
            self.pipeline,
            heredoc is None or heredoc.expand,
            lookup,
        )

    def only_redirections(self, redirections: list[Redirection], state: ShellState) -> None:
        if not self.docker:
            return
        for redirection in redirections:
            if redirection.heredoc and redirection.heredoc.start >= 0:
                body = heredoc_text(self.joined, redirection.heredoc)
                first = body.text.split(b"\n", 1)[0]
                if first.startswith(b"#!") and not re.search(rb"\b(ba|da|z|k)?sh\b", first):
                    continue
                self.nested(body, state.copy())

    def nested(self, body: JoinedText, state: ShellState) -> None:
        """Follow a script that a command runs."""
        if self.depth < _DEEPEST and body.text.strip() and self._goes_on():
            run = _Run(self.reader, body, self.depth + 1, conditions=self.conditions)
            run.script(state)

    def _goes_on(self) -> bool:
        """Whether what a command runs in its turn is still followed; else the script is said not to be understood."""
        if self.reader.steps_left > 0:
            return True
        if not self.reader.problems:
            self.reader.problems.append(self.joined.source(0))
        return False

    def _builtins(self, command: Command, state: ShellState) -> None:
        words = command.words
        name = command.name
        if name in {"cd", "pushd"}:
            target = next((w for w in words[1:] if not text_of(w).startswith("-") or text_of(w) == "-"), None)
            state.previous, previous = state.directory, state.previous
            if target is not None and text_of(target) == "-":
                state.directory = previous
            elif target is not None:
                state.directory = posixpath.normpath(posixpath.join(state.directory or ".", text_of(target)))
        elif name == "popd":
            state.directory, state.previous = state.previous, state.directory
        elif name == "set" and any(text_of(word) == "--" for word in words[1:]):
            given = words[[text_of(word) for word in words].index("--") + 1 :]
            given = given if len(given) <= MOST_FRAGMENTS else ()
            state.variables["[@]"] = array_of(given)  # the positional parameters are an array without a name
            state.variables.update({str(number): value for number, value in enumerate(given, start=1)})
        elif name in _SHELLS:
            self._shell_argument(command, state)
        elif name == "eval" and len(words) > 1:
            self.nested(script_in(tuple(f for word in words[1:] for f in (*word, Fragment(" ")))), state)

    def _shell_argument(self, command: Command, state: ShellState) -> None:
        words = command.words
        for index, word in enumerate(words[1:], start=1):
            text = text_of(word)
            if re.fullmatch(r"-[a-z]*c", text) and index + 1 < len(words):
                self.nested(script_in(words[index + 1]), state.copy())
                return
            if text.startswith(("-", "+")) or (text == "pipefail"):
                continue
            return
        if command.body is not None:
            self.nested(command.body, state.copy())

    # -- structure -----------------------------------------------------------------------------------------------

    def in_pipeline(self, node: Pipeline, state: ShellState) -> None:
        self.reader.pipelines += 1
        run = self._with(())
        run.pipeline = self.reader.pipelines
        for part in node.parts:
            run.node(part, state if len(node.parts) == 1 else state.copy())

    def and_or(self, node: AndOr, state: ShellState) -> None:
        """Follow a list, whose operators bind to the left: of ``a && b || c && d``, d runs behind b and behind c."""
        # `a && b || true && c` is ((a && b) || true) && c: what comes before is tolerated, and c is not
        tolerated = [
            index
            for index, (operator, part) in enumerate(node.parts)
            if operator == b"||" and isinstance(part, Simple) and is_true(self.joined.text, part)
        ]
        run = self
        last: Node | None = None
        tests: list[Condition] = []
        ends: list[tuple[Condition, ShellState]] = []  # where a test has ended the list, or kept a part from running
        earlier: tuple[Condition, ...] = ()
        for index, (operator, part) in enumerate(node.parts):
            lenient = self.tolerated or any(index < at for at in tolerated)
            if last is not None and operator == b"||":
                fails = if_list_fails(self.joined, tests, last, self.decider(state))
                fallback = ends[0][1] if ends else state.copy()
                replace(self, tolerated=lenient)._with((*earlier, fails)).node(part, fallback)
                if leaves(part):
                    ends = []  # what follows in the script runs where the tests held
                    continue
                self._either(state, [(other_way(fails), state.copy()), (fails, fallback)])
                earlier, run, last, tests, ends = (*earlier, fails), self, part, [], []
                continue
            test = if_holds(self.joined, last, self.decider(state)) if last is not None and not earlier else None
            if test:
                ends.append((other_way(test), state.copy()))
                tests.append(test)
                run = run._with((test,))
            earlier = () if last is not None else earlier
            replace(run, tolerated=lenient).node(part, state)
            last = part
        if ends:
            held = replace(tests[-1], holds=all_hold(tests))
            self._either(state, [(held, state.copy()), *ends])

    def _either(self, state: ShellState, ends: list[tuple[Condition, ShellState]]) -> None:
        """Go on behind a list that ended in one of `ends`, in the directory of the first where that is open."""
        merge(state, state, ends, self.reader.outer)

    def conditional(self, node: If, state: ShellState) -> None:
        choice = choice_of(self.joined, node.arms[0][0])
        before = state.copy()
        ends: list[tuple[Condition, ShellState]] = []
        decided = False
        conditions: list[str] = []
        undecided = False
        for arm, (condition, body) in enumerate(node.arms):
            self.node(condition, state)
            holds = self.decider(state).holds(condition)
            text = text_of_node(self.joined, condition)
            conditions.append(text)
            effective = False if decided else (None if undecided and holds is not False else holds)
            undecided = undecided or holds is None
            decided = decided or (holds is True)
            branch = Condition(choice, arm, f"{'if' if arm == 0 else 'else if'} {text}", effective)
            inner = state.copy()
            self._with((branch,)).node(body, inner)
            ends.append((branch, inner))
        rest = Condition(
            choice,
            len(node.arms),
            f"unless {' or '.join(conditions)}",
            False if decided else (None if undecided else True),
        )
        inner = state.copy()
        if node.otherwise is not None:
            self._with((rest,)).node(node.otherwise, inner)
        ends.append((rest, inner))
        merge(state, before, ends, self.reader.outer)

    def case(self, node: Case, state: ShellState) -> None:
        lookup = self.lookup(state)
        subject = self.word(node.subject.start, node.subject.end, lookup)
        known = "" if (unknown_of(subject) and not self.decider(state).is_unset(subject)) else None
        choice = self.joined.source(node.subject.start)
        raw = raw_text(self.joined, node.subject.start, node.subject.end)
        before = state.copy()
        ends: list[tuple[Condition, ShellState]] = []
        matched = False
        for arm, (patterns, body) in enumerate(node.arms):
            texts = [self.joined.text[p.start : p.end].decode("utf-8", "replace").strip("\"'") for p in patterns]
            holds: bool | None = None
            if known is None:
                text = "" if unknown_of(subject) else text_of(subject)
                holds = not matched and any(re.fullmatch(shell_pattern(p), text, re.DOTALL) for p in texts)
                matched = matched or holds
            branch = Condition(choice, arm, f"if {raw} is {' or '.join(texts)}", holds)
            inner = state.copy()
            self._with((branch,)).node(body, inner)
            ends.append((branch, inner))
        ends.append(
            (
                Condition(
                    choice, len(node.arms), f"if {raw} is none of these", None if known is not None else not matched
                ),
                state.copy(),
            )
        )
        merge(state, before, ends, self.reader.outer)

    def loop(self, node: For, state: ShellState) -> None:
        lookup = self.lookup(state)
        values = [v for token in node.words or () for v in self.expand(token, lookup)]
        name = node.name.decode("utf-8", "replace")
        mentioned = name and any(not unknown_of(v) for v in values) and len(values) <= _MOST_LOOPS
        mentioned = mentioned and self._goes_on()
        if not mentioned or name.encode() not in self.joined.text:
            state.variables.pop(name, None)
            if name:
                state.variables[name] = (Fragment("${" + name + "}", unknown=f"{name} is a loop variable"),)
            self.node(node.body, state)
            return
        for value in values:
            declaration = self.reader.declare(name, value[0].start if value else 0, "loop")
            state.variables[name] = through(value, declaration)
            self.node(node.body, state)
