"""The command line of a build, and what its failure means."""

import re
from collections.abc import Collection, Mapping, Sequence

from packaging.utils import canonicalize_name

from bisector.environments.docker.engine import RUN_LABEL
from bisector.model import Ended
from bisector.request import DockerRequest
from pins.errors import UsageError

_OURS = {
    "--build-arg": "--build-arg of this command",
    "--file": "--dockerfile",
    "-f": "--dockerfile",
    "--iidfile": "",
    "--load": "",
    "--output": "",
    "-o": "",
    "--progress": "",
    "--push": "",
    "--quiet": "",
    "-q": "",
    "--secret": "--secret of this command",
    "--ssh": "--ssh of this command",
    "--tag": "",
    "-t": "",
    "--target": "--target of this command",
}
"""Options of a build that are set here, and how the user sets them instead."""


def check_build_options(options: Sequence[str]) -> None:
    """Refuse options that would change what a build leaves behind.

    Raises:
        UsageError: one of them is set by the bisector itself.
    """
    for place, option in enumerate(options):
        name = option.partition("=")[0]
        if re.match(r"-[a-z]", option) and option[:2] in _OURS:
            name = option[:2]  # its value may be attached: -tname
        if name in {"-", "--"}:
            raise UsageError(f"--docker-build-option {option}: not an option of docker build")
        if name in _OURS:
            instead = f"; use {_OURS[name]}" if _OURS[name] else "; the bisector sets it itself"
            raise UsageError(f"--docker-build-option {option}: cannot be given here{instead}")
        label = option.removeprefix("--label=") if place == 0 or options[place - 1] != "--label" else option
        if label.startswith("bisector.") and (label != option or (place and options[place - 1] == "--label")):
            raise UsageError(f"--docker-build-option {option}: labels that begin with bisector. are the bisector's own")
        if "\0" in option:
            raise UsageError("--docker-build-option: holds a null character, which no argument can")


def build_options(
    request: DockerRequest, values: Mapping[str, str], *, target: str, run_id: str, tag: str
) -> list[str]:
    """The options of one build. Every value stands after a `=`, so that none can become an option.

    Args:
        request: what the user asked for.
        values: build arguments by ARG.
        target: the stage to build, "" for the last.
        run_id: labels the image.
        tag: name and tag of the image.
    """
    return [
        *request.build_options,
        *(f"--build-arg={name}={value}" for name, value in values.items()),
        *([f"--target={target}"] if target else []),
        *(f"--secret={secret}" for secret in request.secrets),
        *(f"--ssh={ssh}" for ssh in request.ssh),
        f"--label={RUN_LABEL}={run_id}",
        f"--tag={tag}",
    ]


OWN_NAMES = "bisector/"
"""How the names begin under which images of runs are kept."""


def image_tag(run_id: str, input_hash: str) -> str:
    """The name under which the image of a candidate is kept while a run lasts."""
    return f"{image_repository(run_id)}:{input_hash[:16]}"


def image_repository(run_id: str) -> str:
    """The part of these names that all of a run's images have in common."""
    name = re.sub(r"[^a-z0-9]+", "-", run_id.lower()).strip("-") or "run"
    return f"{OWN_NAMES}{name[:100]}"


def secret_ids(secrets: Sequence[str]) -> list[str]:
    """The names of secrets, without where their values lie."""
    return [
        next((field for field in secret.split(",") if field.startswith("id=")), "id=?") for secret in sorted(secrets)
    ]


_STEP_OUTPUT = re.compile(r"^#\d+ (?:sha256:\S+ )?\d+\.\d+ ?(.*)$")
_ENGINE_GONE = re.compile(
    r"cannot connect to the docker daemon|error during connect|is the docker daemon running|code = Unavailable"
    r"|transport is closing|error reading from server|connection (?:refused|reset by peer).*docker"
    r"|unexpected EOF|^ERROR: .*\bEOF$|no active session|server is shutting down|engine is shutting down",
    re.IGNORECASE | re.MULTILINE,
)
_DISK_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_REGISTRY = re.compile(
    r"failed to do request|failed to resolve source metadata|failed to fetch (?:oauth|anonymous) token|dial tcp"
    r"|TLS handshake timeout|i/o timeout|toomanyrequests|too many requests|pull access denied|failed to authorize"
    r"|failed to copy: |unexpected status code .*: (?:401|403|429|5\d\d)",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"temporary failure in name resolution|name or service not known|could not resolve (?:host|proxy)"
    r"|no address associated with hostname|network is unreachable|no route to host"
    r"|Retrying \(Retry\(total=0|Failed to establish a new connection|error sending request for url"
    r"|dns error|failed to lookup address information|curl: \((?:5|6|7|28|35|52|56|92)\)|temporary failure resolving"
    r"|could not connect, are you offline|ProxyError\('Cannot connect to proxy"
    # git, which says the same of a repository that is not there or not to be read (404, 401, 403)
    r"|unable to access '[^']*': (?!The requested URL returned error: 40[134])|ssh: connect to host \S+ port \d+:"
    r"|RPC failed; (?:curl|HTTP 5)|unexpected disconnect while reading sideband packet"
    r"|wget: unable to resolve host|^Connecting to \S+.*failed: (?:Connection|Network|No route|Operation)"
    r"|Failed to fetch \S+ +(?:Could not connect|Unable to connect|Connection (?:failed|timed out)|Cannot initiate)"
    r"|npm (?:ERR!|error) (?:network |code (?:ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ECONNRE(?:FUSED|SET))\b)"
    r"|\bdial tcp(?! (?:127\.|\[::1))",
    re.IGNORECASE | re.MULTILINE,
)
_NO_VERSIONS = re.compile(
    r"satisfies the requirement ([A-Za-z0-9._-]*[A-Za-z0-9]).*\(from versions: none\)"
    r"|because ([A-Za-z0-9._-]*[A-Za-z0-9]) was not found in the (?:package registry|provided package locations|cache)",
    re.IGNORECASE,
)
_OTHER_PYTHON = re.compile(r"Ignored the following|require a different python", re.IGNORECASE)
_NETWORK_ADVICE = ". If builds have no network here, --docker-build-option=--network=host lets them use this machine's"
_SURVIVED = re.compile(r"Retrying \(Retry\(total=[1-9]")
_ENGINE_OUT_OF_MEMORY = re.compile(r"ResourceExhausted|cannot allocate memory", re.IGNORECASE)
_KILLED = re.compile(r"exit code: 137\b|\bKilled\b|signal: killed", re.IGNORECASE)
_INDEX_TIME = re.compile(
    r"does not provide upload-time|missing an upload date|uploaded-prior-to|exclude[-_]newer", re.IGNORECASE
)

