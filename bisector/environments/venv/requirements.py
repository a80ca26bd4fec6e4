"""What every candidate is installed with, read from options and requirement files into lines that uv takes.

Files are read here, and not handed on as they are, since a run needs to know three things of them: an exact pin of a
package that is itself searched gives way to the candidate's; the indexes that they name are needed again when what was
resolved is installed; and every file that they include is an input that must not change while a run lasts.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bisector.request import RequirementsRequest
from pins.errors import UsageError
from pins.home import expanded
from pins.sources.redaction import redact

_COMMENT = re.compile(r"(^|\s+)#.*$")
_OPTION = re.compile(r"\s+--?[a-z]")
_HASH = re.compile(r"\s--hash(?:=|\s+)\s*['\"]?([a-z0-9]+:[0-9a-fA-F]+)")
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")
_ARCHIVES = (".whl", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_PACKAGE_OPTIONS = ("--no-binary", "--only-binary")
_WITHOUT_EFFECT = ("--prefer-binary", "--use-feature", "--use-pep517", "--no-use-pep517")


@dataclass(frozen=True)
class RequirementLine:
    """One requirement, as uv reads it from a file.

    Attributes:
        text: a PEP 508 requirement, an absolute path or a URL.
        origin: where it stands: "--with", "base.txt:3".
        name: the canonical name of the package, "" for a path or URL without one.
        exact: it allows a single version.
        directory: the local project that it names, None where it names none.
        hashes: "sha256:...", one of which the file that is installed must have; empty for any.
        direct: it was named on the command line, by `--with` or in a file of `--constraint`.
    """

    text: str
    origin: str
    name: str = ""
    exact: bool = False
    directory: Path | None = None
    hashes: tuple[str, ...] = ()
    direct: bool = False


@dataclass(frozen=True)
class FileLocation:
    """A package index that a requirement file names: `kind` is "index", "extra" or "flat"."""

    kind: str
    url: str
    directory: Path
    origin: str


@dataclass(frozen=True)
class BaseRequirements:
    """All requirements of every candidate, besides its pins.

    Attributes:
        requirements, constraints, build_constraints: in the order in which they were given.
        locations: indexes that the files name.
        no_index: a file says `--no-index`.
        options: options of uv that files ask for, such as `--no-binary=spam`.
        requires_hashes: a file says `--require-hashes`.
        digests: every file that was read, by the name that the user knows it by -> SHA-256 of its content.
    """

    requirements: tuple[RequirementLine, ...] = ()
    constraints: tuple[RequirementLine, ...] = ()
    build_constraints: tuple[RequirementLine, ...] = ()
    locations: tuple[FileLocation, ...] = ()
    no_index: bool = False
    options: tuple[str, ...] = ()
    requires_hashes: bool = False
    digests: dict[str, str] = field(default_factory=dict)


def read_requirements(request: RequirementsRequest, environment: Mapping[str, str]) -> BaseRequirements:
    """Read every requirement that `request` names, nested files too.

    Args:
        request: the options.
        environment: gives the values of `${NAME}` in files, as pip does.

    Raises:
        UsageError: a file that cannot be read, or a line that cannot be understood, with its number.
    """
    reader = _Reader(environment)
    requirements = [replace(_parse(text, "--with", Path.cwd()), direct=True) for text in request.requirements]
    for path in request.requirement_files:
        reader.read(path, constraints=False)
    reader.direct = True
    for path in request.constraint_files:
        reader.read(path, constraints=True)
    return BaseRequirements(
        requirements=(*requirements, *reader.requirements),
        constraints=tuple(reader.constraints),
        build_constraints=tuple(_parse(text, "--build-constraint", Path.cwd()) for text in request.build_constraints),
        locations=tuple(reader.locations),
        no_index=reader.no_index,
        options=tuple(dict.fromkeys(reader.options)),
        requires_hashes=reader.requires_hashes,
        digests=reader.digests,
    )


def giving_way(lines: Sequence[RequirementLine], pinned: frozenset[str]) -> tuple[RequirementLine, ...]:
    """The lines that stand beside a candidate: an exact pin of a package that it pins gives way, a range stays."""
    return tuple(line for line in lines if not (line.exact and line.name in pinned))


class _Reader:
    """Collects what files say, each file once."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._seen: set[tuple[Path, bool]] = set()
        self.requirements: list[RequirementLine] = []
        self.constraints: list[RequirementLine] = []
        self.locations: list[FileLocation] = []
        self.no_index = False
        self.requires_hashes = False
        self.direct = False
        self.options: list[str] = []
        self.digests: dict[str, str] = {}

    def read(self, path: Path, *, constraints: bool, included_by: str = "") -> None:
        path = Path(os.path.normpath(path.absolute()))
        if (path, constraints) in self._seen:
            return
        self._seen.add((path, constraints))
        kind = "constraint file" if constraints else "requirement file"
        named = f" (named by {included_by})" if included_by else ""
        try:
            content = path.read_bytes()
            text = content.decode("utf-8-sig")
        except OSError as error:
            raise UsageError(f"the {kind} {path}{named} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"the {kind} {path}{named} is not UTF-8 text: byte {error.start}") from error
        self.digests[f"{kind} {path}"] = hashlib.sha256(content).hexdigest()
        for number, line in _logical_lines(text):
            self._take(self._expand(line), path, f"{path.name}:{number}", constraints)

    def _expand(self, line: str) -> str:
        return _VARIABLE.sub(lambda match: self._environment.get(match[1]) or match[0], line)

    def _take(self, line: str, path: Path, origin: str, constraints: bool) -> None:
        if not line.startswith("-"):
            text = _OPTION.split(line, maxsplit=1)[0]
            parsed = _with_hashes(_parse(text, origin, path.parent), tuple(_HASH.findall(line[len(text) :])))
            (self.constraints if constraints else self.requirements).append(replace(parsed, direct=self.direct))
            return
        option, value = _option(line)
        match option:
            case "-r" | "--requirement" | "-c" | "--constraint":
                if "://" in value:
                    raise UsageError(f"{origin} includes a file from the network; download it, and name the copy")
                nested = path.parent / expanded(value)
                self.read(nested, constraints=constraints or option in ("-c", "--constraint"), included_by=origin)
            case "-e" | "--editable":
                # Built and installed as any other: a candidate must not change when the directory does.
                self.requirements.append(_parse(value, origin, path.parent))
            case "-i" | "--index-url" | "--pypi-url":
                self.locations.append(FileLocation("index", value, path.parent, origin))
            case "--extra-index-url":
                self.locations.append(FileLocation("extra", value, path.parent, origin))
            case "-f" | "--find-links":
                self.locations.append(FileLocation("flat", value, path.parent, origin))
            case "--no-index":
                self.no_index = True
            case "--require-hashes":
                self.requires_hashes = True
            case "--pre":
                self.options.append("--prerelease=allow")
            case "--trusted-host":
                self.options.append(f"--allow-insecure-host={value}")
            case _ if option in _PACKAGE_OPTIONS:
                self.options += [f"{option}={name.strip()}" for name in value.split(",") if name.strip()]
            case _ if option not in _WITHOUT_EFFECT:
                raise UsageError(f"{origin}: the option {option} is not known to bisector; take it out of the file")


def _option(line: str) -> tuple[str, str]:
    """An option line's name and value: `-r FILE`, `-rFILE`, `--requirement=FILE`."""
    match = re.fullmatch(r"(--[a-z0-9-]+)(?:[\s=]\s*(.*))?|(-[a-z])\s*(.*)", line, re.DOTALL)
    if match is None:
        return line, ""
    return match[1] or match[3], (match[2] or match[4] or "").strip().strip("'\"")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number, continued ones joined, without comments and empty ones."""
    whole, start = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        start = start or number
        if raw.endswith("\\") and not raw.lstrip().startswith("#"):
            whole += raw[:-1] + " "
            continue
        line = _COMMENT.sub("", whole + raw).strip()
        if line:
            yield start, line
        whole, start = "", 0
    if line := _COMMENT.sub("", whole).strip():
        yield start, line


def _parse(text: str, origin: str, directory: Path) -> RequirementLine:
    text = text.replace("\t", " ").strip()
    shown = redact(text, ())
    if not text.isprintable():
        raise UsageError(f"{origin}: {shown!r} holds a control character and is no requirement")
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        if text.startswith("-") or not _is_place(text, directory):
            reason = str(error).splitlines()[0]
            raise UsageError(f"{origin}: {shown!r} is not a requirement such as 'spam>=1,<2': {reason}") from error
        place = _absolute(text, directory, origin)
        return RequirementLine(place, origin, directory=_local_project(place.partition("[")[0]))
    if requirement.url and not urlsplit(requirement.url).scheme:
        requirement.url = (directory / requirement.url).resolve().as_uri()
    _require_there(requirement.url or "", origin)
    pins = [part for part in requirement.specifier if part.operator in ("==", "===") and "*" not in part.version]
    exact = bool(pins or requirement.url) and requirement.marker is None
    project = _local_project(requirement.url or "")
    return RequirementLine(str(requirement), origin, canonicalize_name(requirement.name), exact, project)


def _with_hashes(line: RequirementLine, hashes: tuple[str, ...]) -> RequirementLine:
    if not hashes:
        return line
    if not line.name or line.directory is not None or "+" in urlsplit(Requirement(line.text).url or "").scheme:
        raise UsageError(
            f"{line.origin}: hashes can be given for a version of a package, or for an archive that has a name"
            " (`spam @ file:///...`); give that, or take the hashes out"
        )
    requirement = Requirement(line.text)
    if not requirement.url and not any(part.operator in ("==", "===") for part in requirement.specifier):
        raise UsageError(f"{line.origin}: hashes go with one version; write {line.name}==VERSION, or take them out")
    return replace(line, hashes=tuple(value.lower() for value in hashes))


def _local_project(place: str) -> Path | None:
    """The directory that a path or file: URL names."""
    if place.startswith("file://"):
        place = unquote(urlsplit(place).path)
    return Path(place) if place.startswith(os.sep) and Path(place).is_dir() else None


def _is_place(text: str, directory: Path) -> bool:
    """Whether a line that is no requirement is a path or a URL to install."""
    bare = text.split("[", 1)[0]
    if "://" in text:
        return " " not in text
    return (
        bare.startswith((".", "/", "~", "file:"))
        or bare.endswith(_ARCHIVES)
        or (os.sep in bare and (directory / bare).exists())
    )


def _absolute(text: str, directory: Path, origin: str) -> str:
    if text.startswith("file:") and not text.startswith("file://"):
        text = (directory / unquote(text[len("file:") :])).resolve().as_uri()
    if "://" in text:
        _require_there(text, origin)
        return text
    bare, bracket, extras = text.partition("[")
    path = Path(os.path.normpath(directory / expanded(bare)))
    if not path.exists():
        raise _not_there(path, origin)
    return f"{path}{bracket}{extras}"


def _require_there(url: str, origin: str) -> None:
    """Refuse a `file:` URL of what does not exist."""
    if url.startswith("file:"):
        path = Path(unquote(urlsplit(url).path))
        if not path.exists():
            raise _not_there(path, origin)


def _not_there(path: Path, origin: str) -> UsageError:
    return UsageError(f"{origin}: there is no {path}, which is to be installed with every candidate")
