"""The table of all rules, and the choice among them."""

from collections.abc import Iterable

from pins.choices import did_you_mean
from pins.errors import UsageError
from pins.hazards.catalogue import arguments, commands, packages, references
from pins.hazards.model import Rule

RULES: tuple[Rule, ...] = (*arguments.RULES, *references.RULES, *commands.RULES, *packages.RULES)
BY_NAME = {rule.name: rule for rule in RULES}


def chosen(select: Iterable[str], ignore: Iterable[str]) -> tuple[Rule, ...]:
    """The rules to run.

    Args:
        select: names, or the beginnings of names; "all" for every rule; nothing for those that are on by default.
        ignore: the same, left out of what is selected.

    Raises:
        UsageError: a name that no rule begins with.
    """
    wanted, unwanted = _named(select, "--select"), _named(ignore, "--ignore")
    return tuple(r for r in RULES if (r.name in wanted if wanted else r.default) and r.name not in unwanted)


def _named(texts: Iterable[str], option: str) -> set[str]:
    found: set[str] = set()
    for text in (part.strip() for given in texts for part in given.split(",")):
        if not text:
            continue
        matching = {rule.name for rule in RULES if rule.name.startswith(text) or text.lower() == "all"}
        if not matching:
            near = did_you_mean(text, [rule.name for rule in RULES])
            raise UsageError(f"{option} {text!r}: there is no such rule{near}; `pins check --rules` lists them")
        found |= matching
    return found
