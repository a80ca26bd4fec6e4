"""Candidates as images, on a real engine."""

import itertools
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.engine import engine
from bisector.environments.docker.leftovers import list_leftovers
from bisector.model import Candidate
from pins.errors import EnvironmentFailureError, UsageError
from tests.docker.docker_setting import DEMO, Setting

pytestmark = pytest.mark.docker


def kinds(setting: Setting) -> list[str]:
    return [found.kind for found in list_leftovers([setting.run_id])]


def test_a_candidate_is_built_run_and_removed(setting: Setting) -> None:
    environment = setting.environment()
    environment.check()
    assert kinds(setting) == []
    build = setting.build(environment, "1.5")
    assert environment.exists(build)
    assert dict(build.installed)["pip"]
    ended = setting.run(environment, build, "import sys\nprint(open('/demo').read())\nprint('e', file=sys.stderr)")
    assert (ended.exit_status, ended.output.strip(), ended.errors) == (0, "demo 1.5", "e\n")
    assert kinds(setting) == ["image"]
    environment.remove(build)
    environment.remove(build)
    assert not environment.exists(build)
    assert kinds(setting) == []


def test_a_script_runs_as_the_protocol_says(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "from the caller")
    monkeypatch.setenv("HIP_UNSEEN", "1")
    environment = setting.environment()
    build = setting.build(environment)
    script = """#!/bin/sh
pwd; ls -A; ls -A "$HOME" "$TMPDIR"; cat; echo "$# $1"; test -w "$TRITON_CACHE_DIR" && echo writable
echo "$PIN_DEMO $TOKEN $LC_ALL $HIP_UNSEEN $GIVEN"
mkdir "$PROBE_OUTPUT/d"; echo kept > "$PROBE_OUTPUT/d/file"; ln -s /etc/passwd "$PROBE_OUTPUT/link"
exit 7
"""
    smoke = setting.smoke(
        script, named="my smoke", arguments=("a $(b)",), pass_environment=("TOKEN",), variables=(("GIVEN", "x y"),)
    )
    ended = environment.run(build, smoke, threading.Event())
    assert ended.exit_status == 7
    assert ended.output.splitlines() == [
        "/bisector/work",
        "/bisector/home:",
        "",
        "/bisector/tmp:",
        "1 a $(b)",
        "writable",
        "1.0 from the caller C.UTF-8  x y",
    ]
    assert [path.relative_to(smoke.output).as_posix() for path in sorted(smoke.output.rglob("*"))] == ["d", "d/file"]
    assert (smoke.output / "d" / "file").read_text() == "kept\n"
    log = smoke.log.read_text()
    assert "/bisector/work" in log
    assert "left out: link (link to /etc/passwd)" in log


def test_home_and_caches_are_fresh_in_every_run_and_the_script_cannot_be_changed(setting: Setting) -> None:
    environment = setting.environment()
    build = setting.build(environment)
    script = """
import os, pathlib
for name in ("HOME", "XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "VLLM_CACHE_ROOT", "TMPDIR"):
    mark = pathlib.Path(os.environ[name], "artefact")
    assert not mark.exists(), name
    mark.touch()
pathlib.Path("artefact").touch(exist_ok=False)
pathlib.Path("/elsewhere").touch(exist_ok=False)
"""
    assert [setting.run(environment, build, script).exit_status for _ in range(2)] == [0, 0]
    shared = setting.room / "shared"
    ended = [setting.run(environment, build, script, share_cache=shared) for _ in range(2)]
    assert [end.exit_status for end in ended] == [0, 1]
    assert "HOME" in ended[1].errors
    assert (shared / "home" / "artefact").exists()


def test_another_user_and_a_root_that_cannot_be_written_to_do_no_harm(setting: Setting) -> None:
    environment = setting.environment(docker_args=("--user=1234:1234", "--read-only", "--network", "none"))
    environment.check()
    build = setting.build(environment)
    smoke = setting.smoke(
        "import os, pathlib\nprint(os.getuid())\npathlib.Path('x').touch()\n"
        "pathlib.Path(os.environ['PROBE_OUTPUT'], 'o').touch()\npathlib.Path(os.environ['HOME'], 'h').touch()\n"
        "open('/bisector/script/smoke.py', 'w')"
    )
    ended = environment.run(build, smoke, threading.Event())
    assert ended.output == "1234\n"
    assert "PermissionError" in ended.errors or "Permission denied" in ended.errors
    assert (smoke.output / "o").exists()


