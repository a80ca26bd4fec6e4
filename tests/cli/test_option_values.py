"""Option values are taken as they are, with the same result as typer's own way, and without pydantic."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from pins.command_making import make_command

WORDS = [
    [],
    ["--text", "x", "--path", "some/where", "--texts", "a", "--texts", "b", "--paths", "c", "--flag"],
    ["--text=", "--path", ".", "--paths", "/", "--paths", "gone", "--number", "7"],
    ["rest", "of", "it"],
    ["--number", "seven"],
    ["--text"],
    ["--unknown"],
]


def _app(seen: list[dict[str, Any]]) -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

    @app.command()
    def _command(
        rest: Annotated[list[str] | None, typer.Argument()] = None,
        text: Annotated[str, typer.Option()] = "",
        path: Annotated[Path | None, typer.Option()] = None,
        texts: Annotated[list[str] | None, typer.Option()] = None,
        paths: Annotated[list[Path] | None, typer.Option()] = None,
        number: Annotated[int, typer.Option()] = 3,
        flag: Annotated[bool, typer.Option("--flag")] = False,
    ) -> None:
        seen.append(dict(locals()) | {"seen": None})

    return app


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_values_are_those_that_typer_makes(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    ended = []
    for plain in (False, True):
        seen: list[dict[str, Any]] = []
        command = make_command(_app(seen)) if plain else typer.main.get_command(_app(seen))
        with pytest.raises(SystemExit) as end:
            command(words, prog_name="it")
        ended.append((end.value.code, seen, capsys.readouterr()))
    assert ended[0] == ended[1]


def test_short_commands_do_without_pydantic(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    script = (
        "import sys; sys.argv[1:] = ['check', 'Dockerfile']; from pins.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, 'pydantic' in sys.modules, file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert ended.stderr.endswith("0 False\n")
