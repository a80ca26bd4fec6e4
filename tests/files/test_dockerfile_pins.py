"""What counts as a pin in a Dockerfile, where it is written, who can override it, and what it reaches."""

from pathlib import Path

import pytest

from pins.files.dockerfile.read import ReadOptions, read_base, read_dockerfile
from pins.model import Form, Pin, PinKind, PinSet, Scope

TRITON = """\
ARG BASE_IMAGE=acme/os:7.2-complete
ARG TRITON_BRANCH="f0b55c0" # release/internal/3.7.x as of 08/18
ARG TRITON_REPO="https://git.example/acme/triton.git"
FROM ${BASE_IMAGE} AS base
RUN pip install -U packaging 'cmake<4' 'setuptools<80' 'pybind11<3.1.0'
FROM base AS build_triton
ARG TRITON_BRANCH
ARG TRITON_REPO
RUN git clone ${TRITON_REPO}
RUN cd triton \\
    && git checkout ${TRITON_BRANCH} \\
    && python3 setup.py bdist_wheel
FROM base AS forgot
RUN echo ${TRITON_BRANCH}
FROM base AS final
RUN --mount=type=bind,from=build_triton,src=/d,target=/i pip install /i/*.whl
"""


def read(text: str, **options: object) -> PinSet:
    return read_dockerfile(text.encode(), "Dockerfile", ReadOptions(**options))  # type: ignore[arg-type]


def pin(text: str, name: str) -> Pin:
    found = [p for p in read(text).pins if p.name == name]
    assert len(found) == 1, [p.name for p in read(text).pins]
    return found[0]


def shown(text: str) -> list[tuple[str, str, str | None]]:
    """(kind, name, value) of every pin."""
    return [(p.kind.value, p.name, p.value) for p in read(text).pins]


def run(command: str) -> list[tuple[str, str, str | None]]:
    return shown(f"FROM scratch\nWORKDIR /w\nRUN {command}\n")


def test_branch_and_repository_are_one_git_pin_named_for_both() -> None:
    triton = pin(TRITON, "triton")
    assert triton.kind is PinKind.GIT
    assert triton.value == "f0b55c0"
    assert triton.repo == "https://git.example/acme/triton.git"
    assert triton.comment == "release/internal/3.7.x as of 08/18"
    assert triton.scope is Scope.GLOBAL
    assert triton.line == 2
    assert TRITON.encode()[triton.places[0].start : triton.places[0].end] == b"f0b55c0"


def test_an_override_reaches_the_stages_that_declare_the_arg_and_misses_those_that_do_not() -> None:
    override = pin(TRITON, "triton").override
    assert override.how == ("--build-arg TRITON_BRANCH",)
    assert override.reaches == ("build_triton",)
    assert override.misses == ("forgot",)


def test_a_pin_of_a_stage_whose_files_only_pass_onward_does_not_ship() -> None:
    assert not pin(TRITON, "triton").ships
    assert pin(TRITON, "pybind11").ships
    roles = {s.name: s.role for s in read(TRITON).stages}
    assert roles == {"base": "ships", "build_triton": "feeds", "forgot": "unused", "final": "target"}


