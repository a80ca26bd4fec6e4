"""From an app to the command that runs: where typer would do otherwise than both programs mean it.

What is set here are attributes of typer's that are not documented: where one is missing, help looks otherwise, a word
is not completed, or a start takes longer, and nothing else changes.
"""

import os
import re
from typing import Any

import typer

from pins.option_values import take_plain_value

_WORDS = re.compile(r"[a-z0-9]+(\|[a-z0-9]+)+")
"""A metavar that is the list of all values there are."""


def make_command(app: typer.Typer) -> Any:
    """The command of an app, ready to run."""
    command = typer.main.get_command(app)
    _adjust(command, None)
    return command


def _adjust(command: Any, parent: typer.Context | None) -> None:
    context = typer.Context(command, parent=parent, **command.context_settings)
    for below in getattr(command, "commands", {}).values():
        _adjust(below, context)
    for parameter in command.get_params(context):  # the option for help is one, and is made for a context only
        take_plain_value(parameter)
        if parameter.param_type_name == "argument":
            _name_plainly(parameter)
        if parameter.metavar and _WORDS.fullmatch(parameter.metavar) and parameter._custom_shell_complete is None:
            parameter._custom_shell_complete = _one_of(parameter.metavar.split("|"))


def _name_plainly(argument: Any) -> None:
    """Let help call an argument by its metavar alone: the type behind it is a matter of Python."""
    metavar = argument.metavar or argument.name
    shown = metavar if argument.required else f"[{metavar}]"
    if argument.nargs != 1 and not metavar.endswith("..."):
        shown += "..."
    argument.display_type_rich = lambda **_: ""
    argument._usage_display_name = lambda: shown


def _one_of(words: list[str]) -> Any:
    def complete(_context: typer.Context, _parameter: Any, begun: str) -> list[str]:
        return [word for word in words if word.startswith(begun)]

    return complete


def is_completing(tool: str) -> bool:
    """Whether a shell asks for what may follow, and no command is to run."""
    return f"_{tool.upper()}_COMPLETE" in os.environ