@pytest.mark.parametrize(
    ("script", "status"), [("import os\nos.abort()", 134), ("import os, signal\nos.kill(os.getpid(), 11)", 139)]
)
def test_a_signal_in_the_script_is_a_failure_of_the_script(setting: Setting, script: str, status: int) -> None:
    environment = setting.environment()
    ended = setting.run(environment, setting.build(environment), script)
    assert (ended.exit_status, ended.not_started, ended.out_of_memory) == (status, "", "")


def test_out_of_memory_is_said_by_the_engine(setting: Setting) -> None:
    environment = setting.environment(docker_args=("--memory=64m", "--memory-swap=64m"))
    build = setting.build(environment)
    ended = setting.run(environment, build, "x = []\nwhile True: x.append(bytearray(1 << 20))")
    assert ended.exit_status == 137
    assert "OOMKilled" in ended.out_of_memory
    killed = setting.run(environment, build, "import os\nos.kill(os.getpid(), 9)")
    assert (killed.exit_status, killed.out_of_memory) == (137, "")


def test_a_script_that_goes_on_after_a_child_was_killed_for_memory_is_no_evidence_if_it_fails(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = setting.environment()
    build = setting.build(environment)
    kills = itertools.count()
    monkeypatch.setattr("bisector.environments.docker.containers.memory_kills_here", lambda: next(kills))
    assert setting.run(environment, build, "raise SystemExit(1)").out_of_memory
    assert setting.run(environment, build, "pass").out_of_memory == ""


def test_a_run_whose_time_is_up_is_killed_with_all_it_started(setting: Setting) -> None:
    environment = setting.environment()
    build = setting.build(environment)
    script = """
import subprocess, time
print("begun", flush=True)
subprocess.Popen(["sleep", "987.25"], start_new_session=True)
time.sleep(600)
"""
    started = time.monotonic()
    ended = setting.run(environment, build, script, timeout=2.0)
    assert ended.timed_out
    assert not ended.not_started
    assert ended.output == "begun\n"
    assert 2 <= ended.seconds < 60
    assert time.monotonic() - started < 60
    assert kinds(setting) == ["image"]
    assert not running("987.25")


def test_a_run_that_nobody_needs_is_ended(setting: Setting) -> None:
    environment = setting.environment()
    build = setting.build(environment)
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    ended = environment.run(build, setting.smoke("import time\ntime.sleep(600)"), cancel)
    assert ended.cancelled
    assert environment.run(build, setting.smoke("print()"), cancel).cancelled
    assert kinds(setting) == ["image"]


def test_a_script_that_cannot_be_started_is_told_from_one_that_says_127(setting: Setting) -> None:
    environment = setting.environment()
    build = setting.build(environment)
    missing = setting.run(environment, build, "#!/no/such/interpreter\n", named="smoke.sh")
    assert "/no/such/interpreter, the interpreter that smoke.sh names" in missing.not_started
    said = setting.run(environment, build, "#!/bin/sh\nnonsense-command\n", named="smoke.sh")
    assert (said.exit_status, said.not_started) == (127, "")


def test_an_image_without_python_cannot_run_a_python_script(setting: Setting) -> None:
    environment = setting.environment(DEMO + "RUN rm -f /usr/bin/python* /usr/local/bin/python*\n")
    build = setting.build(environment)
    assert build.installed == ()
    assert "python" in setting.run(environment, build, "print()").not_started
    assert setting.run(environment, build, "#!/bin/sh\nexit 3\n", named="s").exit_status == 3


@pytest.mark.slow
def test_a_python_under_its_other_name_is_found(setting: Setting) -> None:
    environment = setting.environment(DEMO + "RUN mv /usr/bin/python3 /usr/bin/python\n")
    build = setting.build(environment)
    assert setting.run(environment, build, "print('hi')").output == "hi\n"


def test_a_failing_build_names_what_failed(setting: Setting) -> None:
    environment = setting.environment(DEMO + 'RUN echo about to fail; test "$DEMO_VERSION" = 1.0\n', time=now())
    setting.build(environment, "1.0")
    with pytest.raises(BuildFailedError) as caught:
        setting.build(environment, "2.0")
    assert "exit code: 1" in caught.value.message
    assert "about to fail" in caught.value.ended.errors + caught.value.ended.output
    assert caught.value.ended.exit_status == 1


def now() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


def test_a_parse_error_names_the_line_of_the_users_file(setting: Setting) -> None:
    environment = setting.environment(DEMO + "RUM nonsense\n", time=now())
    with pytest.raises(UsageError, match="line 5"):
        setting.build(environment)


def test_builds_see_the_index_as_of_the_runs_time_unless_told_not_to(setting: Setting) -> None:
    text = DEMO + "RUN env | grep -E 'UV_EXCLUDE|PIP_UPLOADED' > /seen; true\n"
    script = "print(open('/seen').read())"
    with_time = setting.environment(text, time=now())
    ended = setting.run(with_time, setting.build(with_time), script)
    assert sorted(ended.output.split()) == [
        "PIP_UPLOADED_PRIOR_TO=2026-01-01T00:00:00Z",
        "UV_EXCLUDE_NEWER=2026-01-01T00:00:00Z",
    ]
    assert (setting.room / "context" / "Dockerfile").read_text() == text
    without = setting.environment(text, time=now(), index_time=False)
    assert setting.run(without, setting.build(without), script).output.strip() == ""


def test_a_build_that_takes_too_long_or_is_not_needed_is_ended(setting: Setting) -> None:
    environment = setting.environment(DEMO + "RUN echo begun; sleep 986.25\n", build_timeout=3.0)
    with pytest.raises(BuildFailedError) as caught:
        setting.build(environment)
    assert caught.value.ended.timed_out
    cancel = threading.Event()
    threading.Timer(2.0, cancel.set).start()
    with pytest.raises(BuildFailedError) as caught:
        setting.build(environment, "2.0", cancel)
    assert caught.value.ended.cancelled
    until = time.monotonic() + 10
    while running("986.25") and time.monotonic() < until:
        time.sleep(0.2)
    assert not running("986.25")


def running(argument: str) -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", argument]]


def test_equal_inputs_have_equal_hashes_and_others_not(setting: Setting) -> None:
    text = DEMO + "COPY taken /taken\n"
    (setting.room / "context").mkdir()
    (setting.room / "context" / "taken").write_text("a")
    (setting.room / "context" / "other").write_text("a")
    candidate = Candidate((("demo", "1.0"),))

    def hashed(**options: object) -> str:
        return setting.environment(text, **options).resolve(candidate).input_hash  # type: ignore[arg-type]

    first = hashed()
    assert hashed() == first
    (setting.room / "context" / "other").write_text("b")
    assert hashed() == first
    different = {
        first,
        setting.environment(text).resolve(candidate.moved("demo", "2.0")).input_hash,
        hashed(time=now()),
        hashed(build_options=("--network=host",)),
        hashed(build_args=(("UNUSED", "1"),)),
        hashed(secrets=(f"id=x,src={__file__}",)),
    }
    (setting.room / "context" / "taken").write_text("b")
    assert hashed() not in different
    assert len(different) == 6
    assert hashed(secrets=(f"id=x,src={__file__}",)) == hashed(secrets=("id=x,env=HOME",))


def test_a_context_that_changes_during_a_run_ends_it(setting: Setting) -> None:
    (setting.room / "context").mkdir()
    taken = setting.room / "context" / "taken"
    taken.write_text("a")
    environment = setting.environment(DEMO + "COPY taken /taken\n")
    fingerprint = environment.fingerprint()
    assert len(fingerprint) == 3
    setting.build(environment)
    taken.write_text("b")
    with pytest.raises(EnvironmentFailureError, match=r"changed during the run: taken;"):
        setting.build(environment, "2.0")
    assert setting.environment(DEMO + "COPY taken /taken\n").fingerprint() != fingerprint


def test_the_ignore_file_beside_the_dockerfile_is_honoured(setting: Setting) -> None:
    (setting.room / "context").mkdir()
    for name in ("a", "b", "My.Dockerfile.dockerignore"):
        (setting.room / "context" / name).write_text("b\n")
    environment = setting.environment(DEMO + "COPY . /all\n", named="My.Dockerfile")
    script = "import os\nprint(sorted(os.listdir('/all')))"
    ended = setting.run(environment, setting.build(environment), script)
    assert "'a'" in ended.output
    assert "'b'" not in ended.output


@pytest.mark.slow
def test_equal_content_is_known_where_only_an_unused_arg_differs(setting: Setting) -> None:
    environment = setting.environment(
        "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\nCOPY f /f\n"
    )
    (setting.room / "context" / "f").write_text("x")
    one, two = setting.build(environment, "1"), setting.build(environment, "2")
    assert one.input_hash != two.input_hash
    assert one.content_identity == two.content_identity != ""
    other = setting.environment()
    assert setting.build(other, "1").content_identity != setting.build(other, "2").content_identity


HOSTILE = "1.0 --target=x \"q\" 'q' $(touch /tmp/hostile) `id` ; --label=bisector.run=other"


def test_hostile_values_change_no_option_and_reach_no_shell(setting: Setting) -> None:
    text = DEMO + "LABEL version=${DEMO_VERSION}\n"
    setting.run_id += " $(touch /tmp/hostile) --rm 'x'"
    named = "-Docker file $(touch x) 'q'\n"
    source = setting.room / 'a,readonly "b" $(touch x)'
    source.mkdir()
    (source / "inside").write_text("seen")
    environment = setting.environment(text, named=named, mounts=(f"{source}:/mnt/a b:ro",))
    environment.check()
    build = setting.build(environment, HOSTILE)
    with engine() as client:
        labels = client.images.get(build.location).labels
    assert labels["version"] == HOSTILE
    assert labels["bisector.run"] == setting.run_id
    script = "import sys\nprint(open('/mnt/a b/inside').read(), sys.argv[1:], open('/demo').read())"
    ended = setting.run(environment, build, script, named="-smoke 'q' $(x)\n.py", arguments=("--rm", "$(id)"))
    assert ended.output == f"seen ['--rm', '$(id)'] demo {HOSTILE}\n\n"
    assert not Path("/tmp/hostile").exists()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"docker_args": ("--nonsense",)}, "unknown flag"),
        ({"docker_args": ("bisector-other-image",)}, "container"),
        ({"docker_args": ("--memory=little",)}, "--memory"),
        ({"docker_args": ("--rm",)}, "itself"),
        ({"build_options": ("--nonsense",)}, "unknown flag"),
        ({"build_options": ("stray",)}, "requires exactly 1 argument"),
        ({"build_options": ("--push",)}, "sets it itself"),
        ({"mounts": ("/no/such/directory:/x",)}, "no such file"),
        ({"target": "nosuch"}, "no such stage"),
        ({"context": Path("/no/such")}, "not a directory"),
        ({"pins": ("other",)}, "no ARG that carries it"),
    ],
)
def test_what_docker_will_refuse_is_said_before_the_first_build(
    setting: Setting, options: dict[str, object], word: str
) -> None:
    with pytest.raises(UsageError) as caught:
        setting.environment(**options).check()  # type: ignore[arg-type]
    assert word in caught.value.message
    assert kinds(setting) == []


