"""Every version of every Dockerfile in the histories of real projects; run where clones of them are at hand.

PINS_HISTORIES names a directory that holds the clones, or links to them (`<owner>+<name>/repo`, or `<name>`): one test
for each, so that a long history does not hold back the others. Nothing of them is kept here but names of commits and
the values that a person read there (hand_worked.json).
"""

import json
import os
import re
import subprocess
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dockerfile
import pytest

from pins.files.dockerfile.read import read_dockerfile
from pins.files.dockerfile.syntax import KEYWORDS, split_dockerfile
from pins.files.read import kind_of
from pins.model import Pin, PinKind
from tests.files.round_trip import Failed, all_go_together, round_trip, values_for

ROOT = os.environ.get("PINS_HISTORIES", "")
HAND_WORKED = json.loads((Path(__file__).parent / "hand_worked.json").read_text())
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not ROOT, reason="PINS_HISTORIES names no directory of clones")]


def clone(repository: str) -> Path:
    for path in (Path(ROOT) / repository.replace("/", "+") / "repo", Path(ROOT) / repository.split("/")[1]):
        if path.is_dir():
            return path
    pytest.skip(f"no clone of {repository} in PINS_HISTORIES")


def content(repository: str, revision: str, path: str) -> bytes:
    done = subprocess.run(
        ["git", "-C", str(clone(repository)), "show", f"{revision}:{path}"], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"{repository} has no {revision}:{path}")
    return done.stdout


def clones() -> list[Path]:
    """The git directories of all clones at hand."""
    if not ROOT:
        return []
    found = [path / "repo" if (path / "repo").is_dir() else path for path in sorted(Path(ROOT).iterdir())]
    return [path for path in found if (path / "HEAD").is_file() or (path / ".git").exists()]


def name_of(directory: Path) -> str:
    return directory.parent.name if directory.name == "repo" else directory.name


@cache
def versions(directory: Path) -> dict[str, tuple[str, bytes]]:
    """By blob, a path and the content of every Dockerfile in a clone's history."""
    listed = subprocess.run(
        ["git", "-C", str(directory), "log", "--all", "-m", "--raw", "--no-abbrev", "--no-renames", "--format="],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    ).stdout
    wanted: dict[str, str] = {}
    for line in listed.splitlines():
        meta, _, name = line.partition("\t")
        fields = meta.split()
        if len(fields) > 3 and fields[1] in {"100644", "100755"} and kind_of(name) == "dockerfile":
            wanted.setdefault(fields[3], name)
    return dict(_contents(directory, wanted)) if wanted else {}


def _contents(directory: Path, wanted: dict[str, str]) -> Iterator[tuple[str, tuple[str, bytes]]]:
    output = subprocess.run(
        ["git", "-C", str(directory), "cat-file", "--batch"],
        input="".join(f"{b}\n" for b in wanted).encode(),
        capture_output=True,
        check=True,
    ).stdout
    position = 0
    for blob, name in wanted.items():
        end = output.index(b"\n", position)
        fields = output[position:end].split()
        if len(fields) != 3:
            position = end + 1
            continue
        size = int(fields[2])
        yield blob, (name, output[end + 1 : end + 1 + size])
        position = end + size + 2


each_clone = pytest.mark.parametrize("directory", clones(), ids=name_of)


@each_clone
def test_instructions_are_those_of_an_independent_parser_and_nothing_fails(directory: Path) -> None:
    for blob, (path, data) in versions(directory).items():
        split = split_dockerfile(data)
        read_dockerfile(data, path)
        try:
            expected = [(c.cmd.upper(), c.start_line, c.end_line) for c in dockerfile.parse_string(data.decode())]
        except (dockerfile.GoParseError, UnicodeDecodeError):
            continue
        ours = [(i.keyword, i.line, i.end_line) for i in split.instructions]
        unknown = next((i for i, entry in enumerate(expected) if entry[0] not in KEYWORDS), len(expected))
        assert ours == expected[:unknown], (blob, path)


@each_clone
def test_every_pin_goes_to_another_value_and_back(directory: Path) -> None:
    """Each pin once for each way in which its line is written; what follows is the same wherever that line stands."""
    seen: set[tuple[str, str, bytes]] = set()
    wrong: list[tuple[str, str, int, object]] = []
    for blob, (path, data) in versions(directory).items():
        wanted: list[tuple[Pin, str]] = []
        for pin in read_dockerfile(data, path).pins:
            if not pin.places:
                continue
            start = data.rfind(b"\n", 0, pin.places[0].start) + 1
            end = data.find(b"\n", pin.places[0].end)
            key = (pin.name, pin.kind.value, data[start : end if end >= 0 else len(data)])
            if key in seen:
                continue
            seen.add(key)
            choices = values_for(pin)
            wanted.append((pin, choices[zlib.crc32(repr(key).encode()) % len(choices)]))
        if not wanted or all_go_together(path, data, wanted):
            continue
        for pin, value in wanted:
            failed = round_trip(path, data, pin, value)
            if failed is not None and not _cannot_be(failed, pin, value):
                wrong.append((blob, pin.name, pin.line, failed))
    assert not wrong, (len(wrong), wrong[:20])


