"""Which rules are run: the choice of `--select` and `--ignore`."""

from collections.abc import Iterable

from pins.choices import did_you_mean
from pins.drift.model import Rule
from pins.drift.table import RULES
from pins.errors import UsageError


def chosen(select: Iterable[str], ignore: Iterable[str], rules: tuple[Rule, ...] = RULES) -> tuple[Rule, ...]:
    """The rules to run.

    Args:
        select: ids, or the beginnings of ids, several separated by commas; nothing for all.
        ignore: the same, left out of what is selected.
        rules: those that there are.

    Raises:
        UsageError: a name that no rule begins with, or nothing is left to run.
    """
    wanted, unwanted = _named(select, "--select", rules), _named(ignore, "--ignore", rules)
    left = tuple(rule for rule in rules if (not wanted or rule.id in wanted) and rule.id not in unwanted)
    if rules and not left:
        raise UsageError("--select and --ignore leave no rule to run")
    return left


def _named(texts: Iterable[str], option: str, rules: tuple[Rule, ...]) -> set[str]:
    found: set[str] = set()
    for text in (part.strip() for given in texts for part in given.split(",")):
        matching = {rule.id for rule in rules if text and (rule.id.startswith(text) or text.lower() == "all")}
        if text and not matching:
            near = did_you_mean(text, [rule.id for rule in rules])
            raise UsageError(f"{option} {text!r}: there is no such rule{near}; `pins drift --rules` lists them")
        found |= matching
    return found
