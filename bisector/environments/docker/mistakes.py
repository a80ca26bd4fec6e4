"""What is wrong with a Dockerfile, its context or the options whatever the candidate, as a failed build says it."""

import re
from collections.abc import Callable, Collection

from bisector.environments.docker.build import split_output
from bisector.environments.docker.instructions import Dockerfile, has_heredoc
from bisector.model import Ended

_PARSE = re.compile(r"dockerfile parse error(?: on)?(?: line (\d+))?: (.*)$", re.IGNORECASE | re.MULTILINE)
_BLANK_BASE = re.compile(r"base name \(.*?\) should not be blank")
_MISSING = re.compile(
    r"(?:failed to compute cache key|failed to calculate checksum)"
    r"(?:.*?\"(?P<path>/[^\"]*)\":? not found"
    r"|.*?: failed to walk \S*buildkit-mount\d+(?P<walked>/.*?): .*no such file)",
    re.IGNORECASE,
)
"""Said by engines as they are, and by 20.10 where a directory on the way is lacking."""
_STEP_HEAD = re.compile(r"^ ?> \[(?:[^\]]*)\] (\w+) (.*?):?$", re.MULTILINE)
_SECRET = re.compile(r"secret (\S+?):? not found")
_NO_AGENT = re.compile(r"no SSH key \"?(.*?)\"? forwarded from the client|unset ssh forward key (\S*)")


def mistake(ended: Ended, dockerfile: Dockerfile, original_line: Callable[[int], int], pinned: Collection[str]) -> str:
    """Why no candidate can be built, "" where the failure is this candidate's.

    Args:
        ended: how the builder ended.
        dockerfile: the user's.
        original_line: the line of the user's file for one of the file that was built.
        pinned: the values of the build arguments that pins decide.
    """
    own_words, _ = split_output(ended)
    if found := _PARSE.search(own_words):
        return _no_parse(dockerfile, original_line(int(found[1])) if found[1] else 0, found[2].strip())
    if found := _BLANK_BASE.search(own_words):
        return f"the Dockerfile cannot be built: {found[0]}; give its ARG a default, or a value with --build-arg"
    if found := _SECRET.search(own_words):
        return f"the Dockerfile asks for the secret {found[1]}, which no --secret id={found[1]},src=FILE hands over"
    if found := _NO_AGENT.search(own_words):
        return "the Dockerfile asks for an SSH agent; hand one over with --ssh default"
    found = _MISSING.search(own_words)
    # A source that is named after a version may be there for some of them.
    path = (found["path"] or found["walked"]) if found else ""
    if path and _from_context(own_words) and not any(value and value in path for value in pinned):
        return (
            f"the Dockerfile copies {path.lstrip('/')}, which is not in the build context; add it, look into"
            " .dockerignore, or name another directory with --context"
        )
    return ""


def _no_parse(dockerfile: Dockerfile, line: int, said: str) -> str:
    for instruction in dockerfile.instructions:
        if instruction.line < line <= instruction.last_line and has_heredoc(instruction):
            return (
                f"the Dockerfile does not parse: line {instruction.line} begins a heredoc, which this engine's own"
                " frontend does not know. Put `# syntax=docker/dockerfile:1` as the first line (the engine then"
                " fetches a newer frontend), use an engine of version 23 or newer, or join the commands with `&&`"
            )
    place = f"line {line}: " if line else ""
    hint = "; options of newer frontends need `# syntax=docker/dockerfile:1` as the first line"
    return f"the Dockerfile does not parse: {place}{said}{hint if said.lower().startswith('unknown flag') else ''}"


def _from_context(own_words: str) -> bool:
    """Whether the failed step reads nothing but the build context."""
    found = _STEP_HEAD.search(own_words)
    if not found:
        return False
    if found[1] in {"COPY", "ADD"}:
        return "--from=" not in found[2]
    return found[1] == "RUN" and "--mount" in found[2] and not re.search(r"--mount=\S*\bfrom=", found[2])
