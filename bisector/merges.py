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
from bisector.nested_pins import moved_within
from bisector.report.model import NestedMove, Verdict
from bisector.report.wording import count
from bisector.space import Chain, moves_between
from pins.errors import UsageError
from pins.model import PinKind
from pins.sources.git.clone import Clone
from pins.sources.git.history import Commit, brought, commits, first_parents, way_between

Stands = Callable[[Candidate, str], Standing]


@dataclass(frozen=True)
class Side:
    """What was put into a chain: the way by which a change came to one of its parents.

    Attributes:
        change: the commit that is looked behind.
        parent: of it, at which this side ends.
        commits: those that were put in.
        base: the one of them from which both sides come, "" where that was in the chain already, or is none.
        back: whether they go back in history: the base is the last of them then, and else the first.
        clean: whether the sides began alike. If not, the failure was there before them and was mended on the other one:
            its commits are out of the chain again, since none of them has brought it.
    """

    change: str
    parent: str
    commits: tuple[str, ...]
    base: str = ""
    back: bool = False
    clean: bool = True

    def is_unclean(self, good: str, bad: str) -> bool:
        """Whether a step from good to bad says that the sides began otherwise."""
        return self.clean and self.base != "" and self.base == (good if self.back else bad)


@dataclass(frozen=True)
class Finer:
    """What looking at the parents of a culprit came to.

    Attributes:
        axes: of the search that is to follow.
        chain: for that search; None where the culprit stands as it is.
        sides: what is in that chain, or was.
        change: where the culprit stands, the commit whose change it is.
        parent: of it, that was seen to pass, where the last good commit of the chain is none; else "".
        note: what is to be said of it.
        nested: pins within its tree that it moves.
    """

    axes: tuple[Axis, ...]
    chain: Chain | None
    sides: tuple[Side, ...] = ()
    change: AxisValue | None = None
    parent: str = ""
    note: str = ""
    nested: tuple[NestedMove, ...] = ()


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

    @property
    def merges_two(self) -> bool:
        """Whether the change is a merge of the one in the chain with another one."""
        return len(self.change.parents) == 2 and self.other.id in self.change.parents

    def at(self, commit: str) -> Candidate:
        """The step's candidate with another commit."""
        return self.lower.moved(self.axis.pin, commit)


def look_at_parents(
    axes: tuple[Axis, ...],
    chain: Chain,
    ending: Ending,
    clones: Mapping[str, Clone],
    stands: Stands,
    *,
    can_be: Callable[[Candidate], bool] = lambda _: True,
    sides: tuple[Side, ...] = (),
) -> Finer | None:
    """Try the other parents of the change that a culprit's step is, and lay out the side that the failure came by.

    The other parent of a merge of two is not tried beforehand: nearly always it fails, and if it does not, the search
    along its side ends at it, and has made a witness of it.

    Args:
        axes: of the search.
        chain: that was searched.
        ending: what was found.
        clones: of the repositories, by pin.
        stands: measures a candidate (with the reason to show for it).
        can_be: whether a candidate can be built at all.
        sides: what was put into the chain before.

    Returns:
        None where the culprit is no step between two commits.
    """
    step = _step(axes, chain, ending, clones)
    if step is None:
        return None
    unclean = next((side for side in sides if side.is_unclean(step.good.id, step.bad.id)), None)
    if unclean is not None:
        return _without_side(axes, chain, step, unclean, sides)
    name = short_text(step.change.id)
    known = {side.parent: side for side in sides if side.change == step.change.id}
    unknown = [parent for parent, side in known.items() if not side.clean]
    witnesses: list[str] = []
    for parent in step.change.parents:
        if parent == step.other.id or parent in unknown:
            continue
        candidate = step.at(parent)
        if not can_be(candidate):
            unknown.append(parent)
            continue
        side = None if parent in known else _side(clones[step.axis.pin], step, parent, chain)
        if side is not None and side.commits and step.merges_two and not side.is_older:
            return _with_side(axes, chain, ending, step, side, sides)
        if stands(candidate, f"parent of {name}: is the change itself to blame?") is step.expected:
            witnesses.append(parent)
            continue
        if side is not None and side.commits:
            return _with_side(axes, chain, ending, step, side, sides)
        unknown.append(parent)
    beside = not step.goes_back and step.other.id not in step.change.parents
    parent = witnesses[0] if beside and witnesses else ""
    nested = () if step.goes_back else moved_within(clones[step.axis.pin], parent or step.other.id, step.change.id)
    return Finer(axes, None, sides, axis_value(step.change), parent, _said(step, unknown), nested)


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


