"""Downloads: which part of an address is a version."""

import posixpath
import re
from dataclasses import dataclass

from pins.files.values import HIDDEN, Fragment, Value, cut, shape_of, text_of

_ADDRESS = re.compile(r"(?:https?|ftp|s3)://\S+\Z")
# A version: at least two numbers, or a v and a number; what follows may be a suffix such as rc1, .post1, -rc2, +cu128.
_VERSION = re.compile(
    r"(?<![A-Za-z0-9.\ue000])v?\d+(?:\.\d+)+(?:[a-z](?=-\d))?(?:(?:\.?(?:post|dev|rc|a|b|alpha|beta)[.-]?\d+)|(?:-(?:rc|alpha|beta|post)[.]?\d+))*"
    r"(?:-\d[\w.~]*?(?=\.(?:deb|rpm|txz|tgz|tar|zip|run)\b|_[a-z0-9_]+\.deb\b))?"
    r"(?:(?:\+|%2B)[A-Za-z0-9.]+)?(?![A-Za-z0-9]*://)",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{40}(?![A-Za-z0-9])")
# A version that is glued to the file's name: `go1.22.3.linux-amd64.tar.gz`.
_GLUED = re.compile(
    r"/(?!(?:ubuntu|debian|rhel|cuda|cp|cu|py|python|linux|v)\d)[A-Za-z]+(\d+(?:\.\d+)+)(?=[.-][A-Za-z])"
)
_SAYS_NOTHING = re.compile(
    r"(?:apt|deb|yum|rpm|repos?|pool|main|archives?|downloads?|dist|releases?|sources?|refs|tags|stable|pub|files"
    r"|binaries|bin)\Z",
    re.IGNORECASE,
)
_PATCH = re.compile(
    r"github\.com/([^/]+)/([^/]+)/(pull/\d+(?:/commits/[0-9a-f]+)?|commit/[^/]+|compare/[^/]+)\.(?:patch|diff)"
)
_PLATFORM = re.compile(
    r"(?:x86[_-]?64|amd64|arm64|aarch64|linux\w*|ubuntu\w*|debian\w*|cp\d+|py3|musl|gnu)\Z", re.IGNORECASE
)
_NOT_A_VERSION = re.compile(r"ARCH|PLATFORM|OS_|_OS|DISTRO|TARGET|TOKEN|CODENAME|PYTHON_TAG|ABI", re.IGNORECASE)
_SAYS_VERSION = re.compile(
    r"VERSION|(?:\A|_)(?:VER|TAG|COMMIT|REF|SHA|RELEASE|BRANCH|REV|REVISION|BUILD|DATE)(?:_|\Z)", re.IGNORECASE
)
_LEADING_VERSION = re.compile(r"v?\d+(?:[._-]\d+)+|[0-9a-f]{7,40}\Z")
_VALUE_OPTIONS = frozenset(
    [
        "-o",
        "--output",
        "-O",
        "--output-document",
        "-P",
        "--directory-prefix",
        "-H",
        "--header",
        "-u",
        "--user",
        "--retry",
        "--retry-delay",
        "--connect-timeout",
        "--max-time",
        "-m",
        "--proto",
        "-x",
        "--proxy",
        "-A",
        "--user-agent",
        "-d",
        "--data",
        "--cacert",
        "-e",
        "-T",
        "--timeout",
        "-t",
        "--tries",
        "--waitretry",
        "--dir",
        "-d",
        "-s",
        "-x",
        "-j",
        "--output-dir",
        "--data-binary",
        "-X",
        "--request",
        "-a",
        "--progress",
        "--retry-max-time",
    ]
)
_TOOLS = frozenset({"curl", "wget", "aria2c", "wget2"})


@dataclass(frozen=True, slots=True)
class Download:
    """A version in an address.

    Attributes:
        name: what is downloaded, "" where the address does not say.
        address: the whole address.
        versions: the parts that hold the version; several when it is repeated.
        patch: whether it is a patch of a repository.
        repository: the repository it comes from, "" when that is not known.
        note: a warning, "" when there is none.
    """

    name: str
    address: Value
    versions: tuple[Value, ...]
    patch: bool = False
    repository: str = ""
    note: str = ""


def read_download(words: tuple[Value, ...]) -> list[Value]:
    """The addresses that a call of curl or wget (unwrapped) asks for."""
    if not words:
        return []
    tool = text_of(words[0]).rsplit("/", 1)[-1]
    if tool not in _TOOLS:
        return []
    addresses: list[Value] = []
    index = 1
    while index < len(words):
        text = shape_of(words[index])
        if text in _VALUE_OPTIONS and not (tool == "curl" and text in {"-O", "-P", "-T", "-e", "-t", "-s", "-j", "-a"}):
            index += 2
            continue
        if _ADDRESS.match(text) or (not text.startswith("-") and re.match(r"\$\{?\w*URL\w*\}?", text)):
            addresses.append(words[index])
        index += 1
    return addresses


def versions_in(address: Value) -> list[Download]:
    """What an address pins: one entry for each variable that holds a version, and one for a literal version.

    Beside a variable, a literal counts where it is in the file's own name, in front of the variable or said by the path
    too: `foo/1.4/foo-ubuntu${UBUNTU}-1.4.deb` pins foo, `foo-${V}-glibc-2.28.tgz` no glibc.
    """
    text = text_of(address)
    if match := _PATCH.search(text):
        return [
            Download(
                match[2].lower(),
                address,
                (cut(address, match.start(3), match.end(3)),),
                patch=True,
                repository=f"https://github.com/{match[1]}/{match[2]}",
            )
        ]
    repository = _repository(text)
    found: list[Download] = []
    held: list[Fragment] = []
    seen: set[tuple[object, ...]] = set()
    for fragment in address:
        names = [declaration.name for declaration in fragment.variables]
        if not names or fragment.unknown or not version_like(fragment.text, names[0]):
            continue
        held.append(fragment)
        if fragment.variables in seen:
            continue
        seen.add(fragment.variables)
        found.append(Download("", address, ((fragment,),), repository=repository))
    shape = shape_of(address, held)
    literal = _literal_versions(address, shape)
    if literal and (not found or _of_the_file(shape, text_of(literal[0]))):
        version = text_of(literal[0])
        found.append(
            Download(
                _name(shape, version), address, literal, repository=repository, note=_other_spelling(shape, version)
            )
        )
    return found


def _of_the_file(shape: str, version: str) -> bool:
    """Whether a literal version beside variables is that of the file."""
    path, _, name = shape.rpartition("/")
    at, variable = name.find(version), name.find(HIDDEN)
    return at >= 0 and (variable < 0 or at < variable or version in path)


def _other_spelling(shape: str, version: str) -> str:
    """A warning where the address says the version in another spelling as well, which an edit would leave behind."""
    for spelling in (version.replace(".", "_"), version.replace(".", "-")):
        if spelling != version and re.search(rf"(?<![0-9]){re.escape(spelling)}(?![0-9])", shape):
            return f"the address says {spelling} as well: an edit has to change both"
    return ""


def version_like(text: str, variable: str) -> bool:
    """Whether a variable's value in an address or image reference is a version, and not a part of a name."""
    if _NOT_A_VERSION.search(variable) or _PLATFORM.match(text) or "://" in text or len(text) >= 80:
        return False
    if not re.search(r"\d", text):
        return text in {"latest", "nightly", "main", "master", "stable", "notset"} and bool(
            _SAYS_VERSION.search(variable)
        )
    return bool(_LEADING_VERSION.match(text) or _SAYS_VERSION.search(variable))


def _literal_versions(address: Value, text: str) -> tuple[Value, ...]:
    """The places of the version that an address says; `text` is the address with what is no literal hidden."""
    path_start = text.find("/", text.find("://") + 3)
    if path_start < 0:
        return ()
    query = text.find("?", path_start)
    end = query if query >= 0 else len(text)
    last_slash = text.rfind("/", path_start, end)
    matches = [m for m in _VERSION.finditer(text, path_start, end) if not _platform_version(text, m)]
    commits = list(_COMMIT.finditer(text, path_start, end))
    chosen = (
        next((m for m in matches if m.start() > last_slash), None)
        or (matches[-1] if matches else None)
        or (_GLUED.match(text, last_slash, end) if last_slash >= 0 else None)
        or (commits[0] if commits else None)
    )
    if chosen is None:
        return ()
    version = chosen[1] if chosen.re is _GLUED else chosen[0]
    bare = version.removeprefix("v")
    if bare.endswith((".tar", ".zip")):
        bare = bare[:-4]
    public = bare.split("+")[0]
    if public != bare and len(re.findall(r"(?<![\d.])" + re.escape(public) + r"(?![\d.])", text[path_start:end])) > 1:
        bare = public  # the release's tag says it too, without the local label of the file
    if chosen.re is _GLUED:
        return (cut(address, *chosen.span(1)),)
    places = [
        (m.start(), m.end())
        for m in re.finditer(r"(?<![A-Za-z0-9.])v?(" + re.escape(bare) + r")(?![0-9]|\.[0-9])", text[:end])
        if m.start() >= path_start
    ]
    values: list[Value] = []
    for start, stop in places:
        offset = 1 if text[start] == "v" else 0
        part = cut(address, start + offset, stop)
        if text_of(part) == bare and not any(f.unknown for f in part):
            values.append(part)
    return tuple(values)


def _platform_version(text: str, match: re.Match[str]) -> bool:
    before = text[: match.start()]
    return (
        re.search(
            r"(?:manylinux|glibc|musllinux|python|cuda-|macosx)[_-]?\Z|(?:ubuntu|debian|rhel|centos|fedora|amzn|sles)[/_-]?\Z",
            before,
            re.IGNORECASE,
        )
        is not None
    )


def _name(text: str, version: str) -> str:
    """What is downloaded; what a variable of unknown value adds to the name of a file is no part of its own."""
    name = _found_name(text, version)
    return re.sub(rf"[-_.]?{HIDDEN}+", "", name) or name


def _found_name(text: str, version: str) -> str:
    path = text.split("://", 1)[1].split("?")[0]
    segments = path.split("/")
    name = segments[-1]
    at = name.find(version)
    if at > 0:
        stem = re.sub(r"[-_.@]?v?\Z", "", name[:at])
        if stem:
            return stem.lower()
    for index in range(len(segments) - 1, 0, -1):
        if version in segments[index]:
            if "releases" in segments[:index]:
                return segments[2].lower() if len(segments) > 2 else segments[0]
            if segments[0] in {"github.com", "gitlab.com"} and len(segments) > 2:
                return segments[2].lower().removesuffix(".git")
            subjects = [s for s in segments[1:index] if not _SAYS_NOTHING.match(s)]
            plain = re.match(r"[A-Za-z][A-Za-z+-]*[A-Za-z]", name) if name and not subjects else None
            return (subjects[-1] if subjects else plain[0] if plain else segments[index - 1]).lower()
    return posixpath.basename(name).lower()


def _repository(text: str) -> str:
    match = re.match(r"https://(?:api\.)?github\.com/(?:repos/)?([^/]+/[^/]+)/", text) or re.match(
        r"https://raw\.githubusercontent\.com/([^/]+/[^/]+)/", text
    )
    return f"https://github.com/{match[1]}" if match and "$" not in match[1] else ""
