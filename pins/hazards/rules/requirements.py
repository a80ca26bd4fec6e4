"""Single requirements: bounds that do not reach the installer, and what no installer accepts."""

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pins.files.edit import Edit
from pins.files.values import Value, text_of, unknown_of
from pins.hazards.model import Finding
from pins.hazards.rules.asked import span_of
from pins.hazards.subject import Ran, Subject
from pins.model import Quoting

_BOUND = re.compile(rb"[ \t]*(?:>=|<=|>|<)[^\s;&|]*(?:,[ \t]*(?:[<>!~=]=?)[^\s;&|]*)*")
_REDIRECTED = re.compile(r"=|v?\d+(?:\.[\d*]+)*,?\Z")
_LOOKS_BOUND = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?\s*(?:[<>=~!]|\Z)")


def unquoted_specifier(subject: Subject) -> Iterator[Finding]:
    """``pip install foo>=4``: the shell takes the bound for a redirection."""
    for ran, call in subject.pip_calls:
        if call.action not in {"install", "download", "wheel"}:
            continue
        for word in call.requirements:
            found = _lost(subject, ran, word)
            if found is None:
                continue
            start, end = found
            raw = subject.data[start:end]
            lost = raw[len(text_of(word).encode()) :].decode("utf-8", "replace").strip()
            quote = b'"' if b"$" in raw else b"'"
            edits = (Edit(start, end, quote + raw + quote),) if b"'" not in raw and b'"' not in raw else ()
            yield Finding(
                start,
                end,
                f"the shell takes {lost} for a redirection: pip is asked for {text_of(word)} without a bound",
                text_of(word).split("[")[0].lower(),
                f"quote it: {quote.decode()}{raw.decode('utf-8', 'replace')}{quote.decode()}",
                edits,
            )


def _lost(subject: Subject, ran: Ran, word: Value) -> tuple[int, int] | None:
    """The span of a requirement with the bound that the shell takes away."""
    if not word or not word[-1].written or word[-1].quoting is not Quoting.SHELL_BARE or word[-1].variables:
        return None
    start, end = word[0].start, word[-1].end
    redirected = [target for target in (*ran.command.outputs, *ran.command.inputs) if target and target[0].written]
    near = [target for target in redirected if 0 < target[0].start - end <= 3]
    if not near or not any(_REDIRECTED.match(text_of(target)) for target in near):
        return None
    match = _BOUND.match(subject.data, end, ran.command.end)
    if not match or match[0].strip().startswith((b"<<", b">>")):
        return None
    adjacent = not match[0].startswith((b" ", b"\t"))
    if not adjacent and not match[0].lstrip().startswith((b">=", b"<=")):
        return None
    return start, match.end()


def invalid_specifier(subject: Subject) -> Iterator[Finding]:
    """A requirement that no installer accepts, or reads otherwise than it looks."""
    for ran, call in subject.pip_calls:
        for word in call.requirements:
            text = text_of(word).strip()
            if unknown_of(word) or call.action == "uninstall" or not _is_named(text):
                continue
            problem = _problem(text)
            if problem:
                start, end = span_of(word, ran)
                yield Finding(start, end, f"{text} is not a requirement that pip accepts: {problem}", _name(text))
    if subject.kind == "requirements":
        yield from _in_file(subject)


def _in_file(subject: Subject) -> Iterator[Finding]:
    """The same in a requirements file, by line."""
    for number in range(1, len(subject.newlines) + 2):
        start, end = subject.line_span(number)
        text = re.sub(rb"(?:^|\s)#.*", b"", subject.data[start:end]).decode("utf-8", "replace")
        text = re.split(r"\s--\w|\\\s*\Z", text)[0].strip()
        if text.startswith("-") or not _is_named(text):
            continue
        problem = _problem(text)
        if problem:
            yield Finding(start, end, f"{text} is not a requirement that pip accepts: {problem}", _name(text))


def _is_named(text: str) -> bool:
    if re.search(r"[/\\:@]|\.whl|\.tar|\.zip|[{}?]", text.split(";")[0]):
        return False
    return _LOOKS_BOUND.match(text) is not None and re.search(r"[<>=~!]", text) is not None


def _problem(text: str) -> str:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        bare = text.split(";")[0].strip().rstrip(",")
        try:
            Requirement(bare)
        except InvalidRequirement:
            if re.match(r"[\w.\[\],-]+\s*=\s*[^=]", text):
                return "the operator is ==, not ="
            if re.search(r"(?:<|>|~|!)=?\s*[\w.]*\*", text):
                return "only == and != take a version with .*"
            if re.search(r"=[<>]", text):
                return "the operators are <= and >="
            return "its specifier cannot be read"
        return ""
    for specifier in requirement.specifier:
        if specifier.operator in {"===", "=="}:
            continue
        try:
            Version(specifier.version.removesuffix(".*"))
        except InvalidVersion:
            return f"{specifier.version} is not a version"
    return ""


def _name(text: str) -> str:
    match = re.match(r"[A-Za-z0-9][\w.-]*", text)
    return canonicalize_name(match[0]) if match else ""
