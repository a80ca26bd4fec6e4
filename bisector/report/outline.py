"""A result as a document: which sections a report has, and in which order."""

import posixpath

from bisector.model import Candidate, Outcome
from bisector.report.advice import advice
from bisector.report.chain import chain
from bisector.report.evidence import culprit_probe, first_failing, is_pending, run_tally, tally
from bisector.report.findings import chain_facts, metric_facts, move_line
from bisector.report.labels import chain_labels, probe_label, relative_label
from bisector.report.model import ProbeRecord, Result, Verdict
from bisector.report.narrowing import narrowing
from bisector.report.short_values import with_short_values
from bisector.report.tones import TONES
from bisector.report.wording import (
    GLYPHS,
    MEANINGS,
    certainty,
    count,
    duration,
    moment,
    percent,
    short_summary,
    signature,
    swap_sentences,
    title,
    verdict_sentence,
)
from bisector.signature.unmasked import unmasked
from pins.report.blocks import (
    Block,
    Bullets,
    Code,
    Document,
    Facts,
    Line,
    Paragraph,
    Section,
    Span,
    Table,
    literal,
    prose,
)
from pins.report.tones import Tone

_MANY_PROBES = 60
_VERDICT_TONES = {Verdict.CULPRIT: Tone.STRONG, Verdict.RANGE: Tone.DOUBT, Verdict.INTERRUPTED: Tone.DOUBT}


def tool_version() -> str:
    """The version of this program, "unknown" where it runs from a tree that was never installed."""
    from importlib import metadata  # loads the email package: not for those who only look on

    try:
        return metadata.version("bisector")
    except metadata.PackageNotFoundError:
        return "unknown"


def outline(result: Result) -> Document:
    """The document that every renderer for people draws."""
    to_do = advice(result)  # what is to be typed is named in full
    result = with_short_values(result)
    sections = (
        _failing_output(result),
        _told_apart(result),
        Section("What to do next", (Bullets(to_do),) if to_do else ()),
        Section("Notes", (Bullets(tuple(prose(note) for note in result.notes)),) if result.notes else ()),
        _chain(result),
        Section("How the belief narrowed", narrowing(result)),
        _swap_test(result),
        _other_failures(result),
        _moved_along(result),
        _held_fixed(result),
        _probes(result),
        _what_was_run(result),
        Section("Reproduce", _reproduce(result)),
        Section("Go on", (Code(result.resume, command=True),) if result.resume else ()),
    )
    return Document(
        title=title(result),
        tone=verdict_tone(result),
        lead=_lead(result),
        sections=tuple(section for section in sections if section.blocks),
        footer=f"bisector {tool_version()}, {moment(result.created)}, run {result.run_id}",
    )


def verdict_tone(result: Result) -> Tone:
    """How a verdict's title is coloured."""
    return _VERDICT_TONES.get(result.verdict, Tone.BAD)


def _lead(result: Result) -> tuple[Block, ...]:
    rows = chain_facts(result)
    if result.metric is not None:
        rows += metric_facts(result.metric)
    if sure := certainty(result):
        rows.append(("Likeliest step" if result.verdict is Verdict.UNDETERMINED else "How sure", prose(sure)))
    if result.signature:
        rows.append(("Failure", literal(signature(unmasked(result.signature, result.failing_output)), Tone.BAD)))
    if result.first_failing is not None:
        rows.append(_before_it(result, result.first_failing))
    sentence = verdict_sentence(result)
    told = (sentence, short_summary(result), *result.notes)
    known = result.culprit is not None or result.verdict is Verdict.NO_BRACKET
    if result.summary and not known and result.summary not in told:
        first, *further = result.summary.split("\n")
        rows += [("Why", prose(first)), *(("", prose(line.strip())) for line in further)]
    return (Paragraph(prose(sentence)), Facts(tuple(rows)))


