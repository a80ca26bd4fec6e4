"""What `bisector run --plan` shows."""

import json
from itertools import groupby
from typing import TYPE_CHECKING

from bisector.model import short_text
from bisector.report.wording import count, duration
from pins.json_document import opening
from pins.model import PinKind

if TYPE_CHECKING:
    from bisector.model import Axis
    from bisector.preview import Plan

SCHEMA = "bisector.plan/1"
SHOWN = 12
"""Values of an axis that are listed before the middle is left out."""


def render_plan(plan: "Plan", output_format: str) -> str:
    """A plan as text, Markdown or HTML, or as a `bisector.plan/1` document."""
    if output_format == "json":
        return json.dumps(_document(plan), indent=2, ensure_ascii=False)
    if output_format == "text":
        return _text(plan)
    from bisector.cli.output import drawn
    from pins.report.blocks import Code, Document
    from pins.report.tones import Tone

    return drawn(Document("What would be done", Tone.PLAIN, (Code(_text(plan)),), ()), output_format)


def _text(plan: "Plan") -> str:
    lines = []
    for axis in plan.axes:
        steps = count(axis.steps, "step")
        ends = f"{short_text(axis.good)} (good) to {short_text(axis.bad)} (bad)"
        lines.append(f"{axis.pin} ({axis.kind.value}): {ends}, {steps}")
        lines += _values(axis)
    lines.append(f"Chain: {count(plan.chain.steps + 1, 'candidate')}, good end and bad end included.")
    if len(plan.axes) > 1:
        lines.append(f"Order: {_order(plan)}.")
    lines.append(
        f"Builds: about {plan.expected_builds:.0f}, at most {plan.most_builds}, where the script is deterministic and"
        " every candidate builds" + (", the swap test apart." if len(plan.axes) > 1 else ".")
    )
    if plan.durations is not None and plan.expected_seconds is not None:
        lines.append(
            f"Time: about {duration(plan.expected_seconds)}, at {duration(plan.durations.build)} a build and"
            f" {duration(plan.durations.run)} a run, as in {count(plan.durations.runs, 'earlier run')}."
        )
    lines += [f"Forced together: {step}" for step in plan.forced()]
    lines += [f"Note: {note}." for note in plan.notes]
    if plan.infeasible:
        lines.append("Never built:")
        lines += [f"    {candidate}: {reason}" for candidate, reason in plan.infeasible]
    return "\n".join(lines)


def _order(plan: "Plan") -> str:
    """What moves one after the other along the chain, with how many steps each time."""
    moved = [
        " with ".join(move.pin for move in plan.chain.moves(upper)) for upper in range(1, plan.chain.steps + 1)
    ]  # fmt: skip
    runs = [(pins, len(list(steps))) for pins, steps in groupby(moved)]
    return _listed([f"{pins} ({count(number, 'step')})" for pins, number in runs], ", then ")


def _values(axis: "Axis") -> list[str]:
    """The values of an axis: on one line, or with the subjects of their commits."""
    if axis.kind is not PinKind.TEXT or not any(value.subject for value in axis.values):
        return [f"    {_listed([short_text(value.text) for value in axis.values])}"]
    lines = [
        f"    {short_text(value.text)}  {f'{value.date:%Y-%m-%d}' if value.date else ''}  {value.subject}"
        for value in axis.values
    ]
    half = SHOWN // 2
    if len(lines) > SHOWN:
        lines[half:-half] = [f"    ... {len(lines) - SHOWN} more ..."]
    return lines


def _document(plan: "Plan") -> dict[str, object]:
    return {
        **opening(SCHEMA, "bisector"),
        "axes": [
            {
                "pin": axis.pin,
                "kind": axis.kind.value,
                "good": axis.good,
                "bad": axis.bad,
                "length": len(axis.values),
                "values": [value.text for value in axis.values],
                "subjects": {value.text: value.subject for value in axis.values if value.subject},
            }
            for axis in plan.axes
        ],
        "chain": [dict(candidate) for candidate in plan.chain.candidates],
        "chain_length": plan.chain.steps + 1,
        "infeasible": [{"candidate": dict(candidate), "reason": reason} for candidate, reason in plan.infeasible],
        "most_builds": plan.most_builds,
        "expected_builds": plan.expected_builds,
        "expected_seconds": plan.expected_seconds,
        "forced_together": [
            {
                "moves": [{"pin": move.pin, "old": move.old, "new": move.new} for move in step.moves],
                "passed_by": [{"pin": pin, "value": value} for pin, value in step.passed_by],
                "reason": step.reason,
            }
            for step in plan.forced()
        ],
        "notes": list(plan.notes),
    }


def _listed(values: list[str], between: str = " ") -> str:
    if len(values) <= SHOWN:
        return between.join(values)
    half = SHOWN // 2
    return between.join([*values[:half], f"... {len(values) - SHOWN} more ...", *values[-half:]])
