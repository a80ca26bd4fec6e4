"""`pins hold` as a person runs it."""

from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pins.cli import app
from pins.suggest.holds import read_holds

DOCKERFILE = (
    "FROM ubuntu:22.04\nARG TRITON_BRANCH=9c1ab00\n"
    "RUN git clone https://h.example/triton.git && cd triton && git checkout ${TRITON_BRANCH}\n"
    "RUN pip install pybind11\n"
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
    asked = ("pybind11<3.1.0", "--why", "it breaks AITER", "--until", "AITER is rebuilt", "--review", "2999-01-01")
    shown = run(*asked)
    assert '+requirement = "pybind11<3.1.0"' in shown.stdout
    assert "Nothing is changed without --write" in shown.stderr
    assert not (place / "pins.toml").exists()
    run(*asked, "--file", "Dockerfile", "--write")
    (hold,) = read_holds((place / "pins.toml").read_bytes())
    assert (hold.pin, hold.requirement, hold.file) == ("pybind11", "pybind11<3.1.0", "Dockerfile")
    assert (hold.reason, hold.until, hold.review) == ("it breaks AITER", "AITER is rebuilt", date(2999, 1, 1))
    assert (place / "Dockerfile").read_text() == DOCKERFILE


def test_a_commit_is_held_by_its_value(place: Path) -> None:
    run("triton=532137f", "--why", "the next one fails", "--write")
    (hold,) = read_holds((place / "pins.toml").read_bytes())
    assert (hold.pin, hold.value, hold.requirement, hold.file) == ("triton", "532137f", "", "")


def test_holding_again_replaces_what_was_held(place: Path) -> None:
    run("pybind11<3.1.0", "--why", "one", "--write")
    run("pybind11<3.2", "--why", "two", "--write")
    (hold,) = read_holds((place / "pins.toml").read_bytes())
    assert (hold.requirement, hold.reason) == ("pybind11<3.2", "two")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pybind11<3.1.0",), "--why is needed"),
        (("nothere<3", "--why", "x", "--file", "Dockerfile"), "pins nothing that is called nothere; it pins"),
        (("pybind11", "--why", "x"), "bounds no version"),
        (("pybind11=3.0", "--why", "x", "--file", "Dockerfile"), "hold it as pybind11==3.0"),
        (("triton<3", "--why", "x", "--file", "Dockerfile"), "hold it as triton=VALUE"),
        (("<<<", "--why", "x"), "neither a requirement"),
        (("pybind11<3", "--why", "x", "--file", "none"), "none does not exist"),
        (("pybind11<3", "--why", "x", "--review", "soon"), "is no date such as"),
        (("pybind11<3", "--why", "x", "--review", "2020-01-01"), "has passed"),
    ],
)
def test_what_cannot_be_held_is_refused_with_what_to_do(place: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in run(*arguments, code=2).stderr
    assert not (place / "pins.toml").exists()
