"""What a search may be told besides its pins: suspects, and a number that decides. See `arguments`."""

import math
import re
from typing import Literal

from bisector.cli.arguments import checked_name, checked_value, wrong
from bisector.request import MetricRequest, Suspect

_METRIC = re.compile(r"([A-Za-z_][A-Za-z0-9_.:/%-]*)\s*(?:(<=|>=)\s*(\S+))?", re.ASCII)
_SHARE = re.compile(r"([+-]?)(\d+(?:\.\d+)?)\s*%", re.ASCII)


def parse_suspect(text: str) -> Suspect:
    """`NAME`, `NAME=VERSION`, `NAME~WORD` (commits whose subject holds the word) or `NAME:PATH` (that change it)."""
    expected = "NAME, NAME=VERSION, NAME~WORD or NAME:PATH, for example --suspect triton~autotune"
    name, separator, value = re.match(r"([^=~:]*)([=~:]?)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    name = checked_name("--suspect", text, name.strip(), expected)
    if separator and not value.strip():
        raise wrong("--suspect", text, f"has nothing behind its {separator!r}", expected)
    if separator == "~":
        return Suspect(name, word=value.strip())
    if separator == ":":
        return Suspect(name, path=_path(text, value.strip(), expected))
    value = value.removeprefix("=")
    return Suspect(name, checked_value("--suspect", text, value, expected) if separator else "")


def _path(text: str, path: str, expected: str) -> str:
    """A path within a repository, as git matches it."""
    parts = path.split("/")
    if path.startswith((":", "/")) or ".." in parts or not path.isprintable():
        raise wrong("--suspect", text, "names no path within the repository", expected)
    return path.removeprefix("./")


def parse_metric(text: str | None, regress: str | None) -> MetricRequest | None:
    """`NAME<=VALUE` or `NAME>=VALUE`, or `NAME` with a share that is too much worse than the good end; None for none.

    A share with a sign says which way is worse: +5% a higher value, -5% a lower one.
    """
    expected = "NAME<=VALUE or NAME>=VALUE, for example --metric 'seconds<=2.5', or NAME with --regress 5%"
    if text is None:
        if regress is not None:
            raise wrong("--regress", regress, "says of no number how much worse it may be", f"--metric too: {expected}")
        return None
    found = _METRIC.fullmatch(text.strip())
    if not found:
        raise wrong("--metric", text, "cannot be read", expected)
    name, comparison, number = found.groups()
    if comparison is None:
        if regress is None:
            raise wrong("--metric", text, "does not say which values are good", expected)
        return MetricRequest(name, regress=_share(regress), worse=_worse(regress))
    if regress is not None:
        raise wrong("--metric", text, "says which values are good, and --regress does so too", "one of the two")
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise wrong("--metric", text, f"has no number behind its {comparison}", expected)
    return MetricRequest(name, bound=bound, worse="higher" if comparison == "<=" else "lower")


def _matched(text: str) -> re.Match[str]:
    found = _SHARE.fullmatch(text.strip())
    if not found or not 0 < float(found[2]) <= 1000:
        raise wrong("--regress", text, "is no share", "a percentage, for example --regress 5%")
    return found


def _share(text: str) -> float:
    return float(_matched(text)[2]) / 100


def _worse(text: str) -> Literal["", "higher", "lower"]:
    signs: dict[str, Literal["", "higher", "lower"]] = {"+": "higher", "-": "lower", "": ""}
    return signs[_matched(text)[1]]
