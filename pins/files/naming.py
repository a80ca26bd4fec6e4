"""What a pin is called: from the variable that holds it, where its name says what it is of."""

import re

_SUFFIX = re.compile(
    r"_(?:GIT_)?(?:BRANCH|COMMIT|COMMIT_ID|COMMIT_HASH|COMMIT_SHA|REF|TAG|VERSION|VER|SHA|SHA1|HASH|REV|REVISION|CHECKOUT|RELEASE)"
    r"(?:_NAME|_ID)?\Z|(?<=[A-Z0-9])_?VERSIONS?\Z",
    re.IGNORECASE,
)
_GENERIC = frozenset(
    {"", "git", "default", "build", "source", "src", "repo", "arg", "base", "image", "remote", "target", "pinned"}
)
_PIN_NAME = re.compile(
    r"(?:\A|_)(?:BRANCH|COMMIT|REF|TAG|VERSIONS?|VER|SHA|SHA1|REV|REVISION|COMMIT_ID|COMMIT_HASH|COMMIT_SHA|RELEASE)\Z"
    r"|[A-Z0-9]VERSION\Z"
    r"|_(?:BRANCH|COMMIT|VERSION|REF|TAG)_(?:NAME|ID|HASH|SHA)\Z"
)
_NOT_A_PIN = re.compile(r"API_VERSION|MIN_VERSION|VERSION_MIN|PRETEND_VERSION|IMAGE_TAG_SUFFIX")
_NO_PIN = re.compile(
    r"(?:\A|_)(?:JOBS|THREADS|ARCH|ARCHS|ARCH_LIST|TARGETS|GFX|UID|GID|USER|GROUP|PORT|TIMEOUT|RETRIES|SIZE|DATE|ACL|PROXY)\Z"
    r"|CUDA_ARCH|ROCM_ARCH|PLATFORM|USER_NAME|EMAIL|TOKEN|PASSWORD|PASSWD|SECRET|CREDENTIAL|API_?KEY|PRIVATE_KEY|ACCESS_KEY"
)
"""Lists of devices, numbers of jobs, ids, and what must not be shown at all."""
_SWITCHES = frozenset({"", "0", "1", "true", "false", "on", "off", "yes", "no", "none", "null"})
_VERSIONED = re.compile(
    r"v?\d+(?:\.\d+)+[\w.+~-]*\Z|v\d\S*\Z|(?=\S*\d)[0-9a-f]{7,40}\Z|[\w./-]+:[\w.-]+\Z|\S+@sha256:\S+\Z"
)
_ADDRESS = re.compile(r"\d+(?:\.\d+){3}\Z")
_VERSION_LIKE = re.compile(r"v?\d+(?:[.\d]*\d)?(?:[-+._!~a-zA-Z0-9]*)\Z|[0-9a-f]{7,40}\Z|[A-Za-z][\w./-]*\d[\w./+-]*\Z")
_PLAIN_VERSION = re.compile(r"v?\d+(?:\.\d+)+[\w.+~-]*\Z|(?=\S*\d)(?=\S*[a-f])[0-9a-f]{7,40}\Z")
_SAYS_COMMIT = re.compile(r"(?:\A|_)(?:COMMIT|REF|REV|REVISION|BRANCH|HASH|SHA|TAG|CHECKOUT|VERSION|GIT)(?:_|\Z)")
_BOUND = re.compile(r"\s*(?:===?|~=|!=|<=?|>=?)\s*\d[\w.*+!-]*(?:\s*,\s*(?:===?|~=|!=|<=?|>=?)\s*\d[\w.*+!-]*)*\s*\Z")
_OF_THE_BUILD = frozenset({"vcs", "app", "project", "image", "docker", "release", "package", "build-git", "git-commit"})
"""What an ARG without a default names that is no choice: what is built, for a label."""
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
    name = variable.upper()
    if _NOT_A_PIN.search(name) or len(value) > 100:
        return False
    if _SAYS_COMMIT.search(name) and _PLAIN_VERSION.match(value) and not _ADDRESS.match(value):
        return True
    if not _PIN_NAME.search(name) or "://" in value:
        return False
    if _BOUND.match(value):
        return True
    return " " not in value and (bool(_VERSION_LIKE.match(value)) or value in _BRANCHES)


def wants_version(variable: str) -> bool:
    """Whether a variable without a value is a pin by its name, which says what it is of as well: `SPARK_VERSION`."""
    name = variable.upper()
    if not _PIN_NAME.search(name) or _NOT_A_PIN.search(name) or _NO_PIN.search(name):
        return False
    return stem(variable) not in {"", *_OF_THE_BUILD}


def may_pin(variable: str, value: str) -> bool:
    """Whether a build argument that another file gives is a choice of version; `value` "" where it is not known."""
    name = variable.upper()
    if _NO_PIN.search(name) or _NOT_A_PIN.search(name):
        return False
    if _PIN_NAME.search(name) or "IMAGE" in name:
        return not value or value.lower() not in _SWITCHES or bool(re.search(r"VER(?:SION)?\Z", name))
    return bool(_VERSIONED.match(value)) and not _ADDRESS.match(value)
