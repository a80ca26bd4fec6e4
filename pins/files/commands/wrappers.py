"""Programs that run another program: sudo, env, time, python -m, and their like."""

import re

from pins.files.values import Value, text_of, unknown_of

_PLAIN_WRAPPERS = frozenset(
    [
        "sudo",
        "env",
        "time",
        "nice",
        "exec",
        "command",
        "nohup",
        "retry",
        "retries",
        "xargs",
        "ionice",
        "stdbuf",
        "unbuffer",
        "builtin",
        "then",
        "with_retry",
    ]
)
_WITH_VALUE = {
    "sudo": frozenset({"-u", "-g", "-H"}) - {"-H"},
    "env": frozenset({"-u", "-C"}),
    "nice": frozenset({"-n"}),
    "timeout": frozenset({"-k", "-s"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-a", "-d"}),
}
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z|\$\{?PYTHON")


def unwrap(words: tuple[Value, ...]) -> tuple[Value, ...]:
    """The words of the program that does the work: `sudo -E env X=1 pip install foo` gives `pip install foo`."""
    words = tuple(word for word in words if text_of(word) or unknown_of(word) or any(f.written for f in word))
    for _ in range(6):
        if not words:
            return words
        name = _base(words[0])
        if name in _PLAIN_WRAPPERS or name == "timeout":
            index = 1
            with_value = _WITH_VALUE.get(name, frozenset())
            while index < len(words):
                text = text_of(words[index])
                if text in with_value:
                    index += 2
                elif (
                    text.startswith("-")
                    or (name in {"env", "sudo"} and _ASSIGNMENT.match(text))
                    or (name in {"retry", "retries", "with_retry", "timeout"} and re.fullmatch(r"\d+[smhd]?", text))
                ):
                    index += 1
                else:
                    break
            words = words[index:]
        elif name in {"conda", "mamba", "micromamba", "poetry", "uv"} and len(words) > 1 and text_of(words[1]) == "run":
            words = _after_options(words, 2, frozenset({"-n", "-p", "--name", "--prefix", "--with", "--python"}))
        elif (
            len(words) > 2 and text_of(words[1]) == "-m" and (_PYTHON.match(name) or text_of(words[2]) in {"pip", "uv"})
        ):
            words = words[2:]
        else:
            return words
    return words


def _after_options(words: tuple[Value, ...], index: int, with_value: frozenset[str]) -> tuple[Value, ...]:
    while index < len(words) and text_of(words[index]).startswith("-"):
        index += 2 if text_of(words[index]) in with_value else 1
    return words[index:]


def _base(word: Value) -> str:
    return text_of(word).rsplit("/", 1)[-1]
