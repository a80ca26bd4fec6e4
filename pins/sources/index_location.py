"""Where packages come from: one index or one flat list of files, with its credentials kept apart from its URL."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from pins.errors import UsageError
from pins.home import expanded
from pins.sources.redaction import MASK

_CONTROL_OR_SPACE = re.compile(r"[\x00-\x20\x7f]")


@dataclass(frozen=True)
class IndexLocation:
    """A package index, or a flat list of files (`--find-links`).

    Attributes:
        url: `http(s)://host/simple/` or `file:///directory/`, without credentials.
        flat: whether it lists files (a directory or one page of links) instead of projects.
        name: what uv's configuration calls it, "" without a name.
        username, password: what to send with HTTP basic authentication; both "" for nothing. Left out of `repr`.
    """

    url: str
    flat: bool = False
    name: str = ""
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def is_file(self) -> bool:
        """Whether it lies on this machine."""
        return self.url.startswith("file:")

    @property
    def path(self) -> Path:
        """The directory or file of a `file:` location."""
        return Path(unquote(urlsplit(self.url).path))

    @property
    def host(self) -> str:
        """Host name in lower case, "" for a `file:` location."""
        return urlsplit(self.url).hostname or ""

    @property
    def public(self) -> str:
        """The URL as it may be printed and recorded: a query may hold a token, so it is left out."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))

    @property
    def has_credentials(self) -> bool:
        """Whether anything is sent with its requests that must not be seen."""
        return bool(self.username or self.password)

    @property
    def authentication(self) -> tuple[str, str] | None:
        """User name and password for HTTP basic authentication, None for none."""
        return (self.username, self.password) if self.has_credentials else None

    @property
    def url_with_credentials(self) -> str:
        """The URL as an installer takes it, for environments of processes only."""
        if not self.has_credentials:
            return self.url
        parts = urlsplit(self.url)
        user = quote(self.username, safe="")
        if self.password:
            user += ":" + quote(self.password, safe="")
        return urlunsplit((parts.scheme, f"{user}@{parts.netloc}", parts.path, parts.query, parts.fragment))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be masked wherever it appears: the password, or a user name that stands alone, as tokens do."""
        query = [
            value for _, _, value in (item.partition("=") for item in urlsplit(self.url).query.split("&")) if value
        ]
        return tuple(secret for secret in (self.password or self.username, *map(unquote, query)) if secret)

    def with_credentials(self, username: str, password: str) -> "IndexLocation":
        """This location with credentials that come from elsewhere (netrc, `UV_INDEX_<NAME>_PASSWORD`)."""
        return replace(self, username=username, password=password)


def read_location(text: str, *, directory: Path, origin: str, flat: bool = False) -> IndexLocation:
    """A location from a URL or a path as a person writes it.

    Args:
        text: `https://user:password@host/simple`, `file:///srv/simple`, `./wheels`, for uv also `name=URL`.
        directory: what a relative path is relative to.
        origin: where it was read (`--index-url`, `PIP_INDEX_URL`, a file), for messages.
        flat: whether it is a `--find-links` location.

    Raises:
        UsageError: it is no location that packages can come from. The text itself is not repeated: it may hold a
            password.
    """
    text = text.strip()
    name = ""
    match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.*)", text, flags=re.DOTALL)
    if match and not flat:
        name, text = match.groups()
    if not text:
        raise UsageError(f"{origin} is empty: give the URL of a package index")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", text) and not text.lower().startswith("file:"):
        return _web_location(text, origin=origin, flat=flat, name=name)
    if text.lower().startswith("file:"):
        parts = urlsplit(text)
        if parts.netloc not in ("", "localhost"):
            raise UsageError(f"{origin} is a file: URL of another host: write file:///path")
        path = Path(unquote(parts.path))
    else:
        if "\0" in text or text.startswith("-"):
            raise UsageError(f"{origin} is neither a URL nor a path")
        path = directory / expanded(text)
    url = path.absolute().as_uri()
    return IndexLocation(url if flat else url.rstrip("/") + "/", flat=flat, name=name)


def _web_location(text: str, *, origin: str, flat: bool, name: str) -> IndexLocation:
    if _CONTROL_OR_SPACE.search(text):
        raise UsageError(f"{origin} holds a space or a control character: percent-encode it, or give one URL")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{origin} is not a URL: its host or port cannot be read") from error
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{origin} is not an http, https or file URL, nor a path that starts with ./ or /")
    if parts.query and not flat:
        raise UsageError(f"{origin} has a query (?...), to which no project name can be added: give the index itself")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = f"{host}:{port}" if port else host
    path = parts.path if flat else parts.path.rstrip("/") + "/"
    username, password = unquote(parts.username or ""), unquote(parts.password or "")
    if MASK in (username, password):  # read back from a record, where they were masked: netrc may know them
        username = password = ""
    return IndexLocation(
        urlunsplit((parts.scheme.lower(), netloc, path, parts.query, "")),
        flat=flat,
        name=name,
        username=username,
        password=password,
    )
