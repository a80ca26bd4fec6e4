import pytest

from bisector.cli.options import RunOptions
from bisector.cli.replay_options import changes_from
from bisector.cli.search_arguments import parse_metric, parse_suspect
from bisector.metric import read_metric
from bisector.request import MetricRequest, Suspect
from pins.errors import UsageError


@pytest.mark.parametrize(
    ("text", "suspect"),
    [
        ("Triton", Suspect("triton")),
        ("numpy=2.0.0", Suspect("numpy", "2.0.0")),
        ("numpy==2.0.0", Suspect("numpy", "2.0.0")),
        ("triton~auto tune", Suspect("triton", word="auto tune")),
    ],
)
def test_a_suspect_is_a_pin_a_value_or_a_word(text: str, suspect: Suspect) -> None:
    assert parse_suspect(text) == suspect


@pytest.mark.parametrize("text", ["", "=1", "numpy=", "numpy~ ", "numpy=--help", "-x"])
def test_what_is_no_suspect_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--suspect"):
        parse_suspect(text)


@pytest.mark.parametrize(
    ("metric", "regress", "meant"),
    [
        ("seconds<=2.5", None, MetricRequest("seconds", bound=2.5, worse="higher")),
        ("tokens/s >= 1e3", None, MetricRequest("tokens/s", bound=1000.0, worse="lower")),
        ("seconds", "5%", MetricRequest("seconds", regress=0.05)),
        ("seconds", "+2.5 %", MetricRequest("seconds", regress=0.025, worse="higher")),
        ("rate", "-10%", MetricRequest("rate", regress=0.1, worse="lower")),
        (None, None, None),
    ],
)
def test_a_metric_has_a_limit_or_a_share(metric: str | None, regress: str | None, meant: MetricRequest | None) -> None:
    assert parse_metric(metric, regress) == meant


@pytest.mark.parametrize(
    ("metric", "regress"),
    [
        ("seconds", None),
        (None, "5%"),
        ("seconds<=2", "5%"),
        ("seconds<2", None),
        ("seconds<=two", None),
        ("seconds<=nan", None),
        ("seconds", "5"),
        ("seconds", "0%"),
        ("<=3", None),
    ],
)
def test_what_does_not_say_which_values_are_good_is_refused(metric: str | None, regress: str | None) -> None:
    with pytest.raises(UsageError, match=r"--(metric|regress)"):
        parse_metric(metric, regress)


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("seconds=2.5", 2.5),
        ("noise\nseconds: 3\nmore", 3.0),
        ("seconds=1\nseconds=2", 2.0),
        ("  seconds = 1.25e-3 s", 0.00125),
        ("seconds=12 ms (3 runs)", None),
        ('{"seconds": 4, "unit": "s"}', 4.0),
        ('log line\n{"other": 1}\n{"seconds": 5.5}', 5.5),
        ('{\n  "seconds": 6\n}\n', 6.0),
        ("seconds=nan", None),
        ('{"seconds": true}', None),
        ('{"seconds": "7"}', None),
        ("total_seconds=8", None),
        ("seconds=", None),
        ("", None),
    ],
)
def test_the_last_value_printed_counts(output: str, value: float | None) -> None:
    assert read_metric(output, "seconds") == value


def test_a_record_is_judged_by_options_of_judging_alone() -> None:
    assert changes_from(RunOptions(expect="gears", confidence="0.95")) == {"expect": "gears", "confidence": 0.95}
    with pytest.raises(UsageError, match="--workers"):
        changes_from(RunOptions(workers="2"))
