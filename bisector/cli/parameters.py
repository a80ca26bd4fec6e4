"""Parameters that several commands of `bisector` have, and what was typed."""

from dataclasses import dataclass
from typing import Annotated

import typer

Format = Annotated[str, typer.Option("--format", metavar="text|md|html|json", help="How the result is written.")]
Run = Annotated[str | None, typer.Argument(metavar="RUN", help="A run's name, its beginning, or its directory.")]


@dataclass(frozen=True)
class Typed:
    """What was typed: the words after `bisector`, and those of them that follow `--`."""

    words: tuple[str, ...]
    script_arguments: tuple[str, ...]


def _all_options(context: typer.Context, asked: bool) -> None:
    if asked:
        for parameter in context.command.params:
            setattr(parameter, "hidden", False)  # noqa: B010 - an attribute of options that typer's types do not tell
        print(context.get_help())
        raise typer.Exit


AllOptions = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_all_options, help="Show every option and exit.")
]
