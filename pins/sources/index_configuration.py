"""Which package indexes are asked, decided once, and told alike to our own client, to uv and to pip.

What was decided:

- The first of these that names any place counts, alone: the command line, uv's environment and configuration, pip's
  environment and configuration, and the default of `distlib`. `--index-url` replaces everything that is configured,
  further indexes and find-links too; `--extra-index-url` alone adds to what is configured.
- Several indexes mean what they mean to their owner. Those of uv: the first index that has a project counts for it
  (`first-index`, unless uv's index strategy says otherwise). Those of pip, and of the command line: all of them count
  alike, the best version wins (`unsafe-best-match`).
- Credentials come from the URL, from `UV_INDEX_<NAME>_USERNAME` and `_PASSWORD`, from netrc, or from the keyring where
  uv or pip are told to ask it (`pins.sources.keyring`).
- Certificates: `SSL_CERT_FILE`, `PIP_CERT` or pip's `cert`, `REQUESTS_CA_BUNDLE`, `CURL_CA_BUNDLE`, the first that is
  set. Hosts that pip trusts, or that uv is to take as insecure, are not checked.
- Files without an upload time: with `--exclude-newer`, uv drops them where an *index* lists them (also a `file:` one)
  and keeps those of find-links (tried with uv 0.13.9). An index that gives no upload times at all would so become
  empty. It stays usable by `exclude-newer = false` for that one index, which only a configuration file can say: hence
  `uv_configuration`, to be given to uv as `--config-file` with `uv_file_environment` as its environment.
"""

import contextlib
import json
import netrc
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from pins.errors import UsageError
from pins.home import expanded
from pins.sources.index_location import IndexLocation, read_location
from pins.sources.index_settings import IndexSettings, IndexStrategy, home_directory
from pins.sources.keyring import with_keyring
from pins.sources.pip_settings import read_pip_settings
from pins.sources.redaction import redact
from pins.sources.uv_settings import read_uv_settings

INDEX_VARIABLES = (
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX"),
    *("UV_INDEX_STRATEGY", "UV_CONFIG_FILE", "UV_NO_CONFIG", "UV_EXCLUDE_NEWER", "UV_TORCH_BACKEND"),
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CONFIG_FILE"),
)
"""Variables that decide where uv and pip look, or how far: to be taken out before ours are put in."""


