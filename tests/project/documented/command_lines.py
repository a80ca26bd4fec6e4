"""Reading a command line as the commands do, up to where work would begin."""

import itertools
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

import bisector.cli
import pins.cli
from bisector.cli.configuration import combined, read_configuration
from bisector.cli.options import RunOptions
from bisector.cli.parameters import Typed
from bisector.cli.request import request_for_one, request_from

TOOLS = {"bisector": bisector.cli.app, "pins": pins.cli.app}


def calls(command: str) -> Iterator[list[str]]:
    """The calls of our commands in a line of shell, as words: `bisector` or `pins` first."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="&|;")
    lexer.whitespace_split = True
    for separates, group in itertools.groupby(lexer, lambda word: not word.strip("&|;")):
        words = [] if separates else list(group)
        if words and Path(words[0]).name in TOOLS:
            yield [Path(words[0]).name, *words[1:]]


def read(words: list[str], directory: Path) -> None:
    """Read a call: its options by the real parser; of what runs a script, the whole request for it.

    Raises:
        Exception: what the command would say is wrong.
    """
    tool, name, *rest = words
    end = rest.index("--") if tool == "bisector" and "--" in rest else len(rest)
    group: Any = typer.main.get_command(TOOLS[tool])
    command = group.commands[name]
    typed = Typed(tuple(words[1:]), tuple(rest[end + 1 :]))
    with command.make_context(name, rest[:end], obj=typed) as context:
        if tool == "bisector" and name in {"run", "probe"}:
            _read_request(context.params, typed, directory, one=name == "probe")


def _read_request(given: dict[str, Any], typed: Typed, directory: Path, *, one: bool) -> None:
    names = {each.name for each in fields(RunOptions)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items() if name in names
    }
    options = RunOptions(**values)
    if given["file"] is not None:
        options = combined(options, read_configuration(directory / given["file"]))
    if one:
        request_for_one(options, directory, typed.script_arguments)
    else:
        request_from(options, directory, typed.script_arguments, to_plan=bool(given["plan"]))
