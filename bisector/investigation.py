"""What a run does from its axes to its verdict: search, blame with care, certify, and go on to a further culprit.

Every step of it is decided by what is on record, so that an interrupted investigation goes through the same steps again
after a resume, and finds their runs done.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bisector.bracket import CommitChange, Ending, Pins, Round
from bisector.certificate import Certificate, Standing, certify
from bisector.driver import Driver
from bisector.environments.base import Environment
from bisector.events import Note, Reporter
from bisector.feasibility.known_bad import known_bad
from bisector.journal import Journal
from bisector.model import Axis, AxisValue, Candidate
from bisector.preparation import lay_chain
from bisector.prober import Prober
from bisector.report.model import Move, Verdict
from bisector.request import RunRequest
from bisector.rounds import chain_of
from bisector.search_order import weights_of
from bisector.space import Chain, chain_in_time, chain_through, moves_between

if TYPE_CHECKING:
    from bisector.merges import Side


@dataclass(frozen=True)
class Investigation:
    """Everything that a search needs besides its chain.

    Attributes:
        request: what was asked for.
        environment: makes candidates runnable, and knows which of them can be.
        journal: takes every decision.
        prober: builds and runs.
        reporter: told what happens.
        seconds_left: of the budget, None for no limit.
    """

    request: RunRequest
    environment: Environment
    journal: Journal
    prober: Prober
    reporter: Reporter
    seconds_left: Callable[[], float | None]

    def run(self, axes: tuple[Axis, ...], chain: Chain) -> Verdict:
        """Search the chain through these axes, and what follows from it; every result is in the journal.

        Raises:
            EnvironmentFailureError: our side failed; the run can be resumed.
        """
        if self.request.canary:
            passes = self._canary(axes, chain)
            if passes is not None:
                return passes.verdict
        verdict = None
        number = 1
        axes, chain = self._from_a_good_end(axes, chain)
        while True:
            ending, axes, chain, certificate = self._round(number, axes, chain)
            verdict = verdict or ending.verdict
            if certificate is None or certificate.removed_from_bad is not Standing.FAIL:
                return verdict
            if not self.request.every_culprit:
                return verdict
            axes = _without(axes, _moves(chain, ending))
            chain = lay_chain(axes, self.environment, known=known_bad(self.request, axes))
            number += 1
            self.reporter(Note("the bad set still fails without that step: searching for a further culprit"))

    def _from_a_good_end(self, axes: tuple[Axis, ...], chain: Chain) -> tuple[tuple[Axis, ...], Chain]:
        """Axis and chain from the first good end that was found on the way back, where the user has named none."""
        images = self.request.images
        if images is None or images.good_is_known:
            return axes, chain
        from bisector.further_back import good_end
        from bisector.image_axes.settling import axis_over

        whole = (axis_over(images, images.tags),)
        candidates = chain_through(whole, [whole]).candidates
        first = good_end(candidates, self._driver(axes, chain).first_outcome)
        if first == len(candidates) - 2:
            return axes, chain
        axes = (axis_over(images, images.tags[first:]),)
        self.journal.decide("axes", axes)
        return axes, chain_through(axes, [axes])

    def _canary(self, axes: tuple[Axis, ...], chain: Chain) -> Ending | None:
        from bisector.canary.first_look import first_look

        judge = self._driver(axes, chain).judge
        ending = first_look(self.prober, chain.candidates[-1], judge, self.request.repeat or 1)
        if ending is not None:
            self.journal.decide("round", Round(1))
            self.journal.decide("ending", ending)
        return ending

    def _round(
        self, number: int, axes: tuple[Axis, ...], chain: Chain
    ) -> tuple[Ending, tuple[Axis, ...], Chain, Certificate | None]:
        own = number == 1 and chain == chain_of(self.journal)
        self.journal.decide("round", Round(number, () if own else _pins_of(chain)))
        driver = self._driver(axes, chain)
        ending = driver.drive()
        self.journal.decide("ending", ending)
        other = self._another_way(axes, chain, ending)
        if other is not None:
            ending, chain, driver = other
            self.journal.decide("round", Round(number, _pins_of(chain)))
            self.journal.decide("ending", ending)
        ending, axes, chain, driver = self._behind_merges(number, axes, chain, ending, driver)
        if ending.verdict is not Verdict.CULPRIT or len(axes) == 1:
            return ending, axes, chain, None
        assert ending.lower is not None
        assert ending.upper is not None
        first_bad = _Between(self, axes, chain)
        certificate = certify(chain, ending.lower, ending.upper, driver.standing, first_bad)
        self.journal.decide("certificate", certificate)
        return ending, axes, chain, certificate

    def _behind_merges(
        self, number: int, axes: tuple[Axis, ...], chain: Chain, ending: Ending, driver: Driver
    ) -> tuple[Ending, tuple[Axis, ...], Chain, Driver]:
        """The search among what was merged, where the culprit's step is a commit that brings several sides together."""
        sides: tuple[Side, ...] = ()
        while any(axis.repository for axis in axes):
            from bisector.git_axes import clones_of
            from bisector.merges import look_at_parents

            clones = clones_of(axes, getattr(self.environment, "clones", {}))
            finer = look_at_parents(
                axes, chain, ending, clones, driver.standing, can_be=self.prober.feasible, sides=sides
            )
            if finer is None:
                break
            if finer.note:
                self.reporter(Note(finer.note))
            if finer.chain is None:
                self.journal.decide("change", CommitChange(finer.change, finer.parent, finer.note, finer.nested))
                break
            axes, chain, sides = finer.axes, finer.chain, finer.sides
            self.journal.decide("axes", axes)
            self.journal.decide("round", Round(number, _pins_of(chain)))
            driver = self._driver(axes, chain)
            ending = driver.drive()
            self.journal.decide("ending", ending)
        return ending, axes, chain, driver

    def _another_way(self, axes: tuple[Axis, ...], chain: Chain, ending: Ending) -> tuple[Ending, Chain, Driver] | None:
        """A search along the chain in the order of time, where it tells apart what the first one could not.

        A chain that moves whole pins one after the other meets combinations that never existed together. Those that
        did are likelier to build.
        """
        if ending.verdict is not Verdict.RANGE:
            return None
        in_time = chain_in_time(axes)
        if in_time is None or in_time == chain:
            return None
        self.reporter(Note("candidates in between cannot be tried: searching once more, in the order of time"))
        driver = self._driver(axes, in_time)
        found = driver.drive()
        if found.verdict in (Verdict.CULPRIT, Verdict.RANGE) and _width(found) < _width(ending):
            return found, in_time, driver
        return None

    def _driver(self, axes: tuple[Axis, ...], chain: Chain, ends: Chain | None = None) -> Driver:
        return Driver(
            self.request,
            chain,
            self.prober,
            self.reporter,
            ends=ends,
            purpose="" if ends is None else "partners",
            weights=weights_of(chain, axes, self.request.suspects, first_good=self.request.first_good),
            seconds_left=self.seconds_left,
        )

    def search_between(self, axes: tuple[Axis, ...], good: Candidate, bad: Candidate, ends: Chain) -> Chain | None:
        """The last good and the first bad candidate between two, as a chain of one step; None where it cannot be told.

        Args:
            axes: of the whole run.
            good: a candidate that passes.
            bad: one that fails.
            ends: the chain whose ends show what is sought.
        """
        between = tuple(_between(axes, good, bad))
        moving = [axis for axis in between if axis.steps]
        # One pin alone needs no order, and the resolver need not be asked for one.
        chain = chain_through(between, [moving]) if len(moving) == 1 else lay_chain(between, self.environment)
        ending = self._driver(axes, chain, ends).drive()
        if ending.verdict is not Verdict.CULPRIT:
            return None
        assert ending.lower is not None
        assert ending.upper is not None
        return Chain((chain.candidates[ending.lower], chain.candidates[ending.upper]))


