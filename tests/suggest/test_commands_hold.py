"""`pins hold` as a person runs it."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pins.cli import app
from pins.suggest.holds import read_holds

DOCKERFILE = (
    "FROM ubuntu:22.04\nARG TRITON_BRANCH=9c1ab00\n"
    "RUN git clone https://h.example/triton.git && cd triton && git checkout ${TRITON_BRANCH}\nRUN pip install pybind11\n"
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["hold", *arguments])
    assert done.exit_code == code, done.stderr + done.stdout
    return done


def test_a_hold_is_shown_first_and_recorded_with_write(place: Path) -> None:
    asked = ("Dockerfile", "pybind11<3.1.0", "--why", "it breaks AITER", "--until", "AITER is rebuilt")
    assert '+requirement = "pybind11<3.1.0"' in run(*asked).stdout
    assert not (place / "pins.toml").exists()
    done = run(*asked, "--review", "2999-01-01", "--evidence", "bisect run r1", "--write")
    assert "pybind11 is open there" in done.stderr
    (hold,) = read_holds((place / "pins.toml").read_bytes())
    assert (hold.pin, hold.requirement, hold.file) == ("pybind11", "pybind11<3.1.0", "Dockerfile")
    assert (hold.reason, hold.until, hold.evidence) == ("it breaks AITER", "AITER is rebuilt", "bisect run r1")
    assert hold.review == date(2999, 1, 1)
    assert (place / "Dockerfile").read_text() == DOCKERFILE


def test_a_commit_is_held_by_its_value_and_looked_at_again_in_a_month(place: Path) -> None:
    done = run("Dockerfile", "triton=532137f", "--why", "the next one fails", "--write")
    assert "triton is 9c1ab00 there" in done.stderr
    (hold,) = read_holds((place / "pins.toml").read_bytes())
    assert (hold.pin, hold.value, hold.requirement) == ("triton", "532137f", "")
    assert hold.review is not None
    assert abs(hold.review - datetime.now(UTC).date() - timedelta(days=30)) <= timedelta(days=1)


def test_holding_again_replaces_what_was_held(place: Path) -> None:
    run("Dockerfile", "pybind11<3.1.0", "--why", "one", "--write")
    run("Dockerfile", "pybind11<3.2", "--why", "two", "--write")
    (hold,) = read_holds((place / "pins.toml").read_bytes())
    assert (hold.requirement, hold.reason) == ("pybind11<3.2", "two")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Dockerfile", "pybind11<3.1.0"), "--why is needed"),
        (("Dockerfile", "nothere<3", "--why", "x"), "pins nothing of that name; it pins"),
        (("Dockerfile", "pybind11", "--why", "x"), "bounds no version"),
        (("Dockerfile", "pybind11=3.0", "--why", "x"), "hold it by a requirement such as pybind11==3.0"),
        (("Dockerfile", "triton<3", "--why", "x"), "hold it as triton=VALUE"),
        (("Dockerfile", "<<<", "--why", "x"), "neither a requirement"),
        (("none", "pybind11<3", "--why", "x"), "is not a file"),
        (("Dockerfile", "pybind11<3", "--why", "x", "--review", "soon"), "is no day such as"),
        (("Dockerfile", "pybind11<3", "--why", "x", "--review", "2020-01-01"), "is over already"),
    ],
)
def test_what_cannot_be_held_is_refused_with_what_to_do(place: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in run(*arguments, code=2).stderr
    assert not (place / "pins.toml").exists()
