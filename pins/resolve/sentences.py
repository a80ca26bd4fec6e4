"""Facts as sentences: a few lines from what was asked to why it cannot be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pins.resolve.derivation import Step, derive
from pins.resolve.facts import Admission, Asks, Fact, NotKnown, Stated, Unusable
from pins.resolve.nodes import Node
from pins.resolve.problem import Origin, OriginKind
from pins.resolve.quoting import asking_lines
from pins.resolve.runs import run_text
from pins.resolve.search import ABSENT, Literal
from pins.resolve.universe import Universe

_MOST_REQUIREMENTS = 2
"""So many different requirements are quoted; of more, what they come to together is said."""


@dataclass(frozen=True)
class Premise:
    """What a sentence stands on.

    Attributes:
        requirement: such as "setuptools<82".
        origin: who says it: "torch 2.12.0 and 2.12.1", "docker/Dockerfile:12".
        kind: of a constraint of the problem; None for what a release requires.
    """

    requirement: str
    origin: str
    kind: OriginKind | None = None


@dataclass(frozen=True)
class Sentence:
    """One line of an explanation.

    Attributes:
        text: without a full stop.
        premises: what it stands on.
    """

    text: str
    premises: tuple[Premise, ...]


def sentences(universe: Universe, core: Sequence[int], assumptions: Sequence[Literal]) -> tuple[Sentence, ...]:
    """Say how the facts of a core exclude what is assumed (or each other)."""
    return tuple(_Story(universe, core, assumptions).told())


class _Story:
    def __init__(self, universe: Universe, core: Sequence[int], assumptions: Sequence[Literal]) -> None:
        self.universe = universe
        self.core = core
        self.derivation = derive(universe, core, assumptions)
        self.untold = [n for n in core if not isinstance(universe.facts[n], Asks)]
        self.assumed = dict(assumptions)

    def told(self) -> list[Sentence]:
        """The sentences; what was asked about stands in the question, and is not said again."""
        found = list(self._told())
        return [one for one in found if not _is_the_question(one)] or found

    def _told(self) -> Iterable[Sentence]:
        for step in self.derivation.steps:
            source, target = self._node(step.edge.source), self._node(step.edge.target)
            if source is None or target is None:
                continue
            if step.forward:
                yield from self._before(source, merging=False)
                yield self._forward(step, source, target)
                if not step.left:
                    yield from self._before(target, merging=False, wanted=self._allowed(step))
            else:
                yield from self._before(source, merging=True)
                yield from self._before(target, merging=True)
                yield self._backward(step, source, target)
        for number in [*self.untold]:
            self.untold.remove(number)
            yield self._unit(self.universe.facts[number])

    def _allowed(self, step: Step) -> int:
        """What the choices that are left of a step's source allow of its target."""
        union = 0
        for given, allowed in step.edge.rows:
            if given & step.source:
                union |= allowed
        return union

    def _before(self, node: Node, *, merging: bool, wanted: int = 0) -> Iterable[Sentence]:
        """What is known of a name before it is first used; what is merged into the next sentence is left for it."""
        for number in [*self.untold]:
            fact = self.universe.facts[number]
            if isinstance(fact, NotKnown) or fact.name != node.name:  # type: ignore[union-attr]
                continue
            if merging and isinstance(fact, Stated):
                continue
            if isinstance(fact, Unusable) and not fact.mask & wanted and not self._matters(fact, node):
                self.untold.remove(number)
                continue
            self.untold.remove(number)
            yield self._unit(fact)

    def _matters(self, fact: Unusable, node: Node) -> bool:
        """Whether a reader must be told of what cannot be installed: where it is the newest, or was asked for."""
        offered = self._offered(node)
        return fact.mask > offered or bool(self.assumed.get(node.variable, 0) & fact.mask)

    def _taken(self, node: Node) -> list[Stated]:
        """The constraints on a name that were not told yet; they are now."""
        found = []
        for number in [*self.untold]:
            fact = self.universe.facts[number]
            if isinstance(fact, Stated) and fact.name == node.name:
                self.untold.remove(number)
                found.append(fact)
        return found

    def _forward(self, step: Step, source: Node, target: Node) -> Sentence:
        values = step.source & ~ABSENT
        who = self._versions(source, values)
        excluded = 0 if step.left else step.target & ~ABSENT
        wanted, premises, count = self._quoted(source, values, target, excluded)
        if count > _MOST_REQUIREMENTS:
            union = self._allowed(step)
            listed = run_text(target.choices, union, self._offered(target) | union, open_ended=False)
            wanted = f"{_title(target)} {listed}"
        verb = "requires" if who.startswith("every release") else _verb(values, "require")
        text = f"{who} {verb} {wanted}"
        if not step.left and not target.choices:
            text += f", and {self.universe.missing(target.name)}"
        elif not step.left and not self._is_limited(target, step.fact):
            text += f", which no release of {target.name} is"
        return Sentence(text, premises)

    def _backward(self, step: Step, source: Node, target: Node) -> Sentence:
        before = step.source & ~ABSENT
        left = step.left & ~ABSENT
        own = self._taken(source)
        others = self._taken(target)
        wanted, asking, _ = self._quoted(source, before, target, step.target & ~ABSENT)
        premises = (*(_premise(fact) for fact in (*own, *others)), *asking)
        whom = " and ".join(_cited(fact) for fact in others) or self._versions(target, step.target & ~ABSENT)
        cited = " and ".join(_cited(fact) for fact in own)
        if left:
            among = f"of {cited} only" if own else "only"
            name = "" if own else f"{_title(source)} "
            listed = run_text(source.choices, left, self._offered(source) | left, open_ended=False)
            text = f"{among} {name}{listed} {_verb(left, 'take')} {whom}"
        elif before.bit_count() == 1:
            in_a_tree = any(line.origin for line in asking_lines(self.universe, source, _first(before), target))
            subject = self._versions(source, before) if in_a_tree or not own else cited
            text = f"{subject} requires {wanted}, not {whom}"
        else:
            text = (
                f"no release of {cited} takes {whom}"
                if own
                else f"none of {self._versions(source, before)} takes {whom}"
            )
        return Sentence(text, premises)

    def _unit(self, fact: Fact) -> Sentence:
        match fact:
            case Stated(name=name, mask=mask):
                node = self.universe.node(name)
                assert node is not None
                why = (
                    ""
                    if mask
                    else f", and {self.universe.missing(name)}"
                    if not node.choices
                    else ", and there is none"
                )
                return Sentence(f"{stated_text(fact)}{why}", (_premise(fact),))
            case Unusable(name=name, mask=mask, reason=reason):
                node = self.universe.node(name)
                assert node is not None
                listed = run_text(node.choices, mask, node.versions.all, open_ended=False)
                text = f"{name} {listed} cannot be installed here: {reason}"
                return Sentence(text, (Premise(f"{name} {listed}", reason),))
            case Admission(name=name, mask=mask, reason=reason, instead=instead):
                node = self.universe.node(name)
                assert node is not None
                listed = run_text(node.choices, mask, node.versions.all, open_ended=False)
                text = f"{name} {listed}: {reason}, which nothing here asks for by name"
                if instead:
                    text += f", and nothing excludes {instead}, a final release"
                return Sentence(text, (Premise(f"{name} {listed}", reason),))
        raise AssertionError(f"no sentence for {fact}")

    def _node(self, variable: int) -> Node | None:
        return self.universe.nodes[variable]

    def _offered(self, node: Node) -> int:
        return self.universe.admissions.offered(self.universe.base(node))

    def _is_limited(self, node: Node, besides: int) -> bool:
        """Whether another fact limits a name, and not only what exists of it."""
        facts = (self.universe.facts[number] for number in self.core if number != besides)
        return any(
            (isinstance(fact, Stated | Unusable | Admission) and fact.name == node.name)
            or (isinstance(fact, Asks) and self._node(fact.edge.target) is node)
            for fact in facts
        )

    def _versions(self, node: Node, mask: int) -> str:
        offered = self._offered(node)
        if mask.bit_count() > 1 and not offered & ~mask:
            return f"every release of {_title(node)}"
        return f"{_title(node)} {run_text(node.choices, mask, offered | mask)}"

    def _quoted(self, source: Node, values: int, target: Node, excluded: int) -> tuple[str, tuple[Premise, ...], int]:
        """What these choices require of a target, with where a source tree says so; the premises; how many texts.

        Where something is excluded, a choice is quoted with the one requirement that does it, if there is one.
        """
        asking: dict[str, int] = {}
        places: dict[str, Origin] = {}
        wholes: dict[str, None] = {}
        for i in range(values.bit_length() - 1):
            if not values & 2 << i:
                continue
            lines = asking_lines(self.universe, source, i, target)
            deciding = [line for line in lines if not line.mask & excluded][:1] if excluded else []
            for line in deciding or lines:
                asking[line.text] = asking.get(line.text, 0) | 2 << i
                if line.origin is not None:
                    places.setdefault(line.text, line.origin)
            if lines:
                wholes[" and ".join(_with_place(line.text, line.origin) for line in deciding or lines)] = None
        premises = tuple(
            Premise(
                text,
                (places[text].place if text in places else "") or self._versions(source, mask),
                places[text].kind if text in places else None,
            )
            for text, mask in asking.items()
        )
        return " or ".join(wholes), premises, len(wholes)


