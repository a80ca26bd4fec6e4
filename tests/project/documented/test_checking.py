"""That what looks at the pages would notice."""

from pathlib import Path

import pytest
import typer

from pins.errors import PinsError
from tests.project.documented.command_lines import calls, read
from tests.project.documented.comparing import difference
from tests.project.documented.pages import Block, commands

PRINTED = "First bad: spam 2.0\n\nHow sure:  99.1 %\nWork:   2 builds (1.5 s)\nrun 20261201-000944-fd9e\n"


@pytest.mark.parametrize(
    "shown",
    [
        ["First bad: spam 2.0", "", "How sure: 98 %", "Work: 2 builds (3 min 20 s)", "run 20250101-000000-0000"],
        ["First bad: spam 2.0", "[...]"],
        ["[...]", "Work: 2 builds (9 s)", "[...]"],
        ["First bad: [...]", "[...]", "run 20250101-000000-0000"],
    ],
)
def test_what_is_printed_may_be_shown_in_part(shown: list[str]) -> None:
    assert difference(shown, PRINTED) == ""


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        (["First bad: spam 3.0", "[...]"], "printed: First bad: spam 2.0"),
        (["First bad: spam 2.0"], "printed and not shown"),
        (["[...]", "Work: 3 builds (1.5 s)", "[...]"], "shown:   Work: 3 builds"),
        (["[...]", "Work: 2 builds (1.5 s)", "First bad: spam 2.0", "[...]"], "shown:   First bad"),
        (["[...]", "run 20261201-000944-fd9e", "more"], "(nothing more)"),
    ],
)
def test_what_is_not_printed_like_this_is_told(shown: list[str], says: str) -> None:
    assert says in difference(shown, PRINTED)


def test_commands_are_taken_with_what_stands_below_them() -> None:
    block = Block("page.md", 10, "console", "$ pins show \\\n      FILE\nline  name\n$ pins check x\n")
    found = [(shown.line, shown.command, shown.printed) for shown in commands(block)]
    assert found == [(11, "pins show FILE", ("line  name",)), (14, "pins check x", ())]


def test_calls_of_ours_are_found_between_others_and_quotes_are_kept() -> None:
    line = "cd x && scripts/pins why 'a && b' | head; bisector gc # all"
    assert list(calls(line)) == [["pins", "why", "a && b"], ["bisector", "gc"]]


@pytest.mark.parametrize(
    "words",
    [
        ["bisector", "run", "--pinn", "a=1..2"],
        ["bisector", "run", "--pin", "a=1", "--smoke", "x.py"],
        ["bisector", "run", "--pin", "a=1..2"],
        ["bisector", "run", "--pin", "a=1..2", "--smoke", "x.py", "--gpu", "intel"],
        ["bisector", "canary", "--pin", "a=1..2", "Dockerfile"],
        ["pins", "drift", "--evry", "6h", "Dockerfile"],
        ["pins", "sugest", "Dockerfile"],
    ],
    ids=" ".join,
)
def test_a_command_line_that_would_be_refused_is_refused(words: list[str], tmp_path: Path) -> None:
    with pytest.raises((PinsError, typer.TyperException, KeyError)):
        read(words, tmp_path)
