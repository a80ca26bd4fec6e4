"""scripts/bisector and its like on a machine that has nothing yet: a checkout with a package of its own, no network.

The checkout here is a small one, with the real scripts; its build backend stands in the tree, so that nothing is asked
of an index.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "bisector"
version = "1.0"
"""
BACKEND = """
import base64, hashlib, os, pathlib, time, zipfile

def build_editable(directory, config_settings=None, metadata_directory=None):
    pathlib.Path("builds").open("a").write("x")
    while pathlib.Path("wait").exists():
        time.sleep(0.05)
    name = "bisector-1.0-py3-none-any.whl"
    files = {
        "bisector-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: bisector\\nVersion: 1.0\\n",
        "bisector-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "bisector-1.0.dist-info/entry_points.txt": "[console_scripts]\\nbisector = told:main\\npins = told:main\\n",
        "told.pth": os.getcwd(),
    }
    record = ""
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(text)}\\n"
        wheel.writestr("bisector-1.0.dist-info/RECORD", record + "bisector-1.0.dist-info/RECORD,,\\n")
    return name

def get_requires_for_build_editable(config_settings=None):
    return []
"""
TOLD = """
import sys

def main():
    print(sys.argv[1:])
    sys.exit(7)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "a checkout"
    (root / "scripts").mkdir(parents=True)
    for name in ("bisector", "pins", "environment.sh", "make_environment.py"):
        shutil.copy(SCRIPTS / name, root / "scripts" / name)
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "backend.py").write_text(BACKEND)
    (root / "told.py").write_text(TOLD)
    return root


def variables(path: str = os.environ["PATH"]) -> dict[str, str]:
    unwanted = ("PIP_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return {**kept, "PATH": path, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}


def call(checkout: Path, *arguments: str, name: str = "bisector") -> subprocess.CompletedProcess[str]:
    script = checkout / "scripts" / name
    return subprocess.run([script, *arguments], env=variables(), cwd="/", capture_output=True, text=True, timeout=120)


def builds(checkout: Path) -> int:
    return len((checkout / "builds").read_text()) if (checkout / "builds").exists() else 0


def appears(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.05)


def test_the_first_call_sets_up_and_the_second_does_not(checkout: Path) -> None:
    first = call(checkout, "run", "a b", "--x=$(y)", "")
    assert (first.returncode, first.stdout) == (7, "['run', 'a b', '--x=$(y)', '']\n")
    assert "Setting up" in first.stderr
    second = call(checkout, "status", name="pins")
    assert (second.returncode, second.stdout, second.stderr) == (7, "['status']\n", "")
    assert builds(checkout) == 1

    link = checkout.parent / "elsewhere"
    link.symlink_to(checkout / "scripts" / "bisector")
    assert subprocess.run([link], env=variables(), capture_output=True, text=True).stdout == "[]\n"

    (checkout / "pyproject.toml").write_text(PROJECT + "\n# changed\n")
    assert "Setting up" in call(checkout).stderr
    assert builds(checkout) == 2


@pytest.mark.slow
def test_first_calls_at_once_set_up_once(checkout: Path) -> None:
    script = str(checkout / "scripts" / "bisector")
    calls = [
        subprocess.Popen(
            [script, str(number)], env=variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    for number, each in enumerate(calls):
        output, _ = each.communicate(timeout=120)
        assert (each.returncode, output) == (7, f"['{number}']\n")
    assert builds(checkout) == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_set_up_is_done_again_from_the_start(checkout: Path, number: signal.Signals) -> None:
    (checkout / "wait").touch()
    script = str(checkout / "scripts" / "bisector")
    process = subprocess.Popen([script], env=variables(), stderr=subprocess.DEVNULL, start_new_session=True)
    appears(checkout / "builds")
    os.killpg(process.pid, number)
    process.wait(timeout=30)
    (checkout / ".venv" / "half").touch()
    (checkout / "wait").unlink()
    assert call(checkout).returncode == 7
    assert not (checkout / ".venv" / "half").exists()


@pytest.mark.slow
def test_an_installer_that_outlives_its_parent_is_waited_for(checkout: Path) -> None:
    (checkout / "wait").touch()
    process = subprocess.Popen(
        [sys.executable, str(checkout / "scripts" / "make_environment.py"), "runtime"],
        env=variables(),
        stderr=subprocess.DEVNULL,
    )
    appears(checkout / "builds")
    process.kill()
    process.wait()
    script = str(checkout / "scripts" / "bisector")
    second = subprocess.Popen([script], env=variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert second.stderr is not None
    assert "Waiting for another set-up" in second.stderr.readline()
    assert builds(checkout) == 1
    (checkout / "wait").unlink()
    output, _ = second.communicate(timeout=60)
    assert (second.returncode, output) == (7, "[]\n")
    assert builds(checkout) == 2


@pytest.mark.slow
def test_a_checkout_that_was_moved_is_set_up_again(checkout: Path) -> None:
    assert call(checkout).returncode == 7
    moved = checkout.rename(checkout.with_name("moved"))
    again = call(moved)
    assert again.returncode == 7
    assert "Setting up" in again.stderr


def test_a_set_up_that_fails_says_where_and_why(checkout: Path) -> None:
    (checkout / "pyproject.toml").write_text(PROJECT + 'dependencies = ["no-such-thing"]\n')
    backend = BACKEND.replace("Name: bisector\\n", "Name: bisector\\nRequires-Dist: no-such-thing\\n")
    (checkout / "backend.py").write_text(backend)
    result = call(checkout)
    assert result.returncode == 6
    assert "no-such-thing" in result.stderr
    assert "setup.log" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_directory_of_the_users_that_is_in_the_way_is_left_alone(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "precious").touch()
    result = call(checkout)
    assert result.returncode == 6
    assert "no virtual environment" in result.stderr
    assert (checkout / ".venv" / "precious").exists()


def test_without_a_new_enough_python_there_is_one_clear_message(checkout: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "dirname", "readlink"):
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    old = programs / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    script = checkout / "scripts" / "bisector"
    result = subprocess.run([script], env=variables(str(programs)), capture_output=True, text=True)
    assert result.returncode == 6
    assert "needs Python 3.11 or newer" in result.stderr
    assert result.stdout == ""