def _first(mask: int) -> int:
    return (mask & -mask).bit_length() - 2


def _with_place(text: str, origin: Origin | None) -> str:
    if origin is None:
        return text
    said = [origin.place] if origin.place else []
    if origin.kind is OriginKind.INFERRED:
        said.insert(0, "inferred")
    if origin.sentence:
        said.append(origin.sentence)
    return f"{text} ({', '.join(said)})" if said else text


def _is_the_question(sentence: Sentence) -> bool:
    return all(premise.kind is OriginKind.GIVEN and not premise.origin for premise in sentence.premises)


def _title(node: Node) -> str:
    return f"{node.name}[{node.extra}]" if node.extra else node.name


def _verb(mask: int, verb: str) -> str:
    return f"{verb}s" if mask.bit_count() == 1 else verb


def _cited(fact: Stated) -> str:
    place = fact.constraint.origin.place
    return f"{fact.constraint.requirement} ({place})" if place else fact.constraint.requirement


def stated_text(fact: Stated) -> str:
    """A constraint of the problem as a sentence."""
    origin = fact.constraint.origin
    place = f" ({origin.place})" if origin.place else ""
    reason = f": {origin.sentence}" if origin.sentence else ""
    requirement = fact.constraint.requirement
    match origin.kind:
        case OriginKind.DECLARED:
            said = "is asked for" if fact.is_requirement else "is a constraint"
            return f"{requirement} {said}{place}{reason}"
        case OriginKind.INFERRED:
            return f"{requirement} is inferred{place}{reason}"
        case OriginKind.KNOWN_BAD:
            return f"{requirement}: known bad{place}{reason}"
        case OriginKind.HOLD:
            return f"{requirement} is held{place}{reason}"
        case OriginKind.GIVEN:
            return f"{requirement} is assumed{place}{reason}"


def _premise(fact: Stated) -> Premise:
    origin: Origin = fact.constraint.origin
    return Premise(fact.constraint.requirement, origin.place or origin.sentence, origin.kind)
