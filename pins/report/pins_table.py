"""`pins show` for a person: one table of pins a file, what each stage ends with, what could not be known."""

import io
from collections.abc import Mapping, Sequence

from pins.model import Installed, Pin, PinKind, PinSet, StageSummary

COLUMNS = ("line", "kind", "name", "value", "where", "override", "remarks")


def rows(pin_set: PinSet) -> list[tuple[str, ...]]:
    """A row for each pin, in the order of COLUMNS."""
    roles = {stage.name: stage.role for stage in pin_set.stages}
    return [_row(pin, roles) for pin in pin_set.pins]


def _row(pin: Pin, roles: Mapping[str, str]) -> tuple[str, ...]:
    return (
        str(pin.line),
        pin.kind.value,
        pin.name,
        _value(pin),
        _where(pin),
        _override(pin),
        "; ".join(remarks(pin, roles)),
    )


def _value(pin: Pin) -> str:
    if pin.unknown:
        return f"unknown: {pin.unknown}"
    if pin.value is None:
        return "floating"
    return pin.value or '""'


def _where(pin: Pin) -> str:
    stages = list(dict.fromkeys(use.stage for use in pin.uses if use.stage))
    where = pin.stage or ("global" if pin.scope.value == "global" else "")
    used = [stage for stage in stages if stage != pin.stage]
    return f"{where} -> {', '.join(used)}" if used and where else where or ", ".join(used)


def _override(pin: Pin) -> str:
    override = pin.override
    if not override.how:
        return ""
    text = override.how[0].removeprefix("--build-arg ")
    if override.misses:
        text += f" (misses {', '.join(override.misses)})"
    return text


def remarks(pin: Pin, roles: Mapping[str, str]) -> list[str]:
    """What else is worth saying of a pin; `roles` tells what each stage has to do with the target."""
    said: list[str] = []
    if pin.effective and pin.value is not None and pin.effective != pin.value and pin.kind is not PinKind.PACKAGE:
        said.append(f"comes to {pin.effective}")
    if pin.repo and pin.repo not in pin.effective:
        said.append(pin.repo)
    if pin.patches:
        said.append(f"patched: {', '.join(pin.patches)}")
    if pin.uses and all(use.runs is False for use in pin.uses):
        condition = pin.uses[0].conditions[-1] if pin.uses[0].conditions else ""
        said.append(f"only {condition}" if condition.startswith(("if", "else", "unless")) else "not used by default")
    elif pin.uses and any(use.conditions for use in pin.uses) and len(pin.uses) == 1:
        said.append(pin.uses[0].conditions[-1])
    if not pin.ships:
        feeding = any(roles.get(use.stage) == "feeds" for use in pin.uses)
        said.append("in build stages only" if feeding else "not in what is built")
    if pin.note:
        said.append(pin.note)
    if pin.comment:
        said.append(f"# {pin.comment}")
    return said


def text_report(
    pin_sets: Sequence[PinSet], *, color: bool, width: int, stage: str = "", resolved: dict[str, str] | None = None
) -> str:
    """Tables for a terminal, or plain lines for anything else."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=color, no_color=not color, highlight=False, legacy_windows=False
    )
    for pin_set in pin_sets:
        table = Table(
            title=Text(pin_set.file, style="bold"), title_justify="left", box=None, pad_edge=False, show_edge=False
        )
        for column in COLUMNS:
            table.add_column(column, justify="right" if column == "line" else "left", overflow="fold", style=None)
        for row, pin in zip(rows(pin_set), pin_set.pins, strict=True):
            cells = list(row)
            now = (resolved or {}).get(pin.name) if pin.floating else None
            if now:
                cells[3] = f"floating (now {now})"
            cells[0] = cells[0] if pin.file == pin_set.file else f"{pin.file}:{cells[0]}"
            table.add_row(*[Text(printable(cell)) for cell in cells])
        console.print(table)
        if not pin_set.pins:
            console.print("no pins", style="dim")
        for summary in pin_set.stages:
            if stage and summary.name == stage:
                _stage(console, summary)
        if pin_set.stages and not stage:
            _stages(console, pin_set.stages)
        for problem in pin_set.problems:
            word = "stopped" if problem.fatal else "note"
            console.print(Text(f"{word}: {problem.file}:{problem.line}: {printable(problem.message)}"))
        console.print()
    return stream.getvalue()


def _stages(console: "object", stages: Sequence[StageSummary]) -> None:
    from rich.console import Console
    from rich.text import Text

    assert isinstance(console, Console)
    for stage in stages:
        source = stage.parent or stage.base
        taken = f", takes files from {', '.join(stage.takes_from)}" if stage.takes_from else ""
        console.print(Text(printable(f"stage {stage.name} ({stage.role}) from {source}{taken}")))


def _stage(console: "object", stage: StageSummary) -> None:
    from rich.console import Console
    from rich.text import Text

    assert isinstance(console, Console)
    console.print(Text(f"stage {stage.name} ends with", style="bold"))
    for entry in last_installs(stage.installs):
        console.print(Text(printable(f"  {describe_install(entry)}")))


def describe_install(entry: Installed) -> str:
    """One line on what decides a distribution's version."""
    where = f"{entry.source}:{entry.line}" if entry.source else f"line {entry.line}"
    if entry.unknown == "removed":
        return f"{entry.name} removed ({where})"
    said = f"{entry.requirement} ({where})"
    return f"{said}: {entry.unknown}" if entry.unknown else said


def last_installs(installs: Sequence[Installed]) -> list[Installed]:
    """For each distribution the last entry, which decides; entries whose distributions are not known stay in order."""
    last = {entry.name: index for index, entry in enumerate(installs) if entry.name}
    return [entry for index, entry in enumerate(installs) if not entry.name or last[entry.name] == index]


def printable(text: str) -> str:
    """The text without characters that would move a terminal's cursor."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def markdown_report(pin_sets: Sequence[PinSet]) -> str:
    """Tables in Markdown."""
    parts: list[str] = []
    for pin_set in pin_sets:
        parts.append(f"### `{pin_set.file}`\n")
        parts.append("| " + " | ".join(COLUMNS) + " |")
        parts.append("|" + "---|" * len(COLUMNS))
        parts.extend("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows(pin_set))
        parts.extend(
            f"\n{'Stopped' if p.fatal else 'Note'}: `{_cell(p.file)}:{p.line}`: {_cell(p.message)}"
            for p in pin_set.problems
        )
        parts.append("")
    return "\n".join(parts)


def _cell(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
    return escaped.replace("*", "\\*").replace("_", "\\_")


def html_report(pin_sets: Sequence[PinSet]) -> str:
    """One page of HTML; every value is escaped."""
    from html import escape

    parts = ["<!doctype html><meta charset=utf-8><title>pins</title>"]
    parts.append(
        "<style>table{border-collapse:collapse}td,th{padding:.2em .6em;text-align:left;vertical-align:top}</style>"
    )
    for pin_set in pin_sets:
        parts.append(f"<h2>{escape(pin_set.file)}</h2><table><tr>")
        parts.extend(f"<th>{column}</th>" for column in COLUMNS)
        parts.append("</tr>")
        parts.extend(
            "<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in row) + "</tr>" for row in rows(pin_set)
        )
        parts.append("</table>")
        parts.extend(f"<p>{escape(p.file)}:{p.line}: {escape(printable(p.message))}</p>" for p in pin_set.problems)
    return "\n".join(parts)
