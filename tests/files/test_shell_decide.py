"""Whether conditions hold, held against the shell itself."""

import itertools
import shlex
import subprocess

import pytest

from pins.files.shell.decide import decide_test

TEXTS = ("", "a", "A", "a*", "*", "?", "[ab]", "0", "1", "-1", "01", "08", "10", "a b", "1.5", "=", "-n", "!")
COMPARISONS = ("=", "==", "!=", "-eq", "-ne", "-gt", "-lt", "-ge", "-le")


def asked(lists: list[list[str]], *, double: bool) -> list[int]:
    """The exit statuses of bash for these operands; a pattern stays one, as it does where it comes from a variable."""
    lines = []
    for operands in lists:
        if double:
            words = [
                each if each in COMPARISONS or each in ("-n", "-z", "!") else f"${{x[{n}]}}"
                for n, each in enumerate(operands)
            ]
            values = " ".join(map(shlex.quote, operands))
            lines.append(f"x=({values}); eval {shlex.quote('[[ ' + ' '.join(words) + ' ]]')} 2>/dev/null; echo $?")
        else:
            lines.append(f"[ {' '.join(map(shlex.quote, operands))} ] 2>/dev/null; echo $?")
    ended = subprocess.run(["bash", "-s"], input="\n".join(lines), capture_output=True, text=True, check=True)
    return [int(line) for line in ended.stdout.split()]


@pytest.mark.parametrize("double", [False, True])
def test_what_is_decided_is_what_bash_decides(double: bool) -> None:
    lists = [
        *([text] for text in TEXTS if text not in ("=", "-n", "!") or not double),
        *([sign, text] for sign in ("-n", "-z", "!") for text in TEXTS if text not in ("=", "-n", "!") or not double),
        *([left, sign, right] for left, right in itertools.product(TEXTS, TEXTS) for sign in COMPARISONS),
    ]
    if double:  # words that would be operators have to be quoted there, and a Dockerfile's reader sees that they are
        lists = [each for each in lists if not {each[0], each[-1]} & {"=", "-n", "!"} or len(each) == 2]
    decided = [decide_test(list(each), double=double) for each in lists]
    statuses = asked(lists, double=double)
    wrong = [
        (each, found, status)
        for each, found, status in zip(lists, decided, statuses, strict=True)
        if found is not None and status != (0 if found else 1)
    ]
    assert wrong == []
    of_texts = [
        found
        for each, found in zip(lists, decided, strict=True)
        if len(each) == 3 and "=" in each[1] and each[0] not in ("!", "-n")
    ]
    assert None not in of_texts


def test_what_is_not_known_decides_nothing() -> None:
    for operands in (
        [None],
        ["-n", None],
        ["!", None],
        [None, "=", "a"],
        ["a", "=", None],
        ["-f", "/x"],
        ["a", "-nt", "b"],
        [],
    ):
        assert decide_test(list(operands), double=False) is None
    for operands in (["a", "-a", "b"], ["(", "a", ")"], ["a", "&&", ""]):
        assert decide_test(list(operands), double=False) is None