def test_a_requirement_without_a_bound_is_floating() -> None:
    packaging = pin(TRITON, "packaging")
    assert packaging.floating
    assert packaging.form is Form.OPEN


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pip install foo==1.4", [("package", "foo", "1.4")]),
        ("pip3.12 install 'foo>=1,<2' \"bar[x]~=3\"", [("package", "foo", ">=1,<2"), ("package", "bar", "~=3")]),
        ("python3 -m pip --no-cache-dir install -U foo", [("package", "foo", None)]),
        ("/opt/sim/python.sh -m pip install foo==1", [("package", "foo", "1")]),
        ("sudo -E env X=1 uv pip install --system foo==1+cu999", [("package", "foo", "1+cu999")]),
        ("pip install foo==1.4.* --index-url https://h/cu12 -f https://h/l", [("package", "foo", "==1.4.*")]),
        ("pip install git+https://git.example/a/widget.git@v1#subdirectory=py", [("git", "widget", "v1")]),
        ("pip install 'foo @ git+https://git.example/a/w.git'", [("git", "foo", None)]),
        ("pip install https://h/foo-1.4-cp312-cp312-linux_x86_64.whl", [("url", "foo", "1.4")]),
        ("pip install /i/*.whl . -e ./python 'dist/foo[x]'", []),
        ('pip install -e "python[all]"', []),
        ("pip download foo==1 && pip wheel bar==2", [("package", "foo", "1"), ("package", "bar", "2")]),
        ("pip uninstall -y foo || true", []),
        ("git clone -b r7 https://git.example/a/widget.git", [("git", "widget", "r7")]),
        (
            "git clone https://git.example/a/widget.git && cd widget && git checkout ab12cd3",
            [("git", "widget", "ab12cd3")],
        ),
        ("git clone https://git.example/a/widget.git /x && git -C /x checkout -q v2", [("git", "widget", "v2")]),
        ("git clone https://git.example/a/widget.git", [("git", "widget", None)]),
        (
            "git init -q && git remote add origin https://git.example/a/widget.git && git fetch --depth 1 origin ab12cd3 && "  # noqa: E501
            "git checkout -q FETCH_HEAD",
            [("git", "widget", "ab12cd3")],
        ),
        (
            "git clone https://git.example/a/widget && cd widget && git cherry-pick ab12cd3",
            [("git", "widget", None), ("git", "widget-cherry-pick", "ab12cd3")],
        ),
        ("wget https://h/x/v1.4/foo-1.4.tar.gz", [("url", "foo", "1.4")]),
        ("curl -fsSL https://h/foo_1.1.1f-1ubuntu2_amd64.deb -o /f", [("url", "foo", "1.1.1f-1ubuntu2")]),
        ("curl -L https://github.com/a/w/pull/77.patch | git apply", [("url", "w-patch", "pull/77")]),
        ("curl -LsSf https://h/uv/install.sh | sh", []),
        ("apt-get install -y --no-install-recommends foo=1.4-1 gcc-13 vim", [("apt", "foo", "1.4-1")]),
        ("dnf install -y foo-1.4.2", [("apt", "foo", "1.4.2")]),
        (
            "conda install -y -c c foo=1.4 'bar>=2' baz",
            [("package", "foo", "1.4"), ("package", "bar", ">=2"), ("package", "baz", None)],
        ),
        ("V=1.4 && pip install foo==$V", [("package", "foo", "1.4")]),
        ("MAX_JOBS=64 make -j 8 && cmake -DARCHS='80;90' ..", []),
        ("echo 'foo==1.4' >> /c/constraints.txt", [("package", "foo", "1.4")]),
        (
            "pip install foo; for v in 1.2 1.3; do pip download bar==$v; done",
            [("package", "foo", None), ("package", "bar", "1.2"), ("package", "bar", "1.3")],
        ),
        (
            'if [ -n "$X" ]; then pip install foo==1; else pip install foo==2; fi',
            [("package", "foo", "1"), ("package", "foo", "2")],
        ),
        ("bash -lc 'pip install foo==1.4'", [("package", "foo", "1.4")]),
        ('["pip", "install", "foo==1.4"]', [("package", "foo", "1.4")]),
        ('["/bin/sh", "-c", "pip install foo==1.4"]', [("package", "foo", "1.4")]),
        ("<<EOF\npip install foo==1.4\nEOF", [("package", "foo", "1.4")]),
    ],
)
def test_commands_that_pin(command: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert run(command) == expected


def test_an_unquoted_bound_is_lost_to_the_shell_and_said_so() -> None:
    found = pin("FROM a\nRUN pip install foo>=4 bar\n", "foo")
    assert found.value is None
    assert "redirection" in found.note


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM acme/os:9.1 AS b\n", ("acme/os", "acme/os:9.1")),
        ("ARG OS_TAG=9.1\nFROM acme/os:${OS_TAG}-dev\n", ("os", "9.1")),
        ("ARG BASE=acme/os:9\nFROM ${BASE}\n", ("base", "acme/os:9")),
        ("ARG R=acme/os\nARG R_TAG=9\nFROM ${R}:${R_TAG}\n", ("r", "9")),
        ("ARG D=20250124\nARG BASE=acme/os:n_$D\nFROM $BASE\n", ("acme/os", "20250124")),
        ("FROM x@sha256:" + "a" * 64 + "\n", ("x", "x@sha256:" + "a" * 64)),
        ("ARG O=acme\nFROM $O/os:9.1@sha256:" + "a" * 64 + "\n", ("acme/os", "9.1@sha256:" + "a" * 64)),
    ],
)
def test_images(text: str, expected: tuple[str, str]) -> None:
    found = [p for p in read(text).pins if p.kind is PinKind.IMAGE]
    assert [(p.name, p.value) for p in found] == [expected]
    place = found[0].places[0]
    assert text.encode()[place.start : place.end].decode() == expected[1]


