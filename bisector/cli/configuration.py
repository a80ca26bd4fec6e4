"""Options from a file: `bisect.toml`, or the table `[tool.bisector]` of a `pyproject.toml`.

A key is an option's name without its dashes. Where an option can be repeated, the value is a list, or a table for those
that go by name (`pin`, `fix`, `smoke-env`, `build-arg`). What the command line gives replaces what the file gives.
"""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from bisector.cli.arguments import parse_path
from bisector.cli.options import BY_NAME, PATHS, RunOptions, key_of, kind_of
from pins.choices import did_you_mean
from pins.errors import UsageError

FILE = "bisect.toml"
PROJECT_FILE = "pyproject.toml"


def find_configuration(directory: Path) -> Path | None:
    """The file that holds options for runs started in `directory`, or None: `bisect.toml` before `pyproject.toml`."""
    own = directory / FILE
    if own.is_file():
        return own
    project = directory / PROJECT_FILE
    if (
        project.is_file()
        and b"tool.bisector" in project.read_bytes()
        and "bisector" in _tools(_parse(project), project)
    ):
        return project
    return None


def read_configuration(path: Path) -> RunOptions:
    """The options in a file, with its relative paths made absolute.

    Raises:
        UsageError: the file cannot be read, is not TOML, or holds a key or a value that no option has.
    """
    table = _parse(path)
    if path.name == PROJECT_FILE:
        tools = _tools(table, path)
        if "bisector" not in tools:
            raise UsageError(f"{path} has no table [tool.bisector]; write one, or name a file that holds options")
        own = tools["bisector"]
        if not isinstance(own, dict):
            raise UsageError(f"{path}: tool.bisector is not a table; write [tool.bisector] above its options")
        table = own
    elif isinstance(tool := table.get("tool"), dict) and "bisector" in tool:
        raise UsageError(
            f"{path}: the prefix tool.bisector belongs in a {PROJECT_FILE}; options stand here without it: [pin] in"
            " place of [tool.bisector.pin], and nothing in place of [tool.bisector]"
        )
    names = {key_of(each.name): each.name for each in fields(RunOptions)}
    directory = path.resolve().parent
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in names:
            raise UsageError(f"{path}: there is no option {key!r}{_nearest(key, list(names))}")
        values[names[key]] = _value(path, key, names[key], value, directory)
    return replace(RunOptions(), **values)


def combined(typed: RunOptions, configured: RunOptions) -> RunOptions:
    """The options of both; what was typed wins as a whole, option by option."""
    given = {each.name: getattr(typed, each.name) for each in fields(RunOptions) if getattr(typed, each.name)}
    return replace(configured, **given)


def _meant_otherwise(path: Path) -> str:
    """What a word that is no configuration was likely meant to be."""
    if ".." in path.name and "=" in path.name:
        return f"; a pin is named with --pin {path}"
    if path.suffix in {".py", ".sh"}:
        return f"; a smoke script is named with --smoke {path}"
    if path.name.lower().startswith("dockerfile") or path.suffix.lower() == ".dockerfile":
        return f"; a Dockerfile is named with --dockerfile {path}"
    return "" if path.exists() else did_you_mean(path.name, [each.name for each in path.parent.glob("*.toml")])


def _parse(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise UsageError(f"the configuration {path} does not exist{_meant_otherwise(path)}") from error
    except OSError as error:
        raise UsageError(f"the configuration {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the configuration {path} is not UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the configuration {path} is not TOML: {error}{_meant_otherwise(path)}") from error


def _tools(table: Mapping[str, object], path: Path) -> Mapping[str, object]:
    tools = table.get("tool", {})
    if not isinstance(tools, dict):
        raise UsageError(f"{path}: tool is not a table")
    return tools


def _nearest(key: str, known: list[str]) -> str:
    wanted = key.replace("_", "-").lstrip("-")
    if wanted in known:
        return f"; it is written {wanted!r}"
    near = difflib.get_close_matches(wanted, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(sorted(known))}"


def _value(path: Path, key: str, name: str, value: object, directory: Path) -> object:
    match kind_of(name):
        case "flag":
            if not isinstance(value, bool):
                raise _mistyped(path, key, value, f"true or false, for example {key} = true")
            return value
        case "text":
            text = _text(value)
            if text is None:
                raise _mistyped(path, key, value, f'a string, for example {key} = "..."')
            return str(parse_path(text, directory)) if _is_path(name, text) else text
    if isinstance(value, dict) and name in BY_NAME:
        for each, chosen in value.items():
            if _text(chosen) is None:
                example = '"1.26.4..2.2.0"' if name == "pin" else '"..."'
                raise _mistyped(path, f"{key}.{each}", chosen, f"a string, for example {each} = {example}")
        value = [f"{each}={_text(chosen)}" for each, chosen in value.items()]
    elif isinstance(value, str):
        value = [value]
    texts = [_text(each) for each in value] if isinstance(value, list) else [None]
    if any(each is None for each in texts):
        raise _mistyped(path, key, value, f'a list of strings, for example {key} = ["..."]')
    found = [each for each in texts if each is not None]
    if name == "repo":
        return tuple(_repository_from(each, directory) for each in found)
    if name == "mount":
        return tuple(_mount_from(each, directory) for each in found)
    return tuple(str(parse_path(each, directory)) if name in PATHS else each for each in found)


def _text(value: object) -> str | None:
    """A string, or a number as it would be typed; a bare TOML date is one too."""
    if isinstance(value, bool | list | dict):
        return None
    return value if isinstance(value, str) else str(value)


def _is_path(name: str, text: str) -> bool:
    return name in PATHS or (name == "python" and "/" in text)


def _repository_from(text: str, directory: Path) -> str:
    """`NAME=PATH_OR_URL` with a path that starts at the file's directory made absolute."""
    name, separator, place = text.partition("=")
    path = parse_path(place.partition("#")[0], directory)
    is_path = separator and place and "://" not in place and path.exists()
    return f"{name}={parse_path(place, directory)}" if is_path else text


def _mount_from(text: str, directory: Path) -> str:
    source, separator, rest = text.partition(":")
    return f"{parse_path(source, directory)}{separator}{rest}" if source else text


def _mistyped(path: Path, key: str, value: object, expected: str) -> UsageError:
    return UsageError(f"{path}: {key} = {value!r} is not of its kind; expected {expected}")
