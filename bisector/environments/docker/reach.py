"""Whether the value of an ARG can reach what is built: a pin that changes nothing is no pin."""

import re
from collections.abc import Iterator

from bisector.environments.docker.instructions import Dockerfile, Instruction, arguments, stage_names, unquoted, words

_FROM_OPTION = re.compile(r"(?:--from=|--mount=\S*?\bfrom=)([^\s,\"']+)")


def built_stages(dockerfile: Dockerfile, target: str) -> frozenset[int] | None:
    """The stages that the target is made from, itself included; None where that cannot be told.

    Args:
        dockerfile: the file.
        target: name or number of the stage to build, "" for the last.
    """
    names = [name.lower() for name in stage_names(dockerfile)]
    last = len(names) - 1
    if target:
        found = _stage(target, names)
        if found is None:
            return None
        last = found
    used: set[int] = set()
    waiting = [last]
    while waiting:
        stage = waiting.pop()
        if stage in used:
            continue
        used.add(stage)
        for instruction in dockerfile.instructions:
            if instruction.stage != stage:
                continue
            if instruction.keyword == "ONBUILD":
                return None
            for source in _sources(instruction):
                if "$" in source:
                    return None
                # A FROM sees the stages above it alone.
                earlier = _stage(source, names[:stage] if instruction.keyword == "FROM" else names)
                if earlier is not None and not (instruction.keyword == "FROM" and source.isdigit()):
                    waiting.append(earlier)
    return frozenset(used)


def _stage(name: str, names: list[str]) -> int | None:
    if name.lower() in names:
        return names.index(name.lower())
    return int(name) if name.isdigit() and int(name) < len(names) else None


def _sources(instruction: Instruction) -> Iterator[str]:
    if instruction.keyword == "FROM":
        yield from [unquoted(word) for word in words(instruction.text) if not word.startswith("--")][:1]
    elif instruction.keyword in {"COPY", "ADD", "RUN"}:
        yield from _FROM_OPTION.findall(instruction.text)


def unreachable(dockerfile: Dockerfile, path: str, target: str, name: str) -> str:
    """Why a value for an ARG changes nothing in what is built; "" where it may."""
    declared = [argument for argument in arguments(dockerfile) if argument.name == name]
    used = built_stages(dockerfile, target)
    if used is None or not declared or any(argument.stage < 0 or argument.stage in used for argument in declared):
        return ""
    names = stage_names(dockerfile)
    elsewhere = ", ".join(dict.fromkeys(names[argument.stage] for argument in declared))
    built = target or f"the last stage, {names[-1]}"
    return (
        f"ARG {name} is declared in {path}:{declared[0].line}, in stage {elsewhere}, which is no part of what is built"
        f" ({built}); choose another stage with --target, or declare it where it is used"
    )


def unused(dockerfile: Dockerfile, name: str) -> bool:
    """Whether nothing in the file names an ARG but its declarations; a program in a RUN may read it all the same."""
    declarations = {
        line
        for instruction in dockerfile.instructions
        if instruction.keyword == "ARG" and len(re.findall(rf"\b{name}\b", instruction.text)) == 1
        if any(word.partition("=")[0] == name for word in words(instruction.text))
        for line in range(instruction.line, instruction.last_line + 1)
    }
    lines = enumerate(dockerfile.text.splitlines(), 1)
    return not any(
        re.search(rf"\b{name}\b", line)
        for number, line in lines
        if number not in declarations and not line.lstrip().startswith("#")
    )
