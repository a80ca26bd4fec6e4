"""Patterns of the shell, as `case`, ``[[``, and ``${X%...}`` have them."""

import re

_CLASSES = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_CLASS = re.compile(r"\[:([a-z]+):\]")
_NEVER = "(?!)"


def shell_pattern(pattern: str) -> str:
    """A shell pattern (``*``, ``?``, ``[...]``, backslash) as a regular expression, which is always a valid one.

    What stands between two asterisks is found once and for all (an atomic group): where it was found first leaves most
    for what follows. Else a pattern of many asterisks would be tried in all ways in which a text can be cut, for ever.
    """
    parts = [""]
    index = 0
    while index < len(pattern):
        character = pattern[index]
        index += 1
        if character == "*":
            if parts[-1] or len(parts) == 1:
                parts.append("")
        elif character == "?":
            parts[-1] += "."
        elif character == "\\" and index < len(pattern):
            parts[-1] += re.escape(pattern[index])
            index += 1
        elif character == "[" and (found := _bracket(pattern, index)) is not None:
            parts[-1] += found[0]
            index = found[1]
        else:
            parts[-1] += re.escape(character)
    first, *rest = parts
    if not rest:
        return first
    return first + "".join(f"(?>.*?{part})" for part in rest[:-1]) + ".*" + rest[-1]


def _bracket(pattern: str, index: int) -> tuple[str, int] | None:
    """What a bracket expression stands for, and the position behind it; None where it is not closed."""
    negated = pattern[index : index + 1] in {"!", "^"}
    index += negated
    items: list[str] = []
    first = True
    while index < len(pattern):
        character = pattern[index]
        if character == "]" and not first:
            inside = "".join(items)
            if not inside:
                return ("." if negated else _NEVER), index + 1
            return f"[{'^' if negated else ''}{inside}]", index + 1
        first = False
        if named := _CLASS.match(pattern, index):
            items.append(_CLASSES.get(named[1], ""))
            index = named.end()
            continue
        index += character == "\\" and index + 1 < len(pattern)
        low = pattern[index]
        index += 1
        if pattern[index : index + 1] == "-" and pattern[index + 1 : index + 2] not in {"", "]"}:
            high = pattern[index + 1]
            index += 2
            if low <= high:  # else it holds nothing
                items.append(f"{re.escape(low)}-{re.escape(high)}")
        else:
            items.append(re.escape(low))
    return None
