"""Candidates that the user's own command builds."""

import stat
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from bisector.environments.base import BuildFailedError
from bisector.environments.command import CommandEnvironment
from bisector.model import Build, Candidate, Ended, SmokeRun, SmokeScript
from pins.errors import EnvironmentFailureError, UsageError

SPAM = Candidate((("spam", "1.0"), ("ham.and-eggs", "2.0")))


def built(environment: CommandEnvironment, directory: Path, candidate: Candidate = SPAM) -> Build:
    recipe = environment.resolve(candidate)
    return environment.build(recipe, directory / "run" / "builds" / "p1", directory / "build.log", Event())


def run(environment: CommandEnvironment, build: Build, directory: Path, text: str, name: str = "s.sh") -> Ended:
    script = directory / name
    script.write_text(text)
    script.chmod(0o755)
    scratch = directory / "scratch"
    scratch.mkdir()
    smoke = SmokeRun(SmokeScript(script), SPAM, "test.1", scratch, directory / "output", directory / "run.log")
    return environment.run(build, smoke, Event())


def test_the_command_gets_the_pins_and_a_directory_and_the_script_finds_what_it_made(tmp_path: Path) -> None:
    environment = CommandEnvironment(['echo "$PIN_SPAM $PIN_HAM_AND_EGGS" > made; test "$PWD" = "$BUILD_DIRECTORY"'])
    environment.check()

    build = built(environment, tmp_path)
    ended = run(environment, build, tmp_path, '#!/bin/sh\ncat "$BUILD_DIRECTORY/made"\npwd\nls -A\n')

    assert environment.exists(build)
    assert ended.output.splitlines() == ["1.0 2.0", str(tmp_path / "scratch" / "work")]
    environment.remove(build)
    assert not environment.exists(build)
    assert not Path(build.location).exists()


def test_the_words_of_a_command_are_not_read_by_a_shell(tmp_path: Path) -> None:
    environment = CommandEnvironment(["touch", "$(id)", "a b", "--", "-n"])
    environment.check()

    build = built(environment, tmp_path)

    assert sorted(path.name for path in (Path(build.location) / "build").iterdir()) == ["$(id)", "-n", "a b"]


HOSTILE = ["$(touch /tmp/owned)", "`id`", "1.0; exit 3", "a\nb", "-rf", "'\"", " "]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_value_reaches_the_command_as_it_is_and_nothing_else(tmp_path: Path, value: str) -> None:
    environment = CommandEnvironment(['printf %s "$PIN_SPAM" > value'])

    build = built(environment, tmp_path, Candidate((("spam", value),)))

    assert (Path(build.location) / "build" / "value").read_text() == value


def test_a_script_in_python_runs_with_the_environment_that_the_build_made(tmp_path: Path) -> None:
    environment = CommandEnvironment([f"{sys.executable} -m venv --without-pip .venv"])

    build = built(environment, tmp_path)
    ended = run(environment, build, tmp_path, "import sys; print(sys.prefix)", "s.py")

    assert ended.output.strip() == str(Path(build.location) / "build" / ".venv")


def test_a_script_in_python_runs_with_our_python_where_the_build_made_none(tmp_path: Path) -> None:
    environment = CommandEnvironment(["true"])

    ended = run(environment, built(environment, tmp_path), tmp_path, "import sys; print(sys.executable)", "s.py")

    assert ended.output.strip() == sys.executable


def test_a_command_that_fails_makes_the_candidate_unbuildable_and_leaves_nothing(tmp_path: Path) -> None:
    environment = CommandEnvironment(["touch x; echo 'error: no such option' >&2; exit 3"])

    with pytest.raises(BuildFailedError, match=r"exit status 3.*no such option") as failure:
        built(environment, tmp_path)

    assert failure.value.ended.exit_status == 3
    assert not (tmp_path / "run" / "builds" / "p1").exists()
    assert "no such option" in (tmp_path / "build.log").read_text()


def test_a_command_that_takes_too_long_makes_the_candidate_unbuildable(tmp_path: Path) -> None:
    environment = CommandEnvironment(["sleep", "60"], build_timeout=0.3)

    with pytest.raises(BuildFailedError, match=r"not built within 0\.3 s") as failure:
        built(environment, tmp_path)

    assert failure.value.ended.timed_out


