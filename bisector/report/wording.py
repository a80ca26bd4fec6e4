"""How a report says things: one wording for every renderer.

A report never says "caused by": it says what was run, what came out, and how sure that makes it.
"""

from datetime import UTC, datetime

from bisector.model import Outcome, Signature
from bisector.report.evidence import first_failing, last_passing, on_chain
from bisector.report.labels import relative_label
from bisector.report.model import NEWEST_PASSES, Move, ProbeRecord, Result, Verdict

GLYPHS = {
    Outcome.PASS: "✓",
    Outcome.FAIL: "✗",
    Outcome.OTHER: "!",
    Outcome.UNBUILDABLE: "#",
    Outcome.SKIP: "-",
    Outcome.INFRA: "?",
}
"""One character for each outcome; `UNTRIED` for a candidate without one."""
UNTRIED = "·"

MEANINGS = {
    Outcome.PASS: "passed",
    Outcome.FAIL: "failed in the way sought",
    Outcome.OTHER: "failed in another way",
    Outcome.UNBUILDABLE: "could not be built",
    Outcome.SKIP: "was skipped by the script",
    Outcome.INFRA: "could not be tried, since our side failed",
}
"""What became of a candidate, as the rest of a sentence that begins with it."""

_CAME_TO_BE = {"git": "committed", "image": "created", "package": "uploaded", "float": "uploaded"}


def duration(seconds: float) -> str:
    """A time span for people: "0.4 s", "12 s", "3 min 20 s", "2 h 05 min"."""
    if 0 < seconds < 0.05:
        return "under 0.1 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def moment(when: datetime) -> str:
    """A point in time for people, in UTC; a naive one is taken as UTC."""
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(when: datetime) -> str:
    """The day of a point in time, in UTC."""
    return moment(when)[:10]


def percent(probability: float) -> str:
    """A probability for people; never "100 %" or "0 %", since nothing measured is certain."""
    if probability < 0.0005:
        return "under 0.1 %"
    if probability > 0.9999:
        return "over 99.99 %"
    digits = 2 if probability > 0.99 else 1 if probability > 0.9 or probability < 0.1 else 0
    return f"{probability * 100:.{digits}f} %"


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 build", "3 builds"."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"


def step(move: Move, *, first_good: bool = False) -> str:
    """A move in one phrase, from the older value: "setuptools 80.9.0 -> 82.0.0"."""
    old, new = (move.new, move.old) if first_good else (move.old, move.new)
    return f"{move.pin} {old} -> {new}"


def signature(failure: Signature) -> str:
    """A signature in one phrase: "AttributeError: module 'x' has no attribute 'y' (exit 1)"."""
    said = ": ".join(part for part in (failure.kind, failure.message) if part)
    return f"{said} ({failure.exit})" if said else failure.exit


def came_to_be(kind: str) -> str:
    """What happened on the date of a value of this kind of pin: "uploaded", "committed"."""
    return _CAME_TO_BE.get(kind, "dated")


def certainty(result: Result) -> str:
    """How sure the verdict is, with what that rests on; "" where nothing was computed."""
    if result.confidence is None:
        return ""
    said = percent(result.confidence)
    if result.confidence_if_flaky is not None:
        said += f"; if this script is flaky at all: {percent(result.confidence_if_flaky)}"
    return said


def title(result: Result) -> str:
    """The verdict in a few words."""
    match result.verdict:
        case Verdict.CULPRIT if result.culprit:
            name = "First good" if result.first_good else "First bad"
            return f"{name}: {step(result.culprit.moves[0], first_good=result.first_good)}"
        case Verdict.RANGE:
            return f"Narrowed down to {_range_phrase(result)}"
        case Verdict.NO_BRACKET if result.summary == NEWEST_PASSES:
            return "The newest passes"
        case Verdict.NO_BRACKET:
            return "The ends do not bracket the failure"
        case Verdict.ENVIRONMENT:
            return "The outcome depends on the host or the time, not on a pin alone"
        case Verdict.INFRASTRUCTURE:
            return "Nothing concluded: the environment failed"
        case Verdict.INTERRUPTED:
            return "Interrupted before the verdict"
        case _:
            return "Could not be determined"


def _range_phrase(result: Result) -> str:
    """The steps left: "pyyaml 5.3.1 -> 6.0 (3 steps)" where one pin makes them all."""
    steps = count(len(result.range), "step")
    pins = {move.pin for move in result.range}
    if len(pins) == 1:
        first, last = result.range[0].old, result.range[-1].new
        first, last = (last, first) if result.first_good else (first, last)
        return f"{result.range[0].pin} {first} -> {last} ({steps})"
    return f"{steps} of {count(len(pins), 'pin')}"


