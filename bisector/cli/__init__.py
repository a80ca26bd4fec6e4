"""The command `bisector`.

Only what `--help` needs is imported here. Commands live in modules of their own, and each imports what it uses; how a
command ends, and where its result goes, is said in `pins.command_line`.
"""

import sys
from typing import Annotated

import typer

from bisector.cli import canary_command, machine_commands, record_commands, run_commands
from bisector.cli.parameters import Typed
from pins.command_line import new_app, start

app = new_app(
    "Find the pin that broke it: between a good and a bad set of versions, build candidates, run a smoke script in each"
    " and name the first bad version.\n\n"
    "\b\nExample:\n  bisector run --pin setuptools=80.9.0..82.0.1 --smoke ./smoke.py"
)
RUN_A_SCRIPT = frozenset({"run", "probe", "canary"})
"""Commands whose words after `--` are the smoke script's."""


def main() -> None:
    """The console command. What runs a script takes the words after `--` for it, and never looks at them as options."""
    words = tuple(sys.argv[1:])
    command = next((word for word in words if not word.startswith("-")), "")
    end = words.index("--") if command in RUN_A_SCRIPT and "--" in words else len(words)
    start(app, "bisector", args=words[:end], obj=Typed(words, words[end + 1 :]))


def _version(asked: bool) -> None:
    if asked:
        from pins.json_document import installed_version

        print(f"bisector {installed_version()}")
        raise typer.Exit


@app.callback()
def _bisector(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Show it.")] = False,
) -> None:
    pass


for commands in (run_commands, canary_command, record_commands, machine_commands):
    app.add_typer(commands.app)
