"""What a run found, for people and programs.

`model` is the data; `outline` turns it into sections and blocks; each renderer draws those in its own format.
"""

from bisector.report.model import Result
from pins.errors import UsageError

FORMATS = ("text", "md", "json", "html")


def render(result: Result, format: str, *, width: int = 100, color: bool = False) -> str:  # noqa: A002 (the option's name)
    """A report as text that ends with a newline.

    Args:
        result: what to report.
        format: one of `FORMATS`.
        width: columns of the terminal, for "text".
        color: whether "text" may use ANSI colours.

    Raises:
        UsageError: no such format.
    """
    match format:
        case "text":
            from bisector.report.outline import outline
            from pins.report.text import render_text

            return render_text(outline(result), width, color=color)
        case "md":
            from bisector.report.outline import outline
            from pins.report.markdown import render_markdown

            return render_markdown(outline(result))
        case "json":
            from bisector.report.json_writer import render_json

            return render_json(result)
        case "html":
            from bisector.report.outline import outline
            from pins.report.html import render_html

            return render_html(outline(result))
        case _:
            raise UsageError(f"There is no report format {format!r}: choose one of {', '.join(FORMATS)}.")


def short_summary(result: Result) -> str:
    """The verdict in one or two sentences, on one line."""
    from bisector.report.short_values import with_short_values
    from bisector.report.wording import short_summary as sentence

    return sentence(with_short_values(result))


def result_from_json(text: str) -> Result:
    """The result that a `bisector.result/1` document holds.

    Raises:
        UsageError: it is not such a document; the message says where.
    """
    from bisector.report.json_reader import read_result

    return read_result(text)
