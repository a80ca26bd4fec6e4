"""Requirements of a `pyproject.toml`: dependencies, extras, groups, what the build needs, and uv's sources."""

import tomllib

from pins.files.file_pins import file_pins, line_counter, simple_pin
from pins.files.mention import Mention
from pins.files.requirement import read_requirement
from pins.files.requirement_mentions import mentions_of
from pins.files.toml_strings import TomlString, toml_strings
from pins.files.values import Fragment
from pins.model import FileProblem, Form, Pin, PinKind, PinSet

_LISTS = (
    ("project", "dependencies"),
    ("build-system", "requires"),
    ("tool", "uv", "constraint-dependencies"),
    ("tool", "uv", "override-dependencies"),
    ("tool", "uv", "build-constraint-dependencies"),
    ("tool", "uv", "dev-dependencies"),
)
_GROUPS = (("project", "optional-dependencies"), ("dependency-groups",))


def read_pyproject(data: bytes, file: str = "pyproject.toml") -> PinSet:
    """Read a `pyproject.toml`; never raises for what stands in it."""
    try:
        tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return PinSet(file, (), problems=(toml_problem(file, error),))
    count = line_counter(data)
    mentions: list[Mention] = []
    sources: list[Pin] = []
    problems: list[FileProblem] = []
    addresses: dict[str, str] = {}
    strings = list(toml_strings(data))
    for string in strings:
        if string.path[:3] == ("tool", "uv", "sources") and string.path[-1] == "git":
            addresses[str(string.path[3])] = string.text
    for string in strings:
        table = _table(string)
        if table:
            _requirement(string, table, count(string.start), file, mentions, problems)
        elif string.path[:3] == ("tool", "uv", "sources") and string.path[-1] in {"rev", "tag", "branch"}:
            name = str(string.path[3])
            sources.append(
                simple_pin(
                    name,
                    PinKind.GIT,
                    string.text,
                    file,
                    count(string.start),
                    (string.start, string.end),
                    string.quoting,
                    said=f"tool.uv.sources.{name}.{string.path[-1]}",
                    comment=string.comment,
                    repo=addresses.get(name, ""),
                )
            )
    pins = sorted([*file_pins(mentions, {file: data}), *sources], key=lambda pin: pin.line)
    return PinSet(file, tuple(pins), problems=tuple(problems))


def _table(string: TomlString) -> str:
    """The list of requirements that a string is in, such as "dependency-groups.dev"; "" for any other string."""
    path = string.path
    if not path or not isinstance(path[-1], int):
        return ""
    owner = path[:-1]
    if owner in _LISTS or any(owner[:-1] == group for group in _GROUPS):
        return ".".join(str(key) for key in owner)
    return ""


def _requirement(
    string: TomlString, table: str, line: int, file: str, mentions: list[Mention], problems: list[FileProblem]
) -> None:
    span = len(string.text.encode()) == string.end - string.start
    fragment = Fragment(string.text, string.start, string.end, string.quoting) if span else Fragment(string.text)
    requirement = read_requirement((fragment,))
    if requirement is None:
        problems.append(FileProblem(file, line, f"not understood as a requirement: {string.text[:80]}", fatal=False))
        return

    def blank(kind: PinKind, name: str) -> Mention:
        return Mention(kind, name, (), Form.VALUE, "", "", line, string.start, table, file=file, comment=string.comment)

    mentions.extend(mentions_of(requirement, blank))


def toml_problem(file: str, error: Exception) -> FileProblem:
    """What a TOML parser's error says, with its line."""
    line = getattr(error, "lineno", 0)
    if not line:
        import re

        match = re.search(r"line (\d+)", str(error))
        line = int(match[1]) if match else 1
    return FileProblem(file, line, f"not valid TOML: {error}")
