"""What a command shows: its progress while it works, and its result at the end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pins.command_line import deliver, interrupted_exit_code, wants_color
from pins.sign_of_life import hush

if TYPE_CHECKING:
    from bisector.events import Event, Reporter
    from bisector.report.model import Result
    from pins.report.blocks import Document


@contextmanager
def progress(quiet: bool, verbose: bool, no_color: bool, *, plain: bool = False) -> "Iterator[Reporter]":
    """The reporter of a command, on standard error; `plain`: in lines also on a terminal."""
    from bisector.progress import reporter_for

    with reporter_for(
        sys.stderr, quiet=quiet, verbose=verbose, color=False if no_color else None, lines=plain
    ) as reporter:

        def report(event: "Event") -> None:
            hush()  # from now on events tell
            reporter(event)

        yield report


def show(result: "Result", output_format: str, output: Path | None, no_color: bool) -> int:
    """Deliver a result; returns the exit code that its verdict asks for."""
    from bisector.report import render
    from bisector.report.model import EXIT_CODES, Verdict

    width, color = page(output, no_color)
    code = interrupted_exit_code() if result.verdict is Verdict.INTERRUPTED else EXIT_CODES[result.verdict]
    return deliver(render(result, output_format, width=width, color=color), output, code)


def drawn(document: "Document", output_format: str) -> str:
    """A document that is no bisection's result, as Markdown or HTML."""
    from dataclasses import replace

    from bisector.report.outline import tool_version

    document = replace(document, footer=f"bisector {tool_version()}")
    if output_format == "html":
        from pins.report.html import render_html

        return render_html(document)
    from pins.report.markdown import render_markdown

    return render_markdown(document)


def page(output: Path | None, no_color: bool) -> tuple[int, bool]:
    """Width and whether colours may be used, of where the result goes."""
    import shutil

    stream = sys.stdout if output is None else None
    if stream is None:
        return 100, False
    width = shutil.get_terminal_size().columns if stream.isatty() else 100
    return width, wants_color(stream, no_color)
