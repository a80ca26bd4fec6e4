"""What no candidate could change is said as a mistake, not as an outcome of a candidate."""

import pytest

from bisector.environments.base import BuildFailedError
from bisector.environments.docker.build import failure_of_ours
from bisector.environments.docker.instructions import read_dockerfile
from bisector.environments.docker.mistakes import mistake
from bisector.model import Ended
from pins.errors import EnvironmentFailureError, UsageError
from tests.docker.docker_setting import Setting

HEAD = "#1 [internal] load build definition from Dockerfile\n#1 DONE 0.0s\n"
HEREDOC = "FROM x\nARG A_VERSION=1\nRUN <<EOF\necho hi\nEOF\n"
OLD = "failed to solve with frontend dockerfile.v0: failed to create LLB definition: "
COPY = '#6 ERROR: "/w/a-1.2.whl" not found: not found\n------\n > [2/2] COPY {}w/a-1.2.whl /x:\n------\n'
NOT_FOUND = 'failed to compute cache key: "/w/a-1.2.whl" not found: not found\n'
NOT_FOUND_BELOW = (
    "failed to compute cache key: failed to walk /data/tmp/buildkit-mount288/my files: lstat"
    " /data/tmp/buildkit-mount288/my files: no such file or directory\n"
)
NOT_FOUND_NEWER = 'ERROR: failed to solve: failed to compute cache key: x: "/w/a-1.2.whl": not found\n'


def said(text: str, dockerfile: str = HEREDOC, pinned: tuple[str, ...] = ("9",)) -> str:
    return mistake(Ended(1, errors=HEAD + text), read_dockerfile(dockerfile), lambda line: line, pinned)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (OLD + "dockerfile parse error line 2: unknown instruction: RUM", ["line 2: unknown instruction: RUM"]),
        ("ERROR: failed to solve: dockerfile parse error on line 2: unknown instruction: RUM", ["line 2: unknown"]),
        (OLD + "dockerfile parse error line 4: unknown instruction: ECHO", ["line 3 begins a heredoc", "# syntax="]),
        (OLD + "dockerfile parse error line 2: Unknown flag: link", ["Unknown flag", "# syntax="]),
        (OLD + "base name (${X}) should not be blank", ["--build-arg"]),
        ("#5 ERROR: secret zz not found: not found\nsecret zz not found: not found", ["--secret id=zz"]),
        ('no SSH key "" forwarded from the client', ["--ssh default"]),
        (COPY.format("") + NOT_FOUND, ["w/a-1.2.whl", "--context"]),
        (COPY.format("") + NOT_FOUND_BELOW, ["copies my files, which", "--context"]),
        (COPY.format("") + NOT_FOUND_NEWER, ["w/a-1.2.whl", "--context"]),
    ],
)
def test_a_mistake_is_said(text: str, words: list[str]) -> None:
    for word in words:
        assert word in said(text)


def test_what_may_be_the_candidates_is_no_mistake() -> None:
    assert said(COPY.format("--from=one ") + NOT_FOUND) == ""
    assert said(COPY.format("") + NOT_FOUND, pinned=("1.2",)) == ""
    assert said("#5 ERROR: executor failed running [/bin/sh -c x]: exit code: 1\n") == ""
    assert said("#5 0.1 dockerfile parse error line 2: printed by a RUN\n") == ""


NONE = (
    "#5 1.4 ERROR: Could not find a version that satisfies the requirement Six==1.16.0 (from versions: none)\n"
    "#5 1.4 ERROR: No matching distribution found for Six==1.16.0\n"
    "#5 ERROR: executor failed running [/bin/sh -c pip install]: exit code: 1\n"
)


def blamed(text: str, pins: tuple[str, ...] = ("six",)) -> str:
    return failure_of_ours(Ended(1, errors=HEAD + text), False, pins)


def test_an_index_that_knows_no_version_of_a_pin_was_not_reached() -> None:
    assert "--docker-build-option=--network=host" in blamed(NONE)
    uv = "#5 0.2   Because six was not found in the package registry and you require six==1.16.0, we can conclude\n"
    assert "--network=host" in blamed(uv)
    assert blamed(NONE, ("other",)) == ""
    assert blamed(NONE.replace("none)", "1.0, 2.0)")) == ""
    assert blamed("#5 1.3 ERROR: Ignored the following versions that require a different python version\n" + NONE) == ""


def test_retries_and_no_version_at_all_are_the_network() -> None:
    retry = "#5 0.2 WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'X()': /simple/six/\n"
    assert "--network=host" in blamed(retry + NONE, ("other",))


@pytest.mark.docker
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("RUM true\n", "line 5: unknown instruction: RUM"),
        ("COPY nothing /x\n", "copies nothing"),
        ("COPY --color=blue nothing /x\n", "line 5: [Uu]nknown flag"),
        ("RUN --mount=type=secret,id=zz,required true\n", "--secret id=zz"),
    ],
)
def test_the_engine_says_it_so(setting: Setting, more: str, words: str) -> None:
    environment = setting.environment(
        "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\n" + more
    )
    with pytest.raises(UsageError, match=words):
        setting.build(environment)


@pytest.mark.docker
def test_the_engine_says_so_of_what_a_candidate_lacks(setting: Setting) -> None:
    text = (
        "ARG BASE_IMAGE\nFROM ${BASE_IMAGE} AS one\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\n"
    )
    with pytest.raises(BuildFailedError, match="nothing"):
        setting.build(setting.environment(text + "COPY --from=one /nothing${DEMO_VERSION} /x\n"))
    with pytest.raises(BuildFailedError, match=r"demo-1\.0"):
        setting.build(setting.environment(text + "COPY demo-${DEMO_VERSION} /x\n"))


@pytest.mark.docker
def test_quiet_pip_without_a_network_is_no_evidence(setting: Setting) -> None:
    text = "ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nARG DEMO_VERSION=1\nLABEL v=${DEMO_VERSION}\n"
    environment = setting.environment(
        text + "RUN python3 -m pip install -qq --retries 0 --index-url https://index.invalid/x demo==${DEMO_VERSION}\n",
        build_options=("--network=none",),
    )
    with pytest.raises(EnvironmentFailureError, match="--network=host"):
        setting.build(environment)