def short_summary(result: Result) -> str:
    """The verdict in one or two sentences, on one line, with how sure it is and why it is none."""
    said = [verdict_sentence(result)]
    if result.culprit is not None:
        if result.confidence is not None:
            said.append(f"Probability {certainty(result)}.")
    elif result.summary and result.verdict is not Verdict.NO_BRACKET:  # there the sentence is it
        first = result.summary.partition("\n")[0].rstrip(".:")  # what is listed below it, the report has
        said.append(f"{first[:1].upper()}{first[1:]}.")
    elif result.verdict is not Verdict.NO_BRACKET:
        said.append(_known(result))
    return " ".join(part for part in said if part)


def verdict_sentence(result: Result) -> str:
    """The verdict in a sentence."""
    match result.verdict:
        case Verdict.CULPRIT if result.culprit:
            return _culprit_sentence(result)
        case Verdict.RANGE:
            sought = "step that mends it" if result.first_good else "first bad step"
            return f"The {sought} is among {_range_phrase(result)}, which could not be told apart."
        case Verdict.NO_BRACKET:
            why = result.summary.rstrip(".")
            return f"{why[0].upper()}{why[1:]}." if why else f"There is nothing to search: {_ends(result)}."
        case Verdict.UNDETERMINED:
            return "No step reached the asked-for confidence."
        case Verdict.ENVIRONMENT:
            return (
                "The same candidate was judged differently on different hosts or at different times, "
                "so no pin can be named."
            )
        case Verdict.INFRASTRUCTURE:
            return "Our side or the machine failed; nothing is concluded from that."
        case _:
            return "The run stopped before its verdict."


def _culprit_sentence(result: Result) -> str:
    assert result.culprit is not None
    culprit = result.culprit
    move = culprit.moves[0]
    dated = f" ({came_to_be(culprit.kind)} {day(culprit.date)})" if culprit.date else ""
    along = ", ".join(step(other, first_good=result.first_good) for other in culprit.moves[1:])
    together = f", moving together with {along}" if along else ""
    partners = ", ".join(f"{pin} {value}" for pin, value in culprit.partners)
    needs = f" It was seen to fail only together with {partners}." if partners else ""
    if result.first_good:
        mends = f" It is needed only together with {partners}." if partners else ""
        return f"{move.pin} {move.old}{dated} is the first that passes{together}; {move.new} before it fails.{mends}"
    return f"{move.pin} {move.new}{dated} is the first that fails{together}; its predecessor {move.old} passes.{needs}"


def _known(result: Result) -> str:
    good, bad = last_passing(result), first_failing(result)
    known = [
        f"passing up to {relative_label(result, good.candidate)}" if good else "",
        f"failing from {relative_label(result, bad.candidate)}" if bad else "",
    ]
    said = ", ".join(part for part in known if part)
    return f"Known so far: {said}." if said else ""


def end_probe(result: Result, *, good: bool) -> ProbeRecord | None:
    """The probe of the good or the bad end; None where it was not tried."""
    ends = {axis.pin: axis.good if good else axis.bad for axis in result.axes}
    by_pins = next((probe for probe in result.probes if dict(probe.candidate) == ends), None)
    return by_pins or (on_chain(result).get(0) if good else None)


def _ends(result: Result) -> str:
    said = []
    for name, good, expected in (("good", True, Outcome.PASS), ("bad", False, Outcome.FAIL)):
        probe = end_probe(result, good=good)
        if probe is not None and probe.outcome is not expected:
            said.append(f"the {name} end {MEANINGS[probe.outcome]}")
    return ", and ".join(said) or "they were not seen to pass and to fail"


def swap_sentences(result: Result) -> tuple[tuple[str, str], ...]:
    """What the swap test showed: (what was run, what came out)."""
    if result.culprit is None:
        return ()
    culprit = result.culprit
    if len(result.axes) <= sum(move.pin in {axis.pin for axis in result.axes} for move in culprit.moves):
        return (("Not needed", "nothing else differs between the ends, so that the witnesses show both"),)
    alone = {
        "fail": "fails: it needs no other pin of the bad set",
        "pass": "passes: it fails only together with other pins",
        "infeasible": "cannot be installed: the pins exclude one another",
        "not-run": "was not run",
    }
    removed = {
        "pass": "passes: nothing else in it fails",
        "fail": "still fails: something else in it fails as well",
        "infeasible": "cannot be installed: the pins exclude one another",
        "not-run": "was not run",
    }
    if result.first_good:
        alone |= {"fail": "fails: it is needed", "pass": "passes: it is needed only together with other pins"}
        removed |= {"pass": "passes: it is enough", "fail": "still fails: it is not enough"}
        asked = ("The newer set without this step", "The older set with this step alone")
    else:
        asked = ("This step alone on the good set", "The bad set without this step")
    said = [
        (asked[0], alone.get(culprit.alone_on_good, culprit.alone_on_good)),
        (asked[1], removed.get(culprit.removed_from_bad, culprit.removed_from_bad)),
    ]
    return tuple(said)
