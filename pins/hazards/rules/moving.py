"""References that do not stay what they are: branches, floating images, latest assets, short commits."""

import re
from collections.abc import Iterator

from pins.files.commands.download import read_download
from pins.files.values import Value, place_of, text_of, unknown_of
from pins.hazards.model import Finding
from pins.hazards.rules.checkouts import lines_pinned_later
from pins.hazards.subject import Subject
from pins.model import Form, Pin, PinKind, PinUse

_BRANCH_WORD = (
    r"main|master|trunk|dev|devel|develop|development|nightly|stable|latest|HEAD|edge|next|unstable|rolling|mainline"
)
_BRANCH = re.compile(
    rf"(?:refs/heads/.+|origin/.+|(?:.*[/_-])?(?:{_BRANCH_WORD})|(?:{_BRANCH_WORD})[/_-].*"
    r"|(?:release|releases|feature|feat|fix|hotfix|bugfix|users?|topic|wip)/(?!v?\d[\d.]*\Z).+|release/.*|(?:release|releases)/[\d.x]+)",
    re.IGNORECASE,
)
_TAG_LIKE = re.compile(r"v?\d+(?:\.\d+)+(?:[-+.]?(?:a|b|rc|post|dev|alpha|beta)[.\d]*)?(?:[-+.].*)?\Z")
_SHORT = re.compile(r"[0-9a-f]{6,39}\Z")
_MOVING_TAG = re.compile(
    r"(?:latest|nightly|edge|main|master|dev|devel|rolling|canary|unstable|stable|head)\Z", re.IGNORECASE
)
_MOVING_IN_TAG = re.compile(r"(?:\A|[-_.])(?:latest|nightly)(?:[-_.]|\Z)", re.IGNORECASE)
_PULL = re.compile(r"(?:\A|/)(?:pull|merge-requests|pr)/\d+(?:/(?:head|merge))?\Z")
_PULL_PATCH = re.compile(r"https?://[^\s]+/(?:pull|merge_requests)/\d+(?:\.patch|\.diff|/commits?/?\Z)")
_LATEST_ASSET = re.compile(r"/releases/latest(?:/|\Z)")
_BRANCH_FILE = re.compile(
    rf"https?://(?:raw\.githubusercontent\.com/[^/\s]+/[^/\s]+/(?:refs/heads/)?(?P<raw>{_BRANCH_WORD})/\S+"
    rf"|github\.com/[^/\s]+/[^/\s]+/(?:raw|blob)/(?:refs/heads/)?(?P<blob>{_BRANCH_WORD})/\S+"
    rf"|github\.com/[^/\s]+/[^/\s]+/archive/(?:refs/heads/)?(?P<archive>{_BRANCH_WORD})\.(?:zip|tar\.gz))"
)


def _git_pins(subject: Subject) -> Iterator[Pin]:
    return (pin for pin in subject.pins() if pin.kind is PinKind.GIT and _is_used(pin))


def _is_used(pin: Pin) -> bool:
    """Whether a build as written takes the pin: not what only a test that fails would take."""
    return not pin.uses or any(use.runs is not False for use in pin.uses)


def _where(subject: Subject, pin: Pin) -> tuple[int, int]:
    if pin.places and pin.places[0].end > pin.places[0].start:
        return pin.places[0].start, pin.places[0].end
    start, end = subject.line_span(pin.line)
    text = subject.data[start:end]
    blank = len(text) - len(text.lstrip())
    return start + blank, end


def _only_started_from(pin: Pin) -> bool:
    return pin.note.startswith("only where the clone starts")


def moving_branch(subject: Subject) -> Iterator[Finding]:
    """A git pin that names a branch."""
    for pin in _git_pins(subject):
        value = pin.effective or pin.value or ""
        if not pin.value or _only_started_from(pin) or not is_branch(value):
            continue
        yield Finding(
            *_where(subject, pin),
            f"{pin.name} follows the branch {value}: two builds of this file can differ without a change of it",
            pin.name,
            f"pin the commit that {value} names now, and note the branch in a comment",
        )


def is_branch(value: str) -> bool:
    """Whether a ref is a branch by the looks of it; tags and commits are not, and what is unclear is not either."""
    if (
        not value
        or "$" in value
        or _PULL.search(value)
        or _TAG_LIKE.match(value)
        or _SHORT.match(value)
        or value.startswith("refs/tags/")
    ):
        return False
    return _BRANCH.fullmatch(value) is not None


def is_pull_request(value: str) -> bool:
    """Whether a ref is the head of a pull request."""
    return _PULL.search(value) is not None


def no_revision(subject: Subject) -> Iterator[Finding]:
    """A clone or requirement that names no revision, and none is checked out later."""
    pinned = lines_pinned_later(subject)
    for pin in _git_pins(subject):
        if pin.form is not Form.OPEN or not pin.floating or pin.repo.startswith(("/", ".", "file:")):
            continue
        if pin.uses and all((use.stage, use.line) in pinned for use in pin.uses):
            continue
        yield Finding(
            *_where(subject, pin),
            f"{pin.name} is what the default branch of {pin.repo or 'its repository'} holds on the day of the build",
            pin.name,
            "name a commit: git checkout behind the clone, or @COMMIT behind the address",
        )


