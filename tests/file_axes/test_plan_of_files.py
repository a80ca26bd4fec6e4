"""`bisector run --plan` and what is refused, from the command line, over files."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bisector.cli import main
from tests.file_axes.small_repository import SmallRepository
from tests.local_index import LocalIndex

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "bisector.plan-1.schema.json").read_text())
TEXT = "FROM base AS one\nRUN pip install spam=={spam} ham\nFROM one AS final\nENV SPEED={speed}\n"


@pytest.fixture(scope="module")
def index() -> Iterator[LocalIndex]:
    with LocalIndex() as made:
        for number in range(1, 9):
            made.add("spam", f"{number}.0", upload_time=datetime(2026, 1, number, tzinfo=UTC))
            made.add("ham", f"{number}.0", upload_time=datetime(2026, 1, number, tzinfo=UTC))
        yield made


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> SmallRepository:
    made = SmallRepository(tmp_path_factory.mktemp("module") / "repository")
    made.commit(TEXT.format(spam="1.0", speed="slow"), "First")
    made.commit(TEXT.format(spam="1.0", speed="fast"), "Be fast")
    made.commit(TEXT.format(spam="8.0", speed="fast"), "Bump spam")
    return made


def bisector(directory: Path, index: LocalIndex, *words: str) -> subprocess.CompletedProcess[str]:
    variables = {
        **os.environ,
        "XDG_STATE_HOME": str(directory / "state"),
        "XDG_CACHE_HOME": str(directory / "cache"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    command = [sys.executable, "-m", "bisector", "run", "--index-url", index.url, *words]
    return subprocess.run(command, cwd=directory, env=variables, capture_output=True, text=True, check=False)


def test_a_plan_over_revisions_needs_neither_script_nor_engine(
    repository: SmallRepository, index: LocalIndex, tmp_path: Path
) -> None:
    ends = ("--good", repository.revisions[0], "--bad", "HEAD")
    words = ("--dockerfile", str(repository.dockerfile), *ends, "--plan")
    ran = bisector(tmp_path, index, *words, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    plan = json.loads(ran.stdout)
    Draft202012Validator(SCHEMA).validate(plan)
    assert [(axis["pin"], axis["kind"], axis["length"]) for axis in plan["axes"]] == [
        ("text", "text", 2),
        ("spam", "package", 8),
    ]
    assert plan["chain_length"] == 9
    shown = bisector(tmp_path, index, *words).stdout
    assert "Be fast" in shown
    assert "spam (package): 1.0 (good) to 8.0 (bad), 7 steps" in shown


def test_a_plan_over_dates_names_what_floats(repository: SmallRepository, index: LocalIndex, tmp_path: Path) -> None:
    dates = ("--good-date", "2026-01-03", "--bad-date", "2026-01-06")
    ran = bisector(tmp_path, index, "--dockerfile", str(repository.dockerfile), *dates, "--plan", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    axes = {axis["pin"]: axis["values"] for axis in json.loads(ran.stdout)["axes"]}
    assert axes == {
        "index": ["2026-01-03", "2026-01-04", "2026-01-05", "2026-01-06"],
        "ham": ["2.0", "3.0", "4.0", "5.0"],
    }


@pytest.mark.slow
def test_requirements_at_two_dates_are_axes_direct_and_transitive(index: LocalIndex, tmp_path: Path) -> None:
    for number in range(1, 9):
        day = datetime(2026, 1, number, tzinfo=UTC)
        index.add("dish", f"{number}.0", requires=["sauce"], upload_time=day, files={"dish.py": "import sauce\n"})
        index.add("sauce", f"{number}.0", upload_time=day, files={"sauce.py": f"HEAT = {number}\n"})
    (tmp_path / "requirements.txt").write_text("dish\nspam==2.0\n")
    (tmp_path / "smoke.py").write_text("import dish, sauce\nassert sauce.HEAT < 5, 'too hot'\n")
    words = ("--requirements", "requirements.txt", "--good-date", "2026-01-04", "--bad-date", "2026-01-08")
    plan = json.loads(bisector(tmp_path, index, *words, "--plan", "--format", "json").stdout)
    assert {axis["pin"]: axis["kind"] for axis in plan["axes"]} == {"dish": "float", "sauce": "float"}
    ran = bisector(tmp_path, index, *words, "--smoke", "smoke.py", "--repeat", "1", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    culprit = json.loads(ran.stdout)["culprit"]
    assert (culprit["pin"], culprit["old"], culprit["new"], culprit["kind"]) == ("sauce", "4.0", "5.0", "float")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--good", "HEAD"), "--good without --bad"),
        (("--good", "HEAD", "--bad", "HEAD"), "name it with --dockerfile"),
        (("--dockerfile", "Dockerfile", "--good", "nowhere", "--bad", "HEAD"), "no revision 'nowhere'"),
        (("--dockerfile", "Dockerfile", "--good", "HEAD", "--bad", "HEAD"), "says the same at both ends"),
        (("--good-date", "2026-02-01", "--bad-date", "2026-01-01"), "is not before"),
        (("--good-date", "2026-01-01", "--bad-date", "2026-02-01"), "of what?"),
        (("--only", "spam", "--pin", "spam=1..2"), "ends are read from files"),
        (
            ("--dockerfile", "Dockerfile", "--good", "HEAD~1", "--bad", "HEAD", "--pin", "spam=1..2"),
            "--pin beside ends",
        ),
        (("--dockerfile", "Dockerfile", "--good", "HEAD~2", "--bad", "HEAD", "--fix", "nope=1"), "--fix nope"),
        (("--dockerfile", "Dockerfile", "--good", "HEAD~2", "--bad", "HEAD", "--chain", "x"), "FILE:TARGET=ARG"),
        (("--dockerfile", "no", "--good", "HEAD~2", "--bad", "HEAD"), "does not exist at "),
    ],
)
def test_what_makes_no_sense_is_refused(
    repository: SmallRepository,
    index: LocalIndex,
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(repository.path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["bisector", "run", "--index-url", index.url, *words, "--plan"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_two_files_are_named_by_their_digests_for_whoever_repeats_the_run(index: LocalIndex, tmp_path: Path) -> None:
    digests = {}
    for name, version in (("old.txt", "3.0"), ("new.txt", "6.0")):
        (tmp_path / name).write_text(f"spam=={version}\n")
        digests[name] = hashlib.sha256(f"spam=={version}\n".encode()).hexdigest()
    (tmp_path / "smoke.sh").write_text('#!/bin/sh\n[ "${PIN_SPAM%.0}" -lt 5 ]\n')
    (tmp_path / "smoke.sh").chmod(0o755)
    words = ("--good-file", "old.txt", "--bad-file", "new.txt", "--smoke", "./smoke.sh", "--repeat", "1")
    ran = bisector(tmp_path, index, *words)
    assert ran.returncode == 0, ran.stderr
    assert f"--good-file was SHA-256 {digests['old.txt'][:16]}" in " ".join(ran.stdout.split())
    assert f"--bad-file was SHA-256 {digests['new.txt'][:16]}" in " ".join(ran.stdout.split())


@pytest.mark.slow
def test_revisions_of_requirements_come_out_as_commits(index: LocalIndex, tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    for number in (3, 6):
        repository.commit("FROM scratch\n", f"Spam {number}", requirements__txt=f"spam=={number}.0\n")
    (tmp_path / "smoke.sh").write_text('#!/bin/sh\n[ "${PIN_SPAM%.0}" -lt 5 ]\n')
    (tmp_path / "smoke.sh").chmod(0o755)
    file = str(repository.path / "requirements.txt")
    words = ("--requirements", file, "--good", "HEAD~1", "--bad", "main", "--smoke", "./smoke.sh", "--repeat", "1")
    ran = bisector(tmp_path, index, *words, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    again = shlex.split(json.loads(ran.stdout)["reproduce"])
    assert again[again.index("--good") + 1] == repository.revisions[0]
    assert again[again.index("--bad") + 1] == repository.revisions[1]
