"""Every rule finds its example, and leaves the near miss alone."""

import pytest

from pins.hazards.check import check
from pins.hazards.model import Example, Hazard, Rule
from pins.hazards.table import RULES
from tests.hazards.subjects import subject_of


def found(rule: Rule, example: Example) -> list[Hazard]:
    return check([subject_of(example.text, example.file)], [rule])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_the_file_that_has_its_hazard(rule: Rule) -> None:
    assert found(rule, rule.bad)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_leaves_the_near_miss_alone(rule: Rule) -> None:
    assert [hazard.summary for hazard in found(rule, rule.good)] == []
