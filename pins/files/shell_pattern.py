"""Patterns of the shell, as `case`, ``[[``, and ``${X%...}`` have them."""

import re


def shell_pattern(pattern: str) -> str:
    """A shell pattern (``*``, ``?``, ``[...]``, backslash) as a regular expression."""
    result: list[str] = []
    index = 0
    while index < len(pattern):
        character = pattern[index]
        index += 1
        if character == "*":
            result.append(".*")
        elif character == "?":
            result.append(".")
        elif character == "\\" and index < len(pattern):
            result.append(re.escape(pattern[index]))
            index += 1
        elif character == "[" and (close := pattern.find("]", index + 1)) > 0:
            inside = pattern[index:close].replace("\\", "\\\\").replace("[", "\\[")
            result.append("[" + ("^" + inside[1:] if inside.startswith("!") else inside) + "]")
            index = close + 1
        else:
            result.append(re.escape(character))
    return "".join(result)
