"""The command `pins`.

Only what `--help` needs is imported here. Commands live in modules of their own, each with its app of one command;
how a command ends, and where its result goes, is said in `pins.command_line`.
"""

from typing import Annotated

import typer

from pins.command_line import new_app, start
from pins.commands_ack import app as ack_app
from pins.commands_check import app as check_app
from pins.commands_drift import app as drift_app
from pins.commands_files import app as files_app
from pins.commands_hold import app as hold_app
from pins.commands_schedule import app as schedule_app
from pins.commands_suggest import app as suggest_app
from pins.commands_windows import app as windows_app

app = new_app(
    "Say what a file pins, what fits, and what has moved; edit it in place.\n\n"
    "\b\nExamples:\n  pins show docker/Dockerfile\n  pins windows docker/Dockerfile\n  pins drift docker/"
)


def main() -> None:
    """The console command."""
    start(app, "pins")


def _version(asked: bool) -> None:
    if asked:
        from pins.json_document import installed_version

        print(f"pins {installed_version()}")
        raise typer.Exit


@app.callback()
def _pins(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Show it.")] = False,
) -> None:
    pass


app.add_typer(files_app)
app.add_typer(check_app)
app.add_typer(windows_app)
app.add_typer(suggest_app)
app.add_typer(drift_app)
app.add_typer(hold_app)
app.add_typer(ack_app)
app.add_typer(schedule_app)
