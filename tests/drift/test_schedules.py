"""Schedule files, read by what will read them, as far as it can be had without the service itself."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pins.commands_schedule import app
from pins.drift.schedules import cadence
from pins.errors import UsageError
from tests.local_index import LocalIndex

yaml = pytest.importorskip("yaml")

ODD = "files with 100% $HOME 'quotes' \"double\" \\back"
CADENCES = ("10m", "hour", "6h", "day", "week")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "the repository"
    (place / ODD).mkdir(parents=True)
    (place / ODD / "Dockerfile").write_text("FROM ubuntu:22.04\n")
    subprocess.run(["git", "init", "-q", place], check=True)
    subprocess.run(
        ["git", "-C", place, "remote", "add", "origin", "https://someone:secret@example.org/images.git"], check=True
    )
    return place


def schedule(repository: Path, *words: str, code: int = 0) -> str:
    with contextlib.chdir(repository):
        done = CliRunner().invoke(app, [*words])
    assert done.exit_code == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def words_of_drift(script: str, place: Path, shell: str = "bash") -> list[list[str]]:
    """The words that a script gives to each `pins drift` it calls."""
    tools = place / "tools"
    tools.mkdir(exist_ok=True)
    record = place / "record"
    record.unlink(missing_ok=True)
    for name in ("pins", "venv/bin/pins"):
        tool = (place if "/" in name else tools) / name
        tool.parent.mkdir(parents=True, exist_ok=True)
        tool.write_text(f'#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done >> {record}\necho >> {record}\n')
        tool.chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(place), "RUNNER_TEMP": str(place)}
    environment |= {"GITHUB_STEP_SUMMARY": str(place / "summary"), "GITHUB_REPOSITORY": "images/rocm"}
    subprocess.run([shell, "-euc", script], cwd=place, env=environment, check=True)
    return [line.split("\0")[:-1] for line in record.read_text().splitlines()]


@pytest.mark.parametrize("every", CADENCES)
@pytest.mark.parametrize("issue", [False, True])
def test_workflow_is_one_to_github(repository: Path, every: str, issue: bool, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schemas = pytest.importorskip("check_jsonschema.builtin_schemas")
    text = schedule(repository, "github", ODD, "--every", every, *(["--issue"] if issue else []))
    read: dict[Any, Any] = yaml.safe_load(text)
    as_json = json.loads(json.dumps({("on" if key is True else key): value for key, value in read.items()}))
    jsonschema.validate(as_json, schemas.get_builtin_schema("vendor.github-workflows"))
    job = read["jobs"]["drift"]
    assert read["permissions"] == {}
    assert job["permissions"] == ({"contents": "write", "issues": "write"} if issue else {"contents": "write"})
    assert all(len(step["uses"].partition("@")[2]) == 40 for step in job["steps"] if "uses" in step)
    (words,) = words_of_drift(job["steps"][-1]["run"], tmp_path)
    assert words[:5] == ["drift", "--state", "git:pins-drift", "--push", "origin"]
    assert words[-2:] == ["--", ODD]
    assert ("--github-issue" in words) == issue


def test_path_that_github_would_evaluate_is_refused(repository: Path) -> None:
    (repository / "${{ github.token }}").mkdir()
    assert "expression" in schedule(repository, "github", "${{ github.token }}", code=2)


@pytest.mark.parametrize("every", CADENCES)
def test_units_are_valid_to_systemd(repository: Path, every: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    units = tmp_path / "units"
    units.mkdir()
    schedule(repository, "systemd", ODD, "--every", every, "--output", str(units))
    verified = subprocess.run(
        ["systemd-analyze", "--user", "verify", units / "pins-drift.service", units / "pins-drift.timer"],
        capture_output=True,
        text=True,
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert verified.returncode == 0, verified.stderr
    assert "pins-drift" not in verified.stderr
    timer = (units / "pins-drift.timer").read_text()
    (when,) = [line.partition("=")[2] for line in timer.splitlines() if line.startswith("OnCalendar=")]
    shown = subprocess.run(
        ["systemd-analyze", "calendar", "--iterations=3", when], capture_output=True, text=True, check=True
    )
    elapses = [line for line in shown.stdout.splitlines() if "(in UTC)" in line or "Iter." in line]
    assert elapses


@pytest.mark.parametrize("every", CADENCES)
def test_crontab_line_is_valid_and_runs_what_it_says(repository: Path, every: str, tmp_path: Path) -> None:
    text = schedule(repository, "cron", ODD, "--every", every)
    (line,) = [line for line in text.splitlines() if not line.startswith("#")]
    minute, hour, day, month, weekday, command = line.split(" ", 5)
    assert (day, month) == ("*", "*")
    assert weekday == "*" or every == "week"
    assert minute != "0"
    assert hour
    unescaped = command.replace("\\%", "%")
    assert "%" not in command.replace("\\%", "")
    program = unescaped[unescaped.index('/lock" ') + 7 : unescaped.index(" drift ")]
    (words,) = words_of_drift(unescaped.replace(program, "pins"), tmp_path, "sh")
    assert words == ["drift", "--state", f"file:{tmp_path}/.local/state/pins-drift/state.json", "--", ODD]
    if shutil.which("crontab") is None:
        pytest.skip("crontab is not installed: the line ran, but cron has not read it")
    file = tmp_path / "crontab"
    file.write_text(text)
    read = subprocess.run(["crontab", "-n", file], capture_output=True, text=True)
    assert read.returncode == 0, read.stderr


def test_cron_job_is_one_to_kubernetes(repository: Path, tmp_path: Path) -> None:
    kubernetes = pytest.importorskip("kubernetes_validate")
    volume, job = yaml.safe_load_all(schedule(repository, "k8s", ODD))
    for document in (volume, job):
        kubernetes.validate(document, kubernetes.latest_version(), strict=True)
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert [word.replace("$$", "$") for word in container["command"][-2:]] == ["--", ODD]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    prepare = pod["initContainers"][0]["command"][-1]
    assert "secret" not in prepare
    assert "example.org/images.git" in prepare


def test_cron_job_needs_somewhere_to_clone_from(repository: Path) -> None:
    subprocess.run(["git", "-C", repository, "remote", "remove", "origin"], check=True)
    assert "--repository" in schedule(repository, "k8s", ODD, code=2)
    assert "https://example.org/other.git" in schedule(
        repository, "k8s", ODD, "--repository", "https://example.org/other.git"
    )


def test_job_is_one_to_gitlab(repository: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schemas = pytest.importorskip("check_jsonschema.builtin_schemas")
    read = yaml.safe_load(schedule(repository, "gitlab", ODD))
    jsonschema.Draft7Validator(schemas.get_builtin_schema("vendor.gitlab-ci")).validate(read)
    (words,) = words_of_drift("\n".join(read["pins-drift"]["script"]), tmp_path)
    assert words[-2:] == ["--", ODD]


def test_jenkinsfile_gives_the_shell_what_was_named(repository: Path, tmp_path: Path) -> None:
    text = schedule(repository, "jenkins", ODD)
    (line,) = [line for line in text.splitlines() if "returnStatus" in line]
    literal = line[line.index("script: '") + 9 : line.rindex("', returnStatus")]
    command = literal.replace("\\\\", "\0").replace("\\'", "'").replace("\0", "\\")
    (words,) = words_of_drift(command, tmp_path)
    assert words[-2:] == ["--", ODD]


def compiled_by_groovy(text: str, place: Path) -> str:
    """What Groovy has against a pipeline, "" where it is one to it; Jenkins itself reads pipelines with it."""
    java = shutil.which("java")
    if java is None or shutil.which("groovyc") is None:
        pytest.skip("groovyc, the compiler of Groovy, is not here")
    place.mkdir()
    (place / "Pipeline.groovy").write_text(text)
    done = subprocess.run(
        ["groovyc", "-d", str(place / "out"), str(place / "Pipeline.groovy")],
        env={**os.environ, "JAVA_HOME": os.environ.get("JAVA_HOME") or str(Path(java).resolve().parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr or "it failed"


def test_jenkinsfile_is_groovy(repository: Path, tmp_path: Path) -> None:
    text = schedule(repository, "jenkins", ODD)
    assert compiled_by_groovy(text, tmp_path / "whole") == ""
    assert "startup failed" in compiled_by_groovy(text.removesuffix("}\n"), tmp_path / "cut")


def install_script(kind: str, text: str) -> str:
    if kind == "github":
        return str(yaml.safe_load(text)["jobs"]["drift"]["steps"][2]["run"])
    if kind == "gitlab":
        return str(yaml.safe_load(text)["pins-drift"]["before_script"][0])
    if kind == "k8s":
        _, job = yaml.safe_load_all(text)
        prepare = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["initContainers"][0]["command"][-1]
        return str(prepare).partition(" && ")[2].replace("$$", "$")
    (line,) = [line.strip() for line in text.splitlines() if line.strip().startswith("sh '")]
    command = line[4:-1].replace("\\\\", "\0").replace("\\'", "'").replace("\0", "\\")
    return command.partition(" && ")[2].rpartition(" && ")[0]


@pytest.mark.parametrize("kind", ["github", "gitlab", "jenkins", "k8s"])
@pytest.mark.parametrize(
    "source",
    [
        "bisector @ git+https://git.example.org/tools/bisector@0123456789abcdef",
        "dist/bisector-1.0-py3-none-any.whl",
        "odd: $(HOME) #x 'one' \"two\" \\n `id` %s.whl",
    ],
)
def test_what_is_installed_can_be_named(repository: Path, kind: str, source: str) -> None:
    script = install_script(kind, schedule(repository, kind, ODD, "--install", source))
    program = script.partition(" -- ")[0]
    assert program.endswith(("pip", "check", "/pins/site"))
    done = subprocess.run(["sh", "-euc", f"printf %s {script.partition(' -- ')[2]}"], capture_output=True, text=True)
    assert done.stdout == source


@pytest.mark.parametrize("kind", ["github", "gitlab", "jenkins", "k8s", "systemd", "cron"])
def test_what_is_installed_is_said_in_the_file_and_beside_it(repository: Path, kind: str) -> None:
    elsewhere = kind not in ("systemd", "cron")
    with contextlib.chdir(repository):
        done = CliRunner().invoke(app, [kind, ODD])
        quiet = CliRunner().invoke(app, [kind, ODD, "--quiet"])
    said = [line for line in done.stderr.splitlines() if "It installs bisector" in line and "--install '" in line]
    assert len(said) == (1 if elsewhere else 0)
    assert quiet.stderr == ""
    assert [line.lstrip("#/ ") for line in done.stdout.splitlines() if "It installs" in line] == said
    hidden = schedule(repository, kind, ODD, "--install", "bisector @ git+https://me:secret@git.example.org/b")
    assert "secret" not in "".join(line for line in hidden.splitlines() if "It installs" in line)


def test_same_repository_gives_the_same_minute_and_another_another(repository: Path) -> None:
    first = schedule(repository, "cron", ODD)
    assert schedule(repository, "cron", ODD) == first
    lines = {schedule(repository, "cron", ODD, "--name", f"drift-{number}").split("\n")[-2][:5] for number in range(5)}
    assert len(lines) > 1


def test_what_cannot_be_scheduled_is_refused(repository: Path) -> None:
    for words, said in (
        (["github", "absent"], "does not exist"),
        (["hudson", ODD], "none of"),
        (["cron", ODD, "--every", "5h"], "evenly"),
        (["cron", ODD, "--at", "25:00"], "time of day"),
        (["cron", ODD, "--name", "x; rm"], "name for a job"),
        (["cron", ODD, "--issue"], "github"),
        (["systemd", ODD, "--output", "one-file"], "directory"),
        (["cron", ODD, "--drift-option", "a\nb"], "line break"),
        (["github", ODD, "--install", "a\nb"], "line break"),
        (["github", ODD, "--install", "a\x1bb"], "control character"),
        (["github", ODD, "--install=--editable=x"], "nothing to install"),
        (["github", ODD, "--install", " -r x"], "nothing to install"),
        (["github", ODD, "--install", " "], "nothing to install"),
    ):
        assert said in schedule(repository, *words, code=2)


@pytest.mark.parametrize(("text", "minutes"), [("10m", 10), ("1h", 60), ("hour", 60), ("12h", 720), ("weekly", 10080)])
def test_cadences(text: str, minutes: int) -> None:
    assert cadence(text) == minutes


@pytest.mark.parametrize("text", ["", "0h", "1m", "7m", "90m", "5h", "2d", "2w", "-6h", "6 h", "٦h"])
def test_what_is_no_even_cadence(text: str) -> None:
    with pytest.raises(UsageError):
        cadence(text)


def test_what_the_workflow_runs_keeps_its_state_on_a_branch_of_the_remote(
    repository: Path, tmp_path: Path, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0")
    local_index.add("spam", "2.0")
    origin = tmp_path / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", origin], check=True)
    subprocess.run(["git", "-C", repository, "remote", "set-url", "origin", str(origin)], check=True)
    (repository / ODD / "requirements.txt").write_text("spam<2\n")
    (repository / ODD / "Dockerfile").unlink()
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "pins").write_text(f'#!/bin/sh\nexec {sys.executable} -m pins "$@"\n')
    (tools / "pins").chmod(0o755)
    read = yaml.safe_load(schedule(repository, "github", ODD, "--drift-option=--select=capped"))
    script = read["jobs"]["drift"]["steps"][-1]["run"]
    variables = os.environ | {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "PIP_INDEX_URL": local_index.url,
        "UV_DEFAULT_INDEX": local_index.url,
    }
    codes = [subprocess.run(["bash", "-euc", script], cwd=repository, env=variables).returncode for _ in range(2)]
    assert codes == [1, 0]  # new at first, known then
    assert "spam" in (tmp_path / "summary").read_text()
    branches = subprocess.run(["git", "-C", origin, "branch"], capture_output=True, text=True, check=True).stdout
    assert "pins-drift" in branches