_STEP = re.compile(r"^#\d+ ", re.MULTILINE)
_CLIENT = re.compile(
    r"could not parse (?:secrets|ssh)|unable to prepare context|error (?:checking|reading) context"
    r"|failed to read dockerfile|failed to load (?:build definition|dockerfile)|can't stat"
    r"|failed to solve with frontend (?!dockerfile)|failed to load frontend|frontend grpc server closed",
    re.IGNORECASE,
)
"""What fails before a step of the Dockerfile runs, whatever the candidate."""

_GIVEN_UP = re.compile(r"context cancell?ed|code = Canceled", re.IGNORECASE)

_LOOKED_AT = 60
"""Lines at the end of the failing step in which a cause is looked for: earlier ones were survived."""


def failure_of_ours(ended: Ended, kernel_killed: bool, pins: Collection[str] = ()) -> str:
    """Why a failed build says nothing about its candidate: engine, disk, network or memory; "" where it does.

    Args:
        ended: how the builder ended.
        kernel_killed: whether this machine's kernel killed a process for lack of memory meanwhile.
        pins: names of the packages that are pinned; the index is known to hold versions of them.
    """
    own_words, printed = split_output(ended)
    if ended.not_started:
        return f"the docker command cannot be started: {ended.not_started}"
    if ended.signal is not None:
        return f"the docker command was ended by signal {ended.signal}"
    if _ENGINE_GONE.search(own_words):
        return "the Docker engine went away while it built"
    if _GIVEN_UP.search(own_words):
        return "the build was cancelled, and not by this run"
    if _DISK_FULL.search(own_words) or _DISK_FULL.search(printed):
        return "the engine's disk is full; `docker system df` shows what fills it"
    if _ENGINE_OUT_OF_MEMORY.search(own_words):
        return "memory ran out while building, says the engine"
    if kernel_killed and (_KILLED.search(own_words) or _KILLED.search(printed)):
        return "memory ran out while building: the kernel killed a process of the build"
    if not _STEP.search(ended.output + "\n" + ended.errors) or _CLIENT.search(own_words):
        return f"the docker command failed before the build began: {last_words(ended)}"
    if found := _REGISTRY.search(own_words):
        line = next((line for line in own_words.splitlines() if found[0] in line), found[0])
        return f"an image that the build starts from cannot be fetched: {line.strip()}"
    if found := _NETWORK.search(printed):
        line = next((line for line in printed.splitlines() if found[0] in line), found[0])
        return f"the network failed while building: {line.strip()}{_NETWORK_ADVICE}"
    if line := _nothing_found(ended, printed, pins):
        return f"the network failed while building, for the index was not reached: {line}{_NETWORK_ADVICE}"
    return ""


def _nothing_found(ended: Ended, printed: str, pins: Collection[str]) -> str:
    """The line that says that an index knows no version at all of a package, where that cannot be.

    pip says so too where it could not ask, and keeps the reason to itself when it is told to be quiet.
    """
    if _OTHER_PYTHON.search(printed) or _INDEX_TIME.search(printed):
        return ""
    names = {canonicalize_name(pin) for pin in pins}
    retried = "Retrying (Retry(total=" in ended.output + ended.errors
    for line in printed.splitlines():
        if (found := _NO_VERSIONS.search(line)) and (retried or canonicalize_name(found[1] or found[2]) in names):
            return line.strip()
    return ""


def index_time_advice(ended: Ended) -> str:
    """What to do where an index that tells no upload times makes a build fail that reads it as of a time."""
    if _INDEX_TIME.search(split_output(ended)[1]):
        return (
            " The build reads package indexes as of the run's time, and one of them does not say when its files were"
            " uploaded: --no-index-time builds without that."
        )
    return ""


def last_words(ended: Ended) -> str:
    """The line of the builder that says what failed."""
    own_words, printed = split_output(ended)
    lines = [line.strip() for line in own_words.splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"(?i)(error|failed to|executor failed|dockerfile parse)", line)]
    for line in (*said[-1:], *lines[-1:], *printed.splitlines()[-1:]):
        return line
    return f"exit status {ended.exit_status}"


def split_output(ended: Ended) -> tuple[str, str]:
    """The builder's own words, and the end of what the failing step printed."""
    own_words: list[str] = []
    printed: list[str] = []
    for line in (ended.output + "\n" + ended.errors).splitlines():
        step = _STEP_OUTPUT.match(line)
        if not _SURVIVED.search(line):
            (printed if step else own_words).append(step[1] if step else line)
    return "\n".join(own_words), "\n".join(printed[-_LOOKED_AT:])