def test_the_histories_at_hand_hold_more_than_two_thousand_distinct_versions() -> None:
    assert len({blob for directory in clones() for blob in versions(directory)}) > 2000


def _cannot_be(failed: Failed, pin: Pin, value: str) -> bool:
    """Values that the file cannot hold there, and values of the file that are no valid ones."""
    if failed.what == "refused":
        return "single quotes" in failed.detail and "'" in value
    return failed.what == "refused to go back" and pin.kind is PinKind.IMAGE and " " in (pin.value or "")


@pytest.mark.parametrize(
    "case", HAND_WORKED, ids=lambda case: f"{case['repository']}:{case['path']}@{case['commit'][:8]}"
)
def test_values_are_those_worked_out_by_hand(case: dict[str, Any]) -> None:
    found = read_dockerfile(content(case["repository"], case["commit"], case["path"]), case["path"])
    stopped = [problem.line for problem in found.problems if problem.fatal]
    assert stopped == ([case["problem_line"]] if "problem_line" in case else [])
    for line, kind, value, *effective in case["pins"]:
        matching = [p for p in found.pins if (p.line, p.kind.value, p.value, p.unknown) == (line, kind, value, "")]
        assert matching, (line, kind, value)
        assert not effective or effective[0] in {pin.effective for pin in matching}


def test_the_rocm_base_of_vllm_is_read_completely() -> None:
    data = content("neuralmagic/vllm", "823ec22b78", "docker/Dockerfile.rocm_base")
    clone_of_aiter = Path(ROOT) / "ROCm+aiter" / "repo"
    from pins.files.dockerfile.read import ReadOptions

    found = read_dockerfile(
        data,
        "Dockerfile.rocm_base",
        ReadOptions(repositories={"aiter": clone_of_aiter} if clone_of_aiter.is_dir() else {}),
    )
    assert found.complete
    git = {pin.name: (pin.value, re.sub(r".*/", "", pin.repo)) for pin in found.pins if pin.kind is PinKind.GIT}
    assert git == {
        "triton": ("f0b55c0", "triton.git"),
        "pytorch": ("6bbd260", "pytorch.git"),
        "pytorch-vision": ("v0.27.1", "vision.git"),
        "pytorch-audio": ("v2.11.0", "audio.git"),
        "fa": ("0e60e394", "flash-attention.git"),
        "aiter": ("v0.1.19", "aiter.git"),
        "mori": ("v1.1.0", "mori.git"),
    }
    own = {pin.name: pin.value for pin in found.pins if pin.kind is PinKind.PACKAGE and pin.stage == "base"}
    assert own == {
        "packaging": None,
        "cmake": "<4",
        "ninja": None,
        "wheel": None,
        "setuptools": "<80",
        "pybind11": "<3.1.0",
        "cython": None,
    }
    if clone_of_aiter.is_dir():
        last = {s.name: [i.requirement for i in s.installs if i.name == "pybind11"][-1] for s in found.stages}
        assert last["final"] == "pybind11<3.1.0"
        assert last["build_aiter"] == "pybind11==3.0.4"


def test_the_rocm_image_of_miles_is_read_completely() -> None:
    found = read_dockerfile(content("radixark/miles", "HEAD", "docker/Dockerfile.rocm"), "Dockerfile.rocm")
    by_name = {pin.name: pin for pin in found.pins}
    assert found.complete
    assert by_name["megatron"].patches == ("/tmp/amd_patch/megatron.patch",)
    assert by_name["tile-kernels"].patches == ("/tmp/amd_patch/tile_kernels.patch",)
    assert by_name["wheels-tag-rocm"].repo.endswith("/miles-wheels-rocm")
    assert by_name["setuptools"].value == "79.0.1"
    assert "pulls setuptools up" in by_name["setuptools"].comment


def test_the_rocm_image_of_verl_is_read_completely() -> None:
    found = read_dockerfile(content("verl-project/verl", "HEAD", "docker/rocm/Dockerfile.rocm"), "Dockerfile.rocm")
    by_name = {pin.name: pin for pin in found.pins}
    assert found.complete
    assert by_name["default-base"].override.how == ("--build-arg DEFAULT_BASE", "--build-arg BASE_IMAGE")
    assert by_name["default-base"].override.reaches == ("pytorch_base",)
    assert by_name["vllm"].override.reaches == ("install_vllm",)
    assert by_name["sglang"].override.reaches == ("install_sglang",)
