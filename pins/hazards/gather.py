"""Files to check: read from disk or a revision, as rules want to see them."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from pins.errors import UsageError
from pins.files.context import Directory
from pins.files.dockerfile.read import ReadOptions, read_closely
from pins.files.locate import Tree, locate
from pins.files.read import kind_of, pin_files, read_pins
from pins.hazards.subject import Subject
from pins.model import PinSet

_DOCUMENTS = (".md", ".rst", ".sh", ".bash", ".mk")
_TEMPLATES = (".jinja", ".jinja2", ".j2", ".tmpl", ".tpl", ".template", ".mustache", ".erb")
"""What another program makes a file of; in a directory these are left alone, for they need not be readable yet."""
_LARGEST_DOCUMENT = 1024 * 1024


def subject(
    data: bytes,
    file: str,
    *,
    read_file: Callable[[str], bytes | None] = lambda _: None,
    clones: Mapping[str, Path] | None = None,
    build_args: Mapping[str, str] | None = None,
    target: str = "",
    identity: str = "",
    asked: bool = True,
) -> Subject:
    """A file as rules look at it; never raises for what stands in it.

    Args:
        data: the file.
        file: its path, as it is shown.
        read_file: reads files of the build context.
        clones: local clones by repository name, in lower case.
        build_args: what `--build-arg` would give.
        target: the stage that is built.
        identity: its path from the top of the repository.
        asked: whether the user named it: then content decides where the name says nothing.
    """
    kind = kind_of(identity or file)
    repositories = dict(clones or {})
    if kind == "dockerfile" or (not kind and asked and _is_dockerfile(data)):
        options = ReadOptions(build_args or {}, target, _Reader(read_file), repositories)
        reading = read_closely(data, file, options)
        return Subject(file, data, "dockerfile", reading.pin_set, reading, read_file, repositories, identity)
    if kind:
        return Subject(file, data, kind, read_pins(data, file), None, read_file, repositories, identity)
    return Subject(file, data, "document", PinSet(file, ()), None, read_file, repositories, identity)


class _Reader:
    def __init__(self, read_file: Callable[[str], bytes | None]) -> None:
        self._read = read_file

    def read(self, path: str) -> bytes | None:
        return self._read(path)


def _is_dockerfile(data: bytes) -> bool:
    return re.search(rb"^[ \t]*FROM[ \t]+\S", data, re.MULTILINE | re.IGNORECASE) is not None


def gather(
    paths: "list[Path]",
    *,
    revision: str = "",
    clones: Mapping[str, Path] | None = None,
    build_args: Mapping[str, str] | None = None,
    target: str = "",
    context: Path | None = None,
) -> list[Subject]:
    """The files to check: those named, and all of a directory that hold pins or pass build arguments.

    Raises:
        UsageError: a path or revision does not exist.
    """
    found: dict[str, Subject] = {}
    for path in paths:
        tree, relative = locate(path, revision)
        data = tree.read(relative) if relative else None
        if data is not None:
            found[str(path)] = _one(tree, relative, str(path), data, clones, build_args, target, context, asked=True)
            continue
        files = tree.files(relative)
        wanted = {f for f in pin_files(files) if not f.endswith(_TEMPLATES)} | {f for f in files if _is_document(f)}
        inside = [f for f in files if f in wanted]
        if not inside:
            at = f" at {revision}" if revision else ""
            raise UsageError(f"{path}{at} does not exist, or holds no file to check")
        tree.prepare(inside)
        for file in inside:
            data = tree.read(file)
            if data is None or (_is_document(file) and (len(data) > _LARGEST_DOCUMENT or b"--build-arg" not in data)):
                continue
            shown = str(path / Path(file).relative_to(relative or "."))
            found[shown] = _one(tree, file, shown, data, clones, build_args, target, context, asked=False)
    return list(found.values())


def _is_document(path: str) -> bool:
    return path.endswith(_DOCUMENTS) or path.rsplit("/", 1)[-1] in {"Makefile", "makefile", "justfile"}


def _one(
    tree: Tree,
    relative: str,
    shown: str,
    data: bytes,
    clones: Mapping[str, Path] | None,
    build_args: Mapping[str, str] | None,
    target: str,
    context: Path | None,
    *,
    asked: bool,
) -> Subject:
    files = _context(tree, relative, context)
    return subject(
        data,
        shown,
        read_file=files,
        clones=clones,
        build_args=build_args,
        target=target,
        identity=relative,
        asked=asked,
    )


def _context(tree: Tree, relative: str, context: Path | None) -> Callable[[str], bytes | None]:
    """Files of the build context: the directory given, else the top of the tree, else the file's own directory."""
    if context is not None:
        return Directory(context).read
    top = tree.context()
    directory = relative.rpartition("/")[0]

    def read(path: str) -> bytes | None:
        found = top.read(path)
        return found if found is not None or not directory else top.read(f"{directory}/{path}")

    return read
