"""Edits that rules propose: after them the finding is gone, the file still reads, and nothing else has changed."""

import pytest

from pins.files.dockerfile.read import read_dockerfile
from pins.hazards.check import check
from pins.hazards.fixing import fix
from pins.hazards.model import Rule
from pins.hazards.table import RULES
from tests.hazards.subjects import subject_of

FIXABLE = [rule for rule in RULES if any(h.edits for h in check([subject_of(rule.bad.text)], [rule]))]


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.name)
def test_an_edit_ends_its_finding(rule: Rule) -> None:
    subject = subject_of(rule.bad.text)
    done = fix(subject, check([subject], [rule]))
    assert done.fixed
    again = subject_of(done.after.decode())
    assert check([again], [rule]) == []
    assert read_dockerfile(done.after).complete


def test_these_rules_have_edits() -> None:
    assert {rule.name for rule in FIXABLE} >= {
        "undeclared-global-argument",
        "environment-beats-argument",
        "junk-arguments",
        "swallowed-instruction",
        "comment-hides-commands",
        "unquoted-specifier",
        "hardcoded-python",
    }


def test_all_edits_of_a_file_are_made_together() -> None:
    text = "FROM ubuntu:22.04\nARG A=1 # one\nARG B=2 # two\nRUN pip install x>=1,<2 y<3\n"
    subject = subject_of(text)
    done = fix(subject, check([subject], RULES))
    assert done.after.decode() == (
        "FROM ubuntu:22.04\n# one\nARG A=1\n# two\nARG B=2\nRUN pip install 'x>=1,<2' 'y<3'\n"
    )


def test_line_ends_of_windows_stay() -> None:
    subject = subject_of("FROM ubuntu:22.04\r\nARG A=1 # one\r\nRUN x\r\n")
    done = fix(subject, check([subject], RULES))
    assert done.after == b"FROM ubuntu:22.04\r\n# one\r\nARG A=1\r\nRUN x\r\n"


def test_a_quoted_requirement_is_what_pip_sees() -> None:
    subject = subject_of("FROM ubuntu:22.04\nRUN pip install foo[bar]>=4 baz\n")
    done = fix(subject, check([subject], RULES))
    pins = {pin.name: pin.value for pin in read_dockerfile(done.after).pins}
    assert pins["foo"] == ">=4"
