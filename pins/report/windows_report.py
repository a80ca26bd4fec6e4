"""`pins windows` and `pins why` for a person."""

import shlex
from collections.abc import Iterable, Sequence

from pins.report.blocks import Block, Bullets, Document, Line, Paragraph, Section, Span, Table, literal, prose
from pins.report.tones import Tone
from pins.report.windows_model import EnvironmentWindows, WindowsReport
from pins.resolve.bounds import PackageWindow, Side
from pins.resolve.why import Answer, Explanation, Relaxation

_MOST_RANGES = 8
_MOST_ASKED = 6
"""Pins that are named in the command that asks about them without their versions."""
_COLUMNS = ("package", "current", "window", "newest inside", "newest")


def windows_report(report: WindowsReport) -> Document:
    """Every window, what bounds it, and what is not known."""
    alone = len(report.environments) == 1
    sections: list[Section] = []
    lead: list[Block] = []
    for environment in report.environments:
        blocks = tuple(_environment(environment))
        if alone:
            lead.extend(blocks)
        else:
            sections.append(Section(environment.name, blocks))
        sections.extend(_details(environment, "" if alone else f"{environment.name}: "))
    told = {text for environment in report.environments if environment.possible for text in environment.not_counted}
    notes = tuple(prose(note) for note in report.notes if note not in told)
    if notes:
        sections.append(Section("Notes", (Bullets(notes),)))
    impossible = [one for one in report.environments if not one.possible]
    unclear = [one for one in impossible if one.answer is None or one.answer.unknown]
    if not impossible:
        title, tone = "Versions for which everything fits", Tone.GOOD
    elif unclear:
        title, tone = "It cannot be told whether anything fits", Tone.DOUBT
    else:
        title, tone = "No set of versions fits", Tone.BAD
    return Document(title, tone, tuple(lead), tuple(sections))


def _environment(environment: EnvironmentWindows) -> Iterable[Block]:
    if environment.answer is not None:
        yield from _impossible(environment.answer)
    if environment.possible and environment.packages:
        rows = tuple(_row(window) for window in environment.packages)
        yield Table(_COLUMNS, rows, caption="The versions of each package for which everything fits.")
    pinned = [window.name for window in environment.packages if _is_pinned(window)]
    if environment.possible and pinned:
        asked = [f"--require {shlex.quote(name)}" for name in pinned[:_MOST_ASKED]]
        left = f", and so on for {len(pinned) - _MOST_ASKED} more" if len(pinned) > _MOST_ASKED else ""
        yield Paragraph(
            (
                Span("An exact pin leaves its own version only. What else would fit: ", Tone.FAINT),
                Span(" ".join(["pins windows", *asked]), Tone.FAINT, code=True),
                Span(f"{left}.", Tone.FAINT),
            )
        )
    if environment.possible and environment.not_counted:
        yield Paragraph(
            prose("At most: none of these is counted, and each could make the windows smaller.", Tone.DOUBT)
        )
        yield Bullets(tuple(prose(text, Tone.DOUBT) for text in environment.not_counted))
    if environment.also:
        yield Paragraph(prose(f"The same holds for {', '.join(environment.also)}."))
    if environment.target:
        yield Paragraph(prose(f"For {environment.target}, by the rules of {environment.installer}.", Tone.FAINT))
    if environment.differences:
        yield Bullets(tuple(prose(text, Tone.DOUBT) for text in environment.differences))


def _is_pinned(window: PackageWindow) -> bool:
    return bool(window.current) and window.specifier == f"=={window.current}" and window.newest != window.current


def _row(window: PackageWindow) -> tuple[Line, ...]:
    if window.versions:
        shown = literal(window.specifier or "any") if window.specifier is not None else prose(window.text)
        if not window.is_complete:
            shown = (Span("perhaps " if window.specifier == "" else "at most ", Tone.DOUBT), *shown)
    else:
        shown = prose("unknown" if window.unknown else "none", Tone.DOUBT if window.unknown else Tone.BAD)
    is_behind = window.newest != window.newest_inside
    return (
        literal(window.name),
        literal(window.current) if window.current else prose("-"),
        shown,
        literal(window.newest_inside) if window.newest_inside else prose("-"),
        (Span(window.newest or "-", Tone.DOUBT if is_behind else Tone.PLAIN, code=bool(window.newest)),),
    )