@dataclass(frozen=True)
class _Laid:
    """The commits of a side, as they are to stand in the chain.

    Attributes:
        parent: at which the side ends.
        commits: those that the chain lacks.
        brought: how many come with each of them; see `AxisValue.commits`.
        base: see `Side`.
        is_older: whether the parent is an ancestor of the one in the chain, so that it is no side but the line itself.
    """

    parent: str
    commits: tuple[Commit, ...]
    brought: tuple[int, ...]
    base: str = ""
    is_older: bool = False


def _side(clone: Clone, step: _Step, parent: str, chain: Chain) -> _Laid:
    """The way from the parent of a change that is in the chain to another one."""
    there = chain_values(chain, step)
    base, is_older = "", False
    try:
        way = way_between(clone, step.other.id, parent)
    except UsageError:  # a history of its own, down to its first commit
        side = first_parents(clone, parent, step.other.id)
    else:
        side = list(way.commits[way.turn + 1 :])
        if not side:
            side, is_older = list(way.commits[1:]), True
        elif way.turn and way.commits[way.turn].id not in there:
            base = way.commits[way.turn].id
            side.insert(0, way.commits[way.turn])
    side = [commit for commit in side if commit.id not in there]
    counts = brought(clone, [step.other, *side])
    if step.goes_back:
        side, counts = side[::-1], counts[::-1]
    return _Laid(parent, tuple(side), tuple(counts), base, is_older)


def _with_side(
    axes: tuple[Axis, ...], chain: Chain, ending: Ending, step: _Step, side: _Laid, sides: tuple[Side, ...]
) -> Finer:
    """The chain with the side of a parent put between the two witnesses."""
    assert ending.upper is not None
    between = tuple(step.at(commit.id) for commit in side.commits)
    finer = Chain((*chain.candidates[: ending.upper], *between, *chain.candidates[ending.upper :]))
    at = next(place for place, value in enumerate(step.axis.values) if value.text == step.bad.id)
    counted = zip(side.commits, side.brought, strict=True)
    new = tuple(replace(axis_value(commit), commits=count) for commit, count in counted)
    onto = replace(step.axis.values[at], commits=1)  # what comes with it stands in the chain now
    values = (*step.axis.values[:at], *new, onto, *step.axis.values[at + 1 :])
    turn = step.axis.turn + (len(new) if at <= step.axis.turn else 0)
    what = "merges" if len(step.change.parents) > 1 else "builds on"
    note = (
        f"{step.axis.pin}: {short_text(step.change.id)} {what} {short_text(side.parent)}: searching"
        f" {count(len(new), 'commit')} on that side"
    )
    put = Side(
        step.change.id, side.parent, tuple(commit.id for commit in side.commits), side.base, back=step.goes_back
    )  # fmt: skip
    return Finer(_replaced(axes, replace(step.axis, values=values, turn=turn)), finer, (*sides, put), note=note)


def _without_side(axes: tuple[Axis, ...], chain: Chain, step: _Step, unclean: Side, sides: tuple[Side, ...]) -> Finer:
    """The chain without a side that began otherwise than its counterpart."""
    out = set(unclean.commits)
    kept = Chain(tuple(candidate for candidate in chain.candidates if candidate[step.axis.pin] not in out))
    back = step.axis.values[: step.axis.turn + 1]
    values = tuple(value for value in step.axis.values if value.text not in out)
    turn = step.axis.turn - sum(value.text in out for value in back)
    shows = "passes" if unclean.back else "fails"
    note = (
        f"{step.axis.pin}: {short_text(unclean.base)}, from which both sides of {short_text(unclean.change)} come,"
        f" {shows} already: that side has not brought it"
    )
    marked = tuple(replace(side, clean=False) if side == unclean else side for side in sides)
    return Finer(_replaced(axes, replace(step.axis, values=values, turn=turn)), kept, marked, note=note)


def _replaced(axes: tuple[Axis, ...], axis: Axis) -> tuple[Axis, ...]:
    return tuple(axis if one.pin == axis.pin else one for one in axes)


def _said(step: _Step, unknown: list[str]) -> str:
    """What the parents of the change have shown."""
    change, parents = step.change, step.change.parents
    name = f"{step.axis.pin} {short_text(change.id)}"
    sentences = []
    if step.goes_back and step.axis.turn < step.axis.steps:
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
            f"the other side of {name}, which ends at {listed}, tells nothing: it cannot be tried, or it was bad before"
            " the sides parted"
        )
    return ". ".join(sentences)
