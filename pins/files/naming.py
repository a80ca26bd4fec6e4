"""What a pin is called: from the variable that holds it, where its name says what it is of."""

import re

_SUFFIX = re.compile(
    r"_(?:GIT_)?(?:BRANCH|COMMIT|COMMIT_ID|COMMIT_HASH|COMMIT_SHA|REF|TAG|VERSION|VER|SHA|SHA1|HASH|REV|REVISION|CHECKOUT|RELEASE)"
    r"(?:_NAME|_ID)?\Z",
    re.IGNORECASE,
)
_GENERIC = frozenset(
    {"", "git", "default", "build", "source", "src", "repo", "arg", "base", "image", "remote", "target", "pinned"}
)
_PIN_NAME = re.compile(
    r"(?:\A|_)(?:BRANCH|COMMIT|REF|TAG|VERSION|VER|SHA|SHA1|REV|REVISION|COMMIT_ID|COMMIT_HASH|COMMIT_SHA|RELEASE)\Z"
    r"|_(?:BRANCH|COMMIT|VERSION|REF|TAG)_(?:NAME|ID|HASH|SHA)\Z"
)
_NOT_A_PIN = re.compile(r"API_VERSION|MIN_VERSION|PRETEND_VERSION|IMAGE_TAG_SUFFIX")
_VERSION_LIKE = re.compile(r"v?\d+(?:[.\d]*\d)?(?:[-+._!~a-zA-Z0-9]*)\Z|[0-9a-f]{7,40}\Z|[A-Za-z][\w./-]*\d[\w./+-]*\Z")
_BRANCHES = frozenset({"main", "master", "dev", "develop", "nightly", "stable", "latest"})


def stem(variable: str) -> str:
    """The subject of a variable's name: "triton" of TRITON_BRANCH, "" where the name has none."""
    match = _SUFFIX.search(variable)
    if not match:
        return ""
    name = variable[: match.start()].lower().replace("_", "-")
    return "" if name in _GENERIC else name


def dashed(variable: str) -> str:
    """A variable's whole name as a pin's name: "base-image" of BASE_IMAGE."""
    return variable.lower().strip("_").replace("_", "-")


def says_version(variable: str, value: str) -> bool:
    """Whether a variable that no known command takes still looks like a pin, by its name and its value."""
    if not _PIN_NAME.search(variable.upper()) or _NOT_A_PIN.search(variable.upper()):
        return False
    if " " in value or "://" in value or len(value) > 100:
        return False
    return bool(_VERSION_LIKE.match(value)) or value in _BRANCHES