def _details(environment: EnvironmentWindows, prefix: str) -> Iterable[Section]:
    if not environment.possible:
        return
    bounds = tuple(line for window in environment.packages for line in _bounds(window))
    if bounds:
        yield Section(f"{prefix}Why not further", (Bullets(bounds),))
    unknown = tuple(
        prose(f"{window.name} {one.text}: {one.reason}") for window in environment.packages for one in window.unknown
    )
    if unknown:
        yield Section(f"{prefix}Not known", (Bullets(unknown),))
    ranges = tuple(
        prose(f"{label}: {detail}") for window in environment.packages for label, detail in _newest(window.described)
    )
    if ranges:
        yield Section(f"{prefix}Commits inside", (Bullets(ranges),))
    pairs = tuple(
        prose(
            f"{one.name} {one.version} goes only with {one.other} {one.left}"
            + (f"; {one.count} versions of {one.name} limit it so" if one.count > 1 else "")
        )
        for one in environment.exclusions
    )
    if pairs:
        hint = prose("--given NAME=VERSION shows what fits with one of them.", Tone.FAINT)
        yield Section(f"{prefix}Not every combination fits", (Bullets(pairs), Paragraph(hint)))
    if environment.broken:
        yield Section(f"{prefix}Not kept, and not enforced", (Bullets(tuple(map(prose, environment.broken))),))
    notes = tuple(prose(text) for window in environment.packages for text in window.notes)
    if notes:
        yield Section(f"{prefix}Worth knowing", (Bullets(notes),))
    left_out = tuple(prose(f"{w.name} {text}") for w in environment.packages for text in w.not_offered)
    if left_out:
        yield Section(f"{prefix}Newer, and left out", (Bullets(left_out),))


def _newest(described: Sequence[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """The newest few, and how many more there are."""
    yield from reversed(described[-_MOST_RANGES:])
    if len(described) > _MOST_RANGES:
        yield "older", f"{len(described) - _MOST_RANGES} more ranges of commits"


def _bounds(window: PackageWindow) -> Iterable[Line]:
    sides: dict[str, set[Side]] = {}
    for bound in window.bounds:
        sides.setdefault(bound.version, set()).add(bound.side)
    for version, found in sides.items():
        sign = "!=" if len(found) > 1 else "<" if Side.UPPER in found else ">"
        because = next(bound.because for bound in window.bounds if bound.version == version)
        reason = "; ".join(sentence.text for sentence in because)
        yield (Span(f"{window.name} {sign} {version}", Tone.STRONG, code=True), Span(f": {reason}"))


def _impossible(answer: Answer) -> Iterable[Block]:
    if answer.explanation is not None:
        yield _because(answer.explanation)
        yield from _relaxed(answer)
    elif answer.unknown:
        yield Bullets(tuple(prose(reason) for reason in answer.unknown))


def _because(explanation: Explanation) -> Block:
    return Bullets(tuple(prose(sentence.text) for sentence in explanation.sentences))


def _relaxed(answer: Answer) -> Iterable[Block]:
    if answer.relaxations:
        lines = tuple(prose(relaxation_in_words(one)) for one in answer.relaxations)
        yield Paragraph(prose("It would fit:" if len(lines) == 1 else "Any one of these would let it fit:"))
        yield Bullets(lines)


def relaxation_in_words(relaxation: Relaxation) -> str:
    """What would have to be left out, and what then fits."""
    parts = []
    for constraint, newest in zip(relaxation.constraints, relaxation.instead, strict=True):
        place = f" ({constraint.origin.place})" if constraint.origin.place else ""
        parts.append(f"without {constraint.requirement}{place}" + (f": {newest} would do" if newest else ""))
    return ", and ".join(parts)


def why_report(answers: Sequence[tuple[str, Answer]]) -> Document:
    """Why something does not fit, for each environment (by name)."""
    sections: list[Section] = []
    lead: list[Block] = []
    for name, answer in answers:
        blocks = tuple(_answer(answer))
        if len(answers) == 1:
            lead.extend(blocks)
        else:
            sections.append(Section(name, blocks))
    title, tone = _verdict([answer for _, answer in answers])
    return Document(title, tone, tuple(lead), tuple(sections))


def _verdict(answers: Sequence[Answer]) -> tuple[str, Tone]:
    question = next((answer.question for answer in answers if answer.question), "") or "this"
    if any(answer.explanation for answer in answers):
        return f"{question} does not fit", Tone.BAD
    if any(answer.unknown for answer in answers):
        return f"it cannot be told whether {question} fits", Tone.DOUBT
    if any(answer.not_counted for answer in answers):
        return f"{question} fits, as far as is known", Tone.DOUBT
    return f"{question} fits", Tone.GOOD


def _answer(answer: Answer) -> Iterable[Block]:
    if answer.model is not None:
        chosen = ", ".join(f"{name} {label}" for name, label in sorted(answer.model.chosen.items()))
        yield Paragraph(prose(f"For example: {chosen}"))
        if answer.not_counted:
            yield Paragraph(prose("Not counted, and each could exclude it:", Tone.DOUBT))
            yield Bullets(tuple(prose(text, Tone.DOUBT) for text in answer.not_counted))
    else:
        yield from _impossible(answer)
