"""Why something cannot be, and the least that would have to give way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name

from pins.errors import UsageError
from pins.resolve.core import minimal_core
from pins.resolve.facts import Stated
from pins.resolve.problem import Constraint, Origin, OriginKind, Problem, RequirementSource, Requires
from pins.resolve.requirement_line import read_line
from pins.resolve.search import Literal
from pins.resolve.sentences import Sentence, sentences
from pins.resolve.solver import Model, Solver
from pins.resolve.universe import Universe

_MOST_GIVING_WAY = 4
_MOST_QUESTIONS = 60


@dataclass(frozen=True)
class Explanation:
    """Facts that exclude something.

    Attributes:
        sentences: in an order that can be followed; none of them can be left out.
        constraints: those constraints of the problem that are among the facts.
    """

    sentences: tuple[Sentence, ...]
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True)
class Relaxation:
    """Constraints that would have to give way, and what then fits.

    Attributes:
        constraints: the fewest that will do.
        instead: for each, what it would have to be at the newest: "setuptools 81.0.0"; "" where the name is not needed.
    """

    constraints: tuple[Constraint, ...]
    instead: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What became of a question.

    Attributes:
        question: the requirement that was asked about; "" for the problem as it stands.
        model: a solution, where there is one (`explanation` is then None).
        unknown: why it cannot be told, as sentences; () where it can.
        explanation: why there is none.
        relaxations: the smallest that would admit it.
        not_counted: with a solution, what is installed besides whose requirements are not known, as sentences.
    """

    question: str
    model: Model | None
    unknown: tuple[str, ...] = ()
    explanation: Explanation | None = None
    relaxations: tuple[Relaxation, ...] = ()
    not_counted: tuple[str, ...] = ()


def explain(solver: Solver, assumptions: Sequence[Literal]) -> Explanation:
    """Why there is no solution under these assumptions; what is not known is taken to allow it.

    There must be none: ask first.
    """
    universe = solver.universe
    model = solver.solve(assumptions, certain=False)
    assert model is None, "only what is impossible has an explanation"
    core = minimal_core(universe, solver.failed_on, assumptions)
    stated = (universe.facts[number] for number in core)
    constraints = tuple(fact.constraint for fact in stated if isinstance(fact, Stated))
    return Explanation(sentences(universe, core, assumptions), constraints)


def why(problem: Problem, source: RequirementSource, question: str = "") -> Answer:
    """Why a requirement cannot be added to a problem (or why the problem has no solution), and what would admit it.

    Args:
        problem: what is asked for.
        source: what there is.
        question: a requirement, such as "pybind11==3.1.0"; "" for the problem as it stands.

    Raises:
        UsageError: the question is no requirement, or names no package or version that exists.
        SourceError: something could not be read.
    """
    asked = _asking(problem, question, source) if question else problem
    solver = Solver(Universe(asked, source))
    model = solver.solve()
    if model is not None:
        return Answer(question, model, not_counted=problem.not_counted)
    guess = solver.solve(certain=False) if solver.universe.guess_is_possible else None
    if guess is not None:
        return Answer(question, None, unknown=unknowns(solver.universe, guess.chosen))
    explanation = explain(solver, ())
    return Answer(question, None, (), explanation, _relaxations(asked, source, explanation))


