"""The chain of a result from its good end to its bad one, long untested stretches drawn together."""

from bisector.model import Outcome
from bisector.report.evidence import culprit_probe, on_chain, predecessor_probe, run_tally
from bisector.report.labels import chain_labels
from bisector.report.model import ProbeRecord, Result
from bisector.report.tones import TONES
from bisector.report.wording import GLYPHS, UNTRIED, count
from pins.report.blocks import Block, Chain, ChainEntry, Paragraph, prose
from pins.report.tones import Tone

_FIRST_BAD = "first bad"
_LAST_GOOD = "last good"
_LAST_BAD = "last bad"
_FIRST_GOOD = "first good"


def chain(result: Result) -> tuple[Block, ...]:
    """The chain as blocks: a legend, and the candidates in order; nothing where none was tried."""
    entries = chain_entries(result)
    if not entries:
        return ()
    seen = {entry.word for entry in entries}
    legend = "   ".join(
        [f"{glyph} {outcome}" for outcome, glyph in GLYPHS.items() if outcome in seen]
        + ([f"{UNTRIED} not tried"] if "" in seen else [])
    )
    bad = [place for place, entry in enumerate(entries) if entry.word == Outcome.FAIL]
    named = [place for place in bad if entries[place].note.startswith((_FIRST_BAD, _LAST_BAD))]
    return Chain(entries, (named or bad or [0])[0]), Paragraph(prose(legend, Tone.FAINT))


def chain_entries(result: Result) -> tuple[ChainEntry, ...]:
    """One entry for each place that was tried, one for each stretch between them."""
    probes = on_chain(result)
    labels = chain_labels(result)
    names = (_FIRST_GOOD, _LAST_BAD) if result.first_good else (_LAST_GOOD, _FIRST_BAD)
    found = (predecessor_probe(result), culprit_probe(result))
    witnesses = {probe.step: name for probe, name in zip(found, names, strict=True) if probe is not None}
    last = max(result.chain_length - 1, *probes, 0) if probes else 0
    entries: list[ChainEntry] = []
    expected = 0
    for step, probe in probes.items():
        if step > expected:
            entries.append(_stretch(step - expected))
        entries.append(_tried(probe, labels[step], witnesses.get(step, ""), last))
        expected = step + 1
    if probes and last >= expected:
        entries.append(_stretch(last - expected + 1))
    return tuple(entries)


def _stretch(length: int) -> ChainEntry:
    return ChainEntry(UNTRIED, "", f"{count(length, 'candidate')} not tried", tone=Tone.FAINT, length=length)


def _tried(probe: ProbeRecord, label: str, witness: str, last: int) -> ChainEntry:
    notes = [
        witness,
        "good end" if probe.step == 0 else "",
        "bad end" if probe.step == last else "",
        run_tally(probe) if len(probe.runs) > 1 else "",
    ]
    said = ", ".join(note for note in notes if note)
    return ChainEntry(GLYPHS[probe.outcome], probe.outcome.value, label, said, TONES[probe.outcome])
