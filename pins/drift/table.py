"""All rules of drift, in the order in which they are listed."""

from pins.drift.model import Rule

RULES: tuple[Rule, ...] = ()
