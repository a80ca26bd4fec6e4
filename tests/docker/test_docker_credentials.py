"""What builds are handed in secret: found at the start, missed in the middle, masked in logs."""

import socket
from pathlib import Path

import pytest

from bisector.environments.docker.credentials import Agent, Secret, parse_agent, parse_secret, read_credentials
from pins.errors import EnvironmentFailureError, UsageError
from tests.docker.docker_setting import Setting

HERE = Path("/here")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id=a,src=token", Secret("a", HERE / "token")),
        ("src=/x,id=a", Secret("a", Path("/x"))),
        ("type=file,id=a,source=token", Secret("a", HERE / "token")),
        ("id=a,env=TOKEN", Secret("a", None, "TOKEN")),
        ("id=a,type=env", Secret("a", None, "a")),
        ("id=PATH", Secret("PATH", None, "PATH")),
        ("id=not-set", Secret("not-set", HERE / "not-set")),
        ('id=a,"src=/x,y"', Secret("a", Path("/x,y"))),
    ],
)
def test_a_secret_is_read_as_docker_reads_it(text: str, expected: Secret) -> None:
    assert parse_secret(text, HERE) == expected


def test_a_path_with_a_comma_stays_one_field() -> None:
    assert Secret("a", Path("/x,y")).option == 'id=a,"src=/x,y"'
    assert Secret("a", None, "TOKEN").option == "id=a,env=TOKEN"


@pytest.mark.parametrize("text", ["garbage-token", "", "src=/x", "id=a,color=blue", "id=a,src=/x,env=B", "id=a,type=b"])
def test_a_secret_of_another_form_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(UsageError, match="--secret") as caught:
        parse_secret(text, HERE)
    assert "garbage-token" not in caught.value.message


def test_an_agent_is_found_below_the_working_directory() -> None:
    assert parse_agent("default", HERE).option == "default"
    assert parse_agent("git=key,/other", HERE).option == "git=/here/key,/other"
    for text in ("", "=x", "a=", "--x"):
        with pytest.raises(UsageError, match="--ssh"):
            parse_agent(text, HERE)


def test_what_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.delenv("UNSET", raising=False)
    assert "no such" in read_credentials(["id=tok,src=nosuch.txt"], [], tmp_path).lacking().lower()
    assert "UNSET is not set" in read_credentials(["id=x,env=UNSET"], [], tmp_path).lacking()
    assert "SSH_AUTH_SOCK is not set" in read_credentials([], ["default"], tmp_path).lacking()
    assert read_credentials(["id=x,env=PATH"], [], tmp_path).lacking() == ""


def test_a_dead_agent_is_told_from_one_that_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "agent"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        assert Agent("default", ()).lacking() == ""
    assert "refused" in Agent("default", ()).lacking()


def test_lines_and_their_values_are_masked_but_nothing_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("token = 'abcdefg'\nshort\nmachine x login y password hunter22\n")
    monkeypatch.setenv("TOKEN", "s3cret-value")
    found = read_credentials(["id=a,src=file", "id=b,env=TOKEN"], [], tmp_path).values()
    assert {"abcdefg", "hunter22", "s3cret-value"} < set(found)
    assert "short" not in found


DOCKERFILE = (
    "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1.0\n"
    "RUN --mount=type=secret,id=tok cat /run/secrets/tok; echo ${DEMO_VERSION} > /demo; exit %d\n"
)


@pytest.mark.docker
def test_a_secret_below_the_working_directory_reaches_the_build_and_not_its_log(
    setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").write_text("very-secret\n")
    # Each time another instruction, for one that the cache holds prints nothing.
    text = DOCKERFILE % 0 + f"RUN --mount=type=secret,id=tok cat /run/secrets/tok # {setting.run_id}\n"
    environment = setting.environment(text, secrets=("id=tok,src=token",))
    monkeypatch.chdir("/")
    setting.build(environment)
    log = (setting.room / f"{setting.number}.log").read_text()
    assert "very-secret" not in log
    assert " ***\n" in log


@pytest.mark.docker
def test_a_secret_that_goes_away_in_the_middle_is_no_evidence(setting: Setting, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("very-secret\n")
    environment = setting.environment(DOCKERFILE % 0, secrets=(f"id=tok,src={token}",))
    setting.build(environment)
    token.unlink()
    with pytest.raises(EnvironmentFailureError, match=r"--secret id=tok: .*cannot be read"):
        setting.build(environment, "2.0")
