"""Passwords of package indexes from the user's keyring, through the program `keyring`, as uv and pip ask it.

It is asked only where uv's or pip's configuration says so (`keyring-provider = "subprocess"`), for indexes that have no
password yet: for the index's URL first, then for its host.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping

from pins.sources.index_location import IndexLocation

_TOKEN_USER = "__token__"  # noqa: S105  # the name that stands for "no name", as pip has it
_PATIENCE = 30.0
"""Seconds that `keyring` may take; it may ask the user to unlock the keyring in a window."""


def with_keyring(
    locations: Iterable[IndexLocation], provider: str, environment: Mapping[str, str]
) -> Iterator[IndexLocation]:
    """The locations, with passwords from the keyring for those that have none."""
    program = shutil.which("keyring", path=environment.get("PATH", "")) if provider == "subprocess" else None
    for location in locations:
        if program is None or location.is_file or location.password:
            yield location
            continue
        username = location.username or _TOKEN_USER
        password = _asked(program, location, username, environment)
        yield location.with_credentials(username, password) if password else location


def _asked(program: str, location: IndexLocation, username: str, environment: Mapping[str, str]) -> str:
    for service in (location.url, location.host):
        if service.startswith("-") or username.startswith("-"):
            continue
        try:
            ended = subprocess.run(
                [program, "get", service, username],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                env=dict(environment),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        if ended.returncode == 0 and ended.stdout.strip():
            return ended.stdout.strip("\r\n")
    return ""
