"""Versions that are written more than once: one place is edited, the others are missed."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from pins.files.dockerfile.close_reading import StepReading
from pins.files.edit import Edit
from pins.files.values import text_of, unknown_of
from pins.hazards.model import Finding
from pins.hazards.rules.references import text_of_step
from pins.hazards.subject import Subject
from pins.model import Form, Pin, PinKind

_PYTHON_ARGUMENT = re.compile(r"(?:\w+_)?(?:PYTHON|PY)_?(?:VERSION|VER)\Z", re.IGNORECASE)
_PYTHON_LITERAL = re.compile(
    rb"(?<![\w.])(?:lib)?python(?P<dotted>3\.\d{1,2})(?![\d.])|(?<![A-Za-z0-9])cp(?P<tag>3\d{1,2})(?=-(?!abi3)|(?![\w-]))"
)
_DOTTED = re.compile(r"\d+(?:\.\d+)+\Z")
_SUBJECT_ARGUMENT = re.compile(r"(?P<stem>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)_VERSION\Z")
_IMMUTABLE = re.compile(r"[0-9a-f]{40}\Z|[0-9a-f]{7,12}\Z")
_READS = frozenset({"RUN", "ENV", "COPY", "ADD", "WORKDIR"})


def _visible(step: StepReading, name: re.Pattern[str]) -> dict[str, str]:
    """The ARGs that a step sees and whose value is known, by name."""
    found: dict[str, str] = {}
    for variable in step.declared:
        value = step.values.get(variable)
        if value and name.match(variable) and not unknown_of(value) and text_of(value):
            found[variable] = text_of(value)
    return found


def _decides(step: StepReading, offset: int, variable: str) -> bool:
    """Whether the place is inside a test of the variable, or behind one: there the literal is on purpose."""
    for command in step.commands:
        if command.start <= offset < command.end:
            if command.name in {"[", "[[", "test", "case"}:
                return True
            return any(variable in condition.text for condition in command.conditions)
    return step.script is not None  # a test, a case arm or a loop's words, which are no commands


def hardcoded_python(subject: Subject) -> Iterator[Finding]:
    """A Python version in a path or file name, beside an ARG that says which Python it is: one finding a stage."""
    for (_, variable), places in _python_places(subject).items():
        start, end, match, short = places[0]
        lines = sorted({subject.line(place[0]) for place in places})
        more = f" (lines {', '.join(map(str, lines))})" if len(lines) > 1 else ""
        yield Finding(
            start,
            end,
            f"{match[0].decode()} is written out{more}, although {variable} says which Python it is: with another"
            f" {variable} this does not follow",
            variable,
            f"write ${{{variable}}} in its place" if match["dotted"] else f"derive it from {variable}",
            _python_edits(subject, places, variable) if short else (),
        )


_PythonPlace = tuple[int, int, "re.Match[bytes]", bool]


def _python_places(subject: Subject) -> dict[tuple[int, str], list[_PythonPlace]]:
    """By stage and ARG, where the ARG's Python is written out, and whether the ARG holds just major and minor."""
    found: dict[tuple[int, str], list[_PythonPlace]] = {}
    for step in subject.steps:
        if step.instruction.keyword not in _READS:
            continue
        text = text_of_step(step)
        for variable, value in _visible(step, _PYTHON_ARGUMENT).items():
            short = re.match(r"3\.\d{1,2}", value)
            if not short:
                continue
            written = {short[0], short[0].replace(".", "")}
            for match in _PYTHON_LITERAL.finditer(text.text):
                start = text.source(match.start())
                if (match["dotted"] or match["tag"]).decode() in written and not _decides(step, start, variable):
                    place = (start, text.source_end(match.end()), match, value == short[0])
                    found.setdefault((step.stage.index, variable), []).append(place)
    return found


def _python_edits(subject: Subject, places: list[_PythonPlace], variable: str) -> tuple[Edit, ...]:
    edits: list[Edit] = []
    for start, end, match, _ in places:
        line_start = subject.data.rfind(b"\n", 0, start) + 1
        if not match["dotted"] or subject.data[line_start:start].count(b"'") % 2:
            return ()
        edits.append(Edit(end - len(match["dotted"]), end, b"${" + variable.encode() + b"}"))
    return tuple(edits)


def literal_beside_argument(subject: Subject) -> Iterator[Finding]:
    """The default of an ARG, written out once more where the ARG is visible."""
    for step in subject.steps:
        if step.instruction.keyword not in _READS:
            continue
        text = text_of_step(step)
        written = text.text.lower()
        for variable, value in _visible(step, _SUBJECT_ARGUMENT).items():
            match = _SUBJECT_ARGUMENT.match(variable)
            if match is None or not _DOTTED.match(value) or _PYTHON_ARGUMENT.match(variable):
                continue
            if value.lower().encode() not in written:
                continue
            stem = match["stem"].lower().replace("_", "[-_]?")
            pattern = re.compile(
                rb"(?<![A-Za-z0-9])"
                + stem.encode()
                + rb"(?:[-_/=]+(?:rel|release|v)?[-_]?|[-_/]?v?)"
                + re.escape(value.encode())
                + rb"(?![\d]|\.\d)",
                re.IGNORECASE,
            )
            places = [
                (text.source(m.start()), text.source_end(m.end()), m)
                for m in pattern.finditer(text.text)
                if not _decides(step, text.source(m.start()), variable)
            ]
            if not places:
                continue
            start, end, found = places[0]
            more = f" ({len(places)} times in this {step.instruction.keyword})" if len(places) > 1 else ""
            yield Finding(
                start,
                end,
                f"{found[0].decode()} is written out{more}, although {variable} holds {value}: another {variable} does"
                " not reach it",
                variable,
                f"write ${{{variable}}} in its place",
            )


def repeated_literal(subject: Subject) -> Iterator[Finding]:
    """One version of one thing, written in several places."""
    groups: dict[tuple[str, str, str], list[Pin]] = {}
    for pin in subject.pins():
        if pin.kind not in {PinKind.GIT, PinKind.PACKAGE, PinKind.IMAGE} or not pin.value or not pin.places:
            continue
        if pin.form is Form.SPECIFIER or not re.search(r"\d", pin.value):
            continue
        if pin.kind is PinKind.IMAGE and pin.effective not in {"", pin.value}:
            continue  # one image put together from several ARGs
        subject_name = pin.repo or pin.name
        groups.setdefault((pin.kind.value, subject_name, pin.effective or pin.value), []).append(pin)
    for (_, _, value), pins in groups.items():
        places = list(dict.fromkeys(pin.places[0].start for pin in pins))
        if len({_instruction_at(subject, start) for start in places}) < 2 or any(
            _excludes(pins[0], pin) for pin in pins[1:]
        ):
            continue
        first, second = pins[0], next(pin for pin in pins if pin.places[0].start != pins[0].places[0].start)
        lines = ", ".join(str(subject.line(start)) for start in sorted(places))
        place = second.places[0]
        yield Finding(
            place.start,
            place.end,
            f"{value} of {first.name} stands in {len(places)} places (lines {lines}): an edit of one misses the others",
            second.name,
            "write it once, as a global ARG that each stage declares",
        )


def _instruction_at(subject: Subject, offset: int) -> int:
    if subject.reading is None:
        return subject.line(offset)
    instructions = subject.reading.stages.syntax.instructions
    index = bisect_right(instructions, offset, key=lambda instruction: instruction.start)
    return instructions[index - 1].start if index else 0


def _excludes(one: Pin, other: Pin) -> bool:
    return any(use.excludes(that) for use in one.uses for that in other.uses)
