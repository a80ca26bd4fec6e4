"""What stands in a file, or is its name, cannot repaint a terminal or give GitHub a command."""

import pytest

from pins.command_line import say
from pins.hazards.check import check
from pins.hazards.gather import subject
from pins.hazards.table import RULES
from pins.report.hazards_text import annotations, check_text

LINE = b"RUN git clone https://git.example/b\x1b[2J.git && pip install 'foo>1\x1b]0;x\x07' \xc2\x9b31m bar>=2 || true\n"
DOCKERFILE = b"FROM acme/os\n" + LINE * 12


def found(file: str, form: str) -> str:
    hazards = check([subject(DOCKERFILE, file, identity="Dockerfile")], RULES)
    assert len(hazards) > 12
    return annotations(hazards, 1) if form == "github" else check_text(hazards, 1, width=100, color=False)


@pytest.mark.parametrize("form", ["github", "text"])
def test_escape_sequences_of_a_file_do_not_reach_the_terminal(form: str) -> None:
    said = found("Dockerfile", form)
    assert not {"\x1b", "\x07", "\x9b"} & set(said)


@pytest.mark.parametrize("name", ["::error::owned", "##[error]owned", " ::stop-commands::x", "a\n::error::owned"])
def test_a_files_name_gives_github_no_command(name: str) -> None:
    for line in found(name, "github").splitlines():
        assert not line.lstrip().startswith(("##", "::stop", "::error::"))
        assert line.startswith(("::error file=", "::warning file=", "::notice file=")) or "::" not in line.lstrip()[:2]


def test_a_message_cannot_repaint_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("Error: there is no pin 'x\x1b[2J\x9b31m\u202e'\nsecond line\tend")
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\x9b" not in said
    assert "\u202e" not in said
    assert said.endswith("\nsecond line\tend\n")
