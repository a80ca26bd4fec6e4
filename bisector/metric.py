"""A number that the script prints, in place of its exit status: what it is, and what it must not exceed. Pure.

With `--metric NAME --regress 5%` the limit is not given but measured: the mean of the good end's runs, made worse by
that share. Which way is worse is what the bad end shows, unless it was said. How far the runs of one end scatter is the
noise; the search meets it as a flaky script, and the report says it.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from bisector.request import MetricRequest

END_RUNS = 5
"""Runs of each end before a limit is taken from them."""
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"


@dataclass(frozen=True)
class Limit:
    """What a value must not pass: good is `value <= limit` (`at_most`), or `value >= limit`."""

    name: str
    value: float
    at_most: bool

    def holds(self, value: float) -> bool:
        """Whether a value is good."""
        return value <= self.value if self.at_most else value >= self.value

    def __str__(self) -> str:
        return f"{self.name} {'<=' if self.at_most else '>='} {self.value:.6g}"


@dataclass(frozen=True)
class Measured:
    """The values that one end's runs gave.

    Attributes:
        runs: how many.
        mean: their mean. deviation: their standard deviation, 0 for a single one.
    """

    runs: int
    mean: float
    deviation: float

    def __str__(self) -> str:
        return f"{self.mean:.6g} ± {self.deviation:.2g} ({self.runs} runs)"


def read_metric(output: str, name: str) -> float | None:
    """The last value of this name in a script's output; None where there is none, or it is no finite number.

    Read are lines `NAME=VALUE` (also with a colon, and with a unit behind the number) and lines, or a whole output,
    that are a JSON object with the key NAME.
    """
    found: object = None
    plain = re.compile(rf"\s*{re.escape(name)}\s*[=:]\s*({_NUMBER}|nan|[-+]?inf)(?![\w.]*\d)[^\d]*", re.IGNORECASE)
    for line in output.splitlines():
        if match := plain.fullmatch(line):
            found = float(match[1])
        elif line.lstrip().startswith("{"):
            found = _in_json(line, name, found)
    if found is None:
        found = _in_json(output, name, None)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return float(found)


def _in_json(text: str, name: str, otherwise: object) -> object:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
    return document.get(name, otherwise) if isinstance(document, dict) else otherwise


def measured(values: Sequence[float]) -> Measured | None:
    """The values of one end in short; None without any."""
    if not values:
        return None
    return Measured(len(values), fmean(values), stdev(values) if len(values) > 1 else 0.0)


def limit_of(asked: MetricRequest, good: Measured | None, bad: Measured | None) -> Limit | None:
    """What a value must not pass; None while the ends have not shown enough to tell."""
    if asked.regress is None:
        assert asked.bound is not None
        return Limit(asked.name, asked.bound, asked.worse == "higher")
    if good is None or bad is None:
        return None
    higher_is_worse = asked.worse == "higher" or (not asked.worse and bad.mean > good.mean)
    margin = abs(good.mean) * asked.regress
    return Limit(asked.name, good.mean + (margin if higher_is_worse else -margin), higher_is_worse)
