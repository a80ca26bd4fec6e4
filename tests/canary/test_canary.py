"""`bisector canary` in virtual environments, over an index on localhost."""

import contextlib
import json
import shutil
import subprocess
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from bisector.cli import app
from bisector.cli.parameters import Typed
from bisector.request import RunRequest
from tests.local_index import FIRST_UPLOAD, LocalIndex

TOP = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((TOP / "docs/schemas/bisector.canary-1.schema.json").read_text())
AS_OF = FIRST_UPLOAD + timedelta(days=100)
SMOKE = """
import os
import spam, eggs, loose
assert spam.VERSION < {spam}, "spam lost its handle"
assert loose.VERSION < {loose}, "loose came apart"
"""


class Place:
    """A repository with a requirements file, and how a canary is run there."""

    def __init__(self, root: Path, index: LocalIndex) -> None:
        self.root = root
        self.index = index
        self.file = root / "requirements.txt"

    def smoke(self, *, spam: int = 99, loose: int = 99) -> None:
        (self.root / "smoke.py").write_text(SMOKE.format(spam=spam, loose=loose))

    def canary(self, *words: str, code: int) -> dict[str, Any]:
        given = ("canary", "requirements.txt", "--smoke", "./smoke.py", "--index-url", self.index.url, "-q", *words)
        if "--as-of" not in words:
            given += ("--as-of", AS_OF.isoformat())
        with contextlib.chdir(self.root):
            done = CliRunner().invoke(app, [*given, "--format", "json"], obj=Typed(given, ()))
        assert done.exit_code == code, done.stderr or done.exception
        document: dict[str, Any] = json.loads(done.stdout) if code in (0, 1) else {"said": done.stderr}
        if code in (0, 1):
            jsonschema.validate(document, SCHEMA)
        return document


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local_index: LocalIndex) -> Place:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, local_index.url)
    root = tmp_path / "images"
    root.mkdir()
    for number in range(1, 7):
        when = FIRST_UPLOAD + timedelta(days=number * 10)
        needs = ["eggs<3"] if number == 6 else []
        local_index.add("spam", str(number), files={"spam.py": f"VERSION = {number}"}, requires=needs, upload_time=when)
        local_index.add("loose", str(number), files={"loose.py": f"VERSION = {number}"}, upload_time=when)
        local_index.add("eggs", str(number), files={"eggs.py": f"VERSION = {number}"}, upload_time=when)
    place = Place(root, local_index)
    place.file.write_text("spam==2\neggs>=4\nloose  # open\n")
    place.smoke()
    return place


def since(days: int) -> tuple[str, str]:
    return "--since", (FIRST_UPLOAD + timedelta(days=days)).isoformat()


def test_the_newest_that_fits_together_passes(place: Place) -> None:
    before = place.file.read_bytes()
    document = place.canary(*since(45), code=0)
    assert document["ended"] == "passed"
    moved = {move["pin"]: (move["today"], move["newest"]) for move in document["moved"]}
    assert moved["spam"] == ("2", "5")  # 6 needs eggs<3
    assert moved["loose"] == ("4", "6")
    assert "+spam==5" in document["change"]
    assert document["result"]["builds"] == 1
    assert place.file.read_bytes() == before
    assert not (place.root / "pins.toml").exists()


def test_a_later_canary_counts_from_the_one_that_passed(place: Place) -> None:
    place.canary(*since(45), code=0)
    later = place.canary("--as-of", (AS_OF + timedelta(days=1)).isoformat(), code=0)
    assert later["since"].startswith(AS_OF.isoformat()[:10])


def test_a_newest_that_fails_is_searched_and_written_down(place: Place) -> None:
    place.smoke(spam=4)
    document = place.canary(*since(45), "--write", code=1)
    assert document["ended"] == "failed"
    assert document["result"]["culprit"]["old"] == "3"
    assert document["result"]["culprit"]["new"] == "4"
    assert document["known_bad"]["written"] is True
    [fact] = tomllib.loads((place.root / "pins.toml").read_text())["known-bad"]
    assert fact["requirement"] == "spam==4"
    assert fact["reason"] == "AssertionError: spam lost its handle"
    assert document["result"]["run_id"] in fact["found"]
    assert place.file.read_text() == "spam==2\neggs>=4\nloose  # open\n"


