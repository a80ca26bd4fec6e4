"""One argument of the command line at a time: what it means, and what is said where it is wrong."""

import string
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisector.cli import arguments
from bisector.request import PinRange
from pins.errors import UsageError

HOSTILE = [
    "-rf",
    "--upgrade",
    "1.0 --index-url=x",
    "$(touch x)",
    "`touch x`",
    "1.0;ls",
    "1.0\n2.0",
    "1.0\r",
    "1.0\t",
    "'1.0'",
    '"1.0"',
    "1.0|x",
    "1.0&x",
    "1.0>x",
    "{1,2}",
    "a b",
    "\u200b1.0",
    "1.0\0",
    "",
]


def test_a_pin_is_a_name_and_two_ends() -> None:
    assert arguments.parse_pin("setuptools=80.9.0..82.0.1") == PinRange("setuptools", "80.9.0", "82.0.1")


@pytest.mark.parametrize("name", ["Typing_Extensions", "typing.extensions", "typing-extensions"])
def test_the_name_of_a_pin_is_normalized(name: str) -> None:
    assert arguments.parse_pin(f"{name}=4.0..4.1").pin == "typing-extensions"


@pytest.mark.parametrize(
    ("good", "bad"), [("1!2.0", "1!2.1"), ("1.0a1", "1.0.post1"), ("3.7.0+amd.rocm7", "3.7.1"), ("532137f", "f0b55c0")]
)
def test_the_ends_of_a_pin_may_be_any_version_or_revision(good: str, bad: str) -> None:
    assert arguments.parse_pin(f"triton={good}..{bad}") == PinRange("triton", good, bad)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("form", ["{}=1.0..2.0", "name={}..2.0", "name=1.0..{}"])
def test_a_hostile_part_of_a_pin_is_refused(form: str, hostile: str) -> None:
    with pytest.raises(UsageError, match=r"--pin setuptools=80\.9\.0\.\.82\.0\.1") as refusal:
        arguments.parse_pin(form.format(hostile))
    assert refusal.value.exit_code == 2
    assert "\n" not in refusal.value.message


@given(st.text())
def test_what_is_taken_as_a_pin_could_be_neither_an_option_nor_shell_syntax(text: str) -> None:
    try:
        pin = arguments.parse_pin(text)
    except UsageError:
        return
    for part in (pin.pin, pin.good, pin.bad):
        assert part[0] in string.ascii_letters + string.digits
        assert set(part) <= set(string.ascii_letters + string.digits + "._+!/~^-")


@given(
    st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True),
    st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}", fullmatch=True),
    st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}", fullmatch=True),
)
def test_every_plain_pin_is_read_back(name: str, good: str, bad: str) -> None:
    assert arguments.parse_pin(f"{name}={good}..{bad}") == PinRange(name, good, bad)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("setuptools", "no '='"),
        ("setuptools=80.9.0", "no range"),
        ("setuptools=80..81..82", "more than once"),
        ("setuptools=..82", "no good end"),
        ("setuptools=80..", "no bad end"),
    ],
)
def test_a_malformed_pin_is_answered_with_what_is_wrong_and_the_right_form(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=r"expected NAME=GOOD\.\.BAD") as refusal:
        arguments.parse_pin(text)
    assert said in refusal.value.message
    assert repr(text) in refusal.value.message


@pytest.mark.parametrize("text", ["numpy=1.26.4", "NumPy==1.26.4"])
def test_a_held_pin_has_one_value(text: str) -> None:
    assert arguments.parse_choice_of_version(text) == ("numpy", "1.26.4")


@pytest.mark.parametrize("text", ["numpy", "numpy=1..2", "numpy===1", "=1", *(f"numpy={each}" for each in HOSTILE)])
def test_a_wrong_held_pin_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fix numpy"):
        arguments.parse_choice_of_version(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("20m", 1200),
        ("6h", 21600),
        ("1h30m", 5400),
        ("2d", 172800),
        ("45", 45),
        ("0.5s", 0.5),
        ("1.5h", 5400),
        ("1H30M", 5400),
        ("1m30", 90),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert arguments.parse_duration(text, "--timeout") == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "soon", "-5", "-1m", "0", "0s", "20 m", "20x", "1m1h", "nan", "inf", "1e3", "99999d", "m", "٣m"]
)
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="--timeout 20m"):
        arguments.parse_duration(text, "--timeout")


