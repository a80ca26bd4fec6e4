"""What is known of the chain, as labelled facts: who the witnesses are, or where good and bad are known to lie."""

from bisector.model import Outcome, short_text
from bisector.report.evidence import culprit_probe, first_failing, last_passing, predecessor_probe, run_tally
from bisector.report.labels import chain_labels, end, probe_label, relative_label
from bisector.report.model import Culprit, MetricSummary, Move, ProbeRecord, Result, Verdict
from bisector.report.tones import TONES
from bisector.report.wording import came_to_be, count, day, end_probe
from pins.report.blocks import Line, Span, literal, prose
from pins.report.tones import Tone


def chain_facts(result: Result) -> list[tuple[str, Line]]:
    """What is known of the chain: the witnesses of a culprit, the ends, or where good and bad are known to lie."""
    match result.verdict:
        case Verdict.CULPRIT if result.culprit:
            return _culprit_facts(result.culprit, result)
        case Verdict.NO_BRACKET:
            return _end_facts(result)
        case _:
            return _known_facts(result)


def _seen(probe: ProbeRecord | None) -> Line:
    """What the runs of a witness gave."""
    if probe is None:
        return prose(": no run recorded", Tone.DOUBT)
    # A candidate whose build is another's takes over its outcome; the reason says whose.
    said = run_tally(probe) or ", ".join(part for part in (probe.outcome.value, probe.reason) if part)
    return prose(f": {said}", TONES[probe.outcome])


def _culprit_facts(culprit: Culprit, result: Result) -> list[tuple[str, Line]]:
    move = culprit.moves[0]
    rows: list[tuple[str, Line]] = []
    dated = f" ({came_to_be(culprit.kind)} {day(culprit.date)})" if culprit.date else ""
    bad, good = culprit_probe(result), predecessor_probe(result)
    if result.first_good:
        rows.append(("First good", (*literal(f"{move.pin} {move.old}", Tone.GOOD), Span(dated), *_seen(good))))
        rows.append(("Last bad", (*literal(f"{move.pin} {move.new}", Tone.BAD), *_seen(bad))))
    else:
        rows.append(("First bad", (*literal(f"{move.pin} {move.new}", Tone.BAD), Span(dated), *_seen(bad))))
        rows.append(("Last good", (*literal(f"{move.pin} {move.old}", Tone.GOOD), *_seen(good))))
    for other in culprit.moves[1:]:
        forced = f" (the resolver moves it with {other.forced_by})" if other.forced_by else ""
        rows.append(("Moves with it", (*move_line(other, first_good=result.first_good), Span(forced))))
    if culprit.subject:
        written = f" (written {day(culprit.authored)})" if culprit.authored else ""
        rows.append(("Change", (*literal(culprit.subject), Span(written))))
    if culprit.commit and culprit.commit not in culprit.url:
        rows.append(("Commit", literal(culprit.commit)))
    if culprit.url:
        rows.append(("See", (Span(culprit.url, code=True, link=True),)))
    for inner in culprit.nested:
        moved = f"{inner.path}: {inner.name} {short_text(inner.old)} -> {short_text(inner.new)}"
        what = inner.said or "it may be searched as well: --descend"
        rows.append(("It moves within", (*literal(moved), Span(f" ({what})"))))
    for pin, value in culprit.partners:
        rows.append(("Only together with", literal(f"{pin} {value}", Tone.BAD)))
    for further in result.further_culprits:
        first, *rest = further.moves
        needs = "".join(f", together with {pin} {value}" for pin, value in further.partners)
        along = "".join(f", moving with {other.pin} {other.new}" for other in rest)
        rows.append(("Fails on its own, too", (*move_line(first, first_good=result.first_good), Span(along + needs))))
    return rows


def _end_facts(result: Result) -> list[tuple[str, Line]]:
    """How the two ends came out."""
    rows: list[tuple[str, Line]] = []
    for name, good in (("Good end", True), ("Bad end", False)):
        probe = end_probe(result, good=good)
        label = literal(relative_label(result, end(result, good=good)))
        rows.append((name, (*label, *(_seen(probe) if probe else prose(": not tried", Tone.FAINT)))))
    return rows


def _known_facts(result: Result) -> list[tuple[str, Line]]:
    """What is known of the chain, and how much is not."""
    labels = chain_labels(result)
    good, bad = last_passing(result), first_failing(result)
    rows: list[tuple[str, Line]] = []
    for name, probe, tone in (("Seen to pass up to", good, Tone.GOOD), ("Seen to fail from", bad, Tone.BAD)):
        if probe is None:
            rows.append((name, prose("nothing yet", Tone.DOUBT)))
        else:
            rows.append((name, (*literal(probe_label(result, probe, labels), tone), *_seen(probe))))
    if good and bad and good.step is not None and bad.step is not None:
        rows.append(("Still open", prose(f"{count(bad.step - good.step, 'step')} between them")))
    broken = [probe for probe in result.probes if probe.outcome is Outcome.INFRA and probe.reason]
    if result.verdict is Verdict.INFRASTRUCTURE and broken:
        failed = literal(probe_label(result, broken[-1], labels))
        rows.append(("Failed at", (*failed, Span(": "), *literal(broken[-1].reason, Tone.DOUBT))))
    return rows


def move_line(move: Move, *, first_good: bool = False) -> Line:
    """A step as a line, from the older value to the newer one."""
    good, bad = Span(move.old, Tone.GOOD, code=True), Span(move.new, Tone.BAD, code=True)
    old, new = (bad, good) if first_good else (good, bad)
    return (Span(move.pin, code=True), Span(" "), old, Span(" -> "), new)


def metric_facts(metric: MetricSummary) -> list[tuple[str, Line]]:
    """The number that decides: what is good, and what the ends measured."""
    rows: list[tuple[str, Line]] = []
    if metric.limit is not None:
        sign = "<=" if metric.higher_is_worse else ">="
        rows.append(("Good is", literal(f"{metric.name} {sign} {metric.limit:.6g}")))
    for name, measured in (("At the good end", metric.good), ("At the bad end", metric.bad)):
        if measured is not None:
            mean, deviation, runs = measured
            noise = f" ± {deviation:.2g}" if runs > 1 else ""
            rows.append((name, prose(f"{mean:.6g}{noise} in {count(runs, 'run')}")))
    return rows
