"""`pins check` for a person at a terminal, and for GitHub's log: one line a finding, what to do below it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pins.hazards.model import Hazard, Rule, Severity
from pins.report.characters import one_line, wrap
from pins.report.terminal_colours import painted
from pins.report.tones import Tone

_TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.DOUBT, Severity.NOTE: Tone.FAINT}
MOST_ANNOTATIONS = 10  # GitHub shows so many of a step


def counted(hazards: Sequence[Hazard], files: int) -> str:
    """How much was found, in a few words."""
    ignored = sum(1 for hazard in hazards if hazard.ignored)
    found = Counter(hazard.rule.severity for hazard in hazards if not hazard.ignored)
    total = sum(found.values())
    kinds = ", ".join(f"{found[s]} {s.value}{'s' * (found[s] != 1)}" for s in Severity if found[s])
    where = f"{files} file{'s' * (files != 1)}"
    left = f"; {ignored} ignored" if ignored else ""
    return f"{total} hazard{'s' * (total != 1)} in {where} ({kinds}){left}" if total else f"no hazards in {where}{left}"


def check_text(hazards: Sequence[Hazard], files: int, *, width: int, color: bool) -> str:
    """The findings in lines; each rule is explained where it comes up first."""
    lines: list[str] = []
    explained: set[str] = set()
    for hazard in (h for h in hazards if not h.ignored):
        lines.extend(_finding(hazard, width, color=color, explain=hazard.rule.name not in explained))
        explained.add(hazard.rule.name)
    lines.append(counted(hazards, files))
    if any(not h.ignored for h in hazards):
        fixable = sum(1 for h in hazards if h.edits and not h.ignored)
        more = f"{fixable} can be mended by `pins check --fix`; " if fixable else ""
        lines.append(f"{more}`pins check --explain RULE` says more of a rule")
    return "\n".join(lines) + "\n"


def _finding(hazard: Hazard, width: int, *, color: bool, explain: bool) -> Iterator[str]:
    def paint(text: str, tone: Tone) -> str:
        return painted(text, tone) if color else text

    place = paint(f"{one_line(hazard.file)}:{hazard.line}:{hazard.column}:", Tone.STRONG)
    severity = paint(hazard.rule.severity.value, _TONES[hazard.rule.severity])
    yield f"{place} {severity} [{hazard.rule.name}]"
    yield from _indented(hazard.summary, width)
    yield paint(f"    | {one_line(hazard.source)[: max(width - 6, 40)]}", Tone.FAINT)
    for line in hazard.evidence:
        yield from _indented(f"- {line}", width)
    if explain:
        yield from _indented(f"why: {hazard.rule.why}", width)
    yield from _indented(f"fix: {hazard.fix}", width)
    yield ""


def _indented(text: str, width: int) -> Iterator[str]:
    yield from (f"    {line}" for line in wrap(one_line(text), max(width - 4, 40)))


def annotations(hazards: Sequence[Hazard], files: int) -> str:
    """GitHub's annotations, the worst first, for it shows ten of a step; the rest follow as plain lines."""
    order = {severity: index for index, severity in enumerate(Severity)}
    found = sorted((h for h in hazards if not h.ignored), key=lambda h: order[h.rule.severity])
    lines = [_annotation(hazard) for hazard in found[:MOST_ANNOTATIONS]]
    lines += [
        f"{_no_command(h.file)}:{h.line}: {h.rule.severity.value}: {one_line(h.summary)} [{h.rule.name}]"
        for h in found[10:]
    ]
    return "\n".join((*lines, counted(hazards, files))) + "\n"


def message_of(hazard: Hazard) -> str:
    """What is found and what to do, as two sentences."""
    fix = hazard.fix[:1].upper() + hazard.fix[1:]
    return f"{hazard.summary}. {fix}."


def _annotation(hazard: Hazard) -> str:
    command = "notice" if hazard.rule.severity is Severity.NOTE else hazard.rule.severity.value
    properties = {
        "file": hazard.file,
        "line": str(hazard.line),
        "endLine": str(hazard.end_line),
        "col": str(hazard.column),
        "title": f"{hazard.rule.name}: {hazard.rule.summary}",
    }
    return annotation(command, properties, message_of(hazard))


def annotation(command: str, properties: Mapping[str, str], message: str) -> str:
    """One line of GitHub's workflow commands.

    Args:
        command: "error", "warning" or "notice".
        properties: such as file, line and title.
        message: what is said; may have several lines.
    """
    said = ",".join(f"{key}={_escaped(value, in_property=True)}" for key, value in properties.items())
    return f"::{command} {said}::{_escaped(message, in_property=False)}"


def _no_command(file: str) -> str:
    """A file's name at the beginning of a line, which GitHub reads as a command where it begins like one."""
    file = one_line(file)
    return f"./{file}" if file.lstrip().startswith(("::", "##")) else file


def _escaped(text: str, *, in_property: bool) -> str:
    text = one_line(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text


def rules_text(rules: Sequence[Rule]) -> str:
    """The rules, one a line."""
    widest = max(len(rule.name) for rule in rules)
    return "".join(
        f"{rule.name:{widest}}  {rule.severity.value:7}  {rule.summary}{'' if rule.default else ' (off by default)'}\n"
        for rule in rules
    )
