import stat
from pathlib import Path

import pytest

from pins.sources.index_configuration import IndexConfiguration, read_index_configuration
from pins.sources.package_index import PackageIndex
from tests.local_index import LocalIndex


@pytest.fixture
def keyring(tmp_path: Path) -> Path:
    """A `keyring` that knows one password, and notes what it is asked."""
    program = tmp_path / "bin" / "keyring"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n'
        'case "$2 $3" in "127.0.0.1 me") echo s3cret-word;; *) exit 1;; esac\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def read(url: str, keyring: Path, **variables: str) -> IndexConfiguration:
    path = f"{keyring.parent}:/usr/bin:/bin"
    environment = {"HOME": "/nowhere", "PATH": path, "UV_DEFAULT_INDEX": url, **variables}
    return read_index_configuration(environment=environment, directory=Path("/"))


def test_the_keyring_is_asked_where_uv_is_told_to(local_index: LocalIndex, keyring: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.credentials("me", "s3cret-word")
    configuration = read(local_index.url_with("me", ""), keyring, UV_KEYRING_PROVIDER="subprocess")
    with PackageIndex(configuration) as index:
        assert [str(release.version) for release in index.releases("spam")] == ["1.0"]
    assert "s3cret-word" in configuration.secrets()
    assert "s3cret-word" not in repr(configuration)
    assert (keyring.parent.parent / "asked").read_text().splitlines() == [
        f"get {local_index.url} me",
        "get 127.0.0.1 me",
    ]


def test_it_is_not_asked_otherwise(local_index: LocalIndex, keyring: Path) -> None:
    read(local_index.url_with("me", ""), keyring)
    read(local_index.url_with("me", "given"), keyring, UV_KEYRING_PROVIDER="subprocess")
    read("file:///srv/simple", keyring, UV_KEYRING_PROVIDER="subprocess")
    assert not (keyring.parent.parent / "asked").exists()


def test_a_keyring_that_does_not_know_leaves_all_as_it_is(local_index: LocalIndex, keyring: Path) -> None:
    [location] = read(local_index.url, keyring, UV_KEYRING_PROVIDER="subprocess").locations
    assert not location.has_credentials
    keyring.unlink()
    [location] = read(local_index.url, keyring, UV_KEYRING_PROVIDER="subprocess").locations
    assert not location.has_credentials
