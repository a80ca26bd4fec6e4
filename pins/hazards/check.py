"""Run the rules over files."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pins.files.values import without_credentials
from pins.hazards.model import Finding, Hazard, Rule
from pins.hazards.subject import Subject

_LONGEST_SOURCE = 200


def check(subjects: Sequence[Subject], rules: Iterable[Rule]) -> list[Hazard]:
    """What the rules find, in the order of files and lines."""
    found: list[Hazard] = []
    by_file = {subject.file: subject for subject in subjects}
    for rule in rules:
        if rule.find is not None:
            for subject in subjects:
                found.extend(_placed(rule, by_file, subject, finding) for finding in rule.find(subject))
        if rule.across is not None:
            found.extend(_placed(rule, by_file, subject, finding) for subject, finding in rule.across(subjects))
    order = {file: index for index, file in enumerate(by_file)}
    found = list(dict.fromkeys(found))
    found.sort(key=lambda h: (order.get(h.file, len(order)), h.file, h.line, h.column, h.rule.name))
    return _fingerprinted(found)


def _placed(rule: Rule, by_file: dict[str, Subject], subject: Subject, finding: Finding) -> Hazard:
    at = by_file.get(finding.file, subject)
    line = at.line(finding.start)
    last = max(finding.end - 1, finding.start)
    end_line = at.line(last)
    start, end = at.line_span(line)
    source = without_credentials(at.data[start:end].decode("utf-8", "replace").strip())
    return Hazard(
        rule,
        at.file,
        line,
        _column(at, start, finding.start),
        end_line,
        _column(at, at.line_span(end_line)[0], max(finding.end, finding.start + 1)),
        finding.pin,
        without_credentials(finding.summary),
        without_credentials(finding.fix or rule.advice),
        finding.edits,
        tuple(without_credentials(line) for line in finding.evidence),
        source if len(source) <= _LONGEST_SOURCE else source[: _LONGEST_SOURCE - 3] + "...",
        identity=at.identity or at.file,
    )


def _column(subject: Subject, line_start: int, offset: int) -> int:
    return len(subject.data[line_start:offset].decode("utf-8", "replace")) + 1


def _fingerprinted(hazards: list[Hazard]) -> list[Hazard]:
    """With a fingerprint each: of the rule, the file, the line's text and the pin, counted where they repeat."""
    seen: Counter[str] = Counter()
    result: list[Hazard] = []
    for hazard in hazards:
        text = "\0".join((hazard.rule.name, hazard.identity, " ".join(hazard.source.split()), hazard.pin))
        key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        seen[key] += 1
        result.append(replace(hazard, fingerprint=f"{key}:{seen[key]}"))
    return result
