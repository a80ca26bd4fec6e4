"""`pins diff` for a person."""

from collections.abc import Sequence

from pins.files.compare import Change
from pins.model import Pin
from pins.report.pins_table import printable


def _shown(pin: Pin | None) -> str:
    if pin is None:
        return "-"
    if pin.unknown:
        return "unknown"
    return "floating" if pin.value is None else pin.value or '""'


def _distance(change: Change) -> str:
    if change.distance is None:
        return ""
    ahead, behind = change.distance.ahead, change.distance.behind
    text = f"{ahead} commit{'' if ahead == 1 else 's'}"
    return f"{text}, {behind} taken away" if behind else text


def diff_rows(changes: Sequence[Change]) -> list[tuple[str, str, str, str, str, str]]:
    """(name, kind, old, new, commits, where) of each change."""
    return [
        (
            change.pin.name,
            change.pin.kind.value,
            _shown(change.old),
            _shown(change.new),
            _distance(change),
            f"line {change.pin.line}" + (f", {change.pin.stage}" if change.pin.stage else ""),
        )
        for change in changes
    ]


_HEAD = ("pin", "kind", "old", "new", "commits", "where")


def diff_text(groups: Sequence[tuple[str, str, Sequence[Change]]]) -> str:
    """Aligned columns for each pair of files."""
    parts: list[str] = []
    for old, new, changes in groups:
        parts.append(f"{old} -> {new}" if old != new else old)
        table = [_HEAD, *diff_rows(changes)]
        widths = [max(len(printable(row[column])) for row in table) for column in range(len(_HEAD))]
        if not changes:
            parts.append("no pin differs")
        else:
            parts.extend(
                "  ".join(printable(c).ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table
            )
        parts.append("")
    return "\n".join(parts)


def diff_markdown(groups: Sequence[tuple[str, str, Sequence[Change]]]) -> str:
    """Markdown tables."""
    parts: list[str] = []
    for old, new, changes in groups:
        parts.append(f"### `{old}` to `{new}`\n")
        parts.append("| " + " | ".join(_HEAD) + " |\n|" + "---|" * len(_HEAD))
        parts.extend("| " + " | ".join(_escape(cell) for cell in row) + " |" for row in diff_rows(changes))
        parts.append("")
    return "\n".join(parts)


def _escape(text: str) -> str:
    plain = printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
    return plain.replace("*", "\\*").replace("_", "\\_")


def diff_html(groups: Sequence[tuple[str, str, Sequence[Change]]]) -> str:
    """One page of HTML; every value is escaped."""
    from html import escape

    parts = ["<!doctype html><meta charset=utf-8><title>pins</title>"]
    for old, new, changes in groups:
        parts.append(
            f"<h2>{escape(old)} to {escape(new)}</h2><table><tr>" + "".join(f"<th>{h}</th>" for h in _HEAD) + "</tr>"
        )
        parts.extend(
            "<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in row) + "</tr>"
            for row in diff_rows(changes)
        )
        parts.append("</table>")
    return "\n".join(parts)