def test_a_cancelled_build_says_so(tmp_path: Path) -> None:
    environment = CommandEnvironment(["sleep", "60"])
    cancel = Event()
    cancel.set()

    with pytest.raises(BuildFailedError) as failure:
        environment.build(environment.resolve(SPAM), tmp_path / "b", tmp_path / "log", cancel)

    assert failure.value.ended.cancelled


def test_a_command_that_cannot_run_is_no_evidence_until_one_candidate_was_built(tmp_path: Path) -> None:
    environment = CommandEnvironment(['test "$PIN_SPAM" = 1.0 || no-such-program-here'])
    bad = Candidate((("spam", "2.0"),))

    with pytest.raises(EnvironmentFailureError, match="could not be run"):
        built(environment, tmp_path, bad)
    built(environment, tmp_path)
    with pytest.raises(BuildFailedError):
        built(environment, tmp_path, bad)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([""], "empty"),
        (["no-such-program-here", "x"], "does not exist"),
        (["./notes.txt"], "not executable"),
        (["if then"], "no line for"),
        (["a\0b"], "NUL"),
    ],
)
def test_a_command_that_cannot_work_is_refused_before_the_first_build(
    tmp_path: Path, words: list[str], message: str
) -> None:
    (tmp_path / "notes.txt").write_text("notes")

    with pytest.raises(UsageError, match=message):
        CommandEnvironment(words, directory=tmp_path).check()


@pytest.mark.parametrize("words", [["./make.sh"], ["./make.sh now"], ["./make.sh", "now"]])
def test_a_program_is_found_from_where_bisector_was_started(tmp_path: Path, words: list[str]) -> None:
    script = tmp_path / "make.sh"
    script.write_text('#!/bin/sh\necho "$1" > made; test -f "$START_DIRECTORY/make.sh"\n')
    script.chmod(0o755)
    environment = CommandEnvironment(words, directory=tmp_path)
    environment.check()

    build = built(environment, tmp_path)

    assert (Path(build.location) / "build" / "made").exists()


def test_a_changed_build_script_changes_hash_and_fingerprint(tmp_path: Path) -> None:
    script = tmp_path / "make.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)

    def facts(**options: Any) -> tuple[str, tuple[str, ...]]:
        environment = CommandEnvironment(["./make.sh"], directory=tmp_path, **options)
        return environment.resolve(SPAM).input_hash, tuple(environment.fingerprint().values())

    before = facts()
    assert facts() == before
    script.write_text("#!/bin/sh\n# changed\n")
    assert facts()[0] != before[0]
    assert facts()[1] != before[1]


def test_a_moved_pin_changes_the_hash() -> None:
    environment = CommandEnvironment(["true"])

    assert environment.resolve(SPAM).input_hash != environment.resolve(SPAM.moved("spam", "1.1")).input_hash


def test_credentials_printed_by_the_command_are_masked_in_its_log(tmp_path: Path) -> None:
    environment = CommandEnvironment(["echo https://me:hunter2@example.org/simple; exit 1"])

    with pytest.raises(BuildFailedError) as failure:
        built(environment, tmp_path)

    assert "hunter2" not in str(failure.value) + (tmp_path / "build.log").read_text() + failure.value.ended.output


def test_what_a_killed_build_left_is_built_over(tmp_path: Path) -> None:
    left = tmp_path / "run" / "builds" / "p1" / "build" / "deep"
    left.mkdir(parents=True)
    (left / "file").write_text("")
    left.chmod(stat.S_IRUSR | stat.S_IXUSR)

    build = built(CommandEnvironment(["test ! -e deep"]), tmp_path)

    assert not left.exists()
    assert Path(build.location).exists()


def test_nothing_is_written_beside_the_script(tmp_path: Path) -> None:
    environment = CommandEnvironment(["true"])
    build = built(environment, tmp_path)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "companion.py").write_text("x = 1\n")

    ended = run(environment, build, tmp_path, "import companion; print(companion.__cached__)", "scripts/s.py")

    assert Path(ended.output.strip()).is_file()
    assert sorted(path.name for path in (tmp_path / "scripts").iterdir()) == ["companion.py", "s.py"]
    environment.remove(build)
    assert not Path(build.location).exists()
