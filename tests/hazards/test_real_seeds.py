"""Known hazards of real files, at commits of their projects; run where clones of them are at hand.

PINS_HISTORIES names a directory that holds the clones (`<owner>+<name>/repo`, or `<name>`). Nothing of them is kept
here but names of commits and what a person has read there.
"""

import os
from pathlib import Path

import pytest

from pins.hazards.check import check
from pins.hazards.gather import gather
from pins.hazards.model import Hazard
from pins.hazards.table import chosen

ROOT = os.environ.get("PINS_HISTORIES", "")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not ROOT, reason="PINS_HISTORIES names no directory of clones")]


def clone(repository: str) -> Path:
    for path in (Path(ROOT) / repository.replace("/", "+") / "repo", Path(ROOT) / repository.split("/")[1]):
        if path.is_dir():
            return path
    pytest.skip(f"no clone of {repository} in PINS_HISTORIES")


def hazards(repository: str, revision: str, file: str, *rules: str, **options: dict[str, str]) -> list[Hazard]:
    top = clone(repository)
    clones = {repository.split("/")[1].lower(): top}
    subjects = gather([top / file], revision=revision, clones=clones, **options)  # type: ignore[arg-type]
    return check(subjects, chosen(rules, ()))


VLLM = ("neuralmagic/vllm", "docker/Dockerfile.rocm_base")


def test_vllm_left_pybind11_open_until_it_was_capped() -> None:
    repository, file = VLLM
    (hazard,) = hazards(repository, "823ec22b78b6^", file, "compiled-skew")
    assert (hazard.pin, hazard.line, hazard.column) == ("pybind11", 61, 68)
    assert "build_triton" in hazard.summary
    assert hazards(repository, "823ec22b78b6", file, "compiled-skew") == []


def test_vllm_dates_its_pins_on_arg_lines() -> None:
    repository, file = VLLM
    assert [h.line for h in hazards(repository, "823ec22b78b6", file, "junk-arguments")] == [2, 4]


MILES = ("radixark/miles", "docker/Dockerfile.rocm")


def test_miles_patched_its_own_source_by_line_number_until_the_patch_went() -> None:
    repository, file = MILES
    (hazard,) = hazards(repository, "6ea6cceaa^", file, "zero-context-patch", build_args={"MILES_COMMIT": "6ea6cceaa^"})
    assert "miles.patch has 3 hunks without a line of context" in hazard.summary
    assert hazard.line == 185
    one, two, three, moved = hazard.evidence
    assert one.startswith("miles/backends/fsdp_utils/actor.py: @@ -124,6 +124,3 @@ replaces 6 lines at line 124 by 3")
    assert "at 6ea6cceaa^ these lines stand at 137" in one
    assert "inserts 22 lines after line 229" in two
    assert "in `def get_model_cls(self):`" in two  # as git apply does, and reports success
    assert "lines have moved (+13, +38)" in moved
    assert "replaces 5 lines at line 600 by 4" in three
    assert hazards(repository, "6ea6cceaa", file, "zero-context-patch") == []


def test_the_hunks_of_miles_patch_fit_no_more_on_a_later_commit() -> None:
    repository, file = MILES
    (hazard,) = hazards(repository, "6ea6cceaa^", file, "zero-context-patch", build_args={"MILES_COMMIT": "6ea6cceaa"})
    assert "has no such lines: the patch fails" in hazard.evidence[0]


VERL = ("verl-project/verl", "docker/rocm/Dockerfile.rocm")
REACH = ("undeclared-global", "unused-global", "override-misses", "hardcoded", "literal", "swallowed", "used-before")


def test_what_overrides_of_verls_rocm_file_reach() -> None:
    repository, file = VERL
    found = {(h.rule.name, h.pin) for h in hazards(repository, "78269ccfa^", file, *REACH)}
    assert found == {
        ("swallowed-instruction", ""),  # ENV ROCM_HOME
        ("literal-beside-argument", "ROCM_VERSION"),  # the wheels
        ("hardcoded-python", "PYTHON_VERSION"),  # the wheels and a path
    }  # GPU_ARCH reaches all: the stages that use it descend from the one that declares it


def test_the_slip_of_verls_rocm_file_is_gone_with_its_fix_and_the_rest_with_its_rewrite() -> None:
    repository, file = VERL
    assert "swallowed-instruction" not in {h.rule.name for h in hazards(repository, "78269ccfa", file, *REACH)}
    assert hazards(repository, "c791da0bf", file, *REACH) == []
