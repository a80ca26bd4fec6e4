import io
import tarfile
from pathlib import Path

import pytest

from bisector.environments.docker import files
from bisector.environments.docker.files import keep_output, room_archive
from bisector.environments.docker.run import (
    check_run_arguments,
    container_options,
    csv_fields,
    gpu_options,
    model_variables,
    parse_mount,
    run_options,
)
from bisector.model import Candidate, SmokeRun, SmokeScript
from bisector.request import DockerRequest
from pins.errors import EnvironmentFailureError, UsageError


def smoke(tmp_path: Path, **script: object) -> SmokeRun:
    made = SmokeScript(tmp_path / "smoke.py", **script)  # type: ignore[arg-type]
    return SmokeRun(made, Candidate((("a-b", "1"),)), "run.p1", tmp_path / "s", tmp_path / "o", tmp_path / "log")


def options_of(request: DockerRequest) -> list[str]:
    return container_options(request, run_id="ours", probe="p", here=True)


@pytest.mark.parametrize(
    "argument",
    [
        "--rm",
        "-d",
        "-it",
        "-t",
        "--name=x",
        "--entrypoint=/x",
        "--entrypoint",
        "-w=/x",
        "--cidfile=x",
        "--",
        "-",
        "",
        "a\0",
    ],
)
def test_arguments_that_would_take_the_container_from_us_are_refused(argument: str) -> None:
    with pytest.raises(UsageError, match="--docker-arg"):
        check_run_arguments(["--memory=1g", argument])


def test_other_arguments_are_passed_on_before_our_own() -> None:
    request = DockerRequest(docker_args=("--memory", "1g", "-v=/a:/b", "-e=A=1", "--label=bisector.run=theirs"))
    check_run_arguments(request.docker_args)
    options = options_of(request)
    start = options.index("--memory")
    assert options[start : start + 5] == list(request.docker_args)
    places = [place for place, option in enumerate(options) if option == "--label=bisector.run=ours"]
    assert places[0] < start < places[-1]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("/a:/b", "--mount=type=bind,source=/a,target=/b"),
        ("/a:/b:ro", "--mount=type=bind,source=/a,target=/b,readonly"),
        ("/a:/b:rw", "--mount=type=bind,source=/a,target=/b"),
        ("rel:/b", "--mount=type=bind,source=/here/rel,target=/b"),
        ("/a:c:/b", "--mount=type=bind,source=/a:c,target=/b"),
        ("-a:/b", "--mount=type=bind,source=/here/-a,target=/b"),
        ('/a,readonly "x"\n$(id):/b', '--mount=type=bind,"source=/a,readonly ""x""\n$(id)",target=/b'),
    ],
)
def test_a_mount_is_one_option_whatever_is_in_its_path(text: str, option: str) -> None:
    assert parse_mount(text, Path("/here")).option == option


@pytest.mark.parametrize("text", ["", "/a", "/a:", ":/b", "/a:b", "/a:ro", "/a:b:ro", "/a\0:/b"])
def test_a_mount_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--mount"):
        parse_mount(text, Path("/here"))


def test_fields_are_quoted_where_they_must_be() -> None:
    assert csv_fields(["a", 'b"c', "d,e"]) == 'a,"b""c","d,e"'


def test_the_environment_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "secret")
    run = smoke(tmp_path, variables=(("HOME", "/mine"), ("X", "a b\nc")), pass_environment=("TOKEN", "NOT_SET"))
    options = run_options(DockerRequest(), run)
    assert "--env=PIN_A_B=1" in options
    assert "--env=PROBE_OUTPUT=/bisector/output" in options
    assert "--env=XDG_CACHE_HOME=/bisector/cache" in options
    assert "--env=HOME=/mine" in options
    assert "--env=X=a b\nc" in options
    assert "--env=TOKEN" in options
    assert not any("secret" in option or "NOT_SET" in option for option in options)
    names = [option.split("=")[1] for option in options if option.startswith("--env=")]
    assert len(names) == len(set(names))


