"""Read the pins of any file that holds some."""

import fnmatch
import posixpath
import re
from collections.abc import Callable
from dataclasses import replace

from pins.files.context import Context
from pins.files.dockerfile.read import ReadOptions
from pins.files.patterns import Pattern, pattern_pins
from pins.model import FileProblem, PinSet

_DOCKERFILE = re.compile(
    r"(?:.*[._-])?(?:Dockerfile|Containerfile)(?:[._-].*)?\Z|.*\.(?:dockerfile|containerfile)\Z", re.IGNORECASE
)
_REQUIREMENTS = re.compile(r"(?:.*[-_.])?(?:requirements?|constraints?)(?:[-_.].*)?\.(?:txt|in)\Z", re.IGNORECASE)
_IN_REQUIREMENTS = re.compile(r"(?:\A|.*/)requirements?/[^/]+\.(?:txt|in)\Z")
_BAKE = re.compile(r"docker-bake.*\.(?:hcl|json)\Z")
_WORKFLOW = re.compile(
    r"(?:\A|.*/)(?:\.github/workflows|\.buildkite|\.circleci)/.*\.ya?ml\Z|(?:.*/)?\.gitlab-ci\.ya?ml\Z"
)
_PIN_FILE = re.compile(
    r"(?:.*[-_.])?(?:commit|hash|version|pin|sha)(?:\.txt)?\Z|\.(?:python|ruby|node)-version\Z", re.IGNORECASE
)
_NOT_DOCKERFILE = re.compile(
    r"\.(?:dockerignore|md|rst|py|sh|ya?ml|json|toml|txt|patch|diff|png|svg|swp|j2|go|rs|rb|js|ts|java|kt|c|cc|cpp|h|lua|vim"
    r"|gz|xz|zip)\Z",
    re.IGNORECASE,
)
_FROM = re.compile(rb"^[ \t]*FROM[ \t]+\S", re.MULTILINE | re.IGNORECASE)
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", "site-packages"})
LARGEST = 8 * 1024 * 1024


def kind_of(path: str) -> str:
    """What a file is, by its name: "dockerfile", "requirements", "pyproject", "lock", "bake", "workflow", "pin", ""."""
    base = posixpath.basename(path)
    if base == "pyproject.toml":
        return "pyproject"
    if base == "uv.lock" or re.fullmatch(r"pylock(?:\..+)?\.toml", base):
        return "lock"
    if _BAKE.match(base):
        return "bake"
    if _DOCKERFILE.match(base) and not _NOT_DOCKERFILE.search(base):
        return "dockerfile"
    if _REQUIREMENTS.match(base) or _IN_REQUIREMENTS.match(path):
        return "requirements"
    if _WORKFLOW.match(path):
        return "workflow"
    if _PIN_FILE.match(base) or re.search(r"(?:\A|/)(?:[a-z_]*commit_pins|[a-z_]*pins)/[^/]+\.txt\Z", path):
        return "pin"
    return ""


def read_pins(
    data: bytes,
    path: str,
    options: ReadOptions | None = None,
    patterns: tuple[Pattern, ...] = (),
    *,
    asked: bool = True,
    within: str = "",
) -> PinSet:
    """Read a file's pins; never raises for what stands in it.

    Args:
        data: the file.
        path: its path, for reports.
        options: what is known besides.
        patterns: pins that the user has described.
        asked: whether the user named this file: then content decides where the name says nothing.
        within: its path from the top of its tree, which says what it is; `path` where it is not given.
    """
    options = options or ReadOptions()
    if len(data) > LARGEST:
        return PinSet(path, (), problems=(FileProblem(path, 1, f"larger than {LARGEST // 2**20} MiB: not read"),))
    if (nul := data.find(0, 0, 65536)) >= 0:
        return _binary(data, path, nul) if asked else PinSet(path, ())
    kind = kind_of(within or path) or (_by_content(data) if asked else "")
    if not asked and (not kind or _misnamed(kind, path, data)):
        result = PinSet(path, ())
    else:
        result = _read(kind, data, path, options)
    found = pattern_pins(data, path, tuple(p for p in patterns if p.fits(within or path)))
    if found:
        pins = sorted((*result.pins, *found), key=lambda pin: pin.line)
        result = replace(result, pins=tuple(pins), problems=tuple(p for p in result.problems if p.message != _NOTHING))
    return result


_NOTHING = "not a kind of file whose pins are known"


def _binary(data: bytes, path: str, offset: int) -> PinSet:
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    message = (
        "UTF-16 text, which no builder reads: save it as UTF-8" if utf16 else "a NUL byte: this is not a text file"
    )
    return PinSet(path, (), problems=(FileProblem(path, data.count(b"\n", 0, offset) + 1, message),))


def _misnamed(kind: str, path: str, data: bytes) -> bool:
    """Whether a file that was found in a directory only has a name like that of another kind."""
    if kind == "pin":
        from pins.files.pin_file import is_pin_file

        return not is_pin_file(data)
    base = posixpath.basename(path).lower()
    return kind == "dockerfile" and base not in {"dockerfile", "containerfile"} and not _FROM.search(data)


def _read(kind: str, data: bytes, path: str, options: ReadOptions) -> PinSet:
    match kind:
        case "dockerfile":
            from pins.files.dockerfile.read import read_dockerfile

            return read_dockerfile(data, path, options)
        case "requirements":
            return _requirements(data, path, options.context)
        case "pyproject":
            from pins.files.pyproject import read_pyproject

            return read_pyproject(data, path)
        case "lock":
            from pins.files.locks import read_lock

            return read_lock(data, path)
        case "bake" | "workflow":
            from pins.files.build_arguments import read_build_arguments

            return read_build_arguments(data, path)
        case "pin":
            from pins.files.pin_file import read_pin_file

            return read_pin_file(data, path)
        case _:
            return PinSet(path, (), problems=(FileProblem(path, 1, _NOTHING),))


def _by_content(data: bytes) -> str:
    from pins.files.pin_file import is_pin_file

    if _FROM.search(data):
        return "dockerfile"
    if is_pin_file(data):
        return "pin"
    if b"build-args:" in data or b"--build-arg" in data:
        return "workflow"
    if re.search(rb"^[ \t]*[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[^\]]*\])?[ \t]*(?:[=<>!~]=|[<>])", data, re.MULTILINE):
        return "requirements"
    return ""


def _requirements(data: bytes, path: str, context: Context | None) -> PinSet:
    from pins.files.file_pins import file_pins
    from pins.files.requirements import read_requirements

    role = "constraint" if "constraint" in posixpath.basename(path).lower() else "requirement"
    read = read_requirements(data, path, context.read if context else lambda _: None, role)
    problems = tuple(FileProblem(file, line, message, fatal=False) for file, line, message in read.problems)
    return PinSet(path, file_pins(read.mentions, read.read), problems=problems)


def pin_files(paths: list[str], patterns: tuple[Pattern, ...] = ()) -> list[str]:
    """Of a tree's files, those that may hold pins, in order."""
    return [
        path
        for path in sorted(paths)
        if not _SKIPPED.intersection(path.split("/")) and (kind_of(path) or any(p.fits(path) for p in patterns))
    ]


def fits(path: str, pattern: str) -> bool:
    """Whether a path matches a glob, by its whole or its last part."""
    return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(posixpath.basename(path), pattern)


ReadFile = Callable[[str], bytes | None]