@pytest.mark.slow
def test_models_are_read_only_and_hubs_offline(setting: Setting) -> None:
    models = setting.room / "models"
    (models / "models--a").mkdir(parents=True)
    environment = setting.environment(models=models)
    script = (
        "import os\nprint(os.listdir(os.environ['HF_HUB_CACHE']), os.environ['HF_HUB_OFFLINE'])\nopen('/models/x', 'w')"
    )
    ended = setting.run(environment, setting.build(environment), script)
    assert ended.output == "['models--a'] 1\n"
    assert "Read-only file system" in ended.errors


def test_a_secret_reaches_the_build_and_nothing_else(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "very-secret")
    text = DEMO + (
        "RUN --mount=type=secret,id=t test $(wc -c < /run/secrets/t) = 11\n"
        "RUN --mount=type=secret,id=t echo https://user:$(cat /run/secrets/t)@index.invalid/$(wc -c < /demo)\n"
    )
    environment = setting.environment(text, secrets=("id=t,env=TOKEN",))
    # Never built before: what a cached step printed is not printed again.
    recipe = environment.resolve(Candidate((("demo", setting.run_id),)))
    build = setting.build(environment, setting.run_id)
    with engine() as client:
        seen = [recipe, build, client.api.history(build.location), client.api.inspect_image(build.location)]
    log = (setting.room / "1.log").read_text()
    assert "https://***@index.invalid/" in log
    assert "very-secret" not in str(seen) + log


def test_several_builds_and_runs_at_once(setting: Setting) -> None:
    environment = setting.environment()
    environment.check()
    results: dict[int, str] = {}

    def work(number: int) -> None:
        room = setting.room / f"thread-{number}"
        room.mkdir()
        recipe = environment.resolve(Candidate((("demo", f"{number}.0"),)))
        build = environment.build(recipe, room / f"build-{number}", room / "log", threading.Event())
        own = Setting(room, setting.base_image, setting.run_id)
        smoke = own.smoke("print(open('/demo').read())", probe=f"p{number}")
        results[number] = environment.run(build, smoke, threading.Event()).output.strip()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"demo {number}.0" for number in range(3)}


def test_the_script_may_write_more_than_a_log_holds(setting: Setting) -> None:
    environment = setting.environment()
    smoke = setting.smoke("import sys\nfor n in range(300): print('x' * 99999)\nprint('last')")
    ended = environment.run(setting.build(environment), smoke, threading.Event())
    assert ended.exit_status == 0
    assert ended.output.endswith("last\n")
    assert len(ended.output) <= 64 * 1024
    assert smoke.log.stat().st_size < 17 << 20
