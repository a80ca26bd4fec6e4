"""Requirement lines, markers and specifiers as `packaging` has them, only faster."""

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from pins.resolve.matching import VersionList
from pins.resolve.problem import Choice
from pins.resolve.requirement_line import Markers, read_line
from pins.resolve.runs import exact_specifier, runs
from tests.resolve.memory_source import MARKERS

VERSIONS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(("", "", "", "1!")),
        st.lists(st.integers(0, 2).map(str), min_size=1, max_size=3).map(".".join),
        st.sampled_from(("", "", "a1", "b2", "rc1")),
        st.sampled_from(("", "", ".post1")),
        st.sampled_from(("", "", ".dev2")),
        st.sampled_from(("", "", "+cpu", "+rocm7.2")),
    ),
)
OPERATORS = (">=", "<=", "<", ">", "==", "!=", "~=", "==*", "!=*", "===")


def specifier(operator: str, version: str) -> SpecifierSet | None:
    plain = version.split("+")[0]
    try:
        return SpecifierSet(f"{operator[:2]}{plain}.*" if operator.endswith("*") else f"{operator}{version}")
    except InvalidSpecifier:
        return None


@settings(deadline=None)
@given(st.lists(VERSIONS, min_size=1, max_size=25), st.sampled_from(OPERATORS), VERSIONS)
def test_bisection_takes_what_packaging_takes(versions: list[str], operator: str, bound: str) -> None:
    ascending = sorted(set(map(Version, versions)))
    asked = specifier(operator, bound)
    if asked is None:
        return
    found = VersionList([Choice(str(version), version) for version in ascending]).taken_by(asked)
    assert found == sum(2 << i for i, version in enumerate(ascending) if asked.contains(version, prereleases=True))


@pytest.mark.parametrize("bound", ["1.0", "1", "1.0.0", "1.0+cpu", "1.0-1", "1.0.post1", "0.9", "2.0", "3"])
def test_arbitrary_equality_compares_what_is_written(bound: str) -> None:
    versions = ["0.9", "1.0", "1.0+cpu", "1.0-1", "2.0"]
    asked = SpecifierSet(f"==={bound}")
    found = VersionList([Choice(text, Version(text)) for text in versions]).taken_by(asked)
    assert found == sum(2 << i for i, text in enumerate(versions) if asked.contains(text, prereleases=True))


@settings(deadline=None)
@given(st.lists(VERSIONS, min_size=1, max_size=12), st.integers(0, 2**12))
def test_a_specifier_for_a_window_takes_exactly_its_versions(versions: list[str], chosen: int) -> None:
    choices = [Choice(str(version), version) for version in sorted(set(map(Version, versions)))]
    asked = ((1 << len(choices)) - 1) << 1
    inside = chosen << 1 & asked
    text = exact_specifier(choices, inside, asked)
    if text is not None:
        taken = VersionList(choices).taken_by(SpecifierSet(text))
        assert taken == inside
    assert sum(((4 << last) - 1) & ~((2 << first) - 1) for first, last in runs(inside, asked)) == inside


@pytest.mark.parametrize(
    "text",
    [
        "numpy",
        "numpy (>=1.26,<3)",
        "Foo_Bar[a,B.c]>=1; python_version >= '3.9'",
        "torch==2.4.0+cpu ; platform_system == 'Linux' and extra == 'x'",
        "x @ https://example.invalid/x.whl",
        "spam===1.0-odd",
        "zope.interface [test] ~= 5.0 ; extra=='all'",
    ],
)
def test_lines_are_read_as_packaging_reads_them(text: str) -> None:
    line, expected = read_line(text), Requirement(text)
    assert line.name == canonicalize_name(expected.name)
    assert set(line.extras) == set(map(canonicalize_name, expected.extras))
    assert line.specifiers == expected.specifier
    assert line.url == (expected.url or "")
    assert str(Marker(line.marker) if line.marker else "") == str(expected.marker or "")


@pytest.mark.parametrize("text", ["", "=1", "a b", "a>=", "a; nonsense", "a[", "[x]"])
def test_what_is_no_requirement_says_so_or_always_counts(text: str) -> None:
    line = read_line(text)
    assert line.problem or Markers(MARKERS).hold(line.marker, "")


def test_markers_hold_as_packaging_says() -> None:
    atoms = ["extra == 'x'", 'extra=="X_y"', "python_version < '3'", "sys_platform == 'linux'", "os_name != 'nt'"]
    draw = random.Random(7)
    markers = Markers(MARKERS)
    texts = [f"{a} {joined} {b}" for a, b in product(atoms, atoms) for joined in ("and", "or")]
    texts += [f"({draw.choice(texts)}) and {draw.choice(atoms)}" for _ in range(60)]
    texts += [f"{draw.choice(atoms)} or {draw.choice(texts)}" for _ in range(60)]
    for text, extra in product([*atoms, *texts], ("", "x", "x-y", "z")):
        assert markers.hold(text, extra) == Marker(text).evaluate({**MARKERS, "extra": extra}), (text, extra)


def test_solutions_are_checked_by_the_markers_of_packaging() -> None:
    from pins.resolve.check import SolutionCheck, _parsed
    from tests.resolve.memory_source import MemorySource, problem

    atoms = ["extra == 'x'", 'extra=="X_y"', "python_version < '3'", "sys_platform == 'linux'"]
    texts = [f"{a} {joined} {b}" for a, b in product(atoms, atoms) for joined in ("and", "or")]
    texts += [f"({a}) {joined} {b}" for a, b in product(texts, atoms) for joined in ("and", "or")]
    check = SolutionCheck(problem("spam"), MemorySource())
    for text, extra in product([*atoms, *texts], ("", "x", "x-y", "z")):
        expected = Marker(text).evaluate({**MARKERS, "extra": extra})
        assert check._holds(_parsed(f"spam; {text}"), extra) == expected, (text, extra)
