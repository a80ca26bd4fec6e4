"""Short names of candidates: what is different about each, instead of every pin of every candidate."""

from bisector.model import Candidate, short_text
from bisector.report.evidence import differing, on_chain
from bisector.report.model import ProbeRecord, Result

_FEW = 3
"""So many pins are named in full."""


def pins_phrase(candidate: Candidate) -> str:
    """Pins with their values: "pybind11 3.0.4, triton 3.5.0"."""
    return ", ".join(f"{pin} {short_text(value)}" for pin, value in candidate.pins)


def end(result: Result, *, good: bool) -> Candidate:
    """The pins of the good or of the bad end."""
    return Candidate(tuple((axis.pin, axis.good if good else axis.bad) for axis in result.axes))


def chain_labels(result: Result) -> dict[int, str]:
    """By step: the pins that moved since the last step that was tried; all of them at the start, where they are few."""
    labels: dict[int, str] = {}
    before: Candidate | None = None
    for step, probe in on_chain(result).items():
        candidate = probe.candidate
        if before is None and len(candidate) > _FEW:
            labels[step] = "all pins at their good values" if step == 0 else relative_label(result, candidate)
        else:
            labels[step] = pins_phrase(differing(candidate, before))
        before = candidate
    return labels


def relative_label(result: Result, candidate: Candidate) -> str:
    """A candidate by its difference from the nearer end: "bad end, but triton 3.5.0"."""
    return label_between(candidate, end(result, good=True), end(result, good=False))


def label_between(candidate: Candidate, good: Candidate, bad: Candidate) -> str:
    """A candidate by its difference from the nearer of two ends, all of its pins where they are few."""
    if len(candidate) <= _FEW:
        return pins_phrase(candidate)
    if candidate in (good, bad):
        return "good end" if candidate == good else "bad end"
    from_good, from_bad = differing(candidate, good), differing(candidate, bad)
    if len(from_good) <= len(from_bad):
        return f"good end, but {pins_phrase(from_good)}"
    return f"bad end, but {pins_phrase(from_bad)}"


def probe_label(result: Result, probe: ProbeRecord, on_steps: dict[int, str]) -> str:
    """A probe's candidate: as on the chain, or by its difference from an end."""
    if probe.step is not None and probe.step in on_steps:
        return on_steps[probe.step]
    return relative_label(result, probe.candidate)
