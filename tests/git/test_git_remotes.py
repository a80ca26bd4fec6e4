"""Repositories behind https with a password and behind ssh with a key: git's own ways in, and nothing of them kept."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git.remote_servers import (
    PASSWORD,
    USER,
    HttpsServer,
    SshServer,
    https_server,
    lacking_for_https,
    lacking_for_ssh,
    ssh_server,
)
from tests.git.repository_builder import RepositoryBuilder, run_git

pytestmark = pytest.mark.slow
over_https = pytest.mark.skipif(bool(lacking_for_https()), reason=lacking_for_https())
over_ssh = pytest.mark.skipif(bool(lacking_for_ssh()), reason=lacking_for_ssh())


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> RepositoryBuilder:
    """A line with a merged side; the commit side5 breaks `state`."""
    builder = RepositoryBuilder(tmp_path_factory.mktemp("remote") / "thing.git")
    builder.line("main", 4)
    builder.line("side", 8, "main1")
    builder.add("merge", "main3", "side7")
    builder.line("later", 3, "merge")
    bad: set[str] = set()
    for made in builder.commits:
        if made.name == "side5" or bad & set(made.parents):
            bad.add(made.name)
        made.files = {**made.files, "state": "bad\n" if made.name in bad else "good\n"}
    builder.ref("refs/heads/main", "later2")
    builder.ref("refs/tags/v0", "main2")
    builder.write()
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        run_git("config", name, "true", directory=builder.directory)
    return builder


@pytest.fixture(scope="module")
def https(source: RepositoryBuilder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpsServer]:
    with https_server(source.directory.parent, tmp_path_factory.mktemp("https")) as server:
        yield server


@pytest.fixture(scope="module")
def ssh(source: RepositoryBuilder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    assert source.directory.is_dir()
    with ssh_server(tmp_path_factory.mktemp("ssh")) as server:
        yield server


def bisector(directory: Path, url: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Bisect the repository from the command line, with the git configuration in `directory`."""
    smoke = directory / "smoke.sh"
    smoke.write_text('#!/bin/sh\ngrep -q good "$CHECKOUT/state"\n')
    smoke.chmod(0o755)
    command = [
        *(sys.executable, "-m", "bisector", "run", "--repo", f"thing={url}", "--pin", "thing=v0..main", "-v"),
        *("--build-command", "true", "--smoke", str(smoke), "--repeat", "1", "--format", "json"),
    ]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_"))},
        "HOME": str(directory / "home"),
        "XDG_STATE_HOME": str(directory / "state"),
        "XDG_CACHE_HOME": str(directory / "cache"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        **variables,
    }
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


def with_password(directory: Path, url: str, password: str = PASSWORD) -> dict[str, str]:
    """A credential helper of git's own that knows the password, and the variables that name its configuration."""
    (directory / "home").mkdir(exist_ok=True)
    known = directory / "home" / "credentials"
    known.write_text(url.replace("https://", f"https://{USER}:{password}@") + "\n")
    known.chmod(0o600)
    configuration = directory / "home" / "gitconfig"
    configuration.write_text(f'[credential]\n\thelper = "store --file={known}"\n')
    return {"GIT_CONFIG_GLOBAL": str(configuration)}


def assert_kept_nowhere(secret: str, directory: Path, *said: str) -> None:
    """Neither what was printed nor any file of the run or of the cache holds a secret."""
    for text in said:
        assert secret not in text
    home = directory / "home"
    for path in directory.rglob("*"):
        if path.is_file() and not path.is_relative_to(home):
            assert secret.encode() not in path.read_bytes(), path


@over_https
def test_a_password_from_gits_credential_helper_opens_a_repository_and_is_kept_nowhere(
    https: HttpsServer, source: RepositoryBuilder, tmp_path: Path
) -> None:
    url = f"{https.url}/thing.git"
    variables = {"GIT_SSL_CAINFO": str(https.authority), **with_password(tmp_path, https.url)}
    done = bisector(tmp_path, url, **variables)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["culprit"]["new"] == source.ids["side5"]
    assert source.ids["later2"] in result["reproduce"]
    assert any(user == USER for _, user in https.asked)
    assert_kept_nowhere(PASSWORD, tmp_path, done.stdout, done.stderr)
    assert any("promisor" in path.read_text() for path in (tmp_path / "cache").rglob("repository/config"))
    run = next((tmp_path / "state").rglob("journal.sqlite")).parent
    assert run.is_dir()


@over_https
def test_a_wrong_password_is_a_failure_of_ours_that_names_git_and_asks_nobody(
    https: HttpsServer, tmp_path: Path
) -> None:
    variables = {"GIT_SSL_CAINFO": str(https.authority), **with_password(tmp_path, https.url, "wr0ng-w0rd")}
    done = bisector(tmp_path, f"{https.url}/thing.git", **variables)
    assert done.returncode in (3, 6), done.stderr
    assert "git ls-remote" in done.stderr
    assert "Traceback" not in done.stderr
    assert_kept_nowhere("wr0ng-w0rd", tmp_path, done.stdout, done.stderr)


@over_https
def test_a_server_whose_authority_nobody_vouches_for_is_not_believed(https: HttpsServer, tmp_path: Path) -> None:
    done = bisector(tmp_path, f"{https.url}/thing.git", **with_password(tmp_path, https.url))
    assert done.returncode in (3, 6), done.stderr
    assert "certificate" in done.stderr.lower()
    assert_kept_nowhere(PASSWORD, tmp_path, done.stdout, done.stderr)


@over_ssh
def test_a_key_opens_a_repository_over_ssh_and_is_kept_nowhere(
    ssh: SshServer, source: RepositoryBuilder, tmp_path: Path
) -> None:
    done = bisector(tmp_path, f"{ssh.prefix}{source.directory}", GIT_SSH_COMMAND=ssh.command)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["culprit"]["new"] == source.ids["side5"]
    secret = ssh.key.read_text().splitlines()[1]
    assert_kept_nowhere(secret, tmp_path, done.stdout, done.stderr)
    assert_kept_nowhere(str(ssh.key), tmp_path, done.stdout)


@over_ssh
def test_an_address_as_ssh_has_it_names_the_same_repository(
    ssh: SshServer, source: RepositoryBuilder, tmp_path: Path
) -> None:
    user, _, port = ssh.prefix.removeprefix("ssh://").partition("@")
    host, _, number = port.partition(":")
    command = f"{ssh.command} -p {number}"
    done = bisector(tmp_path, f"{user}@{host}:{source.directory}", GIT_SSH_COMMAND=command)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["culprit"]["new"] == source.ids["side5"]


@over_ssh
def test_a_key_that_is_not_let_in_is_a_failure_of_ours(
    ssh: SshServer, source: RepositoryBuilder, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True, capture_output=True)
    command = ssh.command.replace(str(ssh.key), str(other))
    done = bisector(tmp_path, f"{ssh.prefix}{source.directory}", GIT_SSH_COMMAND=command)
    assert done.returncode in (3, 6), done.stderr
    assert "Permission denied" in done.stderr or "git ls-remote" in done.stderr
