"""`pins show` for a person: for each file a table of its pins, its stages, and what could not be known."""

from collections.abc import Mapping, Sequence

from pins.model import FileProblem, Installed, Pin, PinKind, PinSet, StageSummary
from pins.report.blocks import Block, Bullets, Document, Line, Paragraph, Section, Span, Table, literal, prose
from pins.report.tones import Tone

COLUMNS = ("line", "kind", "name", "value", "where", "override", "remarks")
_NUMERIC = frozenset({0})
_COMMENT = 160
"""So many characters of a comment are shown; the JSON document has all of it."""


def show_report(
    pin_sets: Sequence[PinSet],
    stage: str = "",
    resolved: Mapping[str, str] | None = None,
    changed: Sequence[tuple[Pin, Pin]] = (),
) -> Document:
    """All pins of all files.

    Args:
        pin_sets: the files.
        stage: the one stage of which is shown what it ends with, "" for a line on each stage.
        resolved: what floating requirements come to now, by name.
        changed: pins that build arguments change, without and with them.
    """
    more: tuple[Section, ...] = ()
    if changed:
        rows = tuple(_changed(before, pin) for before, pin in changed)
        table = Table(("line", "name", "without", "with"), rows, numeric=_NUMERIC, caption="What they change.")
        more = (Section("What the build arguments change", (table,)),)
    parts = [(pin_set.file, tuple(_blocks(pin_set, stage, resolved or {}))) for pin_set in pin_sets]
    if len(parts) == 1:
        return Document(parts[0][0], Tone.PLAIN, parts[0][1], more)
    title = f"{sum(len(s.pins) for s in pin_sets)} pins in {len(pin_sets)} files"
    return Document(title, Tone.PLAIN, (), (*(Section(file, blocks) for file, blocks in parts), *more))


def _blocks(pin_set: PinSet, stage: str, resolved: Mapping[str, str]) -> list[Block]:
    roles = {summary.name: summary.role for summary in pin_set.stages}
    found: list[Block] = []
    if pin_set.pins:
        rows = tuple(_row(pin, pin_set.file, roles, resolved) for pin in pin_set.pins)
        found.append(Table(COLUMNS, rows, numeric=_NUMERIC, caption=f"The pins of {pin_set.file}."))
    else:
        found.append(Paragraph(prose("no pins", Tone.FAINT)))
    if stage:
        for summary in pin_set.stages:
            if summary.name == stage:
                found.append(Paragraph(prose(f"stage {summary.name} ends with")))
                found.append(Bullets(tuple(literal(describe_install(e)) for e in last_installs(summary.installs))))
    elif pin_set.stages:
        found.append(Bullets(tuple(prose(_stage(summary)) for summary in pin_set.stages)))
    if pin_set.problems:
        found.append(Bullets(tuple(_problem(problem) for problem in pin_set.problems)))
    return found


def _row(pin: Pin, file: str, roles: Mapping[str, str], resolved: Mapping[str, str]) -> tuple[Line, ...]:
    where = str(pin.line) if pin.file == file else f"{pin.file}:{pin.line}"
    now = resolved.get(pin.name) if pin.floating else None
    return (
        prose(where),
        prose(pin.kind.value),
        literal(pin.name),
        prose(f"floating (now {now})") if now else _value(pin),
        prose(_where(pin)),
        prose(_override(pin)),
        prose("; ".join(remarks(pin, roles))),
    )


def _value(pin: Pin) -> Line:
    if pin.unknown:
        return prose(f"unknown: {pin.unknown}", Tone.DOUBT)
    if pin.value is None:
        return prose("floating", Tone.DOUBT)
    return literal(pin.value or '""')


def _changed(before: Pin, pin: Pin) -> tuple[Line, ...]:
    return prose(str(pin.line)), literal(pin.name), literal(held(before)), literal(held(pin))


def held(pin: Pin) -> str:
    """What a pin comes to, and whether any command takes it, in a few words."""
    value = f"unknown: {pin.unknown}" if pin.unknown else pin.effective or pin.value or '""'
    return f"{value} (not used)" if pin.uses and all(use.runs is False for use in pin.uses) else value


def _either(pin: Pin) -> str:
    """What a pin comes to; more than one thing where branches that are open use it in different ways."""
    open_uses = [use for use in pin.uses if use.runs is None]
    if len(open_uses) != len(pin.uses):
        return pin.effective
    texts = list(dict.fromkeys(use.effective for use in open_uses))
    return f"{texts[0]} or {texts[1]}{' or others' if len(texts) > 2 else ''}" if len(texts) > 1 else pin.effective


def _where(pin: Pin) -> str:
    stages = list(dict.fromkeys(use.stage for use in pin.uses if use.stage))
    where = pin.stage or ("global" if pin.scope.value == "global" else "")
    used = [stage for stage in stages if stage != pin.stage]
    return f"{where} -> {', '.join(used)}" if used and where else where or ", ".join(used)


def _override(pin: Pin) -> str:
    override = pin.override
    if not override.how:
        return ""
    text = "; ".join(how.removeprefix("--build-arg ") for how in override.how)
    if override.misses:
        text += f" (misses {', '.join(override.misses)})"
    return text


def remarks(pin: Pin, roles: Mapping[str, str]) -> list[str]:
    """What else is worth saying of a pin; `roles` tells what each stage has to do with the target."""
    said: list[str] = []
    if pin.effective and pin.value is not None and pin.effective != pin.value and pin.kind is not PinKind.PACKAGE:
        said.append(f"comes to {_either(pin)}")
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
        said.append(f"# {pin.comment if len(pin.comment) <= _COMMENT else pin.comment[:_COMMENT] + '…'}")
    return said


def _stage(stage: StageSummary) -> str:
    taken = f", takes files from {', '.join(stage.takes_from)}" if stage.takes_from else ""
    return f"stage {stage.name} ({stage.role}) from {stage.parent or stage.base}{taken}"


def _problem(problem: FileProblem) -> Line:
    word = Span("stopped", Tone.BAD) if problem.fatal else Span("note", Tone.FAINT)
    return (word, Span(f": {problem.file}:{problem.line}: {problem.message}"))


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
