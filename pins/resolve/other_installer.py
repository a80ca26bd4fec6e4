"""What would be different by the other installer's rules on yanked releases and pre-releases."""

from dataclasses import replace

from pins.resolve.facts import Admission
from pins.resolve.problem import Problem, RequirementSource
from pins.resolve.runs import run_text
from pins.resolve.windows import Windows, windows_of
from pins.sources.target import Installer


def differences(problem: Problem, source: RequirementSource, found: Windows) -> tuple[str, ...]:
    """Sentences about windows that another installer's rules would change; none where they do not matter here.

    What was read for the windows answers nearly all of it. That pip heeds an upper bound of Requires-Python is not
    compared: it decides which releases the source offers.
    """
    if is_the_same_by_both(found):
        return ()
    other = Installer.PIP if problem.installer is Installer.UV else Installer.UV
    theirs = windows_of(replace(problem, installer=other), source)
    if theirs.possible != found.possible:
        return (f"By the rules of {other.value} {'something' if theirs.possible else 'nothing'} fits.",)
    told = []
    for mine, window in zip(found.windows, theirs.windows, strict=True):
        if (mine.inside, mine.unknown) != (window.inside, window.unknown):
            text = run_text(window.choices, window.inside, window.asked)
            told.append(f"By the rules of {other.value} the window of {window.name} is {text}.")
    return tuple(told)


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
