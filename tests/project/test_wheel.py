"""The wheel, installed on its own as `uv tool install` and pipx would: both commands start, nothing is missing."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    arguments = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(directory), str(ROOT)]
    subprocess.run(arguments, check=True)
    (built,) = directory.glob("*.whl")
    return built


@pytest.mark.slow
@pytest.mark.network
def test_the_wheel_holds_both_packages_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"bisector", "pins", names[-1].split("/")[0]}
    assert {"bisector/py.typed", "pins/py.typed", "bisector/cli.py", "pins/cli.py"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
@pytest.mark.network
def test_both_commands_start_where_the_wheel_alone_is_installed(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    subprocess.run([find_uv_bin(), "venv", "--quiet", "--python", sys.executable, str(environment)], check=True)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", str(wheel)]
    subprocess.run(pip, check=True)
    for command in ("bisector", "pins"):
        program = environment / "bin" / command
        version = subprocess.run([program, "--version"], capture_output=True, text=True, cwd=tmp_path, check=True)
        assert version.stdout.split()[0] == command
        assert version.stdout.split()[1][0].isdigit()
        assert subprocess.run([program, "--help"], capture_output=True, cwd=tmp_path).returncode == 0
    told = subprocess.run([environment / "bin" / "bisector", "doctor"], capture_output=True, text=True, cwd=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
