"""Stages that are taken as built once in place of being built for each candidate (`--reuse-stage`).

A pin in an early stage makes everything after it be built anew, hours of it where a framework is compiled. Such a stage
is taken as the bad end has it, or as an image that the user names: in the copy that is built its FROM names that image,
and its other instructions are gone. What is found so is approximate, since a candidate's own stage might have come out
otherwise; the culprit and its predecessor are built in full before they are named.
"""

from collections.abc import Mapping, Sequence

from bisector.environments.docker.instructions import read_dockerfile, stage_names
from pins.errors import UsageError


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
            lines[span[0]] = f"FROM {image} AS {names[instruction.stage]}{newline}"
    return "".join(lines).encode("utf-8", "surrogateescape")


def check_reused(text: bytes, path: str, stages: Sequence[str], target: str) -> list[str]:
    """The stages of a file that are to be reused, in lower case.

    Raises:
        UsageError: one is the very stage that is built.
    """
    names = [name.lower() for name in stage_names(read_dockerfile(text.decode("utf-8", "surrogateescape")))]
    built = (target or (names[-1] if names else "")).lower()
    found = [stage.lower() for stage in stages if stage.lower() in names]
    if built in found:
        raise UsageError(
            f"--reuse-stage {built}: {path} is built up to that stage, so that nothing would be left to try"
        )
    return found
