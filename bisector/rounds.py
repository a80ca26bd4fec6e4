"""The searches of one run: its own, and those for the partners of its culprit, as the journal has them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bisector.bracket import CommitChange, Ending, Round
from bisector.certificate import Certificate
from bisector.entries import Decision
from bisector.journal import Journal
from bisector.model import Axis, Candidate
from bisector.report.model import NestedMove
from bisector.serial import adapter
from bisector.space import Chain

CHAIN = tuple[tuple[tuple[str, str], ...], ...]
"""How a chain is recorded: the pins of each candidate."""


def chain_of(journal: Journal) -> Chain:
    """The chain that a run searches."""
    return Chain(tuple(Candidate(pins) for pins in adapter(CHAIN).validate_json(journal.meta("chain"))))


@dataclass(frozen=True)
class FoundInRound:
    """What one search came to: its chain, its ending and its swap test, as far as they are on record."""

    chain: Chain
    ending: Ending | None = None
    certificate: Certificate | None = None
    change: CommitChange | None = None
    axes: tuple[Axis, ...] = ()
    """With the commits of merged sides that were searched; empty where none was."""

    def witnesses(self, ending: Ending) -> tuple[Candidate, Candidate]:
        """The last good and the first bad candidate; of a commit beside the chain's line, its own parent is the one."""
        assert ending.lower is not None
        assert ending.upper is not None
        lower, upper = self.chain.candidates[ending.lower], self.chain.candidates[ending.upper]
        if self.change is None or not self.change.parent or ending is not self.ending:
            return lower, upper
        pin = next(pin for pin in lower if lower[pin] != upper[pin])
        return lower.moved(pin, self.change.parent), upper


def _with_descent(found: FoundInRound, inner: NestedMove) -> FoundInRound:
    if found.change is None:
        return found
    which = (inner.path, inner.name)
    nested = tuple(inner if (move.path, move.name) == which else move for move in found.change.nested)
    return replace(found, change=replace(found.change, nested=nested))


def rounds_of(decisions: Sequence[Decision], chain: Chain) -> list[FoundInRound]:
    """The searches of a run, the first one first; what was decided again after a resume replaces what was before."""
    rounds: dict[int, FoundInRound] = {1: FoundInRound(chain)}
    number = 1
    axes: tuple[Axis, ...] = ()
    for decision in decisions:
        match decision.kind:
            case "round":
                begun: Round = adapter(Round).validate_json(decision.body)
                number = begun.number
                rounds = {each: found for each, found in rounds.items() if each < number}
                along = Chain(tuple(Candidate(pins) for pins in begun.chain)) if begun.chain else chain
                rounds[number] = FoundInRound(along, axes=axes)
                axes = ()
            case "axes":  # of the search that begins next
                axes = adapter(tuple[Axis, ...]).validate_json(decision.body)
            case "descent":  # of the search before; a run within it has ended
                inner: NestedMove = adapter(NestedMove).validate_json(decision.body)
                rounds[number] = _with_descent(rounds[number], inner)
            case "change":
                change: CommitChange = adapter(CommitChange).validate_json(decision.body)
                rounds[number] = replace(rounds[number], change=change)
            case "ending":
                rounds[number] = replace(rounds[number], ending=adapter(Ending).validate_json(decision.body))
            case "certificate":
                certificate: Certificate = adapter(Certificate).validate_json(decision.body)
                rounds[number] = replace(rounds[number], certificate=certificate)
    return [rounds[number] for number in sorted(rounds)]
