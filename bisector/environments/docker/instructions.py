"""Where the instructions of a Dockerfile begin and end, and which ARGs it declares.

Just enough of BuildKit's grammar to find an ARG and to put a line after a FROM: directives, continuations with comments
and blank lines inside them, heredocs. What does not parse is left for BuildKit to report.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*$")
_HEREDOC = re.compile(r"\d*<<(-?)([^<]+)$")
_WORD = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|["'\\])+""")
_QUOTED = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-+?])([^}]*))?\})")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        keyword: in upper case, `RUN`.
        text: what follows the keyword, continuation lines joined, heredoc bodies left out.
        line: number of its first line, from 1.
        last_line: number of its last line, heredoc bodies included.
        stage: index of the stage that it stands in, -1 before the first FROM; a FROM opens its own.
    """

    keyword: str
    text: str
    line: int
    last_line: int
    stage: int


@dataclass(frozen=True)
class Dockerfile:
    """A Dockerfile as read.

    Attributes:
        text: as it stands in the file.
        directives: of its head, by lower-case name: `syntax`, `escape`.
        instructions: in file order.
    """

    text: str
    directives: Mapping[str, str]
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class Argument:
    """One declaration of an ARG; `default` is None where the declaration gives none."""

    name: str
    default: str | None
    line: int
    stage: int


def read_dockerfile(text: str) -> Dockerfile:
    """Split a Dockerfile into its instructions."""
    lines = text.removeprefix("\ufeff").splitlines()
    directives = _read_directives(lines)
    escape = "`" if directives.get("escape") == "`" else "\\"
    return Dockerfile(text, directives, tuple(_read_instructions(lines, escape)))


def _read_directives(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        if number == 0 and line.startswith("#!"):
            continue
        match = _DIRECTIVE.match(line)
        if not match:
            break
        found.setdefault(match[1].lower(), match[2])
    return found


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _read_instructions(lines: list[str], escape: str) -> Iterator[Instruction]:
    continued = re.compile(rf"{re.escape(escape)}[ \t]*$")
    stage = -1
    at = 0
    while at < len(lines):
        if not lines[at].strip() or _is_comment(lines[at]):
            at += 1
            continue
        first = last = at
        joined = ""
        while at < len(lines):
            line = lines[at]
            at += 1
            if at - 1 > first and (not line.strip() or _is_comment(line)):
                continue
            last = at - 1
            if not continued.search(line):
                joined += line
                break
            joined += continued.sub("", line)
        keyword, _, rest = joined.strip().partition(" ")
        if "\t" in keyword:
            keyword, _, rest = joined.strip().partition("\t")
        keyword = keyword.upper()
        if keyword in {"RUN", "COPY", "ADD"}:
            for name, strip_tabs in _heredocs(rest):
                while at < len(lines):
                    body = lines[at].lstrip("\t") if strip_tabs else lines[at]
                    last = at
                    at += 1
                    if body == name:
                        break
        if keyword == "FROM":
            stage += 1
        yield Instruction(keyword, rest.strip(), first + 1, last + 1, stage)


def _heredocs(text: str) -> Iterator[tuple[str, bool]]:
    for word in _WORD.findall(text):
        match = _HEREDOC.match(word)
        if match:
            yield unquoted(match[2]), bool(match[1])


def has_heredoc(instruction: Instruction) -> bool:
    """Whether lines of a heredoc belong to an instruction."""
    return instruction.keyword in {"RUN", "COPY", "ADD"} and any(True for _ in _heredocs(instruction.text))


def words(text: str) -> list[str]:
    """The blank-separated words of an instruction, quotes left on."""
    return _WORD.findall(text)


def unquoted(word: str) -> str:
    """A word without its quotes and backslashes."""
    return _QUOTED.sub(lambda match: next((part for part in match.groups() if part is not None), ""), word)


def arguments(dockerfile: Dockerfile) -> tuple[Argument, ...]:
    """Every ARG declaration, in file order. Every word of an ARG line declares one, also after a `#`."""
    found = []
    for instruction in dockerfile.instructions:
        if instruction.keyword == "ARG":
            for word in words(instruction.text):
                name, equals, value = word.partition("=")
                if IDENTIFIER.fullmatch(name):
                    default = unquoted(value) if equals else None
                    found.append(Argument(name, default, instruction.line, instruction.stage))
    return tuple(found)


def stage_names(dockerfile: Dockerfile) -> tuple[str, ...]:
    """What the stages are called, in file order; one without a name goes by its number."""
    names = []
    for instruction in dockerfile.instructions:
        if instruction.keyword == "FROM":
            match = re.search(r"\s+as\s+(\S+)$", instruction.text, re.IGNORECASE)
            names.append(match[1] if match else str(instruction.stage))
    return tuple(names)


def expanded(text: str, values: Mapping[str, str]) -> str | None:
    """Text with its variables replaced, or None where one has no known value or uses a form not known here."""
    unknown = False

    def replace(match: re.Match[str]) -> str:
        nonlocal unknown
        value = values.get(match[1] or match[2])
        if match[3] and value is None and match[3] in {"-", ":-"} and "$" not in match[4]:
            return match[4]
        if value is None or match[3] not in {None, "-", ":-"}:
            unknown = True
            return ""
        return match[4] if match[3] == ":-" and not value else value

    result = _VARIABLE.sub(replace, text)
    return None if unknown or "$" in result else result


def base_images(dockerfile: Dockerfile, values: Mapping[str, str]) -> tuple[str, ...]:
    """The images that its stages start from, as far as they can be told; earlier stages and `scratch` left out.

    Args:
        dockerfile: the file.
        values: build arguments; they precede the defaults of the ARGs before the first FROM.
    """
    known: dict[str, str] = {}
    for argument in arguments(dockerfile):
        if argument.stage == -1:
            default = None if argument.default is None else expanded(argument.default, known)
            value = values.get(argument.name, default)
            if value is not None:
                known[argument.name] = value
    stages: set[str] = {"scratch"}
    images: dict[str, None] = {}
    for instruction in dockerfile.instructions:
        if instruction.keyword == "FROM":
            parts = [unquoted(word) for word in words(instruction.text) if not word.startswith("--")]
            image = expanded(parts[0], known) if parts else None
            if image and image.lower() not in stages:
                images[image] = None
            if len(parts) == 3 and parts[1].lower() == "as":
                stages.add(parts[2].lower())
    return tuple(images)