def pull_request(subject: Subject) -> Iterator[Finding]:
    """A pull request's head or patch, which its author can change."""
    for pin in _git_pins(subject):
        if pin.value and _PULL.search(pin.value):
            yield Finding(
                *_where(subject, pin),
                f"{pin.name} takes {pin.value}, which changes with every push to the pull request",
                pin.name,
                "name the commit that is meant",
            )
    for ran in subject.ran:
        for address in read_download(ran.words) or []:
            text = text_of(address)
            if _PULL_PATCH.match(text):
                yield Finding(
                    *_written(address, ran.command.start, ran.command.end),
                    f"{text} is a patch of a pull request, which changes with every push to it",
                    fix="download the patch of a commit (/commit/SHA.patch), or keep the patch in the repository",
                )


def _written(value: Value, start: int, end: int) -> tuple[int, int]:
    """Where a word stands: from its first written byte to its last, else the whole command."""
    spans = [f for f in value if f.written and start <= f.start < end]
    if not spans:
        return start, end
    return min(f.start for f in spans), max(f.end for f in spans)


def floating_image(subject: Subject) -> Iterator[Finding]:
    """A base image without a tag, or with one that is moved by design."""
    if subject.reading is None:
        return
    stages = subject.reading.stages
    seen: set[int] = set()
    for stage in stages.stages:
        base = stage.base
        if stage.base_stage is not None or unknown_of(base) or any(f.unset for f in base):
            continue
        image = text_of(base)
        if not image or image.lower() == "scratch" or "@" in image or image.isdigit():
            continue
        problem = _floats(image)
        if not problem:
            continue
        place = place_of(base)
        start, end = place[:2] if place else (stage.opening.start, stage.opening.end)
        if start in seen:
            continue
        seen.add(start)
        yield Finding(start, end, f"{image} {problem}", image.split(":")[0], "name a tag with a version, or a digest")


def _floats(image: str) -> str:
    name, colon, tag = image.rpartition(":")
    if not colon or "/" in tag:
        return "has no tag, so it is the image that is called latest on the day of the build"
    if not name:
        return ""
    if _MOVING_TAG.match(tag) or (
        _MOVING_IN_TAG.search(tag) and not re.search(r"\d{8}|\d{4}-\d\d-\d\d|[0-9a-f]{7,}", tag)
    ):
        return "has a tag that is moved to each new image"
    return ""


def latest_download(subject: Subject) -> Iterator[Finding]:
    """A download of whatever release is the latest."""
    for ran in subject.ran:
        for address in read_download(ran.words) or []:
            text = text_of(address)
            if _LATEST_ASSET.search(text) and not unknown_of(address):
                yield Finding(
                    *_written(address, ran.command.start, ran.command.end),
                    f"{text} is whatever release is the latest on the day of the build",
                    fix="name the release: /releases/download/TAG/...",
                )


def branch_file(subject: Subject) -> Iterator[Finding]:
    """A file downloaded from a branch."""
    for ran in subject.ran:
        for address in read_download(ran.words) or []:
            match = _BRANCH_FILE.match(text_of(address))
            if match:
                branch = match["raw"] or match["blob"] or match["archive"]
                yield Finding(
                    *_written(address, ran.command.start, ran.command.end),
                    f"this comes from the branch {branch}, and is what the branch holds on the day of the build",
                    fix="put a commit in the branch's place",
                )


def short_commit(subject: Subject) -> Iterator[Finding]:
    """A commit by its first digits: ambiguous one day, and it cannot be fetched."""
    for pin in _git_pins(subject):
        value = pin.value or ""
        if (
            not _SHORT.match(value)
            or value.isdigit()
            or not re.search(r"\d", value)
            or pin.effective not in {"", value}
        ):
            continue
        fetched = next((use for use in pin.uses if _is_fetch(use)), None)
        trouble = (
            "git cannot fetch it by that name" if fetched else "it can become ambiguous, and cannot be fetched alone"
        )
        yield Finding(
            *_where(subject, pin),
            f"{pin.name} is pinned to the short commit {value}: {trouble}",
            pin.name,
            "write all 40 digits",
        )


def _is_fetch(use: PinUse) -> bool:
    return use.command.startswith(("git fetch", "git pull"))


def all_digit_commit(subject: Subject) -> Iterator[Finding]:
    """A short commit of digits only, which tools read as a number."""
    for pin in _git_pins(subject):
        value = pin.value or ""
        if value.isdigit() and 6 <= len(value) <= 39 and not re.fullmatch(r"20[0-9]{6}", value):
            yield Finding(
                *_where(subject, pin),
                f"{pin.name} is pinned to {value}, a short commit of digits only, which YAML reads as a number",
                pin.name,
                "write all 40 digits",
            )


def mutable_tag(subject: Subject) -> Iterator[Finding]:
    """A git pin that names a tag; whoever owns the repository can move it."""
    for pin in _git_pins(subject):
        value = pin.effective or pin.value or ""
        if pin.value and not _only_started_from(pin) and _TAG_LIKE.match(value):
            yield Finding(
                *_where(subject, pin),
                f"{pin.name} names the tag {value}, which can be moved",
                pin.name,
                "pin the tag's commit, and note the tag in a comment",
            )
