"""What docs/drift.md says of the rules."""

import re
from pathlib import Path

from pins.drift.table import RULES

PAGE = (Path(__file__).resolve().parents[2] / "docs/drift.md").read_text()


def test_every_rule_is_listed_and_described_once() -> None:
    rules = PAGE.split("## New once")[0].split("### What each rule says")
    assert len(rules) == 2
    for part in rules:
        listed = re.findall(r"^\| `([a-z-]+)` \|", part, re.MULTILINE)
        assert sorted(listed) == sorted(rule.id for rule in RULES)
