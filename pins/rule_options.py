"""Options that choose among rules, of hazards or of drift."""

from typing import Annotated

import typer

from pins.completions import completion, rules

Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="RULE,...", help="Only these rules; all for all of them.", autocompletion=completion(rules)
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="RULE,...", help="Not these rules.", autocompletion=completion(rules)),
]
