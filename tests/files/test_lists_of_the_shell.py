"""Lists of ``&&`` and ``||`` bind to the left, and set what they set only where they get there."""

import pytest

from pins.files.dockerfile.read import read_dockerfile
from pins.model import PinKind, PinSet, PinUse


def read(script: str) -> PinSet:
    return read_dockerfile(f"FROM acme/os:9\nARG X\nRUN {script}\n".encode(), "Dockerfile")


def uses(script: str, kind: PinKind = PinKind.PACKAGE) -> list[PinUse]:
    return [use for pin in read(script).pins if pin.kind is kind for use in pin.uses]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        # what a list sets where its test fails, as is known of an ARG without a default
        ('[ -n "$X" ] || X=1.5 && pip install foo==$X', [("==1.5", True)]),
        ('[ "$X" = 2 ] && V=1.0 || V=2.0; pip install foo==$V', [("==2.0", True)]),
        ('[ "$X" = 2 ] && V=1.0; pip install foo==${V:-3.0}', [("==3.0", True)]),
        ('V=3.0; [ -z "$X" ] && V=1.0; pip install foo==$V', [("==1.0", True)]),
        ('V=3.0; [ -z "$X" ] && [ -n "$X" ] && V=1.0; pip install foo==$V', [("==3.0", True)]),
        # either, where nobody knows
        ("[ -d /x ] && V=1.0 || V=2.0; pip install foo==$V", [("==1.0", None), ("==2.0", None)]),
        ('[ -d /x ] && V="1.0" || V="2.0" && pip install foo==$V', [("==1.0", None), ("==2.0", None)]),
        ("V=3.0; [ -d /x ] && V=1.0; pip install foo==$V", [("==1.0", None), ("==3.0", None)]),
        # what stands behind a fallback runs on both ways
        ("test -f /x || touch /x && pip install foo==1", [("==1", True)]),
        ("a || b || c && pip install foo==1", [("==1", True)]),
        # and behind one that leaves, on one
        ("test -f /x || exit 1 && pip install foo==1", [("==1", None)]),
        ("test -f /x || { echo no; exit 1; } && pip install foo==1", [("==1", None)]),
        # the idiom of a choice
        ('[ "$X" = 2 ] && pip install foo==1 || pip install foo==2', [("==1", False), ("==2", True)]),
        ("W=1.0 && [ -d /x ] && Y=2; pip install foo==$W", [("==1.0", True)]),
        ("if [ -d /x ]; then V=1.0; fi && [ -f /y ] && Y=1; pip install foo==${V:-2}", [("==1.0", None)]),
    ],
)
def test_what_a_list_sets_and_runs(script: str, expected: list[tuple[str, bool | None]]) -> None:
    assert sorted((use.effective, use.runs) for use in uses(script)) == expected


def test_the_two_ways_of_a_choice_exclude_each_other() -> None:
    first, second = uses("[ -d /x ] && pip install foo==1 || pip install foo==2")
    assert first.excludes(second)


def test_an_address_has_the_text_of_either_way() -> None:
    script = '[ "$(uname -m)" != x86_64 ] && arch="sbsa" || arch="x86_64" && curl -O https://x.org/$arch/foo-1.2.3.tgz'
    assert [(use.effective, use.conditions) for use in uses(script, PinKind.URL)] == [
        ("https://x.org/sbsa/foo-1.2.3.tgz", ('if [ "$(uname -m)" != x86_64 ]',)),
        ("https://x.org/x86_64/foo-1.2.3.tgz", ('unless [ "$(uname -m)" != x86_64 ]',)),
    ]


def test_a_directory_is_that_of_the_list_that_holds() -> None:
    found = read("git clone https://x.org/foo.git && cd foo || exit 1; git checkout v1.2")
    assert [(pin.name, pin.value) for pin in found.pins if pin.kind is PinKind.GIT] == [("foo", "v1.2")]
