"""The two cases that the rules are for, small copies of our own; and the real files, where clones of them are at hand.

PINS_HISTORIES names a directory that holds the clones (`<owner>+<name>/repo`, or `<name>`).
"""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pins.drift.model import Finding, Rule
from pins.drift.rules.floating_moved import FLOATING_MOVED
from pins.drift.rules.patch_context import PATCH_CONTEXT
from pins.drift.rules.skew import SKEW
from pins.drift.running import observed
from pins.drift.tools import open_tools
from pins.drift.watching import WatchRequest, watch
from pins.hazards.model import Severity
from tests.drift.test_patch_fit import patch_of
from tests.drift.watched import Upstream, Watched, only
from tests.local_index import LocalIndex

ROOT = os.environ.get("PINS_HISTORIES", "")
needs_histories = pytest.mark.skipif(not ROOT, reason="PINS_HISTORIES names no directory of clones")
KNOWN_UP_TO = datetime(2026, 8, 10, 23, 59, 59, tzinfo=UTC)


def day(month: int, number: int) -> datetime:
    return datetime(2026, month, number, 12, tzinfo=UTC)


# -- an image whose AITER was compiled with one pybind11, and whose kernels are compiled with another ------------------

BASE = """\
ARG BASE_IMAGE=rocm/dev-ubuntu-22.04:7.2.3-complete
ARG TRITON_BRANCH="532137f" # release/internal/3.7.x as of 08/07
ARG TRITON_REPO="{triton}"
ARG AITER_BRANCH="v0.1.19"
ARG AITER_REPO="{aiter}"
FROM ${{BASE_IMAGE}} AS base
ARG PYTHON_VERSION=3.12
WORKDIR /app
RUN pip install -U packaging 'cmake<4' ninja wheel 'setuptools<80' pybind11 Cython

FROM base AS build_triton
ARG TRITON_BRANCH
ARG TRITON_REPO
RUN git clone ${{TRITON_REPO}}
RUN cd triton && git checkout ${{TRITON_BRANCH}} && python3 setup.py bdist_wheel --dist-dir=dist
RUN mkdir -p /app/install && cp dist/*.whl /app/install

FROM base AS build_aiter
ARG AITER_BRANCH
ARG AITER_REPO
RUN git clone --recursive --branch ${{AITER_BRANCH}} ${{AITER_REPO}}
RUN cd aiter && git submodule update --init --recursive && pip install -r requirements.txt
RUN cd aiter && PREBUILD_KERNELS=1 python3 setup.py bdist_wheel --dist-dir=dist
RUN mkdir -p /app/install && cp /app/aiter/dist/*.whl /app/install

FROM base AS final
RUN --mount=type=bind,from=build_triton,src=/app/install/,target=/install pip install /install/*.whl
RUN --mount=type=bind,from=build_aiter,src=/app/install/,target=/install pip install /install/*.whl
"""


def test_skew_and_the_open_requirement_are_reported_days_before_anybody_capped_it(
    tmp_path: Path, local_index: LocalIndex
) -> None:
    for version, uploaded in (("3.0.4", day(4, 19)), ("3.1.0", day(8, 6)), ("3.2.0", day(9, 20))):
        local_index.add("pybind11", version, upload_time=uploaded)
    for name, version in (("packaging", "26.3"), ("ninja", "1.13.0"), ("wheel", "0.47.0"), ("cython", "3.2.9")):
        local_index.add(name, version, upload_time=day(6, 1))
    aiter_repository = Upstream(tmp_path / "ROCm" / "aiter")
    aiter_repository.commit(
        "release", day(7, 20), {"requirements.txt": "pyyaml\npybind11==3.0.4\n", "setup.py": "# ours\n"}
    )
    aiter_repository.git("tag", "v0.1.19")
    watched = Watched(tmp_path / "project", local_index.url)
    text = BASE.format(triton="https://git.example.org/ROCm/triton.git", aiter=aiter_repository.url)
    watched.write({"docker/Dockerfile.rocm_base": text}, when=day(8, 4))
    # Another pin moves, which builds nothing anew of what the stages share.
    watched.write(
        {"docker/Dockerfile.rocm_base": text.replace("532137f", "f0b55c0").replace("08/07", "08/12")}, day(8, 12)
    )
    watched.as_of = KNOWN_UP_TO
    checked = watched.check(SKEW, FLOATING_MOVED)
    skew, floating = (one for each in checked for one in each.outcome.findings)
    assert (skew.rule, skew.pin, skew.severity) == ("skew", "pybind11", Severity.WARNING)
    assert "stage build_aiter ends with 3.0.4 (aiter@v0.1.19:requirements.txt:2)" in skew.summary
    assert "stage final has 3.1.0 (line 9)" in skew.summary
    assert (floating.rule, floating.pin, floating.line) == ("floating-moved", "pybind11", 9)
    assert "came to 3.0.4" in floating.summary
    assert "comes to 3.1.0 now" in floating.summary
    assert floating.suggestion == "cap it below what was not tried (pybind11<3.1.0), or pin pybind11==3.0.4"


# -- a patch by line number, made for a file as a branch had it --------------------------------------------------------

