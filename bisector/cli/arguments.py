"""From what a person types to values: each function takes one argument and raises `UsageError` where it is wrong.

Every message says what was given, what is expected and an example, so that it can be put right without the manual.
What goes through here may end on a command line of another program: nothing that could be read as an option, or end
a line, gets past. Whether a version or revision exists is asked later, of the index or repository.
"""

import re
import warnings
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from bisector.request import PinRange
from pins.choices import one_of
from pins.errors import UsageError
from pins.home import expanded

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!/~^-]*", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_COUNT = r"(\d+(?:\.\d+)?)"
_DURATION = re.compile(rf"(?:{_COUNT}d)?(?:{_COUNT}h)?(?:{_COUNT}m)?(?:{_COUNT}s?)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)
_SECONDS = (86400.0, 3600.0, 60.0, 1.0)
_LONGEST = 10 * 365 * 86400.0


def parse_pin(text: str, git: Collection[str] = ()) -> PinRange:
    """`NAME=GOOD..BAD` (or `NAME==GOOD..BAD`) as an axis; NAME is normalized as package names are.

    Args:
        text: as typed.
        git: names of pins whose ends are revisions.
    """
    expected = "NAME=GOOD..BAD, for example --pin setuptools=80.9.0..82.0.1"
    name, separator, ends = text.partition("=")
    if not separator:
        raise wrong("--pin", text, "has no '='", expected)
    good, dots, bad = ends.removeprefix("=").partition("..")
    if bad.startswith(".") and bad.lstrip("."):
        raise wrong("--pin", text, "has more than two dots", f"two: --pin {name}={good}..{bad.lstrip('.')}")
    if not dots:
        raise wrong("--pin", text, "names no range: the good and the bad end go with two dots between", expected)
    if not good or not bad:
        raise wrong("--pin", text, f"names no {'good' if not good else 'bad'} end", expected)
    if ".." in bad:
        raise wrong("--pin", text, "has '..' more than once", expected)
    name = checked_name("--pin", text, name, expected)
    check = _revision if name in git else checked_value
    good, bad = (check("--pin", text, end, expected) for end in (good, bad))
    return PinRange(name, good, bad)


def parse_pin_name(text: str, option: str) -> str:
    """The name of a pin, normalized as package names are."""
    return checked_name(option, text, text, f"the name of a pin, for example {option} triton")


def parse_repository(text: str, directory: Path) -> tuple[str, str, str]:
    """`NAME=PATH_OR_URL[#subdirectory=DIR]`: a pin's name, an absolute path or a URL, and the directory or ""."""
    from pins.sources.git.address import parse_address
    from pins.sources.redaction import redact

    expected = "NAME=PATH_OR_URL, for example --repo triton=https://HOST/OWNER/triton.git or --repo triton=../triton"
    name, separator, place = text.partition("=")
    if not separator or not place:
        raise wrong("--repo", redact(text, ()), "names no repository", expected)
    place, _, fragment = place.partition("#")
    subdirectory = fragment.removeprefix("subdirectory=").strip("/")
    if fragment and (not subdirectory or not fragment.startswith("subdirectory=") or ".." in subdirectory.split("/")):
        raise wrong("--repo", redact(text, ()), f"ends in {_shown('#' + fragment)}", "#subdirectory=DIR, if anything")
    name = checked_name("--repo", redact(text, ()), name, expected)
    return name, parse_address(place, directory).text, subdirectory


def parse_nested(text: str, repositories: Collection[str]) -> tuple[str, str, str]:
    """`NAME=PIN:PATH` as a pin's name, the pin in whose tree it lies, and the path that holds it there."""
    expected = "NAME=PIN:PATH, for example --within llvm=triton:cmake/llvm-hash.txt"
    name, _, place = text.partition("=")
    outer, separator, path = place.partition(":")
    if not separator:
        raise wrong("--within", text, "does not say in the tree of which pin, and where", expected)
    name, outer = (checked_name("--within", text, each, expected) for each in (name, outer))
    if outer not in repositories:
        raise wrong("--within", text, f"names {outer}, which has no repository (--repo)", expected)
    if not path or path.startswith("/") or ".." in path.split("/") or not path.isprintable():
        raise wrong("--within", text, "names no path from the top of a tree", expected)
    return name, outer, path.strip("/")


def parse_required_path(text: str, repositories: Sequence[str]) -> tuple[str, str]:
    """`P` or `NAME=P` as the pin whose tree is meant and a path in it; without a name, the only pin there is."""
    from packaging.utils import canonicalize_name

    expected = "a path in the tree, such as --require-path setup.py, or with its pin: --require-path triton=setup.py"
    name, separator, path = text.partition("=")
    if not separator or not _NAME.fullmatch(name) or canonicalize_name(name) not in repositories:
        name, path = "", text
    if not name and len(repositories) != 1:
        raise wrong("--require-path", text, "does not say which pin's tree is meant", expected)
    path = path.removeprefix("./").rstrip("/")
    if not path or path.startswith("/") or ".." in path.split("/") or not path.isprintable():
        raise wrong("--require-path", text, "is no path from the top of a tree", expected)
    return str(canonicalize_name(name)) if name else repositories[0], path


def parse_choice_of_version(text: str, option: str = "--fix", git: Collection[str] = ()) -> tuple[str, str]:
    """`NAME=VALUE` (or `NAME==VALUE`) as a pin held at one value; one of the pins in `git` is held at a revision."""
    expected = f"NAME=VALUE, for example {option} numpy=1.26.4"
    name, separator, value = text.partition("=")
    if not separator:
        raise wrong(option, text, "has no '='", expected)
    value = value.removeprefix("=")
    if ".." in value:
        raise wrong(option, text, "is a range, where one value is meant", expected)
    name = checked_name(option, text, name, expected)
    return name, (_revision if name in git else checked_value)(option, text, value, expected)


def parse_duration(text: str, option: str) -> float:
    """`90s`, `20m`, `6h`, `1h30m`, `2d` or plain seconds, as seconds; more than none."""
    expected = f"a time such as 90s, 20m, 6h or 1h30m, for example {option} 20m"
    found = _DURATION.fullmatch(text.strip().lower())
    if not found or not any(found.groups()):
        raise wrong(option, text, "is no duration", expected)
    seconds = sum(float(count) * unit for count, unit in zip(found.groups(), _SECONDS, strict=True) if count)
    if not 0 < seconds <= _LONGEST:
        raise wrong(option, text, "is out of bounds", expected)
    return seconds


def parse_size(text: str, option: str) -> int:
    """`800M`, `50G`, `1.5T` or plain bytes, as bytes; powers of 1024."""
    expected = f"a size such as 800M, 50G or 1T, for example {option} 50G"
    found = re.fullmatch(rf"{_COUNT}\s*([kmgt]?)(?:i?b)?", text.strip().lower(), re.ASCII)
    if not found:
        raise wrong(option, text, "is no size", expected)
    size = int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " "))
    if size <= 0:
        raise wrong(option, text, "is out of bounds", expected)
    return size


