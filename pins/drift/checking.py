"""Run the checks of all rules: concurrently, each with one of three values as its end."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pins.drift.model import About, Check, Json, Observations, Outcome, Rule, Subject, unknown
from pins.errors import PinsError

Key = tuple[str, str, str]
"""What a check is known by: rule, place, pin."""


@dataclass(frozen=True)
class Checked:
    """One check that was made.

    Attributes:
        rule: id of the rule.
        about: what it is about.
        outcome: what it came to.
    """

    rule: str
    about: About
    outcome: Outcome

    @property
    def key(self) -> Key:
        """What it is known by, in every run."""
        return self.rule, self.about.place, self.about.pin


async def check_all(
    rules: Iterable[Rule], subject: Subject, observations: Observations, memory: Mapping[Key, Json]
) -> list[Checked]:
    """Every check of every rule, in the order of rules.

    Args:
        rules: those that are to be run.
        subject: what is watched.
        observations: where checks look.
        memory: what checks have remembered, by what they are known by.
    """
    listed: dict[Key, tuple[Rule, Check]] = {}
    for rule in rules:
        for check in rule.checks(subject):
            key = (rule.id, check.about.place, check.about.pin)
            if key in listed:
                raise AssertionError(f"two checks of {rule.id} are about {check.about.pin} of {check.about.place}")
            listed[key] = rule, check
    outcomes = await asyncio.gather(
        *(_outcome(rule, check, observations, memory.get(key)) for key, (rule, check) in listed.items())
    )
    return [
        Checked(rule.id, check.about, outcome) for (rule, check), outcome in zip(listed.values(), outcomes, strict=True)
    ]


async def _outcome(rule: Rule, check: Check, observations: Observations, previous: Json) -> Outcome:
    try:
        outcome = await check.run(observations, previous)
    except PinsError as error:
        return unknown(error.message)
    except Exception as error:  # a check that nobody watches must not take the others with it
        return unknown(f"a fault in this program, in rule {rule.id}: {type(error).__name__}: {error}")
    for one in outcome.findings:
        if (one.rule, one.place, one.pin) != (rule.id, check.about.place, check.about.pin):
            return unknown(f"a fault in this program: rule {rule.id} found something about {one.pin}, not its own")
    return outcome
