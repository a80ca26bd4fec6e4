"""The rules that a command knows, listed."""

import json
from collections.abc import Sequence
from pathlib import Path

from pins.errors import UsageError
from pins.json_document import opening
from pins.report.blocks import Document, Table, literal, prose
from pins.report.tones import Tone


def rules_listed(
    rules: Sequence[tuple[str, str]], text: str, output_format: str, output: Path | None, no_color: bool
) -> str:
    """Rules as text, Markdown or HTML, or as a `pins.rules/1` document.

    Args:
        rules: name and summary of each.
        text: the list as text.
        output_format: one of those forms.
        output: where it goes, None for standard output.
        no_color: whether to do without colour.

    Raises:
        UsageError: a form that findings alone have.
    """
    if output_format == "text":
        return text
    if output_format == "json":
        document = opening("pins.rules/1", "pins")
        document["rules"] = [{"rule": name, "summary": summary} for name, summary in rules]
        return json.dumps(document, indent=2, ensure_ascii=True)
    if output_format not in {"md", "html"}:
        raise UsageError(f"--format {output_format} is of findings; rules are written as text, md, html or json")
    from pins.drawing import drawn

    rows = tuple((literal(name), prose(summary)) for name, summary in rules)
    return drawn(Document("Rules", Tone.PLAIN, (Table(("rule", "finds"), rows),), ()), output_format, output, no_color)