def parse_date(text: str, option: str) -> datetime:
    """`2026-08-01` (its beginning, UTC) or an RFC 3339 instant, as an aware time in UTC."""
    expected = f"a date or an RFC 3339 time, for example {option} 2026-08-01 or {option} 2026-08-01T12:00:00Z"
    typed = text.strip()
    try:
        if _DATE.fullmatch(typed):
            day = date.fromisoformat(typed)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        if _INSTANT.fullmatch(typed):
            return datetime.fromisoformat(typed.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise wrong(option, text, f"does not exist ({error})", expected) from error
    problem = "has no offset from UTC" if re.match(r"\d{4}-\d\d-\d\d[Tt ]\d", typed) else "is no date"
    raise wrong(option, text, problem, expected)


def parse_variable(text: str, option: str) -> tuple[str, str]:
    """`K=V` as the name and value of an environment variable or a build argument; the value may be empty."""
    expected = f"NAME=VALUE, for example {option} MODEL=kimi"
    name, separator, value = text.partition("=")
    if not separator:
        raise wrong(option, text, "has no '='", expected)
    if not _VARIABLE.fullmatch(name):
        raise wrong(option, text, f"does not begin with a variable's name ({_shown(name)})", expected)
    if "\0" in value:
        raise wrong(option, text, "holds a NUL character", expected)
    return name, value


def parse_variable_name(text: str, option: str) -> str:
    """The name of an environment variable."""
    if not _VARIABLE.fullmatch(text):
        raise wrong(option, text, "is no variable's name", f"letters, digits and _, for example {option} HF_TOKEN")
    return text


def parse_smoke_variable(text: str) -> tuple[str, str]:
    """`K=V` of `--smoke-env`; the variables that the smoke protocol sets itself are not to be had."""
    name, value = parse_variable(text, "--smoke-env")
    if name in ("PROBE_OUTPUT", "BISECTOR_PROBE", "CHECKOUT") or name.startswith(("PIN_", "CHECKOUT_")):
        expected = "another name, for example --smoke-env MODEL=kimi"
        raise wrong("--smoke-env", text, f"sets {name}, which every run sets itself", expected)
    return name, value


def parse_count(text: str, option: str, example: int, least: int = 1) -> int:
    """A whole number, at least `least`."""
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()) or int(text) < least:
        expected = f"a whole number from {least} up, for example {option} {example}"
        raise wrong(option, text, "is out of bounds", expected)
    return int(text)


