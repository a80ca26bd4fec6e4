"""Arrays of tables in a TOML file, such as `[[hold]]` in `pins.toml`: one put in or replaced, every other byte kept."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from pins.errors import UsageError

_TABLE = re.compile(rb"^[ \t]*\[", re.MULTILINE)


def read_tables(data: bytes, name: str, origin: str) -> list[dict[str, Any]]:
    """The tables of an array, which stands at the top of a `pins.toml` or below `tool.pins`.

    Args:
        data: the file.
        name: of the array.
        origin: where it is, for messages.

    Raises:
        UsageError: it is no TOML, or no such array.
    """
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{origin} is not valid TOML: {error}") from error
    entries = document.get(name, document.get("tool", {}).get("pins", {}).get(name, []))
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{origin}: {name} must be an array of tables, [[{name}]]")
    return entries


def with_table(
    data: bytes, name: str, fields: Mapping[str, str | date | None], same: Callable[[dict[str, Any]], bool]
) -> bytes:
    """The file with one more table: in place of the first that is the same, else at its end.

    Args:
        data: a valid TOML file.
        name: of the array.
        fields: what the table holds, in order; empty ones are left out.
        same: whether a table that is there is to be replaced.
    """
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    block = _written(name, fields).replace(b"\n", newline)
    for start, end in _spans(data, name):
        if same(tomllib.loads(data[start:end].decode("utf-8-sig"))[name][0]):
            tail = data[start:end]
            gap = tail[len(tail.rstrip()) :]
            return data[:start] + block.rstrip() + (gap or newline) + data[end:]
    if data and not data.endswith(b"\n"):
        data += newline
    return data + (newline if data else b"") + block


def _spans(data: bytes, name: str) -> list[tuple[int, int]]:
    """(start, end) of every table of the array, comments behind it left to the next."""
    head = re.compile(rb"^[ \t]*\[\[[ \t]*" + re.escape(name.encode()) + rb"[ \t]*\]\][^\n]*\n?", re.MULTILINE)
    found: list[tuple[int, int]] = []
    for match in head.finditer(data):
        following = _TABLE.search(data, match.end())
        end = following.start() if following else len(data)
        body = data[match.start() : end].split(b"\n")
        while len(body) > 1 and (not body[-1].strip() or body[-1].lstrip().startswith(b"#")):
            end -= len(body.pop()) + 1
        found.append((match.start(), min(end + 1, len(data))))
    return found


def _written(name: str, fields: Mapping[str, str | date | None]) -> bytes:
    lines = [f"[[{name}]]"]
    for key, value in fields.items():
        if value:
            lines.append(f"{key} = {value.isoformat() if isinstance(value, date) else _string(value)}")
    return ("\n".join(lines) + "\n").encode()


def _string(text: str) -> str:
    r"""A TOML basic string: JSON's escapes are TOML's, but for the slash and for surrogates."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
