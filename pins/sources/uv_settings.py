"""What uv's environment and configuration files say about package indexes."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pins.errors import UsageError
from pins.sources.index_location import IndexLocation, read_location
from pins.sources.index_settings import (
    IndexSettings,
    IndexStrategy,
    is_true,
    system_configuration_directories,
    user_configuration_directory,
)


def read_uv_settings(environment: Mapping[str, str], directory: Path) -> IndexSettings:
    """What uv would use when called with this environment in this directory.

    Raises:
        UsageError: a configuration file or a location in it cannot be read.
    """
    files = tuple(_configuration_files(environment, directory))
    default = _default_from_environment(environment, directory)
    indexes = list(_indexes_from_environment(environment, directory))
    flat = [
        read_location(part, directory=directory, origin="UV_FIND_LINKS", flat=True)
        for part in environment.get("UV_FIND_LINKS", "").split(",")
        if part.strip()
    ]
    for file, table in files:
        for location, is_default in _indexes_of(file, table):
            if location.flat:
                flat.append(location)
            elif not is_default:
                indexes.append(location)
            elif default is None:
                default = location
    indexes = [_with_named_credentials(location, environment) for location in indexes]
    flat = [_with_named_credentials(location, environment) for location in flat]
    return IndexSettings(
        default=_with_named_credentials(default, environment) if default else None,
        indexes=tuple(_without_repeats(indexes)),
        flat=tuple(_without_repeats(flat)),
        no_index=is_true(environment.get("UV_NO_INDEX", "")) or _first(files, "no-index") is True,
        strategy=_strategy(environment.get("UV_INDEX_STRATEGY", "") or str(_first(files, "index-strategy") or "")),
        keyring_provider=environment.get("UV_KEYRING_PROVIDER", "") or str(_first(files, "keyring-provider") or ""),
        insecure_hosts=(*_insecure_hosts(environment), *_strings(_first(files, "allow-insecure-host"))),
    )


def _configuration_files(
    environment: Mapping[str, str], directory: Path
) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Uv's tables, most important first, with the file that each was read from."""
    named = environment.get("UV_CONFIG_FILE", "")
    if named:
        yield directory / named, _uv_toml(directory / named)
        return
    if is_true(environment.get("UV_NO_CONFIG", "")):
        return
    for ancestor in (directory, *directory.parents):
        if (ancestor / "uv.toml").is_file():
            yield ancestor / "uv.toml", _uv_toml(ancestor / "uv.toml")
            break
        table = _pyproject_table(ancestor / "pyproject.toml")
        if table is not None:
            yield ancestor / "pyproject.toml", table
            break
    user = user_configuration_directory(environment) / "uv" / "uv.toml"
    if user.is_file():
        yield user, _uv_toml(user)
    system = [place / "uv" / "uv.toml" for place in system_configuration_directories(environment)]
    for file in (*system, Path("/etc/uv/uv.toml")):
        if file.is_file():
            yield file, _uv_toml(file)
            break


def _uv_toml(file: Path) -> Mapping[str, object]:
    try:
        return _with_pip_table(_table(file))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read uv's configuration {file}: {error}") from error


def _pyproject_table(file: Path) -> Mapping[str, object] | None:
    """The table [tool.uv], None without one; like uv, a file that cannot be parsed counts as one without."""
    try:
        text = file.read_bytes()
        if b"uv" not in text and b"\\u" not in text:  # most name it not, nor by an escape
            return None
        table = _table(file).get("tool", {}).get("uv")
    except (OSError, ValueError, AttributeError):
        return None
    return _with_pip_table(table) if isinstance(table, dict) else None


def _table(file: Path) -> dict[str, Any]:
    import tomllib  # most have no such file

    return tomllib.loads(file.read_text(encoding="utf-8"))


def _with_pip_table(table: Mapping[str, object]) -> Mapping[str, object]:
    """The table with what its `pip` table says instead, which holds for `uv pip`."""
    special = table.get("pip")
    return {**table, **special} if isinstance(special, dict) else table


def _default_from_environment(environment: Mapping[str, str], directory: Path) -> IndexLocation | None:
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if environment.get(variable):
            return read_location(environment[variable], directory=directory, origin=variable)
    return None


def _indexes_from_environment(environment: Mapping[str, str], directory: Path) -> Iterator[IndexLocation]:
    for variable in ("UV_INDEX", "UV_EXTRA_INDEX_URL"):
        for part in environment.get(variable, "").split():
            yield read_location(part, directory=directory, origin=variable)


def _indexes_of(file: Path, table: Mapping[str, object]) -> Iterator[tuple[IndexLocation, bool]]:
    """Every location that one table names, and whether it is the default index."""
    directory = file.parent
    entries = table.get("index")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("url"), str):
            raise UsageError(f"{file}: an [[index]] has no url")
        if entry.get("explicit") is True:  # only for what is pinned to it by tool.uv.sources
            continue
        flat = entry.get("format") == "flat"
        location = read_location(entry["url"], directory=directory, origin=f"[[index]] in {file}", flat=flat)
        name = entry.get("name")
        if isinstance(name, str):
            location = IndexLocation(location.url, flat, name, location.username, location.password)
        yield location, entry.get("default") is True
    if isinstance(table.get("index-url"), str):
        yield read_location(str(table["index-url"]), directory=directory, origin=f"index-url in {file}"), True
    for text in _strings(table.get("extra-index-url")):
        yield read_location(text, directory=directory, origin=f"extra-index-url in {file}"), False
    for text in _strings(table.get("find-links")):
        yield read_location(text, directory=directory, origin=f"find-links in {file}", flat=True), False


def _with_named_credentials(location: IndexLocation, environment: Mapping[str, str]) -> IndexLocation:
    if not location.name:
        return location
    variable = "UV_INDEX_" + re.sub(r"[^A-Za-z0-9]", "_", location.name).upper()
    username = environment.get(f"{variable}_USERNAME", location.username)
    password = environment.get(f"{variable}_PASSWORD", location.password)
    return location.with_credentials(username, password)


def _without_repeats(locations: list[IndexLocation]) -> Iterator[IndexLocation]:
    seen: set[str] = set()
    for location in locations:
        if location.url not in seen:
            seen.add(location.url)
            yield location


def _strategy(text: str) -> IndexStrategy | None:
    try:
        return IndexStrategy(text) if text else None
    except ValueError as error:
        known = ", ".join(IndexStrategy)
        raise UsageError(f"uv's index strategy {text!r} is not known: use one of {known}") from error


def _insecure_hosts(environment: Mapping[str, str]) -> tuple[str, ...]:
    return (
        tuple(re.split(r"[\s,]+", environment.get("UV_INSECURE_HOST", "").strip()))
        if (environment.get("UV_INSECURE_HOST", "").strip())
        else ()
    )


def _first(files: tuple[tuple[Path, Mapping[str, object]], ...], key: str) -> object:
    return next((table[key] for _, table in files if key in table), None)


def _strings(value: object) -> tuple[str, ...]:
    return tuple(part for part in value if isinstance(part, str)) if isinstance(value, list) else ()
