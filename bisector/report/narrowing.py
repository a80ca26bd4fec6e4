"""How the belief of a result narrowed, as a drawing: the chain with what was seen of it, and a row for each run."""

from bisector.model import Outcome
from bisector.report.evidence import culprit_probe, on_chain, predecessor_probe
from bisector.report.labels import end, relative_label
from bisector.report.model import BeliefPoint, ProbeRecord, Result
from bisector.report.tones import TONES
from bisector.report.wording import GLYPHS, count, percent
from pins.report.blocks import Block, Mark, Narrowed, Narrowing, Paragraph, prose

_SIDES = {Outcome.PASS: 1, Outcome.FAIL: -1}


def narrowing(result: Result) -> tuple[Block, ...]:
    """The drawing and what it shows in a sentence; nothing where the record does not say it."""
    if not result.belief or result.chain_length < 2:
        return ()
    probes = on_chain(result)
    last = max(result.chain_length - 1, *(max(point.step, point.upper) for point in result.belief))
    labels = {step: relative_label(result, probe.candidate) for step, probe in probes.items()}
    sentence = _sentence(result)
    drawn = Narrowing(
        last,
        (_end_name(result, good=True), _end_name(result, good=False)),
        tuple(_mark(step, probe.outcome, labels) for step, probe in probes.items()),
        tuple(_row(point, labels) for point in result.belief),
        _named(result, labels),
        f"The chain of {count(last + 1, 'candidate')}, {len(probes)} of them tried. {sentence}",
    )
    return Paragraph(prose(sentence)), drawn


def _sentence(result: Result) -> str:
    """How many steps were suspected in the course of the run: at first, where half was known, and in the end."""
    first, final = result.belief[0], result.belief[-1]
    seen = count(len(result.belief), "result")
    now = (
        f"After {seen}, {count(final.steps, 'step')} of {max(1, result.chain_length - 1)} held 99 % of the probability"
    )
    if final.likeliest is not None and final.steps > 1:
        now += f", the likeliest {percent(final.probability)}"
    half = next((n for n, point in enumerate(result.belief, 1) if point.steps * 2 <= first.steps), None)
    return f"{now}; half of all steps were ruled out after {count(half, 'result')}." if half and half > 1 else f"{now}."


def _row(point: BeliefPoint, labels: dict[int, str]) -> Narrowed:
    likeliest = ""
    if point.likeliest is not None:
        name = labels.get(point.likeliest) or f"place {point.likeliest}"
        likeliest = f"the step to {name} ({percent(point.probability)})"
    return Narrowed(_mark(point.step, point.outcome, labels), point.lower, point.upper, point.steps, likeliest)


def _mark(step: int, outcome: Outcome, labels: dict[int, str]) -> Mark:
    label = labels.get(step) or f"place {step}"
    return Mark(step, GLYPHS[outcome], outcome.value, label, TONES[outcome], _SIDES.get(outcome, 0))


def _end_name(result: Result, *, good: bool) -> str:
    name = "passing end" if good and result.first_good else "failing end" if result.first_good else ""
    return f"{name or ('good end' if good else 'bad end')}: {relative_label(result, end(result, good=good))}"


def _named(result: Result, labels: dict[int, str]) -> tuple[tuple[int, str], ...]:
    """The two witnesses of a culprit."""
    names = ("first good", "last bad") if result.first_good else ("last good", "first bad")
    found: tuple[ProbeRecord | None, ...] = (predecessor_probe(result), culprit_probe(result))
    return tuple(
        (probe.step, f"{name}: {labels[probe.step]}")
        for probe, name in zip(found, names, strict=True)
        if probe is not None and probe.step is not None and probe.step in labels
    )
