"""Both programs speak with one voice: every command is walked, none is named here."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import typer

import bisector.cli
import pins.cli
from pins.command_making import make_command

APPS = {"bisector": bisector.cli.app, "pins": pins.cli.app}
COMMON = ["--format", "--output", "--quiet,-q", "--verbose,-v", "--no-color", "--help,-h"]
WIDE, HIGH = 80, 40

Shown = Callable[..., str]

TWO_MEANINGS = {"--fix": "a pin held still in a search, by the issue; what every linter calls the mending of findings"}
ONE_MEANING_IN_SEVERAL_FORMS = {
    "--format": "more forms where findings are listed",
    "--pin": "a range in a search, one value where there is none",
    "--rev": "two revisions where two are compared",
    "--repo": "what only reads needs a clone at hand",
    "--every": "a timer takes words as well",
    "--until": "what ends a hold may be no day",
    "--run": "one run taken up, or reports of several",
}
"""Options whose value is written in another way by another command, and why that is no other meaning."""


@dataclass(frozen=True)
class Command:
    """One command of one program."""

    tool: str
    name: str
    parameters: tuple[Any, ...]

    @property
    def options(self) -> list[Any]:
        return [each for each in self.parameters if each.param_type_name == "option"]


def every_command() -> list[Command]:
    found = []
    for tool, app in APPS.items():
        group: Any = make_command(app)
        above = typer.Context(group, info_name=tool, **group.context_settings)
        for name, command in group.commands.items():
            below = typer.Context(command, info_name=name, parent=above, **command.context_settings)
            found.append(Command(tool, name, tuple(command.get_params(below))))
    return found


COMMANDS = every_command()
each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda one: f"{one.tool} {one.name}")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """Runs a program on a terminal of 80 columns, and gives what it prints."""
    monkeypatch.setenv("COLUMNS", str(WIDE))

    def shown(tool: str, *words: str) -> str:
        with pytest.raises(SystemExit) as end:
            make_command(APPS[tool])(list(words), prog_name=tool)
        assert end.value.code == 0
        return capsys.readouterr().out

    return shown


@each_command
def test_help_fits_a_screen_and_shows_an_example(command: Command, shown: Shown) -> None:
    lines = shown(command.tool, command.name, "--help").splitlines()
    assert [line for line in lines if len(line) > WIDE] == []
    assert len(lines) <= HIGH
    start = next(number for number, line in enumerate(lines) if re.fullmatch(r"  Examples?:", line))
    examples = lines[start + 1 : lines.index("", start)]
    assert all(line.startswith("    ") for line in examples)
    calls = sum(1 for line in examples if line.startswith(f"    {command.tool} {command.name}"))
    assert lines[start] == ("  Example:" if calls == 1 else "  Examples:")
    assert calls


@each_command
def test_what_help_leaves_out_is_shown_where_all_is_asked_for(command: Command, shown: Shown) -> None:
    hidden = [each.opts[0] for each in command.options if each.hidden and each.opts[0] not in ("--replay", "--run")]
    has_more = "--help-all" in [name for each in command.options for name in each.opts]
    assert bool(hidden) == has_more
    if has_more:
        text = shown(command.tool, command.name, "--help-all")
        assert [line for line in text.splitlines() if len(line) > WIDE] == []
        assert [name for name in hidden if not re.search(rf"(?m)^  (-\w, )?{name}\b", text)] == []


@each_command
def test_every_command_has_the_common_options_last_in_the_same_order(command: Command) -> None:
    names = [",".join(sorted(each.opts)) for each in command.options if each.opts != ["--help-all"]]
    assert names[-len(COMMON) :] == COMMON


@each_command
def test_every_option_and_argument_is_explained(command: Command) -> None:
    for each in command.parameters:
        assert each.help, each.opts
        assert each.help.endswith((".", "...")), each.opts
        assert "repeatable" not in each.help, each.opts
        takes_value = each.param_type_name == "argument" or not each.is_flag
        assert not takes_value or each.metavar, each.opts
        if each.param_type_name == "option" and each.multiple and not each.metavar.endswith(",..."):
            assert "Repeatable" in each.help, each.opts


@pytest.mark.parametrize("tool", APPS)
def test_a_program_lists_its_commands_each_in_one_whole_line(tool: str, shown: Shown) -> None:
    text = shown(tool, "--help")
    assert "Example" in text
    assert [line for line in text.splitlines() if len(line) > WIDE] == []
    listed = text.partition("Commands:\n")[2].splitlines()
    assert len(listed) == len([one for one in COMMANDS if one.tool == tool])
    assert [line for line in listed if line.endswith("...")] == []


def test_no_option_has_two_meanings() -> None:
    forms: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for command in COMMANDS:
        for each in command.options:
            for name in each.opts:
                form = (",".join(sorted(each.opts)), each.is_flag, each.multiple, each.metavar)
                forms[name].add(form)
    several = {name for name, found in forms.items() if len(found) > 1}
    assert several == {*TWO_MEANINGS, *ONE_MEANING_IN_SEVERAL_FORMS}


def test_the_same_value_has_the_same_name_everywhere() -> None:
    """A metavar says what sort of value is meant: its words are these, or what they are made of."""
    words = {
        word
        for command in COMMANDS
        for each in command.parameters
        if each.metavar
        for word in re.findall(r"[A-Z]+", each.metavar)
    }
    known = (
        "AMOUNT ARG BAD BRANCH CMD COUNT DATE DEST DIR DST DURATION FILE GOOD HH HOST ID IMAGE KIND MM NAME NEW OLD"
        " OWNER PATH PERCENT PIN PORT PROBABILITY REF REGEX REMOTE REPO REQ REV RULE RUN SCRIPT SIZE SRC STAGE TARGET"
        " TEXT URL VALUE VERSION WORD N"
    )
    assert words - set(known.split()) == set()
