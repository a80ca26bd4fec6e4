"""The command `pins`.

Only what `--help` needs is imported here, and where one command is asked for, only that one. Commands live in modules
of their own, each with its app of one or a few commands; how a command ends, and where its result goes, is said in
`pins.command_line`.
"""

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Annotated

import typer

from pins.command_line import new_app, start

COMMANDS = {
    **dict.fromkeys(("show", "diff", "set"), "files"),
    "check": "check",
    **dict.fromkeys(("windows", "why"), "windows"),
    "suggest": "suggest",
    "drift": "drift",
    "hold": "hold",
    "ack": "ack",
    "schedule": "schedule",
}
"""Every command, in the order in which help lists them, and which module `pins.commands_...` holds it."""


def main() -> None:
    """The console command."""
    asked = COMMANDS.get(next(iter(sys.argv[1:]), ""))
    start(app_of([asked]) if asked else whole_app(), "pins")


@cache
def whole_app() -> typer.Typer:
    """The app with every command."""
    return app_of(dict.fromkeys(COMMANDS.values()))


def app_of(modules: Iterable[str]) -> typer.Typer:
    """The app with the commands of some modules."""
    app = new_app(
        "Say what a file pins, what fits, and what has moved; edit it in place.\n\n"
        "\b\nExamples:\n  pins show docker/Dockerfile\n  pins windows docker/Dockerfile\n  pins drift docker/"
    )
    app.callback()(_pins)
    for module in modules:
        app.add_typer(import_module(f"pins.commands_{module}").app)
    return app


def __getattr__(name: str) -> typer.Typer:
    """`app`, with every command: made when somebody looks at it."""
    if name == "app":
        return whole_app()
    raise AttributeError(name)


def _version(asked: bool) -> None:
    if asked:
        from pins.json_document import installed_version

        print(f"pins {installed_version()}")
        raise typer.Exit


def _pins(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Show it.")] = False,
) -> None:
    pass
