"""Pins inside of a source tree: commits of submodules, and files that hold nothing but a hash or a version."""

import configparser
import posixpath
from dataclasses import dataclass

from pins.files.pin_file import is_pin_file, read_pin_file
from pins.files.read import kind_of
from pins.sources.git.trees import Trees

_MOST_FILES = 200


@dataclass(frozen=True)
class NestedPin:
    """One pin.

    Attributes:
        path: of the submodule, or of the file.
        value: the commit, or what the file holds.
        url: of the submodule's repository, as `.gitmodules` has it; "" for a file.
    """

    path: str
    value: str
    url: str = ""

    @property
    def is_submodule(self) -> bool:
        """Whether it is a commit of a submodule."""
        return bool(self.url)


def nested_pins(trees: Trees, commit: str) -> tuple[NestedPin, ...]:
    """The pins that a commit's tree holds, by path.

    Args:
        trees: of the repository.
        commit: its full hash.

    Raises:
        MissingObjectsError: the commit, a tree or a file that matters is not in the repository.
    """
    everything = trees.everything(commit)
    links = {path: node.id for path, node in everything.items() if node.is_submodule}
    modules = everything.get(".gitmodules")
    urls = _urls(trees.content(modules.id)) if links and modules is not None and modules.is_file else {}
    found = [NestedPin(path, name, urls.get(path, "unknown")) for path, name in links.items()]
    named = [path for path, node in everything.items() if node.is_file and kind_of(path) == "pin"][:_MOST_FILES]
    trees.bring(everything[path].id for path in named)
    for path in named:
        content = trees.content(everything[path].id)
        if is_pin_file(content):
            found += [NestedPin(path, pin.value or "") for pin in read_pin_file(content, path).pins]
    return tuple(sorted(found, key=lambda pin: pin.path))


def _urls(content: bytes) -> dict[str, str]:
    """The URL of each submodule by its path; what cannot be read has none."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        # git indents options, which for this parser would go on with the line before.
        text = "\n".join(line.strip() for line in content.decode("utf-8", "replace").splitlines())
        parser.read_string(text)
    except configparser.Error:
        return {}
    found = {}
    for section in parser.sections():
        path, url = parser.get(section, "path", fallback=None), parser.get(section, "url", fallback=None)
        if path and url:
            found[posixpath.normpath(path)] = url
    return found
