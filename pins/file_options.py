"""Options that say how a file is read, for every command that reads one."""

from pathlib import Path
from typing import Annotated

import typer

from pins.errors import UsageError

BuildArg = Annotated[
    list[str] | None,
    typer.Option("--build-arg", metavar="NAME=VALUE", help="Read as if the builder were given it. Repeatable."),
]
Target = Annotated[
    str, typer.Option("--target", metavar="STAGE", help="The stage that is built; the last by default.", hidden=True)
]
Repo = Annotated[
    list[str] | None, typer.Option("--repo", metavar="NAME=PATH", help="A clone of a git pin's repository. Repeatable.")
]
ContextDirectory = Annotated[
    Path | None, typer.Option("--context", metavar="DIR", help="The build context, if another.", hidden=True)
]


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """NAME=VALUE options by name; raises UsageError for one of another form."""
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"{option} {text!r} must be NAME=VALUE")
        found[name] = value
    return found


def clones(given: list[str] | None) -> dict[str, Path]:
    """`--repo` options by lower-case name; raises UsageError where a directory does not exist."""
    found = {name.lower(): Path(path) for name, path in pairs(given, "--repo").items()}
    for name, path in found.items():
        if not path.is_dir():
            raise UsageError(f"--repo {name}={path}: there is no such directory")
    return found