@dataclass(frozen=True)
class _Between:
    """Searches between two candidates of one round, for the swap test."""

    investigation: Investigation
    axes: tuple[Axis, ...]
    ends: Chain

    def __call__(self, good: Candidate, bad: Candidate) -> tuple[Candidate, Candidate] | None:
        found = self.investigation.search_between(self.axes, good, bad, self.ends)
        return None if found is None else (found.candidates[0], found.candidates[1])


def _between(axes: Sequence[Axis], good: Candidate, bad: Candidate) -> Iterator[Axis]:
    """The axes cut down to what lies between two candidates."""
    for axis in axes:
        texts = [value.text for value in axis.values]
        low, high = texts.index(good[axis.pin]), texts.index(bad[axis.pin])
        yield replace(axis, values=axis.values[low : high + 1], turn=max(0, axis.turn - low))


def _without(axes: tuple[Axis, ...], moves: Sequence[Move]) -> tuple[Axis, ...]:
    """The axes with a culprit's step, and all that follows on its pins, taken away."""
    last = {move.pin: move.old for move in moves}

    def shortened(axis: Axis) -> Axis:
        if axis.pin not in last:
            return axis
        kept: list[AxisValue] = []
        for value in axis.values:
            kept.append(value)
            if value.text == last[axis.pin]:
                break
        return replace(axis, values=tuple(kept))

    return tuple(shortened(axis) for axis in axes)


def _moves(chain: Chain, ending: Ending) -> tuple[Move, ...]:
    assert ending.lower is not None
    assert ending.upper is not None
    return moves_between(chain.candidates[ending.lower], chain.candidates[ending.upper])


def _width(ending: Ending) -> int:
    assert ending.lower is not None
    assert ending.upper is not None
    return ending.upper - ending.lower


def _pins_of(chain: Chain) -> tuple[Pins, ...]:
    return tuple(candidate.pins for candidate in chain.candidates)
