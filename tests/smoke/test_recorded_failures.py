"""What real regressions printed (tests/data/signatures, made by scripts/record_signatures.py) compares as it should."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from bisector.model import Ended, Signature
from bisector.signature import Comparison, compare, read_build_signature, read_signature

RECORDED = sorted((Path(__file__).parents[1] / "data" / "signatures").glob("*.json"))
TWO_BUGS = {"setuptools-numpy-distutils": {"65.0.0", "65.0.1"}}
"""Versions that fail with another bug than the bad end."""


@dataclass(frozen=True)
class Recorded:
    """The signatures of one case, by version; those of versions that cannot be built apart."""

    bad: str
    failures: dict[str, Signature]
    unbuildable: dict[str, Signature]


@cache
def recorded(path: Path) -> Recorded:
    document = json.loads(path.read_text())
    failures, unbuildable = {}, {}
    for entry in document["failures"]:
        ended = Ended(entry["exit_status"], entry["signal"], output=entry["output"], errors=entry["errors"])
        if entry["stage"] == "run":
            signature = read_signature(ended, document["script"], "smoke.py")
            failures.update(dict.fromkeys(entry["versions"], signature))
        else:
            signature = read_build_signature(ended)
            unbuildable.update(dict.fromkeys(entry["versions"], signature))
    return Recorded(document["bad"], failures, unbuildable)


def each() -> list[object]:
    return [pytest.param(path, id=path.stem) for path in RECORDED]


def test_there_are_recordings() -> None:
    assert len(RECORDED) >= 40


@pytest.mark.parametrize("path", each())
def test_every_failing_version_is_the_failure_of_the_bad_end(path: Path) -> None:
    case = recorded(path)
    bad = case.failures[case.bad]
    different = {version for version, found in case.failures.items() if compare(found, bad) is Comparison.DIFFERENT}
    assert different == TWO_BUGS.get(path.stem, set())


@pytest.mark.parametrize("path", each())
def test_a_failure_says_something(path: Path) -> None:
    for version, signature in recorded(path).failures.items():
        assert signature.message or signature.frame, version


def test_failures_of_different_cases_are_never_the_same() -> None:
    bad_ends = {path.stem: recorded(path).failures[recorded(path).bad] for path in RECORDED}
    names = sorted(bad_ends)
    alike = {
        (one, other)
        for index, one in enumerate(names)
        for other in names[index + 1 :]
        if compare(bad_ends[one], bad_ends[other]) is Comparison.SAME
    }
    assert alike == set()


def test_what_cannot_be_built_is_told_by_the_error_in_its_log() -> None:
    found = recorded(next(path for path in RECORDED if path.stem == "pyyaml-load-unbuildable-gap")).unbuildable
    assert set(found) == {"5.4", "5.4.1"}
    assert set(found.values()) == {
        Signature("build", "AttributeError", "'build_ext' object has no attribute 'cython_sources'")
    }