ACTOR = [*(f"    step_{number}()" for number in range(60)), "", "def init_context(self):", "    return None", ""]
ACTOR += [*(f"    load_{number}()" for number in range(40)), "model = self.build()"]


def test_the_hunks_without_context_and_the_commit_from_which_they_land_wrong(
    tmp_path: Path, local_index: LocalIndex
) -> None:
    miles = Upstream(tmp_path / "radixark" / "miles")
    miles.commit("begin", day(4, 9), {"backends/actor.py": "".join(f"{line}\n" for line in ACTOR)})
    after = list(ACTOR)
    after[-1] = "model = self.build_with_bridge()"
    after[61:61] = ["def build_with_bridge(self):", "    return self.patched()", ""]
    after[20] = "    step_20(bridge=True)"
    patch = patch_of(ACTOR, after, tmp_path, context=0).replace(b"a/f", b"a/backends/actor.py")
    patch = patch.replace(b"b/f", b"b/backends/actor.py")
    watched = Watched(tmp_path / "project", local_index.url)
    apply = "git apply --3way --unidiff-zero /tmp/amd_patch/miles.patch"
    dockerfile = (
        "FROM lmsysorg/sglang:v0.5.10\nARG MILES_COMMIT=main\n"
        "COPY docker/amd_patch/miles.patch /tmp/amd_patch/miles.patch\n"
        f"RUN git clone {miles.url} /root/miles && cd /root/miles && git checkout ${{MILES_COMMIT}} && {apply}\n"
    )
    # Made for the file as a branch had it that was merged otherwise: the clone does not have it.
    patch = patch.replace(b"index ", b"index 0123456")
    watched.write({"docker/Dockerfile.rocm": dockerfile, "docker/amd_patch/miles.patch": patch.decode()}, day(7, 20))
    assert only(watched.findings(PATCH_CONTEXT)).bucket == "miles.patch: without context"
    lines = ["import flops", *ACTOR]
    guilty = miles.commit("flops", day(7, 27), {"backends/actor.py": "".join(f"{line}\n" for line in lines)})
    lines = ["import flops", "import dashboard", *ACTOR]
    miles.commit("dashboard", day(8, 12), {"backends/actor.py": "".join(f"{line}\n" for line in lines)})
    found = only(watched.findings(PATCH_CONTEXT))
    assert (found.bucket, found.severity) == ("miles.patch: lands elsewhere", Severity.ERROR)
    assert "3 hunks without a line of context, and 1 hunk of them lands elsewhere in miles at main" in found.summary
    assert f"since {guilty[:10]} (2026-07-27)" in found.summary
    assert sum("@@ -" in line for line in found.evidence if not line.startswith("wrong")) == 3


# -- the real files ----------------------------------------------------------------------------------------------------


def clone(repository: str) -> Path:
    for path in (Path(ROOT) / repository.replace("/", "+") / "repo", Path(ROOT) / repository.split("/")[1]):
        if path.is_dir():
            return path
    pytest.skip(f"no clone of {repository} in PINS_HISTORIES")


def real(repository: str, file: str, revision: str, *rules: Rule, **given: object) -> list[Finding]:
    """What rules find in a real file at a revision of its project, the unknown left out."""
    as_of = given.get("as_of")
    assert as_of is None or isinstance(as_of, datetime)
    clones = {name.split("/")[1]: clone(name) for name in (repository, "ROCm/aiter")}
    arguments = given.get("build_args", {})
    assert isinstance(arguments, dict)
    request = WatchRequest((clone(repository) / file,), as_of or datetime.now(UTC), revision, clones, arguments)
    subject = watch(request).subject
    with open_tools(as_of=as_of) as tools:
        checked = observed(rules, subject, tools, {})
    return [one for each in checked for one in each.outcome.findings]


@pytest.mark.slow
@pytest.mark.network
@needs_histories
def test_vllms_base_image_on_the_tenth_of_august() -> None:
    found = real(
        "neuralmagic/vllm", "docker/Dockerfile.rocm_base", "823ec22b78b6^", SKEW, FLOATING_MOVED, as_of=KNOWN_UP_TO
    )
    skew, floating = (one for one in found if one.pin == "pybind11")
    assert "stage build_aiter ends with 3.0.4 (aiter@v0.1.19:requirements.txt:22)" in skew.summary
    assert "stage final has 3.1.0 (line 61)" in skew.summary
    assert "pybind11 came to 3.0.4" in floating.summary
    assert "(2026-08-05), and comes to 3.1.0 now" in floating.summary
    assert len(found) == 2


@pytest.mark.slow
@needs_histories
def test_miles_patch_before_it_went() -> None:
    found = real(
        "radixark/miles",
        "docker/Dockerfile.rocm",
        "6ea6cceaa^",
        PATCH_CONTEXT,
        build_args={"MILES_COMMIT": "6ea6cceaa^"},
    )
    (wrong,) = (one for one in found if one.pin == "miles")
    assert wrong.bucket == "miles.patch: lands elsewhere"
    assert "since 5b809d9d74" in wrong.summary
    assert any("in `def get_model_cls(self):`" in line for line in wrong.evidence)
    assert sum(line.startswith("miles/backends/fsdp_utils/actor.py: @@") for line in wrong.evidence) == 3