@dataclass(frozen=True)
class IndexConfiguration:
    """Every place that packages come from.

    Attributes:
        locations: indexes in the order in which they are asked, then flat lists of files.
        strategy: which versions count where several indexes have a project.
        origin: who said so, for messages: "the command line", "uv's configuration", ...
        keyring_provider: passed on to uv and pip; "" for none.
        certificates: a file of certificate authorities, "" for the built-in ones.
        insecure_hosts: hosts whose certificates are not checked.
        without_upload_times: URLs of indexes that do not tell when files were uploaded, as far as that was found out
            (`PackageIndex.knowing_upload_times`).
        other_secrets: further credentials that could appear in output (those of proxies).
    """

    locations: tuple[IndexLocation, ...]
    strategy: IndexStrategy = IndexStrategy.FIRST_INDEX
    origin: str = ""
    keyring_provider: str = ""
    certificates: str = ""
    insecure_hosts: tuple[str, ...] = ()
    without_upload_times: frozenset[str] = frozenset()
    other_secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def indexes(self) -> tuple[IndexLocation, ...]:
        """The locations that list projects."""
        return tuple(location for location in self.locations if not location.flat)

    @property
    def flat(self) -> tuple[IndexLocation, ...]:
        """The locations that list files (`--find-links`)."""
        return tuple(location for location in self.locations if location.flat)

    def public(self) -> tuple[str, ...]:
        """The URLs without credentials, in order, for hashes of inputs and reports."""
        return tuple(location.public for location in self.locations)

    def redact(self, text: str) -> str:
        """The text with every credential masked, raw, percent-encoded or escaped."""
        return redact(text, self.secrets())

    def secrets(self) -> tuple[str, ...]:
        """Every credential that must not be seen."""
        known = [secret for location in self.locations for secret in location.secrets]
        return tuple(dict.fromkeys([*known, *self.other_secrets]))

    def uv_environment(self) -> dict[str, str]:
        """Variables with which uv resolves against exactly these; credentials are in them.

        They cannot say that an index gives no upload times: see `uv_configuration`.
        """
        variables = {"UV_NO_CONFIG": "1", "UV_INDEX_STRATEGY": str(self.strategy), **self._transport_for_uv()}
        *others, default = self.indexes or (None,)
        if default is None:
            variables["UV_NO_INDEX"] = "1"
        else:
            variables["UV_DEFAULT_INDEX"] = default.url_with_credentials
        if others:
            variables["UV_INDEX"] = " ".join(other.url_with_credentials for other in others if other)
        if self.flat:
            variables["UV_FIND_LINKS"] = _comma_separated(self.flat)
        return variables

    def uv_configuration(self, exclude_newer: datetime | None = None) -> str:
        """The text of a `uv.toml` with which uv resolves against exactly these; no credentials are in it.

        Args:
            exclude_newer: the index is read as of this time (aware). It does not apply to what gives no upload times:
                `file:` indexes, lists of files, and the indexes named in `without_upload_times`.
        """
        lines = [f"index-strategy = {_toml(str(self.strategy))}"]
        if exclude_newer is not None:
            lines.append(f"exclude-newer = {_toml(_rfc_3339(exclude_newer))}")
        if not self.indexes:
            lines.append("no-index = true")
        if self.keyring_provider:
            lines.append(f"keyring-provider = {_toml(self.keyring_provider)}")
        open_flat = [location.url for location in self.flat if not location.has_credentials]
        if open_flat:
            lines.append(f"find-links = [{', '.join(map(_toml, open_flat))}]")
        for number, location in enumerate(self.indexes, start=1):
            lines += ["", "[[index]]", f'name = "{_uv_name(number)}"', f"url = {_toml(location.url)}"]
            if number == len(self.indexes):
                lines.append("default = true")
            if location.is_file or location.url in self.without_upload_times:
                lines.append("exclude-newer = false")
        return "\n".join(lines) + "\n"

    def uv_file_environment(self) -> dict[str, str]:
        """Variables that go with `uv_configuration`: what must not stand in a file."""
        variables = self._transport_for_uv()
        for number, location in enumerate(self.indexes, start=1):
            prefix = "UV_INDEX_" + _uv_name(number).replace("-", "_").upper()
            if location.username:
                variables[f"{prefix}_USERNAME"] = location.username
            if location.password:
                variables[f"{prefix}_PASSWORD"] = location.password
        secret_flat = [location for location in self.flat if location.has_credentials]
        if secret_flat:
            variables["UV_FIND_LINKS"] = _comma_separated(secret_flat)
        return variables

    def pip_environment(self) -> dict[str, str]:
        """Variables with which pip resolves against exactly these; credentials are in them.

        pip always takes the best version of all indexes, whatever `strategy` says.
        """
        variables = {"PIP_CONFIG_FILE": os.devnull}
        first, *others = self.indexes or (None,)
        if first is None:
            variables["PIP_NO_INDEX"] = "1"
        else:
            variables["PIP_INDEX_URL"] = first.url_with_credentials
        if others:
            variables["PIP_EXTRA_INDEX_URL"] = " ".join(other.url_with_credentials for other in others if other)
        if self.flat:
            variables["PIP_FIND_LINKS"] = " ".join(location.url_with_credentials for location in self.flat)
        if self.keyring_provider:
            variables["PIP_KEYRING_PROVIDER"] = self.keyring_provider
        if self.certificates:
            variables["PIP_CERT"] = self.certificates
        if self.insecure_hosts:
            variables["PIP_TRUSTED_HOST"] = " ".join(self.insecure_hosts)
        return variables

    def _transport_for_uv(self) -> dict[str, str]:
        variables = {}
        if self.keyring_provider:
            variables["UV_KEYRING_PROVIDER"] = self.keyring_provider
        if self.certificates:
            variables["SSL_CERT_FILE"] = self.certificates
        if self.insecure_hosts:
            variables["UV_INSECURE_HOST"] = " ".join(self.insecure_hosts)
        return variables


