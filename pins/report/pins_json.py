"""The documents `pins.show/1`, `pins.diff/1` and `pins.set/1`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pins.files.compare import Change
from pins.files.setting import SetResult
from pins.json_document import opening
from pins.model import Pin, PinSet, StageSummary
from pins.report.pins_table import held, last_installs


def show_document(
    pin_sets: Sequence[PinSet], resolved: Mapping[str, str] | None = None, changed: Sequence[tuple[Pin, Pin]] = ()
) -> str:
    """`pins.show/1`: all pins of all files, the stages, what could not be known, and what build arguments change."""
    document = opening("pins.show/1", "pins")
    document["pins"] = [pin_entry(pin, resolved or {}) for pin_set in pin_sets for pin in pin_set.pins]
    document["stages"] = [_stage(pin_set.file, stage) for pin_set in pin_sets for stage in pin_set.stages]
    document["changed_by_build_args"] = [
        {"file": pin.file, "name": pin.name, "line": pin.line, "without": held(before), "with": held(pin)}
        for before, pin in changed
    ]
    document["problems"] = _problems(pin_sets)
    document["complete"] = all(pin_set.complete for pin_set in pin_sets)
    return json.dumps(document, indent=2, ensure_ascii=True)


def pin_entry(pin: Pin, resolved: Mapping[str, str]) -> dict[str, Any]:
    """A pin as `pins.show/1` gives it."""
    entry: dict[str, Any] = {
        "name": pin.name,
        "kind": pin.kind.value,
        "value": pin.value,
        "file": pin.file,
        "line": pin.line,
        "stage": pin.stage,
        "scope": pin.scope.value,
        "form": pin.form.value,
        "spans": [{"line": place.line, "start": place.start, "end": place.end} for place in pin.places],
        "unknown": pin.unknown or None,
        "override": {
            "how": list(pin.override.how),
            "reaches": list(pin.override.reaches),
            "misses": list(pin.override.misses),
        },
        "comment": pin.comment or None,
        "repo": pin.repo or None,
        "variable": pin.variable or None,
        "effective": pin.effective or None,
        "directory": pin.directory or None,
        "patches": list(pin.patches),
        "ships": pin.ships,
        "aliases": list(pin.aliases),
        "note": pin.note or None,
        "uses": [
            {
                "stage": use.stage,
                "line": use.line,
                "command": use.command,
                "effective": use.effective,
                "conditions": list(use.conditions),
                "runs": use.runs,
                "excludes": [i for i, other in enumerate(pin.uses) if other is not use and use.excludes(other)],
            }
            for use in pin.uses
        ],
    }
    if pin.floating and pin.name in resolved:
        entry["resolves_to"] = resolved[pin.name]
    return entry


def _stage(file: str, stage: StageSummary) -> dict[str, Any]:
    return {
        "file": file,
        "name": stage.name,
        "line": stage.line,
        "base": stage.base,
        "parent": stage.parent or None,
        "role": stage.role,
        "takes_from": list(stage.takes_from),
        "installs": [
            {
                "name": entry.name or None,
                "requirement": entry.requirement,
                "line": entry.line,
                "source": entry.source or file,
                "unknown": entry.unknown or None,
            }
            for entry in last_installs(stage.installs)
        ],
    }


def diff_document(changes: Sequence[tuple[str, str, Sequence[Change]]], problems: Sequence[PinSet]) -> str:
    """`pins.diff/1`: what moved, from (old, new, changes) of each pair of files."""
    document = opening("pins.diff/1", "pins")
    document["changes"] = [
        {
            "old_file": old,
            "new_file": new,
            "name": change.pin.name,
            "kind": change.pin.kind.value,
            "old": change.old.value if change.old else None,
            "new": change.new.value if change.new else None,
            "change": "added" if change.old is None else "removed" if change.new is None else "moved",
            "file": change.pin.file,
            "old_line": change.old.line if change.old else None,
            "new_line": change.new.line if change.new else None,
            "stage": change.pin.stage,
            "repo": change.pin.repo or None,
            "commits": {"ahead": change.distance.ahead, "behind": change.distance.behind} if change.distance else None,
            "commits_unknown": change.apart or None,
        }
        for old, new, found in changes
        for change in found
    ]
    document["problems"] = _problems(problems)
    document["complete"] = all(pin_set.complete for pin_set in problems)
    return json.dumps(document, indent=2, ensure_ascii=True)


def set_document(result: SetResult, written: bool) -> str:
    """`pins.set/1`: an edit, what it changes, and whether it was made."""
    document = opening("pins.set/1", "pins")
    document["file"] = str(result.file)
    document["written"] = written
    document["changes"] = [
        {
            "name": pin.name,
            "kind": pin.kind.value,
            "line": pin.line,
            "stage": pin.stage,
            "old": pin.value,
            "new": value,
        }
        for pin, value in result.changes
    ]
    document["remarks"] = list(result.remarks)
    document["patch"] = result.patch.decode("utf-8", "backslashreplace")
    return json.dumps(document, indent=2, ensure_ascii=True)


def _problems(pin_sets: Sequence[PinSet]) -> list[dict[str, Any]]:
    return [
        {"file": p.file, "line": p.line, "message": p.message, "fatal": p.fatal} for s in pin_sets for p in s.problems
    ]
