"""`pins drift` and `pins ack` as a person or a workflow runs them."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from pins.cli import app
from pins.drift.table import RULES
from tests.drift.github_server import GitHubServer
from tests.drift.month.sources import Repository
from tests.local_index import LocalIndex

TOP = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((TOP / "docs/schemas/pins.drift-1.schema.json").read_text())
LONG_AGO = datetime.now(UTC) - timedelta(days=60)


class Place:
    """A repository with one capped requirement, and the index that it is for."""

    def __init__(self, room: Path, index: LocalIndex) -> None:
        self.room, self.index = room, index
        self.project = Repository(room / "project")
        index.add("cmake", "3.31.0", upload_time=LONG_AGO)
        self.project.commit(LONG_AGO, "begin", {"docker/requirements.txt": "cmake<4\n"})
        self.variables = {
            "XDG_STATE_HOME": str(room / "state"),
            "XDG_CACHE_HOME": str(room / "cache"),
            "UV_DEFAULT_INDEX": index.url,
            "NO_COLOR": "1",
            "PINS_WEBHOOK": "",
        }

    def run(self, command: str, *arguments: str, code: int | None = None, **variables: str) -> Result:
        done = CliRunner(env={**self.variables, **variables}).invoke(app, [command, *arguments])
        if code is not None:
            assert done.exit_code == code, done.stderr + done.stdout
        return done

    def release(self) -> None:
        """What a person should hear of."""
        self.index.add("cmake", "4.0.0", upload_time=LONG_AGO + timedelta(days=50))


@pytest.fixture
def place(tmp_path: Path, local_index: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place(tmp_path, local_index)
    monkeypatch.chdir(place.project.path)
    return place


def test_exit_codes_say_whether_something_is_new(place: Place) -> None:
    assert "nothing has moved; 1 pin in 1 file" in place.run("drift", "docker", code=0).stdout
    place.release()
    done = place.run("drift", "docker", code=1)
    assert "new  note  [capped]  docker/requirements.txt:1: cmake" in done.stdout
    assert done.stderr == "Checking 1 pin in 1 file.\n"
    assert "1 open" in place.run("drift", "docker", "-q", code=0).stdout
    place.index.fail_with(403)
    done = place.run("drift", "docker", code=3)
    assert "1 open, " in done.stdout
    assert "Last complete check: 20" in done.stdout
    place.index.recover()
    place.project.commit(LONG_AGO, "lift", {"docker/requirements.txt": "cmake<5\n"})
    assert "1 resolved" in place.run("drift", "docker", code=0).stdout
    assert place.run("drift", "docker", code=0).stdout.startswith("nothing has moved")


@pytest.mark.parametrize("form", ["text", "md", "html", "json", "sarif", "github"])
def test_each_form_goes_into_a_file(place: Place, form: str) -> None:
    place.release()
    done = place.run("drift", "docker", "--format", form, "--output", "out", code=1)
    assert done.stdout == ""
    text = Path("out").read_text()
    assert "cmake" in text
    if form == "json":
        jsonschema.validate(json.loads(text), SCHEMA, jsonschema.Draft202012Validator)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_what_could_not_be_written_is_new_again(place: Place) -> None:
    place.release()
    done = place.run("drift", "docker", "--output", "/dev/full", code=6)
    assert "the report cannot be written: No space left on device" in done.stderr
    assert "1 new" in place.run("drift", "docker", code=1).stdout


def test_rules_are_listed_and_chosen(place: Place) -> None:
    listed = place.run("drift", "--rules", code=0).stdout
    assert [line.split()[0] for line in listed.splitlines()] == [rule.id for rule in RULES]
    place.release()
    assert "1 new" in place.run("drift", "docker", "--select", "capped", code=1).stdout
    done = place.run("drift", "docker", "--ignore", "capped", code=0)
    assert "capped was not checked this time" in done.stdout
    assert "there is no such rule" in place.run("drift", "docker", "--select", "nothing", code=2).stderr
    assert "leave no rule" in place.run("drift", "docker", "--select", "cap", "--ignore", "capped", code=2).stderr


def test_a_replay_sees_what_the_index_offered_then_and_remembers_nothing(place: Place) -> None:
    place.release()
    before = (LONG_AGO + timedelta(days=49)).date().isoformat()
    after = (LONG_AGO + timedelta(days=51)).date().isoformat()
    assert "nothing has moved" in place.run("drift", "docker", "--as-of", before, code=0).stdout
    for _ in range(2):
        assert "1 new" in place.run("drift", "docker", "--as-of", after, code=1).stdout
    assert not (place.room / "state").exists()
    for code in (1, 0):
        place.run("drift", "docker", "--as-of", after, "--state", f"file:{place.room}/replay.json", code=code)


def test_an_older_revision_can_be_checked(place: Place) -> None:
    place.release()
    place.project.commit(LONG_AGO, "lift", {"docker/requirements.txt": "cmake<5\n"})
    place.run("drift", "docker", code=0)
    assert "1 new" in place.run("drift", "docker", "--rev", "HEAD~1", "--state", "file:../other.json", code=1).stdout


def test_offline_uses_what_is_kept_and_says_what_is_not(place: Place) -> None:
    done = place.run("drift", "docker", "--offline", code=3)
    assert "--offline forbids" in " ".join(done.stdout.split())
    place.release()
    place.run("drift", "docker", code=1)
    asked = len(place.index.requests)
    assert "1 open" in place.run("drift", "docker", "--offline", code=0).stdout
    assert len(place.index.requests) == asked


def test_an_index_is_asked_whether_something_changed_and_not_for_everything(place: Place) -> None:
    place.run("drift", "docker", code=0)
    asked = len(place.index.requests)
    place.run("drift", "docker", code=0)
    assert [(seen.path, seen.status) for seen in place.index.requests[asked:]] == [("/simple/cmake/", 304)]


def test_what_is_remembered_follows_its_schema(place: Place) -> None:
    place.release()
    schema = json.loads((TOP / "docs/schemas/pins.drift-state-1.schema.json").read_text())
    place.project.commit(LONG_AGO, "more", {"requirements.txt": "ninja==1.0\n"})
    place.index.add("ninja", "1.0", upload_time=LONG_AGO)
    for _ in range(2):
        place.run("drift", ".", "--state", f"file:{place.room}/state.json")
        document = json.loads((place.room / "state.json").read_text())
        jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
        assert len(document["findings"]) == 1
        assert document["memory"]


def test_state_is_kept_in_a_branch_and_pushed(place: Place) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(place.room / "remote")], check=True)
    place.project.git("remote", "add", "origin", str(place.room / "remote"))
    place.release()
    for code in (1, 0):
        place.run("drift", "docker", "--state", "git:pins-drift", "--push", "origin", code=code)
    subjects = subprocess.run(
        ["git", "-C", str(place.room / "remote"), "log", "--format=%s", "pins-drift"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert [line.partition(": ")[2] for line in subjects] == [
        "0 new, 1 open, 0 acked, 0 resolved",
        "1 new, 0 open, 0 acked, 0 resolved",
    ]
    assert not (place.room / "state").exists()


def test_an_issue_is_kept_up_to_date(place: Place) -> None:
    place.release()
    with GitHubServer() as github:
        place.run("drift", "docker", "--github-issue", "o/r", code=1, **github.environment)
        place.run("drift", "docker", "--github-issue", "o/r", code=0, **github.environment)
        assert "cmake" in github.issues[1]["body"]
        assert [seen.method for seen in github.asked if seen.method != "GET"] == ["POST", "PATCH"]


def test_what_an_issue_could_not_be_told_is_shown_and_new_again(place: Place) -> None:
    place.release()
    with GitHubServer() as github:
        wrong = {**github.environment, "GITHUB_TOKEN": "s3cret"}
        done = place.run("drift", "docker", "--github-issue", "o/r", code=6, **wrong)
        assert "1 new" in done.stdout
        assert "GitHub's o/r could not be told: it answered 401" in done.stderr
        assert "s3cret" not in done.stderr + done.stdout
        place.run("drift", "docker", "--github-issue", "o/r", code=1, **github.environment)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give a FILE or a directory"),
        (("gone",), "does not exist"),
        (("docker", "--format", "xml"), "--format 'xml'"),
        (("docker", "-q", "-v"), "exclude one another"),
        (("docker", "--every", "6h", "--as-of", "2026-01-01"), "leave one of them out"),
        (("docker", "--every", "often"), "must be a number and a unit"),
        (("docker", "--as-of", "yesterday"), "--as-of 'yesterday' is neither"),
        (("docker", "--built", "yesterday"), "--built 'yesterday' is neither"),
        (("docker", "--state", "here"), "must be file:PATH or git:BRANCH"),
        (("docker", "--push", "origin"), "--push goes with"),
        (("docker", "--as-of", "2026-01-01", "--push", "origin"), "--push goes with"),
        (("docker", "--webhook", "nowhere"), "--webhook must be an address"),
        (("docker", "--output", "gone/out"), "there is no directory"),
    ],
)
def test_wrong_options_are_said(place: Place, arguments: tuple[str, ...], said: str) -> None:
    done = place.run("drift", *arguments, code=2)
    assert said in done.stderr
    assert not (place.room / "state").exists()


def test_two_checks_of_one_state_do_not_run_together(place: Place) -> None:
    from pins.drift.state.file_store import FileStore

    with FileStore(place.room / "state.json").held():
        done = place.run("drift", "docker", "--state", f"file:{place.room}/state.json", code=6)
    assert "another check holds" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_loop_checks_again_and_ends_when_it_is_asked_to(place: Place, number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "pins", "drift", "docker", "--every", "1s"]
    variables = {**os.environ, **place.variables, "PYTHONPATH": str(TOP), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables, text=True) as loop:
        try:
            assert loop.stdout is not None
            heads: list[str] = []
            while len(heads) < 2:  # two reports: it has begun again
                line = loop.stdout.readline()
                assert line, loop.stderr.read() if loop.stderr else ""
                if line.startswith("nothing has moved"):
                    heads.append(line)
            loop.send_signal(number)
            _, said = loop.communicate(timeout=30)
        finally:
            loop.kill()
    assert loop.returncode == code
    assert "The next check is due in 1 s." in said
    assert "Traceback" not in said
    place.run("drift", "docker", code=0)  # the lock is free, and the state whole


def test_a_hanging_source_does_not_keep_a_loop_from_ending(place: Place) -> None:
    place.index.delay(60)
    command = [sys.executable, "-m", "pins", "drift", "docker", "--every", "1h"]
    variables = {**os.environ, **place.variables, "PYTHONPATH": str(TOP)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables, text=True) as loop:
        try:
            assert loop.stderr is not None
            assert "Checking 1 pin in 1 file.\n" in iter(loop.stderr.readline, "")  # or first that it still works
            assert place.index.delayed.wait(30)
            loop.terminate()
            loop.communicate(timeout=10)
        finally:
            loop.kill()  # does nothing to what has ended
    assert loop.returncode == 143


def test_a_finding_is_acknowledged_in_pins_toml(place: Place) -> None:
    place.release()
    found = json.loads(place.run("drift", "docker", "--format", "json", code=1).stdout)["findings"][0]
    day = (datetime.now(UTC).date() + timedelta(days=9)).isoformat()
    shown = place.run("ack", found["id"][:6], "--why", 'waits for "AITER"', "--until", day, code=0)
    assert '+why = "waits for \\"AITER\\""' in shown.stdout
    assert not Path("pins.toml").exists()
    Path("pins.toml").write_text("# ours\n[inferred]\noff = []\n")
    place.run("ack", found["id"][:6], "--why", "waits", "--until", day, "--write", code=0)
    text = Path("pins.toml").read_text()
    assert text.startswith("# ours\n[inferred]\noff = []\n\n[[ack]]\n")
    assert "capped: cmake of docker/requirements.txt" in text
    done = place.run("drift", "docker", code=0)
    assert f"acknowledged until {day}: waits" in done.stdout
    place.run("ack", found["id"], "--why", "for good", "--write", code=0)
    (ack,) = tomllib.loads(Path("pins.toml").read_text())["ack"]
    assert ack["why"] == "for good"
    assert "until" not in ack


def test_an_acknowledgement_can_be_written_from_elsewhere(place: Place) -> None:
    done = place.run("ack", "0123456789ab", "--why", "said so in the issue", "--write", code=0)
    assert "is not among what is remembered here" in done.stderr
    assert 'id = "0123456789ab"' in Path("pins.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("0123456789ab",), "--why is needed"),
        (("x", "--why", "y"), "is no finding"),
        (("0123", "--why", "y"), "no finding that is remembered here begins with 0123"),
        (("0123456789ab", "--why", "y", "--until", "soon"), "is no date"),
        (("0123456789ab", "--why", "y", "--until", "2020-01-01"), "has passed"),
    ],
)
def test_a_wrong_acknowledgement_is_refused(place: Place, arguments: tuple[str, ...], said: str) -> None:
    assert said in place.run("ack", *arguments, "--write", code=2).stderr
    assert not Path("pins.toml").exists()
