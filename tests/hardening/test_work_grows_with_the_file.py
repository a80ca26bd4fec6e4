"""However a file is made, reading and checking it takes work in proportion to its length."""

import pytest

from pins.files.read import read_pins
from pins.files.shell_pattern import shell_pattern
from pins.hazards.check import check
from pins.hazards.gather import subject
from pins.hazards.table import RULES
from pins.model import PinSet
from tests.hardening.work import calls_of

BASE = b"FROM acme/os:1\n"


def run(script: bytes) -> bytes:
    return BASE + b"RUN " + script + b"\n"


def read(data: bytes) -> PinSet:
    return read_pins(data, "Dockerfile")


def checked(data: bytes) -> None:
    check([subject(data, "Dockerfile")], RULES)


@pytest.mark.parametrize(
    "line",
    [
        b"RUN pip install foo==1\n",
        b"RUN pip install foo==%d\n",
        b"RUN pip install foo\nRUN pip uninstall -y foo\n",
        b"RUN pip install foo%d==1 && pip install foo%d\n",
        b"RUN git clone https://git.example/a/b && cd b && git checkout abc1234\n",
        b"COPY a%d b\n",
        b"# pins: ignore[two-requirements] why\nRUN pip install foo\n",
    ],
)
def test_four_times_the_lines_are_about_four_times_the_work(line: bytes) -> None:
    def of(lines: int) -> int:
        data = BASE + b"".join(line.replace(b"%d", str(number).encode()) for number in range(lines))
        return calls_of(lambda: checked(data), 20_000_000)

    of(5)  # what is imported and compiled once
    small, large = of(60), of(240)
    assert large < 6.5 * small


@pytest.mark.parametrize(
    "data",
    [
        BASE + b"ENV A=x\n" + b"ENV A=$A$A\n" * 60,
        BASE + b"ENV PATH=$PATH:/x\n" * 250,
        run(b"A=x; " + b"A=$A$A; " * 60 + b"pip install foo==$A"),
        run(b"A=x; " + b"A+=$A; " * 60 + b"pip install foo==$A"),
        run(b"A=aa; " + b"A=${A//a/aa}; " * 60 + b"pip install $A"),
        run(b"A=(a b); " + b"A=(${A[@]} ${A[@]}); " * 40 + b"pip install ${A[@]}"),
        run(b"set -- a b; " + b"set -- $@ $@; " * 40 + b"pip install $@"),
        run(b"A=x; " + b"eval A=\\$A\\$A; " * 60),
        run(b"A='eval $A; eval $A; eval $A; eval $A; eval $A'; eval $A"),
        run(b"".join(b"for i%d in a b c d e f g h; do " % i for i in range(7)) + b"echo $i0; " + b"done; " * 7),
        run(b"f() { g $@ $@ $@ $@; }; g() { h $@ $@ $@ $@; }; h() { f $@ $@ $@ $@; f $@; f $@; f $@; }; f a b c"),
        run(
            b"".join(b"if [ $Q ]; then A%d=1; else A%d=2; fi; " % (i, i) for i in range(40))
            + b"pip install "
            + b" ".join(b"f%d==$A%d" % (i, i) for i in range(40))
        ),
    ],
    ids=[
        "docker-doubles",
        "path-grows",
        "shell-doubles",
        "appends-itself",
        "replaces",
        "array",
        "positional",
        "eval",
        "eval-in-eval",
        "loops-in-loops",
        "functions",
        "alternatives",
    ],
)
def test_what_would_grow_without_end_is_given_up(data: bytes) -> None:
    assert calls_of(lambda: read(data), 5_000_000) > 0


def test_a_value_that_grew_too_long_is_said_not_to_be_known() -> None:
    data = BASE + b"ARG FOO_VERSION=1.4\n" + b"ENV FOO_VERSION=$FOO_VERSION$FOO_VERSION\n" * 30
    found = read(data + b"RUN pip install foo==$FOO_VERSION\n")
    assert any("longer than anything" in pin.unknown for pin in found.pins if pin.name == "foo")


def test_loops_that_are_cut_short_are_told() -> None:
    loops = b"".join(b"for i%d in a b c d e f g h; do " % i for i in range(7)) + b"pip install $i0; " + b"done; " * 7
    assert any("not understood" in problem.message for problem in read(run(loops)).problems)


def test_a_pattern_of_many_asterisks_is_matched_at_once() -> None:
    data = run(b"A=" + b"a" * 300 + b"; B=${A##" + b"*a" * 30 + b"b}; pip install foo==${A//" + b"*a" * 30 + b"b/}")
    assert read(data).pins


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("[z-a]x", "", "zx"),
        ("[!]]", "a", "]"),
        ("[]a]", "]", "b"),
        ("[!", "[!", "a"),
        ("[[:digit:]]*", "3x", "x3"),
        ("[^a]", "b", "a"),
        (r"[\]]", "]", "\\"),
        ("a**b*c", "aXbYc", "aXbY"),
        ("*ab*ab", "abab", "ab"),
        ("[a&&b]", "&", "c"),
    ],
)
def test_brackets_and_asterisks_mean_what_the_shell_means(pattern: str, fits: str, does_not: str) -> None:
    import re

    expression = re.compile(shell_pattern(pattern), re.DOTALL)
    assert not fits or expression.fullmatch(fits)
    assert not expression.fullmatch(does_not)