def unknowns(universe: Universe, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """What a solution (name -> label) stands on that is not known, as sentences."""
    unread: list[str] = []
    unversioned: list[str] = []
    for name, label in chosen.items():
        node = universe.node(name)
        assert node is not None
        choice = next(i for i, one in enumerate(node.choices) if one.label == label)
        requires = universe.requires(name, choice)
        if requires is not None and requires.unknown:
            unread.append(f"{name} {label}: {requires.unknown}")
        elif odd := _odd_line(requires):
            unread.append(f"{name} {label}: {odd}")
        elif node.choices[choice].version is None:
            unversioned.append(f"{name} {label}: its version is not known")
    stated = [
        f"{one.requirement}{f' ({one.origin.place})' if one.origin.place else ''}: no index knows which version that is"
        for one in universe.problem.requirements
        if read_line(one.requirement).url
    ]
    return tuple(unread or unversioned or stated) or ("a requirement on the way names no version that an index knows",)


def _odd_line(requires: Requires | None) -> str:
    """Which requirement no index can answer, as a clause; "" where all are ordinary ones."""
    for line in map(read_line, requires.lines if requires is not None else ()):
        if line.problem:
            return f"it requires {line.text!r}, which cannot be parsed"
        if line.url:
            return f"it requires {line.name} from an address, and what that is cannot be told from an index"
    return ""


def _asking(problem: Problem, question: str, source: RequirementSource) -> Problem:
    line = read_line(question)
    if line.problem or not line.name:
        raise UsageError(f"{question!r} is not a requirement such as 'pybind11==3.1.0': {line.problem}")
    found = source.choices([line.name])[line.name]
    if not found.choices and not found.unknown:
        raise UsageError(f"{line.name}: {found.missing or 'it has no release'}")
    for specifier in line.specifiers:
        if specifier.operator in ("==", "===") and not specifier.version.endswith(".*"):
            versions = [choice.version for choice in found.choices if choice.version]
            if found.choices and not any(specifier.contains(version, prereleases=True) for version in versions):
                newest = found.choices[-1].label
                raise UsageError(f"{line.name} has no version {specifier.version}; the newest is {newest}")
    given = Constraint(question, Origin(OriginKind.GIVEN))
    return replace(problem, requirements=(*problem.requirements, given), targets=())


def _relaxations(problem: Problem, source: RequirementSource, explanation: Explanation) -> tuple[Relaxation, ...]:
    """All smallest sets of constraints without which there is a solution.

    Each set that is not enough leaves another explanation, of which one constraint more must give way: so the sets are
    tried in the order of their size, and none that is small enough is missed.
    """
    found: list[Relaxation] = []
    waiting: list[tuple[tuple[Constraint, ...], Explanation]] = [((), explanation)]
    tried: set[frozenset[int]] = {frozenset()}
    questions = 0
    while waiting and not found and len(waiting[0][0]) < _MOST_GIVING_WAY:
        following: list[tuple[tuple[Constraint, ...], Explanation]] = []
        for given_way, reason in waiting:
            for constraint in reason.constraints:
                if constraint.origin.kind is OriginKind.GIVEN:
                    continue
                chosen = (*given_way, constraint)
                key = frozenset(id(one) for one in chosen)
                if key in tried or questions >= _MOST_QUESTIONS:
                    continue
                tried.add(key)
                questions += 1
                solver = Solver(Universe(_without(problem, chosen), source))
                model = solver.solve()
                if model is not None:
                    found.append(_relaxation(solver, model, chosen))
                elif solver.solve(certain=False) is None:
                    following.append((chosen, explain(solver, ())))
        waiting = following
    return tuple(found)


def _without(problem: Problem, constraints: Sequence[Constraint]) -> Problem:
    """The problem with these constraints gone; what was asked for stays asked for, in any version."""
    gone = {id(constraint) for constraint in constraints}

    def bare(constraint: Constraint) -> Constraint:
        line = read_line(constraint.requirement)
        extras = f"[{','.join(line.extras)}]" if line.extras else ""
        return replace(constraint, requirement=f"{line.name}{extras}")

    return replace(
        problem,
        requirements=tuple(bare(one) if id(one) in gone else one for one in problem.requirements),
        bounds=tuple(one for one in problem.bounds if id(one) not in gone),
        overrides=tuple(one for one in problem.overrides if id(one) not in gone),
    )


def _relaxation(solver: Solver, model: Model, constraints: tuple[Constraint, ...]) -> Relaxation:
    """Say what would fit instead: for one constraint its newest version, for several what fits together."""
    chosen = model.chosen
    if len(constraints) == 1:
        name = canonicalize_name(read_line(constraints[0].requirement).name)
        node = solver.universe.node(name)
        left = solver.universe.admissions.offered(node) if node else 0
        while node and left:  # from the newest down
            newest = 1 << (left.bit_length() - 1)
            better = solver.solve([(node.variable, newest)])
            if better is not None:
                chosen = better.chosen
                break
            left &= ~newest
    names = [read_line(constraint.requirement).name for constraint in constraints]
    instead = tuple(f"{name} {chosen[name]}" if name in chosen else "" for name in names)
    return Relaxation(constraints, instead)
