"""Where a repository is: a path or a URL, told apart, checked, and named for people."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pins.errors import UsageError
from pins.home import expanded
from pins.sources.redaction import redact

_SCHEMES = frozenset({"https", "http", "ssh", "git", "file"})
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_URL = re.compile(r"(?:git\+)?([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SCP = re.compile(r"(?:(?P<user>[^@/:\s]+)@)?(?P<host>[^/:\s\[\]]+|\[[^\]]+\]):(?P<path>[^\s].*)")
_TOKEN = re.compile(r"^(?:gh[a-z]_|github_pat_|glpat-|\$|.{30})")
"""How what stands for a user in a URL begins when it is a token, or a variable that holds one."""
_FORGES = {"github": "commit", "gitlab": "-/commit", "bitbucket": "commits", "codeberg": "commit", "gitea": "commit"}
"""Where forges show a commit, by a label of their host's name: github.com, gitlab.example.org."""


@dataclass(frozen=True)
class RepositoryAddress:
    """A repository's address.

    Attributes:
        text: what git is given: an absolute path, or a URL.
        local: whether it is a path on this machine.
    """

    text: str
    local: bool

    @property
    def shown(self) -> str:
        """For people, free of credentials."""
        return self.text if self.local else redact(self.text, ())


def parse_address(text: str, directory: Path) -> RepositoryAddress:
    """What a user or a file names as a repository.

    Args:
        text: a path, a URL, or `host:path` as ssh has it; `git+` before a URL is left out.
        directory: where relative paths start.

    Raises:
        UsageError: it is none of these, or holds a password.
    """
    shown = repr(redact(text, ())[:200])
    if not text.strip() or text.startswith("-") or not text.isprintable():
        raise UsageError(f"{shown} is no repository; name a directory or a URL")
    if _HELPER.match(text):
        raise UsageError(f"{shown} names a program that git would run; name the repository by a path or a URL")
    if url := _URL.fullmatch(text):
        return _url(url[1].lower(), text.removeprefix("git+"), shown)
    path = directory / expanded(text)
    if not path.exists() and (scp := _SCP.fullmatch(text)):
        if scp["host"].startswith("-") or (scp["user"] or "").startswith("-") or scp["path"].startswith("-"):
            raise UsageError(f"{shown} is no repository: a part of it begins with '-'")
        return RepositoryAddress(text, local=False)
    if not path.is_dir():
        raise UsageError(f"there is no repository {path}; name a directory or a URL")
    return RepositoryAddress(str(path.absolute()), local=True)


def _url(scheme: str, text: str, shown: str) -> RepositoryAddress:
    if scheme not in _SCHEMES:
        raise UsageError(f"{shown}: git reads no {scheme}:// here; name a repository by https, ssh, file or a path")
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
    except ValueError as error:
        raise UsageError(f"{shown} is no URL: {error}") from error
    token = scheme.startswith("http") and _TOKEN.search(parts.username or "") is not None
    if parts.password is not None or token:
        raise UsageError(
            f"{shown} holds a password, which would be recorded; leave it out, and let git find it: with a credential"
            " helper, or `git config --global url.<with password>.insteadOf <without>`"
        )
    if (scheme != "file" and not host) or host.startswith("-") or (parts.username or "").startswith("-"):
        raise UsageError(f"{shown} names no host; a URL is written https://HOST/OWNER/NAME")
    return RepositoryAddress(text, local=False)


def commit_link(address: str) -> str:
    """The web page of a commit, with "{}" in place of its full hash; "" where the forge is not known.

    Args:
        address: a repository's URL, or `user@host:path`.
    """
    if url := _URL.fullmatch(address):
        try:
            parts = urlsplit(address.removeprefix("git+"))
            host, path = parts.hostname or "", parts.path
        except ValueError:
            return ""
        if url[1].lower() == "file":
            return ""
    elif scp := _SCP.fullmatch(address):
        host, path = scp["host"], scp["path"]
    else:
        return ""
    host = host.lower()
    page = next((page for forge, page in _FORGES.items() if forge in host.split(".")), "")
    path = path.strip("/").removesuffix(".git")
    if not page or path.count("/") < 1 or not re.fullmatch(r"[\w./~+-]+", path):
        return ""
    return f"https://{host}/{path}/{page}/{{}}"
