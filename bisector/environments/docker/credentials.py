"""Secrets and SSH agents that builds are handed: found before the first build, and masked in what a build prints."""

import csv
import os
import re
import socket
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bisector.environments.docker.run import csv_fields
from bisector.request import DockerRequest
from pins.errors import UsageError
from pins.home import expanded

SECRET_LIMIT = 500 * 1024
"""Bytes that BuildKit takes for a secret."""
_MASKED_LENGTH = 6
"""Shorter values are not masked: they stand in a log by chance."""
_VALUE = re.compile(r"^[^=:\s]+\s*[=:]\s*[\"']?(.*?)[\"']?$|\bpassword\s+(\S+)")

_IN_ADDRESSES = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True)
class Secret:
    """One `--secret`.

    Attributes:
        id: its name in `RUN --mount=type=secret,id=...`.
        path: the file that holds it, or None.
        variable: the environment variable that holds it where no file does.
    """

    id: str
    path: Path | None
    variable: str = ""

    @property
    def option(self) -> str:
        """As the docker command reads it."""
        source = f"env={self.variable}" if self.path is None else f"src={self.path}"
        return csv_fields([f"id={self.id}", source])

    def lacking(self) -> str:
        """Why it cannot be handed over, "" where it can."""
        if self.path is None:
            return "" if self.variable in os.environ else f"the environment variable {self.variable} is not set"
        try:
            self._content()
        except OSError as error:
            return f"{self.path} cannot be read: {error.strerror}"
        if self.path.stat().st_size > SECRET_LIMIT:
            return f"{self.path} holds more than {SECRET_LIMIT >> 10} KiB, which is the most that a build takes"
        return ""

    def values(self) -> Iterator[str]:
        """What must not stand in a log: its lines, and the values of lines of the form `name = value`."""
        try:
            text = os.environ.get(self.variable, "") if self.path is None else self._content().decode(errors="replace")
        except OSError:
            return
        for line in map(str.strip, text.splitlines()):
            value = _VALUE.search(line)
            for found in (line, *(filter(None, value.groups()) if value else ())):
                if len(found) >= _MASKED_LENGTH:
                    yield found

    def _content(self) -> bytes:
        assert self.path is not None
        with self.path.open("rb") as file:
            return file.read(SECRET_LIMIT)


@dataclass(frozen=True)
class Agent:
    """One `--ssh`: an agent's socket, or keys; without paths SSH_AUTH_SOCK names the socket."""

    id: str
    paths: tuple[Path, ...]

    @property
    def option(self) -> str:
        """As the docker command reads it."""
        return self.id + ("=" + ",".join(map(str, self.paths)) if self.paths else "")

    def lacking(self) -> str:
        """Why it cannot be handed over, "" where it can."""
        named = os.environ.get("SSH_AUTH_SOCK", "")
        if not self.paths and not named:
            return "SSH_AUTH_SOCK is not set, so that no agent is known; start one (`eval $(ssh-agent)`, `ssh-add`)"
        for path in self.paths or (Path(named),):
            try:
                if stat.S_ISSOCK(path.stat().st_mode):
                    with socket.socket(socket.AF_UNIX) as connection:
                        connection.settimeout(5.0)
                        connection.connect(str(path))
                else:
                    path.open("rb").close()
            except OSError as error:
                return f"{path}: {error.strerror or error}"
        return ""


def parse_secret(text: str, directory: Path) -> Secret:
    """Read `id=NAME,src=FILE` or `id=NAME,env=VARIABLE`; a relative file is below `directory`.

    Raises:
        UsageError: not of that form.
    """
    expected = "write id=NAME,src=FILE or id=NAME,env=VARIABLE"
    if any(character in text for character in "\0\r\n"):
        raise UsageError(f"--secret: holds a line break or a null; {expected}")
    fields: dict[str, str] = {}
    for field in next(csv.reader([text]), []):
        key, equals, value = field.partition("=")
        if not equals or not value or key.lower() not in {"id", "src", "source", "env", "type"}:
            # The field may be the secret itself.
            raise UsageError(f"--secret: {key.lower() if equals else 'a field of it'} is not understood; {expected}")
        fields[key.lower()] = value
    identity = fields.get("id", "")
    kind = fields.get("type", "")
    source = fields.get("src", fields.get("source", ""))
    variable = fields.get("env", "")
    if not identity or kind not in {"", "file", "env"} or (source and variable):
        raise UsageError(f"--secret: names no id, both a file and a variable, or another type; {expected}")
    if kind == "env" and not variable:
        source, variable = "", source or identity
    if not source and not variable:
        # As docker itself looks for it.
        source, variable = ("", identity) if identity in os.environ and kind != "file" else (identity, "")
    return Secret(identity, directory / expanded(source) if source else None, variable)


def parse_agent(text: str, directory: Path) -> Agent:
    """Read `default`, `ID` or `ID=PATH[,PATH]`; a relative path is below `directory`.

    Raises:
        UsageError: not of that form.
    """
    identity, equals, paths = text.partition("=")
    if not identity or identity.startswith("-") or "\0" in text or (equals and not all(paths.split(","))):
        raise UsageError(f"--ssh {text!r}: write default, or ID=PATH of an agent's socket or a key")
    return Agent(identity, tuple(directory / expanded(path) for path in paths.split(",") if path))


@dataclass(frozen=True)
class Credentials:
    """All that a run's builds are handed."""

    secrets: tuple[Secret, ...]
    agents: tuple[Agent, ...]

    def lacking(self) -> str:
        """What cannot be handed over, and why; "" where everything can."""
        for secret in self.secrets:
            if reason := secret.lacking():
                return f"--secret id={secret.id}: {reason}"
        for agent in self.agents:
            if reason := agent.lacking():
                return f"--ssh {agent.id}: {reason}"
        return ""

    def values(self) -> tuple[str, ...]:
        """What must not stand in a log, the longest first."""
        return tuple(sorted({value for secret in self.secrets for value in secret.values()}, key=len, reverse=True))


def read_credentials(secrets: Sequence[str], agents: Sequence[str], directory: Path) -> Credentials:
    """Read `--secret` and `--ssh`.

    Raises:
        UsageError: one is not of its form.
    """
    return Credentials(
        tuple(parse_secret(text, directory) for text in secrets), tuple(parse_agent(text, directory) for text in agents)
    )


def with_resolved(request: DockerRequest, credentials: Credentials) -> DockerRequest:
    """The request with absolute paths: the docker command runs in a directory of the build's own."""
    return replace(
        request,
        secrets=tuple(secret.option for secret in credentials.secrets),
        ssh=tuple(agent.option for agent in credentials.agents),
    )


def masking(values: Sequence[str]) -> Callable[[str], str]:
    """What masks the secrets of a build, and credentials in addresses, in what it prints."""
    secrets = re.compile("|".join(map(re.escape, values))) if values else None

    def redact(text: str) -> str:
        masked = _IN_ADDRESSES.sub("***@", text)
        return secrets.sub("***", masked) if secrets else masked

    return redact
