"""A report for people, in the form that was asked for."""

from pathlib import Path
from typing import TYPE_CHECKING

from pins.command_line import wants_color

if TYPE_CHECKING:
    from pins.report.blocks import Document


def drawn(document: "Document", output_format: str, output: Path | None, no_color: bool) -> str:
    """A document for people, as wide as the terminal; what goes into a pipe or file is not wrapped."""
    if output_format in {"md", "html"}:
        from dataclasses import replace

        from pins.json_document import installed_version
        from pins.report.html import render_html
        from pins.report.markdown import render_markdown

        document = replace(document, footer=f"pins {installed_version()}")
        return render_markdown(document) if output_format == "md" else render_html(document)
    import shutil
    import sys

    from pins.report.text import render_text

    terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else 1_000_000
    color = output is None and sys.stdout is not None and wants_color(sys.stdout, no_color)
    return render_text(document, width, color=color).rstrip("\n") + "\n"
