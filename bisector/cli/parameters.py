"""Parameters that several commands of `bisector` have, and what was typed."""

from dataclasses import dataclass
from typing import Annotated

import typer

Run = Annotated[str | None, typer.Argument(metavar="RUN", help="A run's name, its beginning, or its directory.")]


@dataclass(frozen=True)
class Typed:
    """What was typed: the words after `bisector`, and those of them that follow `--`."""

    words: tuple[str, ...]
    script_arguments: tuple[str, ...]
