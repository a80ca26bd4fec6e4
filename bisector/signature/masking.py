"""Masks what varies between two runs of one failure: addresses, paths, versions, counts, durations."""

import re

LONGEST = 2000
"""Characters of a message that are looked at."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

_SOURCES = "py|pyx|pyi|so|c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hip|rs|f90|txt|toml|json|cfg|ini|yaml|yml|cmake|in|sh|gz|whl|zip"


def _path(match: re.Match[str]) -> str:
    """A path says where something lies on this machine; the name of a source file says what it is."""
    name = re.split(r"[/\\]", match[0])[-1]
    known = re.fullmatch(rf"(?!tmp|[^.]*\d{{3}})[A-Za-z_][A-Za-z_-]*(?:\.[A-Za-z_-]+)*\.(?:{_SOURCES})", name)
    return f"<path> {name}" if known else "<path>"


# In this order: each works on what the earlier ones left.
_MASKS: tuple[tuple[re.Pattern[str], str], ...] = (
    # What an interpreter guesses that was meant depends on what else is there.
    (re.compile(r"\s*[.:(]?\s*(?:Did|Do) you mean:?\s[^\n]*", re.I), ""),
    (re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"`<>)\]]+", re.I), "<url>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.I), "<address>"),
    (re.compile(r"(\.[A-Za-z]\w{0,4}):\d+(?::\d+)?(?!\w)"), r"\1:<n>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w.])"), "<time>"),
    (re.compile(r"\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?![\w.])"), "<time>"),
    (re.compile(r"\bsha(?:256|1):[0-9a-f]+\b", re.I), "<hash>"),
    (re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b"), "<hash>"),
)
_PATH = re.compile(
    r"(?<![\w<>/\\.~-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][^\s'\"`:,;()\[\]{}<>|=*?/\\]+(?:[/\\][^\s'\"`:,;()\[\]{}<>|=*?/\\]+)*[/\\]?"
    r"|(?<![\w<>/\\.~-])[\w.+-]+(?:/[\w.+-]+)+\.\w{1,5}\b"
)
_NUMBERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?\s?(?:ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?|h|hours?)\b(?!\.)"),
        "<time>",
    ),
    (
        re.compile(r"(?<!\w)v?\d+(?:\.\d+)+(?:[-._]?(?:a|b|rc|alpha|beta|post|dev|git)\.?\d*)*(?:\+[\w.]+)?(?!\w)"),
        "<version>",
    ),
    (re.compile(r"(?<!\w)[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?!\w)", re.I), "<n>"),
    # "cp311", "python3.11" and "so.3": the name stays, its number does not.
    (re.compile(r"\b(cp|cpython-|python|lib\w+\.so\.)\d+(?:\.\d+)*(?!\w)", re.I), r"\1<n>"),
)
_BLANKS = re.compile(r"\s+")


def plain(text: str) -> str:
    """Text without colours, other escape sequences and control characters; lines stay lines."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def _once(text: str) -> str:
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    text = _PATH.sub(_path, text)
    for pattern, replacement in _NUMBERS:
        text = pattern.sub(replacement, text)
    return _BLANKS.sub(" ", text).strip()


def mask(text: str) -> str:
    """The text with all that varies masked, on one line; masking it again changes nothing.

    What is masked to nothing may bring together what was apart, so it is done until nothing changes; each round leaves
    fewer digits, slashes and letters, so that it ends.
    """
    text = plain(text[:LONGEST])
    for _ in range(LONGEST):
        masked = _once(text)
        if masked == text:
            break
        text = masked
    return text
