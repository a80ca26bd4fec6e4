"""Lock files, read only: `uv.lock` and `pylock.toml` say what was resolved; the tool that made them changes them."""

import re
import tomllib
from typing import Any

from pins.files.file_pins import simple_pin
from pins.files.pyproject import toml_problem
from pins.model import Pin, PinKind, PinSet

_ENTRY = re.compile(rb"^\[\[packages?\]\]", re.MULTILINE)


def read_lock(data: bytes, file: str) -> PinSet:
    """Read a `uv.lock` or `pylock.toml`; never raises for what stands in it."""
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        return PinSet(file, (), problems=(toml_problem(file, error),))
    entries = document.get("package") or document.get("packages") or []
    lines = [data.count(b"\n", 0, match.start()) + 1 for match in _ENTRY.finditer(data)]
    if len(lines) != len(entries):
        lines = [1] * len(entries)
    pins = [pin for entry, line in zip(entries, lines, strict=True) if (pin := _pin(entry, file, line))]
    return PinSet(file, tuple(pins))


def _pin(entry: dict[str, Any], file: str, line: int) -> Pin | None:
    name = entry.get("name")
    if not isinstance(name, str):
        return None
    vcs = entry.get("vcs")
    if isinstance(vcs, dict) and isinstance(commit := vcs.get("commit-id"), str):
        return simple_pin(name, PinKind.GIT, commit, file, line, None, repo=str(vcs.get("url", "")), said="locked")
    source = entry.get("source")
    if isinstance(source, dict) and isinstance(address := source.get("git"), str):
        url, _, commit = address.partition("#")
        return simple_pin(name, PinKind.GIT, commit, file, line, None, repo=url.split("?")[0], said="locked")
    version = entry.get("version")
    if not isinstance(version, str):
        return None
    return simple_pin(name, PinKind.PACKAGE, version, file, line, None, said="locked")
