"""From mentions to pins: one pin for each written value, with its uses, a name, a comment, and who can override it."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pins.files.dockerfile.stages import Role
from pins.files.dockerfile.syntax import Instruction
from pins.files.dockerfile.variables import plain_comment
from pins.files.mention import Mention, Part
from pins.files.naming import dashed, stem, wants_version
from pins.files.values import Declaration, Value, without_credentials
from pins.files.variable_pins import address_held, version_held, without_value
from pins.model import Form, Override, Pin, PinKind, PinUse, Place, Quoting, Scope

WhyUnset = Callable[[str, str], str]
"""Why a variable has no value in a stage, from (name, stage); "" where nothing more is known."""

_NOT_SET = re.compile(r"(\w+) is not set in this file")
_SHIPPING = frozenset({Role.TARGET, Role.SHIPS})


@dataclass(frozen=True, slots=True)
class Reference:
    """A stage that names an ARG.

    Attributes:
        name: the ARG.
        stage: the stage.
        line: where.
        reached: whether a value given from outside would arrive there.
    """

    name: str
    stage: str
    line: int
    reached: bool


@dataclass(slots=True)
class _Group:
    """Mentions of one written value."""

    kind: PinKind
    mentions: list[Mention]
    parts: tuple[Part, ...]
    name: str = ""
    stem: str = ""


def assemble(
    mentions: Sequence[Mention],
    declarations: Mapping[Declaration, Value],
    references: Sequence[Reference],
    file: str,
    data: bytes,
    instructions: Sequence[Instruction],
    roles: Mapping[str, Role],
    others: Mapping[str, bytes] | None = None,
    why_unset: WhyUnset = lambda _name, _stage: "",
    missing: Sequence[Declaration] = (),
) -> tuple[Pin, ...]:
    """Tie mentions together.

    Args:
        mentions: what commands and FROM lines take.
        declarations: every ARG and ENV of the file with its value, for those that no known command takes.
        references: who names which ARG.
        file: the file.
        data: its bytes.
        instructions: its instructions, for comments.
        roles: by stage, whether it ships.
        others: further files that were read, by path.
        why_unset: says why a variable has no value in a stage, better than the place that misses it can.
        missing: ARGs that have no value.
    """
    groups = _grouped(mentions, file)
    _unused(groups, declarations, file)
    _without_default(groups, missing, file)
    _name(groups)
    by_name: dict[str, list[Reference]] = {}
    for reference in references:
        by_name.setdefault(reference.name, []).append(reference)
    builder = _Builder(
        file, _Lines({file: data, **(others or {})}), instructions, roles, by_name, declarations, why_unset
    )
    found = [(builder.pin(group), group.mentions[0].offset) for group in groups]

    def order(entry: tuple[Pin, int]) -> tuple[bool, str, int, int]:
        pin, offset = entry
        return pin.file != file, pin.file, pin.line, pin.places[0].start if pin.places else offset

    return tuple(pin for pin, _ in sorted(found, key=order))


def _grouped(mentions: Sequence[Mention], file: str) -> list[_Group]:
    groups: dict[tuple[object, ...], _Group] = {}
    for mention in mentions:
        part = mention.parts[0]
        holder = part.holder
        subject = mention.name if mention.kind in {PinKind.PACKAGE} or holder is None else ""
        where = holder.file if holder is not None and holder.file else mention.file or file
        if part.span is not None:
            # the same bytes read in several stages (ONBUILD, a loop) are one pin
            key: tuple[object, ...] = (mention.kind, subject, where, part.span[0], part.span[1])
        elif holder is not None or part.variables:
            variable = holder or part.variables[0]
            key = (mention.kind, subject, where, variable.name, variable.start)
        else:
            key = (mention.kind, mention.name, where, mention.offset)
        group = groups.get(key)
        if group is None:
            groups[key] = _Group(mention.kind, [mention], mention.parts)
        else:
            group.mentions.append(mention)
            spans = {p.span for p in group.parts}
            group.parts += tuple(p for p in mention.parts if p.span not in spans)
    return list(groups.values())


def _unused(groups: list[_Group], declarations: Mapping[Declaration, Value], file: str) -> None:
    """ARGs and ENVs that no known command takes but whose name and value say that they are pins."""
    taken = {part.span[:2] for group in groups for part in group.parts if part.span}
    for declaration, value in declarations.items():
        if not value[-1].variables or value[-1].variables[0] != declaration:
            continue
        mention = version_held(declaration, value) or address_held(declaration, value)
        if mention is None:
            continue
        spans = [part.span[:2] for part in mention.parts if part.span]
        if any(low < end and start < high for start, end in spans for low, high in taken):
            continue
        mention.file = file
        taken.update(spans)
        groups.append(_Group(mention.kind, [mention], mention.parts))


def _without_default(groups: list[_Group], missing: Sequence[Declaration], file: str) -> None:
    """ARGs that only whoever builds can give, whose names say that they are pins."""
    taken = {d.name for group in groups for part in group.parts for d in part.variables}
    for declaration in missing:
        if declaration.name in taken or not wants_version(declaration.name):
            continue
        taken.add(declaration.name)
        mention = without_value(declaration)
        mention.file = file
        groups.append(_Group(mention.kind, [mention], mention.parts))


def _name(groups: list[_Group]) -> None:
    """Name each group: after its variable where that says what it is of, and so that two variables never share one."""
    for group in groups:
        first = group.mentions[0]
        if group.kind is PinKind.GIT:
            first.name = first.name.replace("_", "-")
        variable = group.parts[0].holder or next(iter(group.parts[0].variables), None)
        group.name = first.name
        if variable is None or not first.name_from_variable or variable.form == "loop":
            continue
        group.stem = stem(variable.name)
        if group.kind is PinKind.IMAGE and group.parts[0].whole and not first.repo:
            group.name = dashed(variable.name)
        elif group.kind in {PinKind.URL, PinKind.APT} or group.kind is PinKind.TEXT:
            group.name = group.stem or dashed(variable.name)
        else:
            group.name = group.stem or first.name
    owners: dict[str, list[_Group]] = {}
    for group in groups:
        if group.parts[0].variables and group.mentions[0].name_from_variable:
            owners.setdefault(group.name, []).append(group)
    for name, sharing in owners.items():
        variables = {_variable(group) for group in sharing}
        if len(variables) > 1:
            for group in sharing:
                group.stem, group.name = name, dashed(_variable(group))


def _variable(group: _Group) -> str:
    holder = group.parts[0].holder or next(iter(group.parts[0].variables), None)
    return holder.name if holder else ""


@dataclass(slots=True)
class _Lines:
    """Line numbers of offsets, by file."""

    data: Mapping[str, bytes]
    newlines: dict[str, list[int]] | None = None

    def line(self, file: str, offset: int) -> int:
        if self.newlines is None:
            self.newlines = {}
        if file not in self.newlines:
            self.newlines[file] = [match.start() for match in re.finditer(b"\n", self.data.get(file, b""))]
        return bisect_right(self.newlines[file], offset - 1) + 1


@dataclass(slots=True)
class _Builder:
    file: str
    lines: _Lines
    instructions: Sequence[Instruction]
    roles: Mapping[str, Role]
    references: Mapping[str, list[Reference]]
    declarations: Mapping[Declaration, Value]
    why_unset: WhyUnset

    def pin(self, group: _Group) -> Pin:
        first = next((m for m in group.mentions if m.runs is not False), group.mentions[0])
        part = group.parts[0]
        holder = part.holder
        variable = holder or next(iter(part.variables), None)
        file = self._file(first, holder)
        places = tuple(
            Place(file, self.lines.line(file, p.span[0]), p.span[0], p.span[1], p.span[2])
            for p in sorted(group.parts, key=lambda part: part.span or (0, 0, Quoting.PLAIN))
            if p.span is not None
        )
        uses = tuple(dict.fromkeys(_use(m) for m in group.mentions if m.command))
        line = places[0].line if places else (holder.line if holder else first.line)
        value = None if part.unknown or first.form is Form.OPEN else part.text
        scope, stage = self._scope(holder, first)
        shipping = [self.roles.get(use.stage, Role.TARGET) in _SHIPPING for use in uses]
        aliases = tuple(
            dict.fromkeys(
                a for a in (variable.name if variable else "", group.stem, first.name) if a and a != group.name
            )
        )
        return Pin(
            group.name,
            group.kind,
            value,
            file,
            line,
            stage,
            scope,
            first.form,
            places,
            self._unknown(part, first),
            self._override(part, group),
            without_credentials(self._comment(holder, first, line)),
            without_credentials(first.repo),
            variable.name if variable else "",
            without_credentials(first.effective),
            first.directory,
            tuple(without_credentials(patch) for patch in first.patches),
            uses,
            any(shipping) or not uses,
            aliases,
            first.note,
        )

    def _unknown(self, part: Part, first: Mention) -> str:
        missing = _NOT_SET.match(part.unknown)
        return (self.why_unset(missing[1], first.stage) if missing else "") or part.unknown

    def _file(self, first: Mention, holder: Declaration | None) -> str:
        return holder.file if holder is not None and holder.file else first.file or self.file

    def _scope(self, holder: Declaration | None, first: Mention) -> tuple[Scope, str]:
        if holder is not None:
            if holder.form == "shell":
                return Scope.RUN, holder.stage
            return (Scope.STAGE, holder.stage) if holder.stage else (Scope.GLOBAL, "")
        if first.file and first.file != self.file:
            return Scope.FILE, first.stage
        if first.kind is PinKind.IMAGE:
            return Scope.FROM, first.stage
        return Scope.RUN, first.stage

    def _override(self, part: Part, group: _Group) -> Override:
        names = list(dict.fromkeys(d.name for d in part.variables if d.form == "ARG"))
        names += [
            d.name for d in part.variables if d.form == "unset" and d.name in self.references and d.name not in names
        ]
        if not names:
            return Override()
        reaches: list[str] = []
        misses: list[str] = []
        for mention in group.mentions:
            if not mention.command:
                continue
            inside = {d.name for p in mention.parts for d in p.variables if d.form in {"ARG", "unset"}}
            (reaches if names[0] in inside else misses).append(mention.stage)
        for reference in self.references.get(names[0], ()):
            (reaches if reference.reached else misses).append(reference.stage)
        reached = tuple(dict.fromkeys(reaches))
        return Override(
            tuple(f"--build-arg {name}" for name in names), reached, tuple(s for s in dict.fromkeys(misses))
        )

    def _comment(self, holder: Declaration | None, mention: Mention, line: int) -> str:
        if mention.comment:
            return mention.comment
        if holder is not None and holder.form in {"ARG", "ENV"}:
            return holder.comment
        if mention.file and mention.file != self.file:
            return ""
        index = bisect_right(self.instructions, line, key=lambda i: i.line) - 1
        if index < 0:
            return ""
        instruction = self.instructions[index]
        inside = {comment.line: comment.text for comment in instruction.comments}
        block: list[str] = []
        above = line - 1
        while above in inside and above >= instruction.line:
            block.append(inside[above])
            above -= 1
        if not block:
            block = [c.text for c in reversed(instruction.comments) if c.line < instruction.line]
        return plain_comment(reversed(block))


def _use(mention: Mention) -> PinUse:
    return PinUse(
        mention.stage,
        mention.line,
        without_credentials(mention.command),
        without_credentials(mention.effective),
        tuple(condition.text for condition in mention.conditions),
        mention.runs,
        tuple((condition.choice, condition.arm) for condition in mention.conditions),
    )
