"""From a step between two commits to the change behind it: every parent is a witness, and a merge is searched into.

A git axis follows first parents, so that a step onto a merge stands for all that was merged. When such a step is found
to be the culprit, the commit's other parents are tried. If all of them pass, the merge itself is the change: neither of
the sides has it. If one fails, the failure came with its side, and the commits of that side are put into the chain,
between the parent that passes and the merge; the search goes on among them, until a change is found all of whose
parents pass.

Where the chain goes back in history (from a good end on another branch), passing and failing change places: the change
is the commit that the step leaves, the failure is what is there without it, and it is mended by the side whose tip
passes.

None of the parents need lie between the ends. A commit whose first parent is not its predecessor in the chain, since
its branch left history before the good end, has that parent tried just so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bisector.bracket import Ending
from bisector.certificate import Standing
from bisector.git_axes import axis_value
from bisector.model import Axis, AxisValue, Candidate, short_text
from bisector.report.model import Verdict
from bisector.report.wording import count
from bisector.space import Chain, moves_between
from pins.errors import UsageError
from pins.model import PinKind
from pins.sources.git.clone import Clone
from pins.sources.git.history import Commit, commits, first_parents, way_between

Stands = Callable[[Candidate, str], Standing]


@dataclass(frozen=True)
class Finer:
    """What looking at the parents of a culprit came to.

    Attributes:
        axes: with the commits of the side that is to be searched.
        chain: with them between the last good and the first bad candidate; None where the culprit stands as it is.
        looked_at: the change and the parent whose side this is.
        change: where the culprit stands, the commit whose change it is.
        note: what is to be said of it.
    """

    axes: tuple[Axis, ...]
    chain: Chain | None
    looked_at: tuple[str, str] = ("", "")
    change: AxisValue | None = None
    note: str = ""


@dataclass(frozen=True)
class _Step:
    """The culprit's step, on one git axis."""

    axis: Axis
    lower: Candidate
    upper: Candidate
    good: Commit
    bad: Commit

    @property
    def goes_back(self) -> bool:
        """Whether the step leaves the change."""
        return self.bad.id in self.good.parents or self.axis.goes_back(self.bad.id)

    @property
    def change(self) -> Commit:
        return self.good if self.goes_back else self.bad

    @property
    def other(self) -> Commit:
        return self.bad if self.goes_back else self.good

    @property
    def expected(self) -> Standing:
        """What the change's parent in the chain shows, and what all of its parents show if it is to blame itself."""
        return Standing.FAIL if self.goes_back else Standing.PASS

    def at(self, commit: str) -> Candidate:
        """The step's candidate with another commit."""
        return self.lower.moved(self.axis.pin, commit)


def look_at_parents(
    axes: tuple[Axis, ...],
    chain: Chain,
    ending: Ending,
    clones: Mapping[str, Clone],
    stands: Stands,
    looked_at: frozenset[tuple[str, str]] = frozenset(),
) -> Finer | None:
    """Try the other parents of the change that a culprit's step is, and lay out the side that the failure came by.

    Args:
        axes: of the search.
        chain: that was searched.
        ending: what was found.
        clones: of the repositories, by pin.
        stands: measures a candidate (with the reason to show for it).
        looked_at: changes with parents whose sides are in the chain already.

    Returns:
        None where the culprit is no step between two commits.
    """
    step = _step(axes, chain, ending, clones)
    if step is None:
        return None
    unknown: list[str] = []
    for parent in step.change.parents:
        if parent == step.other.id or (step.change.id, parent) in looked_at:
            continue
        name = short_text(step.change.id)
        standing = stands(step.at(parent), f"parent of {name}: is the change itself to blame?")
        if standing is Standing.INFEASIBLE or (standing is Standing.NOT_RUN and parent in chain_values(chain, step)):
            unknown.append(parent)
        elif standing is not step.expected:
            finer = _with_side(axes, chain, ending, step, clones[step.axis.pin], parent, standing, stands)
            if finer is not None:
                return finer
            unknown.append(parent)
    return Finer(axes, None, change=axis_value(step.change), note=_said(step, unknown))


