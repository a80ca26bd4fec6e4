"""The time up to which a build reads the package index, put into a copy of the Dockerfile.

Two images built hours apart would else resolve differently. uv and pip (26 and newer) read that time from a variable;
an ARG after each FROM makes it visible to every RUN. It thereby becomes part of each RUN's cache key: a run of the
bisector that reads the index as of another time builds its layers anew, candidates of one run share them.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from bisector.environments.docker.instructions import Dockerfile, arguments, read_dockerfile, words

FRESH = "BISECTOR_FRESH"
"""The ARG that makes layers be built anew."""
VARIABLES = ("UV_EXCLUDE_NEWER", "PIP_UPLOADED_PRIOR_TO")

_LINE = re.compile(r"((?:parse error )?(?:on )?line |[Dd]ockerfile[^\s:]*:)(\d+)")


def stamped_variables(dockerfile: Dockerfile) -> tuple[str, ...]:
    """The variables to set: those that the file does not itself set."""
    own = {argument.name for argument in arguments(dockerfile)}
    for instruction in dockerfile.instructions:
        if instruction.keyword == "ENV":
            own.update(word.partition("=")[0] for word in words(instruction.text))
    return tuple(name for name in VARIABLES if name not in own)


def stamped(dockerfile: Dockerfile) -> str:
    """The text of the copy: one more line after each FROM, everything else as it was."""
    return _with_arguments(dockerfile, stamped_variables(dockerfile))


def freshened(text: str) -> str:
    """The text of a copy in which an ARG stands after each FROM that nothing reads.

    Its value is part of each RUN's cache key: with another one, all of them run again. `--no-cache` would do that too,
    and some engines take away what cache mounts hold with it, for good.
    """
    return _with_arguments(read_dockerfile(text), (FRESH,))


def _with_arguments(dockerfile: Dockerfile, names: Sequence[str]) -> str:
    if not names:
        return dockerfile.text
    after = {instruction.last_line for instruction in dockerfile.instructions if instruction.keyword == "FROM"}
    lines = dockerfile.text.splitlines(keepends=True)
    written = []
    for number, line in enumerate(lines, 1):
        written.append(line)
        if number in after:
            newline = "\r\n" if line.endswith("\r\n") else "\n"
            if not line.endswith("\n"):
                written.append(newline)
            # One declaration a line: several in one instruction need a frontend newer than some engines have.
            written += [f"ARG {name}{newline}" for name in names]
    return "".join(written)


def stamp_values(dockerfile: Dockerfile, time: datetime) -> dict[str, str]:
    """The build arguments that give the stamped variables their value."""
    text = time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return dict.fromkeys(stamped_variables(dockerfile), text)


def original_line(dockerfile: Dockerfile, number: int) -> int:
    """The line of the user's file that a line of the stamped copy stands for."""
    added = len(stamped_variables(dockerfile))
    for instruction in dockerfile.instructions:
        if instruction.keyword == "FROM" and number > instruction.last_line:
            number = max(instruction.last_line, number - added)
    return number


def with_original_lines(dockerfile: Dockerfile, message: str) -> str:
    """A builder's message about the copy with the line numbers of the user's file."""
    return _LINE.sub(lambda match: f"{match[1]}{original_line(dockerfile, int(match[2]))}", message)
