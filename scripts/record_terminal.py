"""Run a command and draw what it printed as an SVG picture: a recorded terminal that cannot differ from the program.

    scripts/record-terminal docs/terminal.svg --progress 8 --result 34 -- \\
        bisector run --requirements docs/examples/august/requirements.txt --good-date 2026-08-01 ...

The words are typed after a `$`; progress (standard error, a line for each event) stands above the result (standard
output). What comes after so many lines of either is left out, and "[...]" says so. The home directory is shown as `~`,
what lies in the checkout by its path within.
The picture fetches nothing: no font is embedded or linked.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 110
LEFT_OUT = "[...]"
LOOK = {"FORCE_COLOR": "1", "TTY_INTERACTIVE": "0", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
"""Colours, and lines in place of a display that redraws itself; see `bisector.progress`."""
FONT_FACES = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)


def record(words: list[str]) -> tuple[list[str], list[str], int]:
    """What a command prints while it works, what it prints as its result, and its exit code."""
    process = subprocess.Popen(
        words, cwd=ROOT, env={**os.environ, **LOOK}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    progress: list[bytes] = []

    def drain(stream: IO[bytes]) -> None:
        for line in stream:
            progress.append(line)
            sys.stderr.buffer.write(line)
            sys.stderr.flush()

    reader = threading.Thread(target=drain, args=(process.stderr,))
    reader.start()
    result = process.stdout.read()
    reader.join()
    return _lines(b"".join(progress)), _lines(result), process.wait()


def _lines(printed: bytes) -> list[str]:
    return printed.decode().replace(f"{ROOT}/", "").replace(str(Path.home()), "~").splitlines()


def shortened(lines: list[str], most: int) -> list[str]:
    """The first lines, and a word where there are more."""
    return [*lines[:most], LEFT_OUT] if most and len(lines) > most else lines


def command_line(words: list[str]) -> str:
    """The command as a person would type it, broken before options where it is long."""
    lines, current = [], f"$ {words[0]}"
    for word in words[1:]:
        if word.startswith("--") and len(current) > WIDTH - 40:
            lines.append(current + " \\")
            current = f"    {word}"
        else:
            current += f" {word}"
    return "\n".join([*lines, current])


def draw(title: str, text: Text) -> str:
    """The picture."""
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"), force_terminal=True)  # noqa: SIM115, PTH123
    console.print(text, overflow="fold")
    return FONT_FACES.sub("", console.export_svg(title=title))


def main() -> int:
    """Record one command; exit code 1 where it ended otherwise than expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--progress", type=int, default=0, help="lines of progress that are shown (0: all)")
    parser.add_argument("--result", type=int, default=0, help="lines of the result that are shown (0: all)")
    parser.add_argument("--exit-code", type=int, default=0, help="how the command must end for the picture to be kept")
    parser.add_argument("words", nargs="+", help="the command, after --")
    options = parser.parse_args()
    progress, result, code = record(options.words)
    if code != options.exit_code:
        print(f"the command ended with {code}, not {options.exit_code}; {options.picture} stays", file=sys.stderr)
        return 1
    lines = [*shortened(progress, options.progress), *shortened(result, options.result)]
    text = Text.from_ansi("\n".join([command_line(options.words), *lines]))
    options.picture.write_text(draw(options.words[0], text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
