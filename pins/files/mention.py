"""A place in a file where a command, a FROM line or a requirement takes a version: what pins are made of."""

import re
from dataclasses import dataclass, field, replace

from pins.files.shell.command import Condition
from pins.files.values import Declaration, Fragment, Value, place_of, text_of, unknown_of
from pins.model import Form, PinKind, Quoting


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a string that one place holds.

    Attributes:
        text: as it stands there, decoded; None when it is not known.
        span: (start, end, quoting) in the file, None when it is written in no one place.
        variables: declarations it came through, the one that holds the literal first.
        unknown: why it is not known.
        whole: whether it is the whole string.
    """

    text: str | None
    span: tuple[int, int, Quoting] | None
    variables: tuple[Declaration, ...] = ()
    unknown: str = ""
    whole: bool = True

    @property
    def holder(self) -> Declaration | None:
        """The variable that holds the literal, None when it is written where it is used."""
        return next((d for d in self.variables if d.form in {"ARG", "ENV", "shell"}), None)


_PLACEHOLDER = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")


def part_of(value: Value) -> Part:
    """The part of a string that a pin's place is: the whole, or the variable in it that looks like a version."""
    if reason := unknown_of(value):
        if known := _known_version(value):
            return replace(part_of(known), whole=False)
        names = [m[1] for f in value if f.unknown and (m := _PLACEHOLDER.match(f.unset or f.text))]
        variables = tuple(d for f in value for d in f.variables)
        if names and not variables:
            variables = (Declaration(names[0], "unset", "", "", 0, -1),)
        return Part(None, None, variables, reason)
    if not value:
        return Part("", None)
    if len(value) == 1 and value[0].origin:
        inner = part_of(value[0].origin)
        return Part(inner.text, inner.span, value[0].variables or inner.variables, inner.unknown, whole=False)
    span = place_of(value)
    if span is not None:
        return Part(text_of(value), span, value[0].variables)
    runs = _runs(value)
    if not runs:
        return Part("", None)
    if len(runs) == 1:
        return Part(text_of(value), None, runs[0][0].variables)
    held = [run for run in runs if run[0].variables and re.search(r"[0-9]", text_of(tuple(run)))]
    literal = [run for run in runs if re.search(r"[0-9]", text_of(tuple(run)))]
    named = [run for run in runs if run[0].variables]
    # the innermost variable: what `BASE_IMAGE=acme/os:${TAG}` was put together from
    candidates = held or literal or named or runs
    deepest = max(len(run[0].variables) for run in candidates)
    chosen = tuple(next(run for run in candidates if len(run[0].variables) == deepest))
    inner = part_of(chosen)
    return Part(inner.text, inner.span, inner.variables, inner.unknown, whole=False)


def _known_version(value: Value) -> Value:
    """The variable in a string that is known in part, which holds a version: `${TORCH}` of ``${TORCH}+$(local)``."""
    runs = [run for run in _runs(value) if run[0].variables and not unknown_of(tuple(run))]
    return next((tuple(run) for run in runs if re.search(r"[0-9]", text_of(tuple(run)))), ())


def _runs(value: Value) -> list[list[Fragment]]:
    runs: list[list[Fragment]] = []
    for fragment in value:
        if (
            runs
            and runs[-1][-1].variables == fragment.variables
            and runs[-1][-1].end == fragment.start
            and runs[-1][-1].quoting is fragment.quoting
            and not fragment.origin
            and not runs[-1][-1].origin
        ):
            runs[-1].append(fragment)
        elif fragment.text or fragment.written or fragment.unknown:
            runs.append([fragment])
    return [run for run in runs if text_of(tuple(run))] or runs[:1]


@dataclass(slots=True, eq=False)
class Mention:
    """One use of a version; two are the same only when they are one object.

    Attributes:
        kind: what sort of thing.
        name: what is chosen, before names of ARGs are considered.
        parts: the places that hold the value; the first is the pin's value.
        form: what may be written there.
        effective: what the value comes to here.
        stage: the stage.
        line: line of the command or instruction.
        offset: where it is in the file, to find comments by.
        command: for a person.
        conditions: what must hold.
        repo: address of the repository or image.
        directory: where it is checked out.
        patches: what is applied; shared with the repository, so that later patches are seen.
        file: the file that holds it.
        name_from_variable: whether an ARG's name is a better name than `name`.
        note: a warning.
        comment: when it is known already.
    """

    kind: PinKind
    name: str
    parts: tuple[Part, ...]
    form: Form
    effective: str
    stage: str
    line: int
    offset: int
    command: str
    conditions: tuple[Condition, ...] = ()
    repo: str = ""
    directory: str = ""
    patches: list[str] = field(default_factory=list)
    file: str = ""
    name_from_variable: bool = False
    note: str = ""
    comment: str = ""

    @property
    def runs(self) -> bool | None:
        """Whether it runs with the values known, None when that cannot be told."""
        holds = [condition.holds for condition in self.conditions]
        return False if False in holds else (None if None in holds else True)
