"""The pages of docs/hazards: one a rule, and the list of all. `scripts/hazard-pages` writes them."""

from collections.abc import Sequence

from pins.hazards.model import Example, Rule

_HEAD = """# Hazards

`pins check FILE|DIR` looks for these. Each has a name by which it is selected (`--select`), left out (`--ignore`) and
ignored in the file (`# pins: ignore[name] reason`). How to run it, the baseline, SARIF and GitHub:
[check.md](../check.md).

| rule | severity | what it finds |
|---|---|---|
"""


def pages(rules: Sequence[Rule]) -> dict[str, str]:
    """By file name, the text of every page."""
    rows = "".join(
        f"| [{rule.name}]({rule.name}.md) | {rule.severity.value}{'' if rule.default else ', off by default'} |"
        f" {rule.summary} |\n"
        for rule in rules
    )
    return {"README.md": _HEAD + rows, **{f"{rule.name}.md": _page(rule) for rule in rules}}


def _page(rule: Rule) -> str:
    default = "" if rule.default else " It is off by default: name it in `--select`."
    return (
        f"# {rule.name}\n\n{rule.summary}. Severity: {rule.severity.value}.{default}\n\n"
        f"## Why it matters\n\n{rule.why}\n\n{rule.case}\n\n"
        f"## What to do\n\n{rule.advice[:1].upper()}{rule.advice[1:]}.\n\n"
        f"## A file that has it\n\n{_code(rule.bad)}\n## A near miss that has not\n\n{_code(rule.good)}\n"
        f"## To ignore it\n\n```\n# pins: ignore[{rule.name}] the reason\n```\n"
    )


def _code(example: Example) -> str:
    return f"```dockerfile\n{example.text.rstrip()}\n```\n"
