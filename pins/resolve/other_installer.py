"""What would be different by the other installer's rules on yanked releases and pre-releases."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from pins.resolve.facts import Admission
from pins.resolve.problem import Choices, Problem, RequirementSource, Requires
from pins.resolve.runs import run_text
from pins.resolve.windows import Windows, windows_of
from pins.sources.target import Installer

_MOST_READ = 500
"""So many releases are read for a comparison at most, besides those that the windows themselves have taken."""


def differences(problem: Problem, source: RequirementSource, found: Windows) -> tuple[str, ...]:
    """Sentences about windows that another installer's rules would change; none where they do not matter here.

    What was read for the windows answers nearly all of it. That pip heeds an upper bound of Requires-Python is not
    compared: it decides which releases the source offers.
    """
    if is_the_same_by_both(found):
        return ()
    other = Installer.PIP if problem.installer is Installer.UV else Installer.UV
    try:
        theirs = windows_of(replace(problem, installer=other), _MostlyRead(source, found))
    except _TooMuchToReadError:
        return (
            f"What the rules of {other.value} would change was not worked out: it takes reading many more releases.",
        )
    if theirs.possible != found.possible:
        return (f"By the rules of {other.value} {'something' if theirs.possible else 'nothing'} fits.",)
    told = []
    for mine, window in zip(found.windows, theirs.windows, strict=True):
        if (mine.inside, mine.unknown) != (window.inside, window.unknown):
            text = run_text(window.choices, window.inside, window.asked)
            told.append(f"By the rules of {other.value} the window of {window.name} is {text}.")
    return tuple(told)


class _TooMuchToReadError(Exception):
    """The answer is not worth it."""


class _MostlyRead:
    """A source of which little may be asked that windows did not ask already."""

    def __init__(self, source: RequirementSource, found: Windows) -> None:
        self._source = source
        universe = found.solver.universe
        self._read = {
            (node.name, choice.label)
            for node in universe.names()
            for i, choice in enumerate(node.choices)
            if universe.requires(node.name, i) is not None
        }
        self._left = _MOST_READ

    def choices(self, names: Collection[str]) -> Mapping[str, Choices]:
        """As the source answers."""
        return self._source.choices(names)

    def requires(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Requires]:
        """As the source answers; raises `_TooMuchToReadError` where that would take long."""
        new = set(wanted) - self._read
        self._read |= new
        self._left -= len(new)
        if self._left < 0:
            raise _TooMuchToReadError
        return self._source.requires(wanted)


def is_the_same_by_both(found: Windows) -> bool:
    """Whether it is plain that windows are the same by the rules of uv and of pip, without solving once more.

    It is where no solution that was found has anything that the rules decide about, so that each is one by both, and
    where no proof that a version is outside stands on a rule, so that each holds for both.
    """
    universe = found.solver.universe
    if not found.possible or universe.guess_is_possible:
        return False
    if any(found.stands_on >> number & 1 for number, fact in enumerate(universe.facts) if isinstance(fact, Admission)):
        return False
    decided = {node.variable: universe.admissions.decided_by_installer(node) for node in universe.names()}
    if any(window.inside & decided[universe.variable(window.name)] for window in found.windows):
        return False
    models = {id(model): model for window in found.windows for model in window.witnesses.values()}
    return not any(
        decided.get(variable, 0) & 2 << value for model in models.values() for variable, value in model.values.items()
    )
