"""What a person has decided not to hear of: comments in the file, and a baseline of findings that were there before.

``# pins: ignore[rule] reason`` on a line of its own is for the line below; where an instruction begins there, for all
of its lines. Behind a requirement it is for its own line. ``# pins: ignore-file[rule] reason`` is for the whole file.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pins.errors import UsageError
from pins.hazards.model import Hazard
from pins.hazards.subject import Subject
from pins.json_document import opening

_COMMENT = re.compile(
    rb"#[ \t]*pins:[ \t]*ignore(?P<file>-file)?[ \t]*\[(?P<rules>[^\]\n]*)\][ \t]*(?P<reason>[^\r\n]*)"
)
BASELINE = "pins.baseline/1"
KNOWN = "in the baseline"
"""Why a finding does not count that a baseline has."""


@dataclass(frozen=True)
class Ignore:
    """One such comment.

    Attributes:
        file: where it stands.
        line: its line.
        rules: the rules that it names.
        first: first line that it is for; 0 for the whole file.
        last: last line.
        reason: what it says.
    """

    file: str
    line: int
    rules: tuple[str, ...]
    first: int
    last: int
    reason: str

    def covers(self, hazard: Hazard) -> bool:
        """Whether a finding is meant."""
        if hazard.file != self.file or hazard.rule.name not in self.rules:
            return False
        return self.first == 0 or self.first <= hazard.line <= self.last


def ignores_in(subject: Subject) -> list[Ignore]:
    """The comments of a file that ask to ignore something."""
    found: list[Ignore] = []
    for match in _COMMENT.finditer(subject.data):
        line = subject.line(match.start())
        start, _ = subject.line_span(line)
        rules = tuple(part.strip() for part in match["rules"].decode("utf-8", "replace").split(",") if part.strip())
        reason = match["reason"].decode("utf-8", "replace").strip()
        if match["file"]:
            first, last = 0, 0
        elif subject.data[start : match.start()].strip():
            first = last = line
        else:
            first, last = _below(subject, line)
        found.append(Ignore(subject.file, line, rules, first, last, reason))
    return found


def _below(subject: Subject, line: int) -> tuple[int, int]:
    """The lines that a comment on a line of its own is for."""
    below = line + 1
    while below <= len(subject.newlines):
        start, end = subject.line_span(below)
        text = subject.data[start:end].strip()
        if text and not text.startswith(b"#"):
            break
        below += 1
    if subject.reading is not None:
        for instruction in subject.reading.stages.syntax.instructions:
            if instruction.line == below:
                return below, instruction.end_line
    return below, below


def apply_ignores(hazards: Sequence[Hazard], ignores: Sequence[Ignore]) -> tuple[list[Hazard], list[Ignore]]:
    """The findings, those that a comment covers marked; and the comments that cover nothing."""
    used: set[Ignore] = set()
    result: list[Hazard] = []
    for hazard in hazards:
        ignore = next((ignore for ignore in ignores if ignore.covers(hazard)), None)
        if ignore is None:
            result.append(hazard)
            continue
        used.add(ignore)
        result.append(replace(hazard, ignored=ignore.reason or f"the comment on line {ignore.line}"))
    return result, [ignore for ignore in ignores if ignore not in used]


def apply_baseline(hazards: Sequence[Hazard], known: Iterable[str]) -> list[Hazard]:
    """The findings, those marked that a baseline knows."""
    fingerprints = set(known)
    return [replace(h, ignored=KNOWN) if not h.ignored and h.fingerprint in fingerprints else h for h in hazards]


def baseline_document(hazards: Sequence[Hazard]) -> str:
    """`pins.baseline/1`: the findings that are there now."""
    document = opening(BASELINE, "pins")
    document["hazards"] = [
        {"fingerprint": h.fingerprint, "rule": h.rule.name, "file": h.file, "summary": h.summary}
        for h in hazards
        if not h.ignored or h.ignored == KNOWN
    ]
    return json.dumps(document, indent=2, ensure_ascii=True)


def read_baseline(text: str, origin: str) -> list[str]:
    """The fingerprints of a baseline.

    Raises:
        UsageError: it is no baseline.
    """
    try:
        document = json.loads(text)
        if document["schema"] != BASELINE:
            raise UsageError(f"{origin} is not a {BASELINE} document but {document['schema']!r}")
        return [str(entry["fingerprint"]) for entry in document["hazards"]]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{origin} is not a {BASELINE} document; `pins check --write-baseline` makes one") from error
