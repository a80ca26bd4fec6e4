"""The options that every command of both programs takes, and what they mean together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pins.choices import one_of
from pins.command_line import check_output
from pins.errors import UsageError

FORMATS = ("text", "md", "html", "json")
FINDING_FORMATS = (*FORMATS, "sarif", "github")
"""Of what lists findings."""

_HOW = "How the result is written."
Format = Annotated[str, typer.Option("--format", metavar="|".join(FORMATS), help=_HOW)]
FindingFormat = Annotated[str, typer.Option("--format", metavar="|".join(FINDING_FORMATS), help=_HOW)]
Output = Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write the result there instead.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings and the end on standard error.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="More progress on standard error.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colour (also NO_COLOR).")]


def check_common(
    output_format: str, output: Path | None, quiet: bool, verbose: bool, formats: Sequence[str] = FORMATS
) -> None:
    """Refuse what cannot be, before any work is done.

    Raises:
        UsageError: the format is none of those known, the result cannot be put where it is to go, or both less and
            more progress was asked for.
    """
    one_of(output_format, "--format", formats)
    if quiet and verbose:
        raise UsageError("--quiet and --verbose exclude one another; leave one of them out")
    check_output(output)


def _all_options(context: typer.Context, asked: bool) -> None:
    if asked:
        for parameter in context.command.params:
            setattr(parameter, "hidden", False)  # noqa: B010 - an attribute of options that typer's types do not tell
        print(context.get_help())
        raise typer.Exit


AllOptions = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_all_options, help="Show every option and exit.")
]
"""Of commands with options that only this shows."""
