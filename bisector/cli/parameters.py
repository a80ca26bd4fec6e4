"""Parameters that several commands of `bisector` have, and what was typed."""

from dataclasses import dataclass
from typing import Annotated

import typer

from pins.completions import completion


def _runs(_: typer.Context) -> list[str]:
    from bisector.runs import all_runs

    return [run.name for run in all_runs()]


Run = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN", help="A run's name, its beginning, or its directory.", autocompletion=completion(_runs)
    ),
]


@dataclass(frozen=True)
class Typed:
    """What was typed: the words after `bisector`, and those of them that follow `--`."""

    words: tuple[str, ...]
    script_arguments: tuple[str, ...]
