"""What pip's environment and configuration files say about package indexes."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pins.errors import UsageError
from pins.sources.index_location import IndexLocation, read_location
from pins.sources.index_settings import (
    IndexSettings,
    home_directory,
    is_true,
    system_configuration_directories,
    user_configuration_directory,
)

_SECTIONS = ("global", "install")  # the later one wins, wherever it stands


def read_pip_settings(environment: Mapping[str, str], directory: Path) -> IndexSettings:
    """What pip would use when called with this environment in this directory.

    Raises:
        UsageError: a configuration file or a location in it cannot be read.
    """
    values = _values(environment, directory)

    def locations(key: str, *, flat: bool = False) -> tuple[IndexLocation, ...]:
        text, origin = values.get(key, ("", ""))
        parts = text.split()
        return tuple(read_location(part, directory=directory, origin=f"{key} in {origin}", flat=flat) for part in parts)

    def value(key: str) -> str:
        return values.get(key, ("", ""))[0]

    index_url, origin = values.get("index-url", ("", ""))
    return IndexSettings(
        default=read_location(index_url, directory=directory, origin=f"index-url in {origin}") if index_url else None,
        indexes=locations("extra-index-url"),
        flat=locations("find-links", flat=True),
        no_index=is_true(value("no-index")),
        keyring_provider=value("keyring-provider"),
        certificates=value("cert"),
        insecure_hosts=tuple(value("trusted-host").split()),
    )


def _values(environment: Mapping[str, str], directory: Path) -> dict[str, tuple[str, str]]:
    """Key -> (value, where it was read)."""
    by_section: dict[str, dict[str, tuple[str, str]]] = {section: {} for section in _SECTIONS}
    for file in _configuration_files(environment, directory):
        import configparser  # most have no such file

        parser = configparser.RawConfigParser()
        try:
            parser.read_string(file.read_text(encoding="utf-8"), source=str(file))
        except (OSError, ValueError, configparser.Error) as error:
            reason = " ".join(str(error).split()) if isinstance(error, OSError) else "it is not an INI file"
            raise UsageError(f"cannot read pip's configuration {file}: {reason}") from error
        for section in _SECTIONS:
            if parser.has_section(section):
                for key, value in parser.items(section):
                    by_section[section][_key(key)] = (value, str(file))
    merged = {key: value for section in _SECTIONS for key, value in by_section[section].items() if value[0]}
    for variable, value in environment.items():
        if variable.startswith("PIP_") and value:
            merged[_key(variable.removeprefix("PIP_"))] = (value, "the environment")
    return merged


def _key(text: str) -> str:
    return text.lower().replace("_", "-").removeprefix("--")


def _configuration_files(environment: Mapping[str, str], directory: Path) -> Iterator[Path]:
    """Pip's files that exist, least important first."""
    named = environment.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:  # pip's way of saying: no files at all
        return
    files = [place / "pip" / "pip.conf" for place in reversed(system_configuration_directories(environment))]
    files.append(Path("/etc/pip.conf"))
    extra = directory / named if named else None
    if extra is None or not extra.exists():
        files.append(home_directory(environment) / ".pip" / "pip.conf")
        files.append(user_configuration_directory(environment) / "pip" / "pip.conf")
    files.append(Path(sys.prefix) / "pip.conf")
    if extra is not None:
        files.append(extra)
    yield from (file for file in files if file.is_file())
