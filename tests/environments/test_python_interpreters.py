"""Finding the Python that candidates are installed for."""

import os
import sys
from pathlib import Path

import pytest

from bisector.environments.python_interpreters import find_interpreter, inspect_interpreter
from pins.errors import UsageError

OWN = ".".join(map(str, sys.version_info[:2]))


def stand_in(path: Path, version: str) -> Path:
    """A program that answers as a Python of this version would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    answer = (
        f'{{"version": "{version}", "implementation": "cpython", "platform": "linux-x86_64",'
        ' "libc": "glibc-2.36", "free_threaded": false}'
    )
    path.write_text(f"#!/bin/sh\necho '{answer}'\n")
    path.chmod(0o755)
    return path


def failing(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho 'pyenv: version is not installed' >&2\nexit 127\n")
    path.chmod(0o755)
    return path


def surroundings(directory: Path) -> dict[str, str]:
    (directory / "bin").mkdir(exist_ok=True)
    return {"PATH": str(directory / "bin"), "HOME": str(directory)}


def test_without_a_wish_it_is_the_python_that_runs_this_program(tmp_path: Path) -> None:
    found = find_interpreter("", environment=surroundings(tmp_path))

    assert str(found.path) == sys.executable
    assert found.version.startswith(f"{OWN}.")


def test_its_own_version_comes_before_path(tmp_path: Path) -> None:
    stand_in(tmp_path / "bin" / f"python{OWN}", f"{OWN}.99")

    assert str(find_interpreter(OWN, environment=surroundings(tmp_path)).path) == sys.executable


def test_what_it_says_of_itself_is_what_it_would_say_to_another(tmp_path: Path) -> None:
    link = tmp_path / "python"
    link.symlink_to(sys.executable)

    assert inspect_interpreter(str(link)).identity == inspect_interpreter(sys.executable).identity


def test_a_version_is_found_on_path(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "bin" / "python3.9", "3.9.5")

    assert find_interpreter("3.9", environment=surroundings(tmp_path)).path == path


def test_a_shim_is_passed_over_and_the_version_itself_is_found(tmp_path: Path) -> None:
    failing(tmp_path / ".pyenv" / "shims" / "python3.9")
    failing(tmp_path / "bin" / "python3.9")
    older = stand_in(tmp_path / ".pyenv" / "versions" / "3.9.2" / "bin" / "python", "3.9.2")
    newest = stand_in(tmp_path / ".pyenv" / "versions" / "3.9.18" / "bin" / "python", "3.9.18")
    stand_in(tmp_path / ".pyenv" / "versions" / "3.90.1" / "bin" / "python", "3.90.1")
    environment = surroundings(tmp_path)
    environment["PATH"] = os.pathsep.join([str(tmp_path / ".pyenv" / "shims"), environment["PATH"]])

    assert find_interpreter("3.9", environment=environment).path == newest
    assert find_interpreter("3.9.2", environment=environment).path == older


def test_pyenv_is_looked_for_where_it_says(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "elsewhere" / "versions" / "3.8.1" / "bin" / "python", "3.8.1")

    environment = surroundings(tmp_path) | {"PYENV_ROOT": str(tmp_path / "elsewhere")}

    assert find_interpreter("3.8", environment=environment).path == path


def test_a_program_that_says_another_version_than_its_name_is_passed_over(tmp_path: Path) -> None:
    stand_in(tmp_path / "bin" / "python3.9", "3.7.1")

    with pytest.raises(UsageError):
        find_interpreter("3.9", environment=surroundings(tmp_path))


def test_uv_is_asked_for_its_own_without_a_download(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "managed" / "bin" / "python3.8", "3.8.20")
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\ncase "$*" in *--no-python-downloads*) echo {path};; *) exit 1;; esac\n')
    uv.chmod(0o755)

    assert find_interpreter("3.8", environment=surroundings(tmp_path), uv=str(uv)).path == path


def test_one_that_is_not_found_is_said_with_those_that_are_and_how_to_get_it(tmp_path: Path) -> None:
    there = stand_in(tmp_path / ".pyenv" / "versions" / "3.8.1" / "bin" / "python", "3.8.1")

    with pytest.raises(UsageError) as failure:
        find_interpreter("3.6", environment=surroundings(tmp_path))

    message = str(failure.value)
    assert "no Python 3.6 " in message
    assert str(there) in message
    assert sys.executable in message
    assert "uv python install 3.6" in message


def test_a_path_or_a_directory_or_a_name_is_taken_as_it_is(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "bin" / "python", "3.9.5")
    environment = surroundings(tmp_path)

    assert find_interpreter(str(path), environment=environment).path == path
    assert find_interpreter(str(tmp_path), environment=environment).path == path
    assert find_interpreter("python", environment=environment).path == path


@pytest.mark.parametrize(
    "wanted", ["-c", "--help", "nothing-like-it", "./none", "/etc/hostname", "/etc", "a\nb", "$(id)"]
)
def test_what_is_no_python_is_a_usage_error(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(UsageError):
        find_interpreter(wanted, environment=surroundings(tmp_path))


def test_an_interpreter_is_asked_once_until_it_changes(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "python", "3.9.5")
    assert inspect_interpreter(str(path)).version == "3.9.5"

    stand_in(path, "3.9.6")

    assert inspect_interpreter(str(path)).version == "3.9.6"


def test_a_version_is_understood_as_programs_and_version_managers_write_it(tmp_path: Path) -> None:
    environment = surroundings(tmp_path)
    path = stand_in(tmp_path / ".pyenv" / "versions" / "3.9.2" / "bin" / "python", "3.9.2")

    for wanted in ("python3.9", "cpython-3.9", "cpython@3.9.2", "python-3.9"):
        assert find_interpreter(wanted, environment=environment).path == path


def test_a_program_of_that_name_on_path_comes_first(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "bin" / f"python{OWN}", f"{OWN}.99")

    assert find_interpreter(f"python{OWN}", environment=surroundings(tmp_path)).path == path


def test_python_2_is_refused_by_version_and_by_path(tmp_path: Path) -> None:
    path = stand_in(tmp_path / "python2", "2.7.18")

    for wanted in ("2.7", "2", "python2.7", str(path)):
        with pytest.raises(UsageError, match="Python 3 only"):
            find_interpreter(wanted, environment=surroundings(tmp_path))


@pytest.mark.parametrize("program", ["/bin/ls", "/bin/cat", "/bin/echo", "/bin/true"])
def test_a_program_that_is_no_python_is_said_without_what_it_was_asked(tmp_path: Path, program: str) -> None:
    with pytest.raises(UsageError, match="not a Python") as failure:
        find_interpreter(program, environment=surroundings(tmp_path))

    assert "import" not in str(failure.value)
    assert "\n" not in str(failure.value)
    assert len(str(failure.value)) < 200
