"""`pins windows` and `pins why` as they are typed, against an index on localhost."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.local_index import LocalIndex

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def index() -> Iterator[LocalIndex]:
    with LocalIndex() as index:
        index.add("spam", "1.0", requires=["eggs<2"])
        index.add("spam", "2.0", requires=["eggs>=2"])
        index.add("spam", "3.0", requires=["eggs>=3", "ham[tasty]"])
        for version in ("1.0", "2.0", "3.0", "4.0"):
            index.add("eggs", version)
        index.add("eggs", "5.0rc1")
        index.add("ham", "1.0", requires=["eggs<4; extra == 'tasty'"])
        index.add("loaf", "1.0", requires_python=">=3.99")
        yield index


def pins(index: LocalIndex, cache: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "pins", *arguments, "--index-url", index.url, "--python", "3.12"],
        cwd=cache,
        env={**os.environ, "PYTHONPATH": str(TOP), "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )


def document(index: LocalIndex, cache: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = pins(index, cache, *arguments, "--format", "json")
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    schema = TOP / f"docs/schemas/{found['schema'].replace('/', '-')}.schema.json"
    jsonschema.validate(found, json.loads(schema.read_text()))
    return found


def test_windows_come_with_their_bounds_and_pairs(index: LocalIndex, tmp_path: Path) -> None:
    found = document(index, tmp_path, "windows", "--require", "spam>=2", "--require", "eggs")
    spam, eggs = found["packages"]
    assert (spam["name"], spam["window"], spam["versions"]) == ("spam", ">=2.0", ["2.0", "3.0"])
    assert (eggs["window"], eggs["newest"], eggs["suggested"]) == (">=2.0", "4.0", "4.0")
    assert eggs["bounds"][0]["because"][0]["requirement"] == "spam>=2"
    assert {pair["name"] for pair in found["exclusions"]} <= {"spam", "eggs"}
    assert found["exclusions"]


def test_exact_pins_are_answered_with_how_to_ask_without_them(index: LocalIndex, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM acme/os:9\nARG EGGS=2.0\nRUN pip install spam==3.0 eggs==3.0 ham\n")
    shown = pins(index, tmp_path, "windows", "Dockerfile", "--format", "text").stdout
    assert "What else would fit: pins windows --require eggs." in " ".join(shown.split())
    (tmp_path / "Dockerfile").write_text("FROM acme/os:9\nRUN pip install 'spam>=2' ham\n")
    assert "exact pin" not in pins(index, tmp_path, "windows", "Dockerfile").stdout


def test_given_one_version_the_windows_of_the_others_become_smaller(index: LocalIndex, tmp_path: Path) -> None:
    asked = ["windows", "--require", "spam", "--require", "eggs", "--given", "spam=3.0"]
    spam, eggs = document(index, tmp_path, *asked)["packages"]
    assert spam["versions"] == ["3.0"]
    assert eggs["versions"] == ["3.0"]


def test_pre_releases_count_where_they_are_asked_for(index: LocalIndex, tmp_path: Path) -> None:
    [eggs] = document(index, tmp_path, "windows", "--require", "eggs", "--prerelease", "eggs")["packages"]
    assert eggs["newest"] == "5.0rc1"
    [eggs] = document(index, tmp_path, "windows", "--require", "eggs>=5.0rc1")["packages"]
    assert eggs["versions"] == ["5.0rc1"]


def test_where_the_other_installer_sees_it_differently_a_sentence_says_so() -> None:
    from pins.resolve.other_installer import differences
    from pins.resolve.windows import windows_of
    from tests.resolve.memory_source import MemorySource, problem

    source = MemorySource().add("eggs", "1.0").add("eggs", "1.5", yanked=True)
    source.add("spam", "1.0").add("spam", "2.0", ["eggs==1.5"]).add("spam", "3.0", ["eggs>2"])
    asked = problem("spam")
    assert differences(asked, source, windows_of(asked, source)) == (
        "By the rules of pip the window of spam is 1.0 and 2.0.",
    )
    asked = problem("spam<2")
    assert differences(asked, source, windows_of(asked, source)) == ()


def test_a_comparison_that_takes_much_reading_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from pins.resolve import other_installer
    from pins.resolve.windows import windows_of
    from tests.resolve.memory_source import MemorySource, problem

    source = MemorySource().add("eggs", "1.0").add("eggs", "1.5", yanked=True)
    source.add("spam", "1.0").add("spam", "2.0", ["eggs==1.5"]).add("spam", "3.0", ["eggs>2"])
    asked = problem("spam")
    monkeypatch.setattr(other_installer, "_MOST_READ", 0)
    assert "was not worked out" in other_installer.differences(asked, source, windows_of(asked, source))[0]


def test_what_cannot_fit_ends_with_5_and_a_short_explanation(index: LocalIndex, tmp_path: Path) -> None:
    found = document(index, tmp_path, "windows", "--require", "spam==3.0", "--require", "eggs>=4", code=5)
    [reason] = found["unresolved"]
    assert not found["packages"]
    assert len(reason["sentences"]) <= 4
    assert any("ham" in sentence for sentence in reason["sentences"])
    done = pins(index, tmp_path, "windows", "--require", "spam==3.0", "--require", "eggs>=4")
    assert done.returncode == 5
    assert "No set of versions fits" in done.stdout


def test_why_names_the_facts_and_what_would_have_to_give_way(index: LocalIndex, tmp_path: Path) -> None:
    found = document(index, tmp_path, "why", "eggs==1.0", "--require", "spam>=2", code=5)
    [answer] = found["answers"]
    assert answer["fits"] is False
    assert [[one["requirement"] for one in some] for some in answer["relaxations"]] == [["spam>=2"]]
    assert answer["relaxations"][0][0]["instead"] == "spam 1.0"
    assert document(index, tmp_path, "why", "eggs==2.0", "--require", "spam")["answers"][0]["fits"] is True


def test_a_package_that_nothing_can_install_here_says_why(index: LocalIndex, tmp_path: Path) -> None:
    found = document(index, tmp_path, "windows", "--require", "loaf", code=5)
    assert ">=3.99" in " ".join(found["unresolved"][0]["sentences"])


@pytest.mark.parametrize("output_format", ["text", "md", "html"])
def test_every_form_names_the_windows(index: LocalIndex, tmp_path: Path, output_format: str) -> None:
    done = pins(index, tmp_path, "windows", "--require", "spam>=2", "--format", output_format)
    assert done.returncode == 0
    assert "spam" in done.stdout
    assert "2.0" in done.stdout
    assert all(line.startswith(("reading: ", "still working")) for line in done.stderr.splitlines())


def test_constraints_bound_what_is_chosen_and_are_named_with_their_lines(index: LocalIndex, tmp_path: Path) -> None:
    (tmp_path / "constraints.txt").write_text("# why\neggs<4\n")
    asked = ["windows", "--require", "eggs", "--constraint", "constraints.txt"]
    [eggs] = document(index, tmp_path, *asked)["packages"]
    assert eggs["window"] == "<4.0"
    assert eggs["bounds"][0]["because"][0]["origin"] == "constraints.txt:2"


@pytest.mark.parametrize(
    "mistake",
    [
        ["windows"],
        ["windows", "--require", "=="],
        ["windows", "--require", "eggs", "--given", "eggs"],
        ["windows", "--require", "eggs", "--installer", "poetry"],
        ["windows", "--require", "eggs", "--exclude-newer", "yesterday"],
        ["windows", "--require", "eggs", "--constraint", "none.txt"],
        ["windows", "none.Dockerfile"],
        ["windows", "--require", "no-such-package"],
        ["windows", "--require", "eggs", "--package", "no-such-package"],
        ["why", "eggs==9.0", "--require", "spam"],
        ["why", "nothing-here", "--require", "spam"],
    ],
)
def test_mistakes_end_with_2_and_a_message(index: LocalIndex, tmp_path: Path, mistake: list[str]) -> None:
    done = pins(index, tmp_path, *mistake)
    assert done.returncode == 2, done.stdout
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_index_that_is_not_there_ends_with_6(index: LocalIndex, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pins", "windows", "--require", "eggs", "--index-url", "http://127.0.0.1:9/simple"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TOP), "XDG_CACHE_HOME": str(tmp_path), "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 6
    assert "127.0.0.1:9" in done.stderr


def test_a_requirements_file_is_solved_with_its_lines_as_reasons(index: LocalIndex, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("spam==2.0\neggs<4  # for now\n")
    found = document(index, tmp_path, "windows", "requirements.txt")
    spam, eggs = found["packages"]
    assert (spam["current"], spam["versions"]) == ("2.0", ["2.0"])
    assert eggs["versions"] == ["2.0", "3.0"]
    upper = next(bound for bound in eggs["bounds"] if bound["side"] == "upper")
    assert [one["origin"] for one in upper["because"]] == ["requirements.txt:2"]


def test_stages_of_a_dockerfile_are_solved_apart_and_those_that_add_nothing_told_once(
    index: LocalIndex, tmp_path: Path
) -> None:
    (tmp_path / "Dockerfile").write_text(
        "FROM python:3.12 AS base\nRUN pip install 'eggs<3'\n"
        "FROM base AS same\nRUN touch /x\n"
        "FROM base AS final\nRUN pip install 'spam>=2'\n"
    )
    found = document(index, tmp_path, "windows", "Dockerfile")
    windows = {(one["environment"], one["name"]): one["versions"] for one in found["packages"]}
    assert windows["stage base", "eggs"] == ["1.0", "2.0"]
    assert windows["stage final", "eggs"] == ["2.0"]
    assert windows["stage final", "spam"] == ["2.0"]
    assert found["environments"][0]["also"] in ([], ["stage same"])


def test_a_known_bad_version_is_outside_until_it_is_ignored(index: LocalIndex, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("eggs\n")
    (tmp_path / "pins.toml").write_text(
        '[[known-bad]]\nrequirement = "eggs==4.0"\nreason = "crashes"\nfound = "bisect run 7"\n'
    )
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    found = document(index, tmp_path, "windows", "requirements.txt")
    ignoring = document(index, tmp_path, "windows", "requirements.txt", "--ignore-known-bad")
    assert found["packages"][0]["suggested"] == "3.0"
    assert found["packages"][0]["bounds"][0]["because"][0]["kind"] == "known-bad"
    assert ignoring["packages"][0]["suggested"] == "4.0"


def test_a_sign_of_life_says_how_far_reading_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    from pins import sign_of_life
    from pins.reading_progress import counted
    from tests.resolve.memory_source import MemorySource

    said: list[str] = []
    beaten = Event()

    def write(text: str) -> None:
        said.append(text)
        beaten.set()

    monkeypatch.setattr(sign_of_life, "_write", write)
    memory = MemorySource().add("spam", "1.0")
    with sign_of_life.sign_of_life("working", first=0.01, every=0.01), counted(memory) as source:
        source.choices(["spam"])
        source.requires([("spam", "1.0")])
        beaten.clear()
        assert beaten.wait(30)
    assert said[-1].startswith("reading: 1 releases, 1 packages so far (")


def test_what_is_not_counted_stands_beside_each_window_that_it_could_make_smaller(
    index: LocalIndex, tmp_path: Path
) -> None:
    (tmp_path / "Dockerfile").write_text(
        "FROM python:3.12 AS base\nRUN pip install 'eggs<3'\n"
        "FROM python:3.12\nARG SPAM_COMMIT=0123abc\n"
        "RUN git clone https://git.example/spam.git && cd spam && git checkout ${SPAM_COMMIT} && pip install .\n"
        "RUN pip install 'eggs<4' /opt/somewhere\n"
        "COPY --from=base /x /x\n"
    )
    found = document(index, tmp_path, "windows", "Dockerfile")
    complete = {(one["environment"], one["name"]): one["complete"] for one in found["packages"]}
    assert complete == {("stage base", "eggs"): True, ("stage 1", "eggs"): False}
    not_counted = " ".join(next(one for one in found["environments"] if one["name"] == "stage 1")["not_counted"])
    assert "give --repo" in not_counted
    assert "/opt/somewhere" in not_counted
    text = pins(index, tmp_path, "windows", "Dockerfile").stdout
    assert [line.split() for line in text.splitlines() if "eggs  " in line] == [
        ["eggs", "-", "<3.0", "2.0", "4.0"],
        ["eggs", "-", "at", "most", "<4.0", "3.0", "4.0"],
    ]
    why = pins(index, tmp_path, "why", "eggs==2.0", "Dockerfile")
    assert why.stdout.startswith("eggs==2.0 fits, as far as is known")
    assert "/opt/somewhere" in why.stdout


def test_what_commits_are_and_what_is_remarkable_in_their_requirements_is_told() -> None:
    from packaging.version import Version

    from pins.report.windows_model import EnvironmentWindows, WindowsReport
    from pins.report.windows_report import windows_report
    from pins.resolve.bounds import package_windows
    from pins.resolve.problem import Choice, Choices, Requires
    from pins.resolve.windows import windows_of
    from tests.resolve.memory_source import MemorySource, problem

    commits = tuple(Choice(f"{i}..{i + 1}", Version("1.0"), detail=f"{i} commits") for i in range(3, 15))
    note = "two files differ; the first counts"
    source = MemorySource(
        {"tree": Choices(commits), "spam": Choices((Choice("1.0", Version("1.0")), Choice("2.0", Version("2.0"))))},
        {("spam", "1.0"): Requires(note=note), ("spam", "2.0"): Requires(note=note)},
    )
    found = package_windows(windows_of(problem("tree", "spam"), source))
    assert found[0].described[0] == ("3..4", "3 commits")
    assert found[1].notes == (f"spam 2.0, 1.0: {note}",)
    report = WindowsReport((EnvironmentWindows("", "", "uv", possible=True, packages=found),))
    titles = {section.title: str(section) for section in windows_report(report).sections}
    assert "14 commits" in titles["Commits inside"]
    assert "4 more ranges" in titles["Commits inside"]
    assert note in titles["Worth knowing"]


def test_a_platform_may_be_named_as_wheels_name_it() -> None:
    from packaging.tags import Tag

    from pins.windows_request import WindowsRequest, target_for

    target = target_for(WindowsRequest(python="3.12", platform="manylinux_2_39_x86_64"))
    assert Tag("cp312", "cp312", "manylinux_2_39_x86_64") in target.tags
    assert Tag("cp312", "cp312", "manylinux_2_40_x86_64") not in target.tags
    assert target.description == "Python 3.12.0 on linux-x86_64 (glibc 2.39)"


@pytest.mark.parametrize(
    ("image", "python", "taken"),
    [
        ("somebody/image:2", "", "Python and C library"),
        ("somebody/image:2", "3.12", "C library"),
        ("python:3.12-bookworm", "", ""),
    ],
)
def test_it_is_said_what_of_a_dockerfile_is_taken_for_granted(
    index: LocalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: str, python: str, taken: str
) -> None:
    from pins.windows_request import WindowsRequest, gathered_for

    (tmp_path / "Dockerfile").write_text(f"FROM {image}\nRUN pip install eggs\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    request = WindowsRequest(file=tmp_path / "Dockerfile", python=python, index_url=index.url)
    with gathered_for(request) as question:
        notes = [note for note in question.gathered.notes if "does not tell which" in note]
    assert len(notes) == bool(taken)
    assert f"which {taken} it has" in "".join(notes) or not taken
