"""`--pin` of a Dockerfile that no ARG carries: the version is put where the pin is written."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bisector.environments.docker.file_inputs import FileInputs
from bisector.file_axes.written_pins import environment_with_written_pins
from bisector.model import Candidate, SmokeScript
from bisector.request import DockerRequest, PinRange, RunRequest

TEXT = """FROM base AS early
RUN pip install spam==1.0 'eggs<3'
FROM base
COPY --from=early /a /a
RUN pip install -U spam ham
"""
NOW = datetime(2026, 8, 1, tzinfo=UTC)


def request(directory: Path, text: str, *pins: str, **docker: object) -> RunRequest:
    path = directory / "Dockerfile"
    path.write_text(text)
    made = DockerRequest(dockerfile=path, index_time=False, **docker)  # type: ignore[arg-type]
    ranges = tuple(PinRange(pin, "1.0", "2.0") for pin in pins)
    return RunRequest(ranges, SmokeScript(directory / "smoke.py"), environment="docker", docker=made)


def written(asked: RunRequest, **values: str) -> str | None:
    made = environment_with_written_pins(asked, tuple(values), NOW, "run")
    if made is None:
        return None
    environment, _ = made
    inputs = environment._inputs
    assert isinstance(inputs, FileInputs)
    [step] = inputs.steps(Candidate(tuple(values.items())), asked.docker.dockerfile.parent / "build")  # type: ignore[union-attr]
    return step.dockerfile.read_text()


def test_the_version_is_put_where_what_ships_is_installed(tmp_path: Path) -> None:
    text = written(request(tmp_path, TEXT, "spam"), spam="2.0")
    assert text == TEXT.replace("-U spam ham", "-U spam==2.0 ham")


def test_a_pin_that_does_not_ship_is_set_all_the_same(tmp_path: Path) -> None:
    assert written(request(tmp_path, TEXT, "eggs"), eggs="2.0") == TEXT.replace("eggs<3", "eggs==2.0")


def test_it_is_said_where_the_pin_is_set_and_where_not(tmp_path: Path) -> None:
    made = environment_with_written_pins(request(tmp_path, TEXT, "spam"), ("spam",), NOW, "run")
    assert made is not None
    environment, _ = made
    assert environment.notes == [
        "spam is set where it is written: line 5 (1)",
        "spam stays as it is where it does not ship: line 2 (early)",
    ]


@pytest.mark.parametrize(
    ("text", "pin"),
    [("FROM base\nARG SPAM_VERSION=1.0\nRUN pip install spam==${SPAM_VERSION}\n", "spam"), (TEXT, "unknown")],
)
def test_arguments_carry_what_they_can_and_an_unknown_pin_is_left_to_be_refused(
    tmp_path: Path, text: str, pin: str
) -> None:
    assert environment_with_written_pins(request(tmp_path, text, pin), (pin,), NOW, "run") is None
