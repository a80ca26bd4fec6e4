"""Build arguments that other files give a Dockerfile: bake files, workflows, and scripts that call the builder."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pins.files.file_pins import line_counter, simple_pin
from pins.files.naming import dashed, may_pin, stem
from pins.model import FileProblem, Pin, PinKind, PinSet, Quoting


@dataclass(frozen=True, slots=True)
class Given:
    """A build argument's value in another file.

    Attributes:
        name: the ARG.
        value: what it is set to.
        start: offset of the value.
        end: offset behind it.
        quoting: how it is quoted.
        said: where in the file, such as 'target "rocm"'.
        unknown: why the value is not known.
    """

    name: str
    value: str
    start: int
    end: int
    quoting: Quoting
    said: str
    unknown: str = ""


_TOKEN = re.compile(
    rb"(?P<comment>#[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:[^\"\\]|\\.)*\")"
    rb"|(?P<heredoc><<-?(?P<mark>\w+)\n.*?\n[ \t]*(?P=mark)\b)"
    rb"|(?P<word>[A-Za-z_][\w.-]*)|(?P<number>-?\d[\w.]*)|(?P<newline>\n)|(?P<punctuation>[{}\[\]()=:,])|(?P<other>[^\s])",
    re.DOTALL,
)


@dataclass(slots=True)
class _Hcl:
    """Follows blocks of HCL far enough to find variables' defaults and targets' args."""

    data: bytes
    tokens: list[tuple[str, int, int]]
    index: int = 0

    def peek(self) -> tuple[str, int, int]:
        return self.tokens[self.index] if self.index < len(self.tokens) else ("end", len(self.data), len(self.data))

    def text(self) -> bytes:
        _, start, end = self.peek()
        return self.data[start:end]

    def body(self, blocks: tuple[str, ...]) -> Iterator[Given]:
        """The body of a block, up to its closing brace."""
        while (kind := self.peek()[0]) != "end":
            if self.text() == b"}":
                self.index += 1
                return
            if kind not in {"word", "string"}:
                self.index += 1
                continue
            name = _unquoted(self.text())
            self.index += 1
            if self.text() in (b"=", b":"):
                self.index += 1
                yield from self.attribute(name, blocks)
                continue
            labels = [name]
            while self.peek()[0] in {"word", "string"}:
                labels.append(_unquoted(self.text()))
                self.index += 1
            if self.text() == b"{":
                self.index += 1
                yield from self.body((*blocks, " ".join(labels)))

    def attribute(self, name: str, blocks: tuple[str, ...]) -> Iterator[Given]:
        """What follows ``name =``."""
        kind, start, end = self.peek()
        block = blocks[-1] if blocks else ""
        if self.text() == b"{":
            self.index += 1
            yield from self.body((*blocks, name))
            return
        is_argument = block == "args"
        is_default = name == "default" and block.startswith("variable ")
        depth = 0
        first = self.index
        while (now := self.peek()[0]) != "end":
            symbol = self.text()
            if symbol in (b"[", b"(", b"{"):
                depth += 1
            elif symbol in (b"]", b")", b"}"):
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and (now == "newline" or symbol == b","):
                break
            self.index += 1
        if not (is_argument or is_default):
            return
        variable = name if is_argument else block.split(" ", 1)[1]
        said = " ".join(blocks) if is_argument else block
        single = self.index - first == 1 and kind == "string"
        if single and b"${" not in self.data[start:end]:
            yield Given(variable, _unquoted(self.data[start:end]), start + 1, end - 1, Quoting.JSON, said)
        else:
            last = self.tokens[self.index - 1][2] if self.index > first else start
            raw = self.data[start:last].decode("utf-8", "replace")
            if raw not in {"null", "", '""'}:
                yield Given(variable, raw, start, last, Quoting.JSON, said, "an expression that bake evaluates")


def _unquoted(raw: bytes) -> str:
    if not raw.startswith(b'"'):
        return raw.decode("utf-8", "replace")
    try:
        return str(json.loads(raw))
    except ValueError:
        return raw[1:-1].decode("utf-8", "replace")


def _hcl_tokens(data: bytes) -> list[tuple[str, int, int]]:
    return [
        (match.lastgroup if match.lastgroup != "mark" else "heredoc", *match.span())  # type: ignore[misc]
        for match in _TOKEN.finditer(data)
        if match.lastgroup != "comment"
    ]


def bake_hcl(data: bytes) -> list[Given]:
    """Defaults of variables and args of targets in a `docker-bake.hcl`.

    An arg that is a variable, and nothing else, has that variable's default, in the default's place.
    """
    found = list(_Hcl(data, _hcl_tokens(data)).body(()))
    defaults = {given.name: given for given in found if given.said == f"variable {given.name}" and not given.unknown}
    return [_resolved(given, defaults) for given in found]


_REFERENCE = re.compile(r'(?:"\$\{)?([A-Za-z_]\w*)(?:\}")?\Z')


def _resolved(given: Given, defaults: Mapping[str, Given]) -> Given:
    reference = _REFERENCE.match(given.value) if given.unknown else None
    default = defaults.get(reference[1]) if reference else None
    if default is None:
        return given
    return Given(given.name, default.value, default.start, default.end, default.quoting, given.said)


_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def bake_json(data: bytes) -> list[Given]:
    """Defaults of variables and args of targets in a `docker-bake.json`.

    Raises:
        ValueError: the file is not JSON.
    """
    json.loads(data)
    found: list[Given] = []
    stack: list[str] = []
    key = ""
    position = 0
    expecting_value = False
    while position < len(data):
        byte = data[position : position + 1]
        if byte == b'"' and (match := _JSON_STRING.match(data, position)):
            text = str(json.loads(match[0]))
            position = match.end()
            if expecting_value:
                path = [*stack[1:], key]
                if len(path) >= 3 and path[-3] == "variable" and path[-1] == "default":
                    found.append(
                        Given(path[-2], text, match.start() + 1, match.end() - 1, Quoting.JSON, f"variable {path[-2]}")
                    )
                elif len(path) >= 3 and path[-2] == "args":
                    found.append(
                        Given(key, text, match.start() + 1, match.end() - 1, Quoting.JSON, " ".join(path[:-1]))
                    )
                expecting_value = False
            else:
                key = text
            continue
        if byte == b":":
            expecting_value = True
        elif byte in (b"{", b"["):
            stack.append(key)
            expecting_value = byte == b"["
        elif byte in (b"}", b"]") and stack:
            stack.pop()
            expecting_value = False
        elif byte == b",":
            expecting_value = False
        position += 1
    return found


_BLOCK = re.compile(
    rb"^(?P<indent>[ \t]*)(?:- )?build-args:[ \t]*(?P<style>[|>][-+]?)?[ \t]*(?:#[^\n]*)?$", re.MULTILINE
)
_ASSIGNED = re.compile(rb"^[ \t]*(?:-[ \t]+)?[\"']?([A-Za-z_][A-Za-z0-9_]*)=(.*?)[\"']?[ \t]*\r?$")
_OPTION = re.compile(
    rb"--build-arg(?:[ \t]+|=)(?P<quote>[\"']?)(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<inner>\"?)(?P<value>[^\s\"'\\]*)"
)


def workflow_arguments(data: bytes) -> list[Given]:
    """`build-args:` blocks of a workflow, and `--build-arg NAME=VALUE` anywhere."""
    found: list[Given] = []
    for match in _BLOCK.finditer(data):
        indent = len(match["indent"])
        position = match.end() + 1
        while position < len(data):
            newline = data.find(b"\n", position)
            end = len(data) if newline < 0 else newline
            line = data[position:end]
            if line.strip() and len(line) - len(line.lstrip(b" \t")) <= indent:
                break
            if assigned := _ASSIGNED.match(line):
                start = position + assigned.start(2)
                found.append(_given(assigned[1], assigned[2], start, "build-args"))
            position = end + 1
    found.extend(_given(m["name"], m["value"], m.start("value"), "--build-arg") for m in _OPTION.finditer(data))
    return found


def _given(name: bytes, value: bytes, start: int, said: str) -> Given:
    text = value.decode("utf-8", "replace")
    unknown = "an expression that is evaluated where it runs" if "$" in text else ""
    return Given(name.decode(), text, start, start + len(value), Quoting.PLAIN, said, unknown)


def read_build_arguments(data: bytes, file: str) -> PinSet:
    """Read the build arguments of a bake file (by its name) or of any other text file."""
    problems: tuple[FileProblem, ...] = ()
    if file.endswith(".hcl"):
        found = bake_hcl(data)
    elif file.endswith(".json"):
        try:
            found = bake_json(data)
        except ValueError as error:
            found, problems = [], (FileProblem(file, 1, f"not valid JSON: {error}"),)
    else:
        found = workflow_arguments(data)
    count = line_counter(data)
    said = [given for given in found if given.value or given.unknown]
    wanted = [given for given in said if may_pin(given.name, "" if given.unknown else given.value)]
    distinct = {(given.name, given.start): given for given in reversed(wanted)}
    pins = [_pin(given, file, count(given.start)) for given in sorted(distinct.values(), key=lambda g: g.start)]
    return PinSet(file, tuple(pins), problems=problems)


def _pin(given: Given, file: str, line: int) -> Pin:
    span = None if given.unknown else (given.start, given.end)
    return simple_pin(
        stem(given.name) or dashed(given.name),
        PinKind.TEXT,
        given.value,
        file,
        line,
        span,
        given.quoting,
        said=given.said,
        variable=given.name,
        unknown=given.unknown,
    )