def test_images_that_files_are_copied_from_are_pins_and_stages_are_not() -> None:
    text = "FROM scratch AS a\nFROM scratch\nCOPY --from=acme/tool:0.5.1 /t /t\nCOPY --from=a /x /x\n"
    assert shown(text) == [("image", "acme/tool", "acme/tool:0.5.1")]


def test_patches_belong_to_the_checkout_they_are_applied_in() -> None:
    text = (
        "FROM a\nCOPY docker/m.patch /p/m.patch\nRUN git clone -b main https://git.example/a/megatron.git /root/m && \\\n"  # noqa: E501
        "    cd /root/m && git apply --3way /p/m.patch && patch -p1 < /p/n.patch && git cherry-pick ab12cd3\n"
        "RUN pip install tile_kernels==1.0.0 && patch -p1 -d /opt/site-packages < /p/tile_kernels.patch\n"
    )
    assert pin(text, "megatron").patches == ("/p/m.patch", "/p/n.patch", "cherry-pick ab12cd3")
    assert pin(text, "tile-kernels").patches == ("/p/tile_kernels.patch",)


def test_a_fetched_branch_and_a_commit_in_exclusive_branches_are_two_pins() -> None:
    text = (
        'FROM a\nARG S_BRANCH=dev\nARG S_COMMIT=""\nRUN cd /s && git fetch origin ${S_BRANCH} && \\\n'
        '    if [ -n "${S_COMMIT}" ]; then git checkout ${S_COMMIT}; else git checkout FETCH_HEAD; fi\n'
    )
    branch, commit = pin(text, "s-branch"), pin(text, "s-commit")
    assert (branch.value, branch.uses[0].runs) == ("dev", True)
    assert (commit.value, commit.uses[0].runs) == ("", False)
    assert branch.uses[0].excludes(commit.uses[0])


def test_an_arg_that_no_known_command_takes_is_shown_when_name_and_value_say_so() -> None:
    text = "FROM a\nARG NCCL_VERSION=2.27.3\nARG MAX_JOBS=8\nARG USE_X=1\nARG ARCHS=80;90\nRUN ./install.sh\n"
    assert shown(text)[1:] == [("text", "nccl", "2.27.3")]


def test_requirements_of_the_build_context_are_read_and_missing_ones_are_unknown_with_a_reason(tmp_path: Path) -> None:
    from pins.files.context import Directory

    (tmp_path / "reqs.txt").write_text("foo==1.4\n-c more.txt\n")
    (tmp_path / "more.txt").write_text("bar<2\n")
    text = "FROM a\nWORKDIR /x\nCOPY reqs.txt more.txt ./\nRUN pip install -r reqs.txt\nRUN pip install -r gone.txt\n"
    found = read(text, context=Directory(tmp_path))
    assert [(p.file, p.name, p.value) for p in found.pins[1:]] == [
        ("more.txt", "bar", "<2"),
        ("reqs.txt", "foo", "1.4"),
    ]
    assert [(p.line, p.fatal) for p in found.problems] == [(5, False)]
    assert "gone.txt is not at hand" in found.problems[0].message