def parse_max_runs(text: str) -> int:
    """The most runs of a search; each end takes one at least."""
    return parse_count(text, "--max-runs", 40, least=2)


def parse_repeat(text: str) -> int | None:
    """Confirming runs: `auto` (None) or a count."""
    if text.strip().lower() == "auto":
        return None
    if not re.fullmatch(r"[0-9]{1,4}", text.strip()) or int(text) < 1:
        raise wrong("--repeat", text, "is out of bounds", "auto or a whole number from 1 to 9999, such as --repeat 3")
    return int(text)


def parse_confidence(text: str) -> float:
    """A probability above one half and below one."""
    expected = "a probability between 0.5 and 1, both excluded, for example --confidence 0.99"
    try:
        value = float(text)
    except ValueError as error:
        raise wrong("--confidence", text, "is no number", expected) from error
    if not 0.5 < value < 1:
        raise wrong("--confidence", text, "is out of bounds", expected)
    return value


def parse_choice(text: str, option: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    return one_of(text, option, choices)


def parse_pattern(text: str, option: str) -> str:
    """A regular expression (Python's), returned as typed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a later Python may read otherwise, with our own line for a place
            re.compile(text)
    except re.error as error:
        expected = f"a regular expression, for example {option} 'ImportError: .*pkg_resources'"
        raise wrong(option, text, f"cannot be read ({error})", expected) from error
    return text


def parse_requirement(text: str, option: str) -> str:
    """A requirement as `pyproject.toml` would hold it."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return str(Requirement(text))
    except InvalidRequirement as error:
        reason = str(error).split("\n", 1)[0]
        expected = f"a package with or without versions, for example {option} 'numpy<2'"
        raise wrong(option, text, f"is no requirement ({reason})", expected) from error


def parse_mount(text: str, directory: Path) -> str:
    """`SRC:DST` or `SRC:DST:ro`, with SRC made absolute."""
    from bisector.environments.docker.run import parse_mount as read

    mount = read(text, directory)
    return f"{mount.source}:{mount.target}:{'ro' if mount.read_only else 'rw'}"


def parse_path(text: str, directory: Path) -> Path:
    """A path, absolute: relative ones start at `directory`. The file itself may be a symbolic link, and stays one."""
    return directory / expanded(text)


def checked_name(option: str, text: str, name: str, expected: str) -> str:
    """A package's name, normalized; `text` is the whole argument that it stands in."""
    from packaging.utils import canonicalize_name

    if not _NAME.fullmatch(name):
        raise wrong(option, text, f"names no package: {_shown(name)} is not made of letters, digits, . _ -", expected)
    return str(canonicalize_name(name))


def checked_value(option: str, text: str, value: str, expected: str) -> str:
    """A version or revision, as typed; `text` is the whole argument that it stands in."""
    if not _VALUE.fullmatch(value):
        raise wrong(option, text, f"holds {_shown(value)}, which cannot be a version or revision", expected)
    return value


def _revision(option: str, text: str, value: str, expected: str) -> str:
    """A revision as git knows them: a name may begin with a dash, and is never handed to git where options go."""
    if not value.isprintable() or any(sign in value for sign in " :?*[\\") or "@{" in value:
        raise wrong(option, text, f"holds {_shown(value)}, which is no revision", expected)
    return value


def wrong(option: str, given: str, problem: str, expected: str) -> UsageError:
    """The error for an argument that cannot be taken: what was given, why not, and what is expected."""
    return UsageError(f"{option} {_shown(given)} {problem}; expected {expected}")


def _shown(text: str) -> str:
    """The text as one line that a terminal can show, shortened."""
    return repr(text if len(text) <= 80 else text[:77] + "...")