def read_index_configuration(
    index_url: str = "",
    extra_index_urls: Sequence[str] = (),
    *,
    environment: Mapping[str, str],
    directory: Path,
) -> IndexConfiguration:
    """Decide which package indexes are asked (see the module's docstring).

    Args:
        index_url: `--index-url`, "" where it was not given.
        extra_index_urls: every `--extra-index-url`.
        environment: the caller's variables.
        directory: the caller's working directory: relative paths and uv's project configuration are seen from it.

    Raises:
        UsageError: a location or a configuration file cannot be read.
    """
    uv = read_uv_settings(environment, directory)
    pip = read_pip_settings(environment, directory)
    extra = tuple(read_location(url, directory=directory, origin="--extra-index-url") for url in extra_index_urls)
    if index_url:
        default = read_location(index_url, directory=directory, origin="--index-url")
        settings = IndexSettings(default=default, indexes=extra, strategy=IndexStrategy.UNSAFE_BEST_MATCH)
        origin = "the command line"
    elif uv.says_where:
        settings = replace(uv, indexes=(*extra, *uv.indexes), strategy=uv.strategy or IndexStrategy.FIRST_INDEX)
        origin = "uv's configuration"
    else:
        settings = replace(pip, indexes=(*pip.indexes, *extra), strategy=IndexStrategy.UNSAFE_BEST_MATCH)
        origin = "pip's configuration" if pip.says_where else "the default"
    default = settings.default or default_index()
    if settings.no_index:
        indexes: tuple[IndexLocation, ...] = ()
    elif settings.strategy is IndexStrategy.UNSAFE_BEST_MATCH:
        indexes = (default, *settings.indexes)
    else:
        indexes = (*settings.indexes, default)
    locations = (*dict.fromkeys(indexes), *settings.flat)
    provider = uv.keyring_provider or pip.keyring_provider
    return IndexConfiguration(
        locations=tuple(with_keyring(_with_netrc(locations, environment), provider, environment)),
        strategy=settings.strategy or IndexStrategy.FIRST_INDEX,
        origin=origin,
        keyring_provider=provider,
        certificates=_certificates(environment, pip, directory),
        insecure_hosts=tuple(dict.fromkeys([*uv.insecure_hosts, *pip.insecure_hosts])),
        other_secrets=tuple(_proxy_secrets(environment)),
    )


def default_index() -> IndexLocation:
    """The public index, as a library's constant names it."""
    from distlib.index import DEFAULT_INDEX

    return IndexLocation(urljoin(DEFAULT_INDEX, "simple/"))


def without_index_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what decides where uv and pip look; credentials of named indexes go too."""
    return {
        name: value
        for name, value in environment.items()
        if name not in INDEX_VARIABLES
        and not (name.startswith("UV_INDEX_") and name.endswith(("_USERNAME", "_PASSWORD")))
    }


def _certificates(environment: Mapping[str, str], pip: IndexSettings, directory: Path) -> str:
    named = [
        ("SSL_CERT_FILE", environment.get("SSL_CERT_FILE", "")),
        ("pip's cert (PIP_CERT)", pip.certificates),
        ("REQUESTS_CA_BUNDLE", environment.get("REQUESTS_CA_BUNDLE", "")),
        ("CURL_CA_BUNDLE", environment.get("CURL_CA_BUNDLE", "")),
    ]
    for origin, text in named:
        if text:
            path = directory / expanded(text)
            if not path.exists():
                raise UsageError(
                    f"{origin} names {path}, which does not exist: name a file of certificates, or unset it"
                )
            return str(path)
    return ""


def _with_netrc(locations: Sequence[IndexLocation], environment: Mapping[str, str]) -> tuple[IndexLocation, ...]:
    """The locations, with credentials from netrc for those that have none."""
    named = environment.get("NETRC", "")
    home = home_directory(environment)
    files = [Path(named)] if named else [home / ".netrc", home / "_netrc"]
    entries: netrc.netrc | None = None
    for file in files:
        # A file that cannot be parsed gives no credentials: the index will say that it wants some.
        with contextlib.suppress(OSError, netrc.NetrcParseError, UnicodeDecodeError):
            entries = netrc.netrc(file)
            break
    if entries is None:
        return tuple(locations)
    found = []
    for location in locations:
        entry = entries.authenticators(location.host) if location.host and not location.has_credentials else None
        found.append(location.with_credentials(entry[0] or "", entry[2] or "") if entry else location)
    return tuple(found)


def _proxy_secrets(environment: Mapping[str, str]) -> list[str]:
    secrets = []
    for name, value in environment.items():
        if name.lower() in ("http_proxy", "https_proxy", "all_proxy"):
            with contextlib.suppress(ValueError):
                secrets += [secret for secret in (urlsplit(value).password,) if secret]
    return secrets


def _comma_separated(locations: Sequence[IndexLocation]) -> str:
    return ",".join(location.url_with_credentials.replace(",", "%2C") for location in locations)


def _uv_name(number: int) -> str:
    return f"index-{number}"


def _toml(text: str) -> str:
    return json.dumps(text)  # a JSON string without characters outside the basic plane is a TOML string


def _rfc_3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