def _before_it(result: Result, candidate: Candidate) -> tuple[str, Line]:
    """The first candidate that fails before the first bad one, and how."""
    earlier = literal(relative_label(result, candidate), Tone.DOUBT)
    probe = next((probe for probe in result.probes if probe.candidate == candidate), None)
    if probe is not None and probe.outcome is Outcome.UNBUILDABLE:
        return "Before it", (*earlier, Span(f" {MEANINGS[probe.outcome]}"))
    how = run_tally(probe) if probe is not None and probe.outcome in (Outcome.PASS, Outcome.FAIL) else ""
    return "Fails before it", (*earlier, Span(f" ({how or 'in another way'})"))


def _reproduce(result: Result) -> tuple[Block, ...]:
    if not result.reproduce:
        return ()
    place = (*prose("In "), *literal(result.reproduce_in), *prose(":"))
    return (*((Paragraph(place),) if result.reproduce_in else ()), Code(result.reproduce, command=True))


def _failing_output(result: Result) -> Section:
    blocks: list[Block] = []
    if result.failing_output.strip():
        blocks.append(Code(result.failing_output.strip("\n")))
    failed = culprit_probe(result) or first_failing(result)
    rows = tuple(
        (label, literal(path))
        for label, path in (
            ("Whole log", _log(failed) if blocks and failed else ""),
            ("Files of a failing run", result.culprit_output),
            ("Files of the predecessor", result.predecessor_output),
        )
        if path
    )
    return Section("Failing output", (*blocks, Facts(rows)) if rows else tuple(blocks))


def _told_apart(result: Result) -> Section:
    if not result.range:
        return Section("", ())
    title = "Likeliest steps" if result.verdict is Verdict.UNDETERMINED else "Steps that could not be told apart"
    moves = reversed(result.range) if result.first_good else result.range
    return Section(title, (Bullets(tuple(move_line(move, first_good=result.first_good) for move in moves)),))


def _chain(result: Result) -> Section:
    """The candidates one by one, out of the way where they are many and a drawing shows them."""
    return Section("The chain", chain(result), folded=len(result.probes) > _MANY_PROBES and bool(result.belief))


def _swap_test(result: Result) -> Section:
    rows: list[tuple[str, Line]] = [(asked, prose(answer)) for asked, answer in swap_sentences(result)]
    if result.culprit and result.culprit.partners:
        partners = ", ".join(f"{pin} {value}" for pin, value in result.culprit.partners)
        rows.append(("Partners it needs", literal(partners)))
    if result.control:
        seen = "fails again" if set(result.control) == {Outcome.FAIL} else f"comes out as {tally(result.control)}"
        rows.append(("The bad end once more, before blaming", prose(seen)))
    return Section("Swap test", (Facts(tuple(rows)),) if rows else ())


def _other_failures(result: Result) -> Section:
    if not result.other_failures:
        return Section("", ())
    rows = tuple(
        (
            literal(signature(failure.signature), Tone.DOUBT),
            literal("; ".join(relative_label(result, candidate) for candidate in failure.candidates)),
        )
        for failure in result.other_failures
    )
    table = Table(("failure", "seen at"), rows, caption="Failures that are not the one sought")
    return Section("Other failures, no evidence about this one", (table,))


def _moved_along(result: Result) -> Section:
    if not result.transitive:
        return Section("", ())
    rows = tuple(
        (literal(change.name), literal(change.predecessor or "absent"), literal(change.culprit or "absent"))
        for change in result.transitive
    )
    table = Table(
        ("distribution", "predecessor", "culprit"),
        rows,
        caption="What moved along with the culprit without being a pin",
    )
    return Section("Moved along without being pinned", (table,), folded=len(rows) > 10)


def _held_fixed(result: Result) -> Section:
    if not result.held_fixed:
        return Section("", ())
    rows = tuple((literal(pin), literal(value)) for pin, value in result.held_fixed)
    table = Table(("pin", "value"), rows, caption="What was the same in every candidate")
    return Section("Held fixed", (table,), folded=len(rows) > 10)