def test_what_is_not_pinned_breaks_it_and_is_capped(place: Place) -> None:
    place.smoke(loose=5)
    document = place.canary(*since(45), code=1)
    assert (document["result"]["culprit"]["pin"], document["result"]["culprit"]["new"]) == ("loose", "5")
    [suggestion] = [each for each in document["suggestion"]["suggestions"] if each["pin"] == "loose"]
    assert suggestion["suggested"] == "<5"
    assert not (place.root / "pins.toml").exists()


def test_what_is_known_to_be_broken_is_left_alone_until_there_is_something_newer(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.smoke(loose=5)
    place.canary(*since(45), code=1)
    again = place.canary(*since(45), code=0)
    assert any("loose stays below 5" in note for note in again["notes"])
    assert "loose" not in {move["pin"] for move in again["moved"]}
    assert "spam" in {move["pin"] for move in again["moved"]}
    known = place.root / "pins.toml"
    assert not known.exists()
    place.canary(*since(45), "--write", code=0)  # the run that found it did not write it
    assert 'requirement = "loose==5"' in known.read_text()
    assert 'found = "bisect run ' in known.read_text()
    known.unlink()
    place.index.add("loose", "7", files={"loose.py": "VERSION = 0"}, upload_time=FIRST_UPLOAD + timedelta(days=99))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "later"))  # pages are kept for ten minutes
    mended = place.canary(*since(45), "--as-of", (AS_OF + timedelta(days=9)).isoformat(), code=0)
    assert {move["pin"]: move["newest"] for move in mended["moved"]}["loose"] == "7"


def test_holds_and_known_bad_versions_count_for_what_is_open(place: Place) -> None:
    (place.root / "pins.toml").write_text('[[known-bad]]\nrequirement = "loose==6"\nreason = "it comes apart"\n')
    document = place.canary(*since(45), code=0)
    assert {move["pin"]: move["newest"] for move in document["moved"]}["loose"] == "5"
    assert document["held_back"] == ["loose!=6"]


def test_exact_pins_can_be_chosen(place: Place) -> None:
    document = place.canary(*since(45), "--exclude", "spam", code=0)
    assert "spam" not in {move["pin"] for move in document["moved"]}
    assert "no pin spammy" in place.canary(*since(45), "--only", "spammy", code=2)["said"]


def test_nothing_newer_is_said_without_a_build(place: Place) -> None:
    place.file.write_text("spam==6\neggs==2\n")
    document = place.canary(*since(95), code=0)
    assert document["ended"] == "nothing-new"
    assert document["result"] is None


def test_today_that_fails_as_well_blames_nothing(place: Place) -> None:
    place.smoke(spam=1)
    given = ("canary", "requirements.txt", "--smoke", "./smoke.py", "--index-url", place.index.url, *since(45))
    with contextlib.chdir(place.root):
        done = CliRunner().invoke(app, [*given, "--as-of", AS_OF.isoformat(), "-q"], obj=Typed(given, ()))
    assert done.exit_code == 4
    assert "could not be told" in done.stdout
    assert "The good end fails" in done.stdout


def test_since_when_it_counts_comes_from_the_last_commit(place: Place) -> None:
    assert "--since" in place.canary(code=2)["said"]
    git = ["git", "-C", str(place.root), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    day = (FIRST_UPLOAD + timedelta(days=45)).isoformat()
    environment = {"GIT_COMMITTER_DATE": day, "GIT_AUTHOR_DATE": day, "PATH": "/usr/bin:/bin"}
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "pins"], check=True, env=environment)
    document = place.canary(code=0)
    assert datetime.fromisoformat(document["since"]) == datetime.fromisoformat(day).astimezone(UTC)


def commit(root: Path, day: int) -> datetime:
    """Commit the requirements file, on a day after the first upload."""
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    when = FIRST_UPLOAD + timedelta(days=day)
    environment = {"GIT_COMMITTER_DATE": when.isoformat(), "GIT_AUTHOR_DATE": when.isoformat(), "PATH": "/usr/bin:/bin"}
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "requirements.txt"], check=True)
    subprocess.run([*git, "commit", "-qm", "pins"], check=True, env=environment)
    return when.astimezone(UTC)


def test_a_file_that_was_never_committed_is_told_from_one_outside_any_repository(place: Place) -> None:
    assert "is in no git repository" in place.canary(code=2)["said"]
    subprocess.run(["git", "init", "-q", str(place.root)], check=True)
    assert "is in no commit of its git repository" in place.canary(code=2)["said"]


