"""Compiled modules that must agree across stages, and need not."""

import re
from collections.abc import Iterator

from pins.files.dockerfile.stages import Role, Stage
from pins.hazards.model import Finding
from pins.hazards.rules.asked import Asked, asked_in
from pins.hazards.subject import Subject

# Distributions whose version decides whether separately compiled modules understand each other, and why.
SHARED_BY_COMPILED_MODULES = {
    "pybind11": "modules compiled with different internals versions (11 in pybind11 3.0, 12 in 3.1) share no types",
    "torch": "extensions are compiled against one version of libtorch, and load with no other",
    "numpy": "extensions compiled against NumPy 2 or 1 differ in the interface of arrays",
}
_UNBOUNDED_MATTERS = ("pybind11",)
_BUILDS_WHEELS = re.compile(rb"bdist_wheel|\bpip[\d.]*\s+wheel\b|-m\s+build\b|\buv\s+build\b|setup\.py\s+install")


def compiled_skew(subject: Subject) -> Iterator[Finding]:
    """What compiled modules share is left open, or differs, between the stages that build them and what ships."""
    if subject.reading is None:
        return
    stages = subject.reading.stages
    roles = stages.roles()
    shipping = [stage for stage in stages.stages if roles[stage.index] in {Role.TARGET, Role.SHIPS}]
    if not shipping:
        return
    target = shipping[-1]
    builders = [stage for stage in stages.stages if roles[stage.index] is Role.FEEDS and _builds_wheels(subject, stage)]
    if not builders:
        return
    yield from _left_open(subject, target, builders)
    yield from _differing(subject, target, builders)


def _builds_wheels(subject: Subject, stage: Stage) -> bool:
    return any(
        step.stage is stage and step.script is not None and _BUILDS_WHEELS.search(step.script.text)
        for step in subject.steps
    )


def _left_open(subject: Subject, target: Stage, builders: list[Stage]) -> Iterator[Finding]:
    """A distribution that the shipped image has without an upper bound, while other stages compile wheels for it."""
    asked, _ = asked_in(subject, target)
    for name in _UNBOUNDED_MATTERS:
        last = next((entry for entry in reversed(asked) if entry.name == name and entry.runs), None)
        compiling = [b for b in builders if any(entry.name == name for entry in asked_in(subject, b)[0])]
        if last is None or last.capped or not compiling:
            continue
        names = ", ".join(stage.name for stage in compiling[:4]) + (" and others" if len(compiling) > 4 else "")
        yield Finding(
            last.start,
            last.end,
            f"{name} is left open in stage {last.ran.step.stage.name}, which ships, while wheels are built in {names}:"
            f" {SHARED_BY_COMPILED_MODULES[name]}",
            name,
            f"cap {name} below the next release that changes this, and rebuild the wheels when the cap moves",
        )


def _differing(subject: Subject, target: Stage, builders: list[Stage]) -> Iterator[Finding]:
    shipped = _exact(asked_in(subject, target)[0])
    for builder in builders:
        built = _exact(asked_in(subject, builder)[0])
        for name, reason in SHARED_BY_COMPILED_MODULES.items():
            if name not in shipped or name not in built or shipped[name].exact == built[name].exact:
                continue
            there = built[name]
            yield Finding(
                there.start,
                there.end,
                f"stage {builder.name} compiles with {there.text}, but the image ships {shipped[name].text}"
                f" (line {subject.line(shipped[name].start)}): {reason}",
                name,
                "give both stages the same version, through one global ARG",
            )


def _exact(asked: list[Asked]) -> dict[str, Asked]:
    return {entry.name: entry for entry in asked if entry.exact is not None and entry.certain}
