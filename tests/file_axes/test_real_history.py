"""Plans over the real history of a Dockerfile; run where a clone of its repository is at hand (PINS_HISTORIES)."""

import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from bisector.environment_making import make_environment, read_index
from bisector.feasibility.merged import merged_steps
from bisector.file_axes.axes import file_axes
from bisector.file_axes.ends import read_space
from bisector.file_axes.index import package_index
from bisector.file_axes.request import FilesRequest
from bisector.file_axes.space import FileSpace
from bisector.file_axes.versions import Reading
from bisector.model import Axis, Candidate, SmokeScript
from bisector.preparation import lay_chain
from bisector.request import DockerRequest, IndexRequest, RunRequest
from bisector.space import chain_through, moves_between
from pins.errors import SourceError
from pins.files.comparing import compare_revisions
from pins.files.reading import ReadRequest
from pins.model import PinKind
from pins.release import Release
from tests.local_index import LocalIndex

ROOT = os.environ.get("PINS_HISTORIES", "")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not ROOT, reason="PINS_HISTORIES names no directory of clones")]

FILE = "docker/Dockerfile.rocm_base"
PAIRS = [
    ("e6e3c55ef2", "0e237f0035"),
    ("0e237f0035", "80d38b8ac8"),
    ("b9a1c4c8a2", "dc34059360"),
    ("b9a1c4c8a2", "0be149524c"),
    ("aa1356ec53", "75f01b9d3c"),
    ("0be149524c", "3a612322eb"),
    ("0346396e94", "3982bc2cd0"),
    ("731285c939", "39cb9bf292"),
    ("39cb9bf292", "324f452f64"),
    ("6e96891ba0", "324f452f64"),
]


def clone() -> Path:
    for path in (Path(ROOT) / "neuralmagic+vllm" / "repo", Path(ROOT) / "vllm"):
        if path.is_dir():
            return path
    pytest.skip("no clone of vllm in PINS_HISTORIES")


def no_releases(name: str, _time: object) -> tuple[Release, ...]:
    raise SourceError(f"{name}: the history is read without an index")


@cache
def planned(good: str, bad: str) -> tuple[FileSpace, tuple[Axis, ...]]:
    space = read_space(FilesRequest(clone() / FILE, good, bad), Reading({}), None, ())
    return space, file_axes(space, no_releases)[0]


def git_diff(good: str, bad: str) -> str:
    command = ["git", "-C", str(clone()), "diff", "-U0", good, bad, "--", FILE]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("good", "bad"), PAIRS)
def test_the_plan_names_exactly_the_pins_that_differ(good: str, bad: str) -> None:
    space, axes = planned(good, bad)
    [(_, _, found)], _ = compare_revisions(clone() / FILE, good, bad, ReadRequest(()))
    named = {axis.pin.partition("@")[0] for axis in axes if axis.kind is not PinKind.TEXT or axis.pin != "text"}
    named |= {change.pin.name for change, _ in space.parts[0].difference.with_text}
    assert named == {change.pin.name for change in found}


@pytest.mark.parametrize(("good", "bad"), PAIRS)
def test_every_argument_that_git_diff_shows_with_another_value_is_an_axis(good: str, bad: str) -> None:
    space, _ = planned(good, bad)
    moved: dict[str, dict[str, str]] = {}
    for line in git_diff(good, bad).splitlines():
        if match := re.fullmatch(r'([-+])ARG (BASE_IMAGE|\w+_BRANCH)="?([^"#\s]+)"?.*', line):
            moved.setdefault(match[2], {})[match[1]] = match[3]
    both = {name for name, values in moved.items() if len(set(values.values())) == 2}
    variables = {variable for slot, _, _ in space.parts[0].moving for variable in slot.variables if variable}
    assert both <= variables
    assert {name for name in variables if name == "BASE_IMAGE" or name.endswith("_BRANCH")} <= both