def test_a_canary_of_an_earlier_day_counts_from_before_it_and_takes_back_nothing(place: Place) -> None:
    changed = commit(place.root, 45)
    place.canary(code=0)
    earlier = place.canary("--as-of", (AS_OF - timedelta(days=10)).isoformat(), code=0)
    assert datetime.fromisoformat(earlier["since"]) == changed  # not from the one that passed later
    later = place.canary("--as-of", (AS_OF + timedelta(days=1)).isoformat(), code=0)
    assert datetime.fromisoformat(later["since"]) == AS_OF
    said = place.canary("--as-of", (changed - timedelta(days=1)).isoformat(), code=2)["said"]
    assert "changed last on" in said


def test_what_an_included_file_pins_is_said_to_stay(place: Place) -> None:
    (place.root / "base.txt").write_text("eggs==4\n")
    place.file.write_text("-r base.txt\nspam==2\nloose\n")
    document = place.canary(*since(45), code=0)
    assert [move["pin"] for move in document["moved"] if move["kind"] == "package"] == ["spam"]
    assert any(note.startswith("eggs stays: pinned in ") and "base.txt" in note for note in document["notes"])
    kept = place.canary(*since(45), "--only", "spam", code=0)
    assert not any("eggs" in note for note in kept["notes"])


def test_a_run_is_taken_up_for_the_file_that_it_was_of(place: Place) -> None:
    run = place.canary(*since(45), code=0)["result"]["run_id"]
    assert place.canary("--run", run, code=0)["ended"] == "passed"
    (place.root / "other.txt").write_text("spam==2\n")
    given = ("canary", "other.txt", "--run", run)
    with contextlib.chdir(place.root):
        done = CliRunner().invoke(app, given, obj=Typed(given, ()))
    assert done.exit_code == 2
    assert "was of another file" in done.stderr


def test_a_dockerfile_without_an_engine_takes_no_build_context(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--env command` builds as the user says: the context is not ours to add."""
    from bisector import session
    from bisector.file_axes.errors import NothingDiffersError

    seen = []

    def kept(request: RunRequest, **_: object) -> None:
        seen.append(request)
        raise NothingDiffersError("nothing")

    monkeypatch.setattr(session, "bisect", kept)
    (place.root / "Dockerfile").write_text("FROM scratch\nARG SPAM_VERSION=2\nRUN pip install spam==$SPAM_VERSION\n")
    given = ("canary", "Dockerfile", "--smoke", "./smoke.py", "--index-url", place.index.url, "-q", *since(45))
    with contextlib.chdir(place.root):
        done = CliRunner().invoke(app, [*given, "--env", "command", "--build-command", "true"], obj=Typed(given, ()))
    assert done.exit_code == 0, done.stderr
    assert seen[0].docker.context is None


def test_an_interruption_says_how_to_come_to_the_report(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from bisector import session

    def interrupted(*_: object, **__: object) -> None:
        raise session.InterruptedRunError(Path("/state/a run"))

    monkeypatch.setattr(session, "bisect", interrupted)
    given = ("canary", "requirements.txt", "--smoke", "./smoke.py", "--index-url", place.index.url, "-q", *since(45))
    with contextlib.chdir(place.root):
        done = CliRunner().invoke(app, given, obj=Typed(given, ()))
    assert done.exit_code == 130
    assert (
        "bisector resume '/state/a run', then: bisector canary --run '/state/a run' -- requirements.txt" in done.stderr
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--since", "2026-13-01"), "--since"),
        (("--since", "2031-01-01"), "before"),
        (("--tip", "spam"), "no git pin"),
        (("--run", "nothing"), "nothing"),
        (("--only", "spam", "--exclude", "eggs"), "either"),
    ],
)
def test_mistakes_are_said_before_anything_is_built(place: Place, words: tuple[str, ...], said: str) -> None:
    given = words if "--since" in words else (*words, *since(45))
    assert said in place.canary(*given, code=2)["said"]


def test_the_patch_of_a_file_that_a_link_leads_to_names_the_file(place: Place) -> None:
    subprocess.run(["git", "init", "-q", str(place.root)], check=True)
    (place.root / "shared").mkdir()
    place.file.rename(place.root / "shared/pins.txt")
    place.file.symlink_to("shared/pins.txt")
    change = place.canary(*since(45), code=0)["change"]
    assert "+++ b/shared/pins.txt" in change
    done = subprocess.run(
        ["git", "-C", str(place.root), "apply", "-"], input=change, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert place.file.is_symlink()
    assert "spam==2" not in place.file.read_text()