@given(st.integers(0, 48), st.integers(0, 59), st.integers(1, 59))
def test_a_duration_is_the_sum_of_its_parts(hours: int, minutes: int, seconds: int) -> None:
    text = f"{hours}h{minutes}m{seconds}s"
    assert arguments.parse_duration(text, "--budget") == hours * 3600 + minutes * 60 + seconds


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-08-01", datetime(2026, 8, 1, tzinfo=UTC)),
        ("2026-08-01T12:30:00Z", datetime(2026, 8, 1, 12, 30, tzinfo=UTC)),
        ("2026-08-01t12:30:00z", datetime(2026, 8, 1, 12, 30, tzinfo=UTC)),
        ("2026-08-01 12:30:00.5+02:00", datetime(2026, 8, 1, 10, 30, 0, 500000, tzinfo=UTC)),
    ],
)
def test_dates(text: str, instant: datetime) -> None:
    parsed = arguments.parse_date(text, "--exclude-newer")
    assert parsed == instant
    assert parsed.utcoffset() == UTC.utcoffset(None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("yesterday", "is no date"),
        ("2026-13-01", "does not exist"),
        ("2026-02-30", "does not exist"),
        ("2026-08-01T12:00:00", "no offset"),
        ("20260801", "is no date"),
        ("", "is no date"),
        ("0001-01-01T00:00:00+23:59", "does not exist"),
    ],
)
def test_what_is_no_date_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match="--exclude-newer 2026-08-01") as refusal:
        arguments.parse_date(text, "--exclude-newer")
    assert said in refusal.value.message


def test_a_variable_may_hold_anything_after_its_name() -> None:
    assert arguments.parse_variable("A_1==x y\n$(z)", "--smoke-env") == ("A_1", "=x y\n$(z)")
    assert arguments.parse_variable("A=", "--smoke-env") == ("A", "")


@pytest.mark.parametrize("text", ["A", "=x", "1A=x", "-A=x", "A B=x", "A-B=x", "A=\0", "Ä=x"])
def test_a_wrong_variable_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--smoke-env MODEL=kimi"):
        arguments.parse_variable(text, "--smoke-env")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many", "", "²", "1" * 30])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--workers 2"):
        arguments.parse_count(text, "--workers", 2)
    with pytest.raises(UsageError, match="--repeat 3"):
        arguments.parse_repeat(text)


def test_counts() -> None:
    assert arguments.parse_count("3", "--workers", 2) == 3
    assert arguments.parse_repeat("auto") is None
    assert arguments.parse_repeat("1") == 1


@pytest.mark.parametrize("text", ["0.5", "1", "1.0", "99", "nan", "inf", "sure", ""])
def test_what_is_no_confidence_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--confidence 0\.99"):
        arguments.parse_confidence(text)


def test_a_choice_lists_its_values_where_it_is_wrong() -> None:
    with pytest.raises(UsageError, match="auto, fail or skip"):
        arguments.parse_choice("never", "--timeout-is", ("auto", "fail", "skip"))


def test_an_expression_that_cannot_be_read_is_refused() -> None:
    assert arguments.parse_pattern("Import.*Error", "--expect") == "Import.*Error"
    with pytest.raises(UsageError, match="cannot be read"):
        arguments.parse_pattern("(", "--expect")


def test_requirements() -> None:
    assert arguments.parse_requirement("pandas>=2,<3 ; python_version>'3'", "--with").startswith("pandas")
    for text in ("-r x.txt", "--index-url=x", "a b", "pandas>>2", ""):
        with pytest.raises(UsageError, match="--with 'numpy<2'"):
            arguments.parse_requirement(text, "--with")


def test_the_source_of_a_mount_is_made_absolute() -> None:
    base = Path("/base")
    assert arguments.parse_mount("models:/models:ro", base) == "/base/models:/models:ro"
    assert arguments.parse_mount("/m:/models", base) == "/m:/models:rw"


@pytest.mark.parametrize("text", ["/m", "/m:models", ":/m", "/m:/m:rx", "/m:/\0"])
def test_a_wrong_mount_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--mount"):
        arguments.parse_mount(text, Path("/base"))


def test_a_count_says_from_where_on_and_repeat_up_to_where() -> None:
    with pytest.raises(UsageError, match="a whole number from 2 up, for example --max-runs 40"):
        arguments.parse_max_runs("1")
    assert arguments.parse_max_runs("2") == 2
    with pytest.raises(UsageError, match="from 1 to 9999"):
        arguments.parse_repeat("1000000")
    assert arguments.parse_repeat("9999") == 9999


@pytest.mark.parametrize("name", ["PIN_WIDGET", "PROBE_OUTPUT", "BISECTOR_PROBE"])
def test_variables_that_every_run_sets_cannot_be_set(name: str) -> None:
    with pytest.raises(UsageError, match=f"sets {name}, which every run sets itself"):
        arguments.parse_smoke_variable(f"{name}=x")
    assert arguments.parse_smoke_variable("PINNED=x") == ("PINNED", "x")


def test_a_range_may_be_written_as_requirements_are() -> None:
    assert arguments.parse_pin("jinja2==3.0.3..3.1.2") == arguments.parse_pin("jinja2=3.0.3..3.1.2")


def test_three_dots_are_answered_with_two() -> None:
    with pytest.raises(UsageError, match=r"expected two: --pin jinja2=3\.0\.3\.\.3\.1\.2$"):
        arguments.parse_pin("jinja2=3.0.3...3.1.2")