@pytest.mark.parametrize(("good", "bad"), PAIRS)
def test_one_pin_moves_per_step_from_the_one_file_to_the_other(good: str, bad: str) -> None:
    space, axes = planned(good, bad)
    chain = chain_through(axes, [[axis] for axis in axes])
    for lower, upper in pairwise(chain.candidates):
        assert len(moves_between(lower, upper)) == 1
    [part] = space.parts
    assert part.render(chain.candidates[0]) == part.history.good.data
    assert part.render(chain.candidates[-1]) == part.history.bad.data


@pytest.mark.parametrize(("good", "bad"), PAIRS)
def test_each_candidate_holds_what_it_says(good: str, bad: str) -> None:
    space, axes = planned(good, bad)
    [part] = space.parts
    for candidate in chain_through(axes, [[axis] for axis in axes]).candidates:
        text = part.render(candidate).decode()
        for slot, _, _ in part.moving:
            if slot.variables[0] and part.version(candidate) is part.history.bad:
                assert re.search(rf'(?m)^ARG {slot.variables[0]}="?{re.escape(candidate[slot.name])}', text)


def test_candidates_of_one_text_differ_in_the_moved_pin_alone() -> None:
    space, axes = planned(*PAIRS[0])
    [part] = space.parts
    chain = chain_through(axes, [[axis] for axis in axes])
    texts = {candidate: part.render(candidate).decode().splitlines() for candidate in chain.candidates}
    for lower, upper in pairwise(chain.candidates):
        if lower.get("text") == upper.get("text"):
            changed = [pair for pair in zip(texts[lower], texts[upper], strict=True) if pair[0] != pair[1]]
            assert len(changed) == 1


@pytest.fixture(scope="module")
def index() -> Iterator[LocalIndex]:
    """What the file installs; no ninja takes cmake 4.0.2, which lies between the ends of one pair."""
    with LocalIndex() as made:
        for name in ("packaging", "wheel", "setuptools", "pybind11", "cython", "pyyaml", "build"):
            made.add(name, "1.0")
        for version in ("3.31.10", "4.0.2", "4.0.3", "4.1.0"):
            made.add("cmake", version)
        for version in ("1.11.1", "1.13.0"):
            made.add("ninja", version, requires=["cmake!=4.0.2"])
        yield made


@pytest.mark.parametrize(("good", "bad"), PAIRS)
def test_one_pin_moves_by_one_value_but_where_the_resolver_says_why_not(
    good: str, bad: str, index: LocalIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = clone() / FILE
    request = RunRequest(
        (),
        SmokeScript(Path(os.devnull)),
        environment="docker",
        docker=DockerRequest(file),
        files=FilesRequest(file, good, bad),
    )
    read = read_index(IndexRequest(index.url), {}, tmp_path)
    environment = make_environment(request, (), read, datetime.now(UTC), "plan", to_plan=True)
    with package_index(read) as source:
        axes, _ = file_axes(environment.space, lambda name, _: source.releases(name))  # type: ignore[attr-defined]
    reasons: dict[Candidate, str] = {}
    chain = lay_chain(axes, environment, reasons, whole=True)
    forced = merged_steps(axes, chain, reasons)
    assert all(step.reason for step in forced)
    places = {axis.pin: [value.text for value in axis.values] for axis in axes}
    plain = 0
    for lower, upper in pairwise(chain.candidates):
        moves = moves_between(lower, upper)
        places_of = places[moves[0].pin]
        plain += len(moves) == 1 and places_of.index(moves[0].new) == places_of.index(moves[0].old) + 1
    assert plain + len(forced) == chain.steps
    if places.get("cmake", [])[-1:] == ["3.31.10"]:
        [step] = forced
        assert [(move.pin, move.old, move.new) for move in step.moves] == [("cmake", "4.0.3", "3.31.10")]
        assert "every release of ninja requires cmake!=4.0.2" in step.reason
        assert FILE in step.reason
    else:
        assert not forced


def test_a_candidate_is_a_mapping_of_pins() -> None:
    _, axes = planned(*PAIRS[0])
    candidate = chain_through(axes, [[axis] for axis in axes]).candidates[0]
    assert isinstance(candidate, Candidate)
    assert {*candidate} == {axis.pin for axis in axes}
