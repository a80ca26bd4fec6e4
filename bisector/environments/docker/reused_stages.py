"""Stages that are taken as built once in place of being built for each candidate (`--reuse-stage`).

A pin in an early stage makes everything after it be built anew, hours of it where a framework is compiled. Such a stage
is taken as the bad end has it, or as an image that the user names: in the copy that is built its FROM names that image,
and its other instructions are gone. What is found so is approximate, since a candidate's own stage might have come out
otherwise; the culprit and its predecessor are built in full before they are named.

Where the very stage that is built is taken so, packages that move in it are put over the finished image: an overlay.
"""

import shlex
from collections.abc import Mapping, Sequence

from packaging.version import InvalidVersion, Version

from bisector.environments.docker.instructions import read_dockerfile, stage_names
from bisector.file_axes.slots import OPEN


def with_reused_stages(text: bytes, images: Mapping[str, str]) -> bytes:
    """The text of a Dockerfile with stages in place of which images are taken; as many lines as before.

    ARGs of such a stage stay, for stages that descend from it. Stages that the text does not have are passed over.

    Args:
        text: of the file.
        images: by stage, in lower case.
    """
    dockerfile = read_dockerfile(text.decode("utf-8", "surrogateescape"))
    names = [name.lower() for name in stage_names(dockerfile)]
    lines = dockerfile.text.splitlines(keepends=True)
    for instruction in dockerfile.instructions:
        if instruction.stage < 0 or names[instruction.stage] not in images:
            continue
        image = images[names[instruction.stage]]
        span = range(instruction.line - 1, instruction.last_line)
        newline = "\r\n" if lines[span[0]].endswith("\r\n") else "\n"
        if instruction.keyword == "ARG":
            continue
        for number in span:
            lines[number] = newline
        if instruction.keyword == "FROM":
            name = names[instruction.stage]
            called = "" if name.isdigit() else f" AS {name}"  # one without a name goes by its number
            lines[span[0]] = f"FROM {image}{called}{newline}"
    return "".join(lines).encode("utf-8", "surrogateescape")


def all_stages(text: bytes) -> list[str]:
    """The stages of a file, in lower case; one without a name goes by its number."""
    return [name.lower() for name in stage_names(read_dockerfile(text.decode("utf-8", "surrogateescape")))]


def stages_among(text: bytes, stages: Sequence[str]) -> list[str]:
    """Those of these stages that a file has, in lower case."""
    names = all_stages(text)
    return [stage.lower() for stage in stages if stage.lower() in names]


def built_stage(text: bytes, target: str) -> str:
    """The stage that a build ends with, in lower case: the target, or the last one."""
    names = stage_names(read_dockerfile(text.decode("utf-8", "surrogateescape")))
    return (target or (names[-1] if names else "")).lower()


def with_overlay(text: bytes, stage: str, packages: Mapping[str, str]) -> bytes:
    """The text of a Dockerfile with packages installed over a stage of it.

    Args:
        text: of the file, in which an image is taken for the stage.
        stage: in lower case.
        packages: by name, what is asked for: a version, a bound, or `OPEN` for none.
    """
    if not packages:
        return text
    dockerfile = read_dockerfile(text.decode("utf-8", "surrogateescape"))
    names = [name.lower() for name in stage_names(dockerfile)]
    start = next(
        instruction.last_line
        for instruction in dockerfile.instructions
        if instruction.keyword == "FROM" and names[instruction.stage] == stage
    )
    asked = [shlex.quote(_requirement(name, value)) for name, value in packages.items()]
    lines = dockerfile.text.splitlines(keepends=True)
    lines[start - 1] = lines[start - 1].rstrip("\r\n") + "\n"
    lines.insert(start, f"RUN python3 -m pip install {' '.join(asked)}\n")
    return "".join(lines).encode("utf-8", "surrogateescape")


def _requirement(name: str, value: str) -> str:
    if value == OPEN:
        return name
    try:
        Version(value)
    except InvalidVersion:
        return name + value  # a bound
    return f"{name}=={value}"
