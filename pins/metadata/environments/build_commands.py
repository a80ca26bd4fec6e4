"""Commands that build a Python project, read from their words. No I/O."""

import posixpath
import re
from dataclasses import dataclass

from pins.files.values import Value, text_of

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
_LEGACY = {"bdist_wheel": "wheel", "install": "install", "develop": "install", "build_ext": "build", "build": "build"}


@dataclass(frozen=True)
class BuildCall:
    """One call that builds a project.

    Attributes:
        source: the project's directory, relative to where the command runs.
        makes: "wheel", "install", or "build" where nothing of it is kept as a distribution.
        output: where wheels are put, relative to where the command runs.
        isolated: whether what building requires is installed apart from the environment.
    """

    source: str
    makes: str
    output: str = "dist"
    isolated: bool = False


def read_build(words: tuple[Value, ...]) -> BuildCall | None:
    """A call of `setup.py`, of `build`, or of `uv build`; None for any other command. `pip` is read by `read_pip`."""
    texts = [text_of(word) for word in words]
    if not texts:
        return None
    name = posixpath.basename(texts[0])
    if _PYTHON.match(name):
        script = next((i for i, text in enumerate(texts[1:], start=1) if not text.startswith("-")), 0)
        if script and posixpath.basename(texts[script]) == "setup.py":
            return _legacy(posixpath.dirname(texts[script]) or ".", texts[script + 1 :])
        return None
    if name == "build" or (name == "uv" and texts[1:2] == ["build"]):
        return _build(texts[1 if name == "build" else 2 :])
    return None


def _legacy(directory: str, arguments: list[str]) -> BuildCall | None:
    command = next((text for text in arguments if text in _LEGACY), "")
    if not command:
        return None
    output = _option(arguments, ("--dist-dir", "-d")) or "dist"
    return BuildCall(directory, _LEGACY[command], output)


def _build(arguments: list[str]) -> BuildCall:
    options = {"-o", "--outdir", "--out-dir", "-C", "--config-setting", "-p", "--python", "--installer"}
    source = "."
    skip = False
    for text in arguments:
        if skip:
            skip = False
        elif text in options:
            skip = True
        elif not text.startswith("-"):
            source = text
    output = _option(arguments, ("-o", "--outdir", "--out-dir")) or posixpath.join(source, "dist")
    isolated = not {"-n", "--no-isolation", "--no-build-isolation"} & set(arguments)
    return BuildCall(source, "wheel", output, isolated)


def _option(arguments: list[str], names: tuple[str, ...]) -> str:
    for index, text in enumerate(arguments):
        for name in names:
            if text == name and index + 1 < len(arguments):
                return arguments[index + 1]
            if text.startswith(f"{name}=") and name.startswith("--"):
                return text[len(name) + 1 :]
    return ""


def wheel_directory(words: tuple[Value, ...]) -> str:
    """Where `pip wheel` puts what it makes, relative to where it runs."""
    return _option([text_of(word) for word in words], ("--wheel-dir", "-w")) or "."


@dataclass(frozen=True)
class CopyCall:
    """One call of `cp` or `mv`.

    Attributes:
        sources: as written; wildcards included.
        target: as written.
    """

    sources: tuple[str, ...]
    target: str


def read_copy(words: tuple[Value, ...]) -> CopyCall | None:
    """A call that copies or moves files; None for any other command."""
    texts = [text_of(word) for word in words]
    if not texts or posixpath.basename(texts[0]) not in ("cp", "mv", "install", "rsync"):
        return None
    target = _option(texts, ("-t", "--target-directory"))
    plain = [text for text in texts[1:] if not text.startswith("-") and text != target]
    if not target and len(plain) > 1:
        target = plain.pop()
    return CopyCall(tuple(plain), target) if target and plain else None
