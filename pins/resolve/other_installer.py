"""What would be different by the other installer's rules on yanked releases and pre-releases."""

from dataclasses import replace

from pins.resolve.problem import Problem, RequirementSource
from pins.resolve.runs import run_text
from pins.resolve.windows import Windows, windows_of
from pins.sources.target import Installer


def differences(problem: Problem, source: RequirementSource, found: Windows) -> tuple[str, ...]:
    """Sentences about windows that another installer's rules would change; none where they do not matter here.

    What was read for the windows answers nearly all of it. That pip heeds an upper bound of Requires-Python is not
    compared: it decides which releases the source offers.
    """
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