def chain_values(chain: Chain, step: _Step) -> set[str]:
    """The commits that stand on a chain."""
    return {candidate[step.axis.pin] for candidate in chain.candidates}


def _step(axes: tuple[Axis, ...], chain: Chain, ending: Ending, clones: Mapping[str, Clone]) -> _Step | None:
    if ending.verdict is not Verdict.CULPRIT:
        return None
    assert ending.lower is not None
    assert ending.upper is not None
    lower, upper = chain.candidates[ending.lower], chain.candidates[ending.upper]
    moves = moves_between(lower, upper)
    axis = next((axis for axis in axes if axis.pin == moves[0].pin), None)
    if len(moves) != 1 or axis is None or axis.kind is not PinKind.GIT or axis.pin not in clones:
        return None
    good, bad = commits(clones[axis.pin], [moves[0].old, moves[0].new])
    return _Step(axis, lower, upper, good, bad)


def _with_side(
    axes: tuple[Axis, ...],
    chain: Chain,
    ending: Ending,
    step: _Step,
    clone: Clone,
    parent: str,
    standing: Standing,
    stands: Stands,
) -> Finer | None:
    """The chain with the side of a parent put between the two witnesses; None where the sides begin otherwise."""
    assert ending.upper is not None
    there = chain_values(chain, step)
    try:
        way = way_between(clone, step.other.id, parent)
    except UsageError:  # a history of its own, down to its first commit
        side = first_parents(clone, parent, step.other.id)
    else:
        side = list(way.commits[way.turn + 1 :])
        base = way.commits[way.turn]
        if not side:  # what the change builds on is older than its predecessor in the chain
            side = list(way.commits[1:])
        elif way.turn and base.id not in there:
            found = stands(step.at(base.id), f"where the sides of {short_text(step.change.id)} part")
            if found is not step.expected and found in (Standing.PASS, Standing.FAIL):
                return None  # it was otherwise on both sides once, and was changed on the one: the merge brings it back
            side = [base, *side] if found is step.expected else side
    side = [commit for commit in side if commit.id not in there]
    if step.goes_back:
        side.reverse()
    finer = Chain(
        (
            *chain.candidates[: ending.upper],
            *(step.at(commit.id) for commit in side),
            *chain.candidates[ending.upper :],
        )
    )
    at = next(place for place, value in enumerate(step.axis.values) if value.text == step.bad.id)
    axis = replace(
        step.axis,
        values=(*step.axis.values[:at], *(axis_value(commit) for commit in side), *step.axis.values[at:]),
        turn=step.axis.turn + (len(side) if at <= step.axis.turn else 0),
    )
    shows = {Standing.PASS: "passes as well", Standing.FAIL: "fails as well"}.get(standing, "cannot be tried")
    what = "merges" if len(step.change.parents) > 1 else "builds on"
    note = (
        f"{step.axis.pin}: {short_text(step.change.id)} {what} {short_text(parent)}, which {shows}: searching"
        f" {count(len(side), 'commit')} on that side"
    )
    new_axes = tuple(axis if one.pin == axis.pin else one for one in axes)
    return Finer(new_axes, finer, (step.change.id, parent), note=note)


def _said(step: _Step, unknown: list[str]) -> str:
    """What the parents of the change have shown."""
    change, parents = step.change, step.change.parents
    name = f"{step.axis.pin} {short_text(change.id)}"
    sentences = []
    if step.goes_back:
        sentences.append(
            f"{name} is on the branch of the good end alone: it is what makes it pass, and without it, at"
            f" {short_text(step.other.id)}, the failure is there already. The bad end's branch lacks this change"
        )
    if len(parents) > 1 and len(unknown) < len(parents) - 1:
        shows = "fail" if step.goes_back else "pass"
        sentences.append(
            f"{name} is a merge, and all of its parents {shows} that could be tried: the change is the merge itself,"
            " not one of the commits that it brings together"
        )
    if unknown:
        listed = ", ".join(map(short_text, unknown))
        sentences.append(
            f"nothing is known of another parent of {name}, {listed}: it cannot be tried, or its side begins with the"
            " failure already; so the change may have come from there"
        )
    return ". ".join(sentences)