def test_the_last_install_of_a_distribution_decides_in_each_stage(tmp_path: Path) -> None:
    """A stage that installs a checkout's requirements ends with another version than the stage that ships."""
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "requirements.txt").write_text("pybind11==3.0.4\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "tag", "v1"], check=True)
    text = (
        "FROM a AS base\nRUN pip install 'pybind11<3.1.0'\nFROM base AS build_aiter\n"
        "RUN git clone --branch v1 https://git.example/a/aiter.git\nRUN cd aiter && pip install -r requirements.txt\n"
        "FROM base AS final\nCOPY --from=build_aiter /w /w\n"
    )
    stages = {s.name: s for s in read(text, repositories={"aiter": tmp_path}).stages}
    last = {name: [i.requirement for i in s.installs if i.name == "pybind11"][-1] for name, s in stages.items()}
    assert last == {"base": "pybind11<3.1.0", "build_aiter": "pybind11==3.0.4", "final": "pybind11<3.1.0"}
    unknown = {s.name: s for s in read(text).stages}["build_aiter"].installs[-1]
    assert "no clone is at hand" in unknown.unknown


def test_files_that_build_on_one_another_are_read_as_a_chain() -> None:
    base = b"FROM x AS final\nENV TORCH=2.9.0\nWORKDIR /app\nRUN pip install foo==1\n"
    _, brought = read_base(base, "Dockerfile.base", "final")
    text = "ARG BASE_IMAGE=acme/base:1\nFROM ${BASE_IMAGE} AS s\nRUN pip install torch==${TORCH}\n"
    found = read(text, inherited={"BASE_IMAGE": brought})
    torch = next(p for p in found.pins if p.name == "torch")
    assert (torch.value, torch.file, torch.line) == ("2.9.0", "Dockerfile.base", 2)
    assert [(i.name, i.source) for i in found.stages[0].installs] == [("foo", "Dockerfile.base"), ("torch", "")]


def test_an_onbuild_that_nothing_runs_is_shown_as_not_run() -> None:
    text = "FROM a AS f\nARG W_BRANCH=main\nONBUILD RUN git clone -b ${W_BRANCH} https://git.example/a/w.git\nFROM a\n"
    assert pin(text, "w").uses[0].runs is False


def test_credentials_in_an_address_are_masked_everywhere() -> None:
    text = "FROM a\nRUN git clone -b r1 https://user:hunter2@git.example/a/w.git && pip install git+https://t0ken@git.example/a/v.git@v1\n"
    assert "hunter2" not in repr(read(text))
    assert "t0ken" not in repr(read(text))


def test_what_comes_after_a_line_that_does_not_parse_is_not_guessed() -> None:
    found = read("FROM a:1\nRUN pip install foo==1\n=======\nRUN pip install bar==2\n")
    assert [p.name for p in found.pins] == ["a", "foo"]
    assert not found.complete
    assert [p.line for p in found.problems if p.fatal] == [3]


def test_nesting_without_end_is_left_out_and_said() -> None:
    found = read("FROM a\nRUN " + "( " * 3000 + "x\nRUN pip install foo==1\n")
    assert [p.name for p in found.pins] == ["a", "foo"]
    assert any("deeply" in p.message for p in found.problems)


def test_build_arguments_change_what_is_read() -> None:
    found = read(TRITON, build_args={"TRITON_BRANCH": "main"})
    triton = next(p for p in found.pins if p.name == "triton")
    assert (triton.value, triton.places) == ("main", ())


@pytest.mark.parametrize(
    ("text", "shell"),
    [
        ("# escape=`\nFROM a\nRUN pip install foo==1; `\n if (x) { y }\nRUN z\n", "cmd"),
        ('FROM a\nSHELL ["powershell", "-Command"]\nRUN pip install foo==1\nRUN z\n', "powershell"),
    ],
)
def test_what_another_shell_than_a_posix_one_reads_is_said_not_to_be_read(text: str, shell: str) -> None:
    found = read_dockerfile(text.encode())
    assert [pin.name for pin in found.pins] == ["a"]
    assert [(p.line, p.fatal) for p in found.problems] == [(3, False)]
    assert f"RUN is given to {shell}" in found.problems[0].message


def test_an_exec_form_needs_no_shell() -> None:
    found = read_dockerfile(b'FROM a\nSHELL ["powershell"]\nRUN ["pip", "install", "foo==1"]\n')
    assert [pin.name for pin in found.pins] == ["a", "foo"]


def test_a_requirement_whose_specifier_is_an_arg_without_default_is_not_lost() -> None:
    data = b'FROM a\nARG FOO_SPEC\nARG CUDA\nRUN pip install "foo${FOO_SPEC}" cupy-cuda$CUDA\n'
    found = [pin for pin in read_dockerfile(data, "Dockerfile").pins if pin.kind is PinKind.PACKAGE]
    assert [(pin.name, pin.value) for pin in found] == [("foo", None), ("cupy-cuda$CUDA", None)]
    assert [pin.unknown.split(" is ")[0] for pin in found] == ["FOO_SPEC", "CUDA"]