def _probes(result: Result) -> Section:
    if not result.probes:
        return Section("", ())
    labels = chain_labels(result)
    rows = tuple(_probe_row(result, probe, labels) for probe in result.probes)
    witness = culprit_probe(result) or first_failing(result)
    table = Table(
        ("step", "candidate", "why", "outcome", "runs", "build", "run", "log"),
        rows,
        keep=result.probes.index(witness) if witness else 0,
        numeric=frozenset({0, 4, 5, 6}),
        caption="Every candidate that was tried, in the order of trying",
    )
    reasons = tuple(
        (*literal(probe_label(result, probe, labels)), Span(f": {probe.outcome}: "), *literal(probe.reason))
        for probe in result.probes
        if probe.reason and probe.outcome is not Outcome.PASS
    )
    blocks: tuple[Block, ...] = (table, Bullets(reasons)) if reasons else (table,)
    return Section(f"Every probe ({len(rows)})", blocks, folded=True)


def _probe_row(result: Result, probe: ProbeRecord, labels: dict[int, str]) -> tuple[Line, ...]:
    ran = sum(run.seconds for run in probe.runs)
    return (
        prose("" if probe.step is None else str(probe.step)),
        literal(probe_label(result, probe, labels)),
        prose(probe.why),
        _outcome(probe),
        prose(str(len(probe.runs))),
        prose(duration(probe.build_seconds) if probe.built else "none"),
        prose(duration(ran) if probe.runs else "none"),
        literal(_inside(_log(probe), result.run_directory)),
    )


def _outcome(probe: ProbeRecord) -> Line:
    """The outcome, how often the others were seen, and whether all of the candidate was really built."""
    if is_pending(probe):
        return prose("not finished", Tone.FAINT)
    mixed = f" ({run_tally(probe)})" if {run.outcome for run in probe.runs} - {probe.outcome} else ""
    approximate = " approximate" if probe.approximate else ""
    return (Span(f"{GLYPHS[probe.outcome]} {probe.outcome}", TONES[probe.outcome]), Span(mixed + approximate))


def _log(probe: ProbeRecord) -> str:
    """The log that says most: of the first run with the probe's outcome, else of the build."""
    logs = [run.log for run in probe.runs if run.outcome is probe.outcome and run.log]
    return (logs or [probe.build_log])[0]


def _inside(path: str, directory: str) -> str:
    """A path without the run directory that it lies in."""
    return path.removeprefix(directory.rstrip("/") + "/") if directory.strip("/") else path


def _what_was_run(result: Result) -> Section:
    rows: list[tuple[str, Line]] = [
        (
            "Searched" if place == 0 else "",
            (*literal(f"{axis.pin} {axis.good}..{axis.bad}"), Span(f" ({axis.kind}, {count(axis.length, 'value')})")),
        )
        for place, axis in enumerate(result.axes)
    ]
    if result.chain_length:
        rows.append(("Chain", prose(count(result.chain_length, "candidate") + ", both ends included")))
    builds = f"{count(result.builds, 'build')} ({duration(result.build_seconds)})"
    runs = f"{count(result.runs, 'run')} ({duration(result.run_seconds)})"
    rows.append(("Work", prose(f"{builds}, {runs}; {duration(result.seconds)} in all")))
    if result.fail_if_bad is not None or result.fail_if_good is not None:
        said = [
            f"{percent(rate)} of runs {side}"
            for rate, side in ((result.fail_if_bad, "on bad candidates"), (result.fail_if_good, "on good ones"))
            if rate is not None
        ]
        rows.append(("Estimated failures", prose(", ".join(said))))
    if result.environment:
        rows.append(("Environment", literal(result.environment)))
    if result.exclude_newer:
        rows.append(("Index read as of", prose(moment(result.exclude_newer))))
    rows.extend((name, literal(value)) for name, value in result.facts.items())
    if result.run_directory:
        rows.append(("Logs lie under", literal(posixpath.normpath(result.run_directory))))
    return Section("What was run", (Facts(tuple(rows)),))