def test_a_shared_cache_is_mounted_and_pointed_to(tmp_path: Path) -> None:
    options = run_options(DockerRequest(), smoke(tmp_path, share_cache=tmp_path / "cache"))
    assert f"--mount=type=bind,source={tmp_path}/cache,target=/bisector-shared-cache" in options
    assert "--env=HOME=/bisector-shared-cache/home" in options
    assert "--env=TMPDIR=/bisector/tmp" in options


def test_models_are_found_in_each_layout(tmp_path: Path) -> None:
    assert model_variables(None) == {}
    assert model_variables(tmp_path)["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_CACHE" not in model_variables(tmp_path)
    (tmp_path / "models--a--b").mkdir()
    assert model_variables(tmp_path)["HF_HUB_CACHE"] == "/models"
    (tmp_path / "hub").mkdir()
    assert model_variables(tmp_path)["HF_HUB_CACHE"] == "/models/hub"
    options = options_of(DockerRequest(models=tmp_path))
    assert f"--mount=type=bind,source={tmp_path},target=/models,readonly" in options


def test_gpus() -> None:
    assert gpu_options("", here=True) == []
    assert gpu_options("nvidia", here=True) == ["--gpus=all"]
    elsewhere = gpu_options("rocm", here=False)
    assert {"--device=/dev/kfd", "--device=/dev/dri", "--security-opt=seccomp=unconfined", "--ipc=host"} < set(
        elsewhere
    )


@pytest.mark.skipif(Path("/dev/kfd").exists(), reason="this machine has an AMD GPU")
def test_a_missing_amd_gpu_is_said() -> None:
    with pytest.raises(EnvironmentFailureError, match="/dev/kfd"):
        gpu_options("rocm", here=True)


def test_the_script_goes_in_read_only_beside_empty_directories(tmp_path: Path) -> None:
    script = tmp_path / "--weird 'name'\n.py"
    script.write_text("print()")
    with tarfile.open(fileobj=io.BytesIO(room_archive(script))) as archive:
        members = {member.name: member for member in archive}
    assert members["script/" + script.name].mode == 0o555
    assert members["script"].mode == 0o755
    assert members["work"].mode == members["home"].mode == members["cache/triton"].mode == 0o777
    assert [name for name, member in members.items() if member.isfile()] == ["script/" + script.name]


def archive_of(*members: tarfile.TarInfo) -> list[bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    content = buffer.getvalue()
    return [content[at : at + 7] for at in range(0, len(content), 7)]


def member(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size, made.type = size, kind
    return made


def test_output_is_unpacked_below_its_directory_and_nowhere_else(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    link = member("output/link", kind=tarfile.SYMTYPE)
    link.linkname = "/etc/passwd"
    hard, stray = member("output/a/same", kind=tarfile.LNKTYPE), member("output/stray", kind=tarfile.LNKTYPE)
    hard.linkname, stray.linkname = "output/a/b.txt", "../etc/passwd"
    chunks = archive_of(
        member("output", kind=tarfile.DIRTYPE),
        member("output/a/b.txt", 3),
        member("output/../../escaped", 3),
        link,
        member("output/pipe", kind=tarfile.FIFOTYPE),
        hard,
        stray,
        member("output/e", kind=tarfile.DIRTYPE),
    )
    left_out = keep_output(chunks, kept)
    for word in ("link (link to /etc/passwd)", "pipe (fifo)", "../../escaped", "stray (link to ../etc/passwd)"):
        assert word in left_out or word.replace("../../", "../") in left_out
    assert (kept / "a" / "same").read_bytes() == b"xxx"
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        *["kept", "kept/a", "kept/a/b.txt", "kept/a/same", "kept/e"]
    ]


def test_output_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "OUTPUT_LIMIT", 10)
    chunks = archive_of(member("output/a", 6), member("output/b", 6))
    assert "left out" in keep_output(chunks, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
