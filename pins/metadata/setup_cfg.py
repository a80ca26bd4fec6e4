"""What a `setup.cfg` says, as setuptools reads it: sections [metadata] and [options]."""

import re
from collections.abc import Callable, Iterator

from pins.metadata.declarations import Declarations, Statement, Subject, with_extra

_SECTION = re.compile(r"\[([^\]]+)\]\s*$")
_OPTION = re.compile(r"([^\s=:][^=:]*?)\s*[=:]\s*(.*)$")
Options = dict[tuple[str, str], list[tuple[int, str]]]
"""By section and option, its value: a list of (line number, text of the line)."""


def read_setup_cfg(
    content: bytes, file: str = "setup.cfg", *, read: Callable[[str], bytes | None] = lambda _: None
) -> Declarations:
    """What the file says; never raises for what stands in it.

    Args:
        content: of the file.
        file: its path from the top of the tree.
        read: gives another file of the tree, None when there is none.
    """
    options = _options(content.decode("utf-8-sig", "replace"))
    says: dict[Subject, tuple[Statement, ...]] = {}
    unknown: dict[Subject, str] = {}
    for section, option, subject in (
        ("metadata", "name", Subject.NAME),
        ("metadata", "version", Subject.VERSION),
        ("options", "python_requires", Subject.REQUIRES_PYTHON),
    ):
        lines = options.get((section, option), [])
        text = " ".join(part for _, part in lines).strip()
        if text.startswith(("attr:", "file:")):
            unknown[subject] = f"{option} is read from {text[:80]} ({file}:{lines[0][0]})"
        elif text:
            says[subject] = (Statement(text, file, lines[0][0]),)
    for option, subject in (("install_requires", Subject.RUNTIME), ("setup_requires", Subject.BUILD)):
        if ("options", option) in options:
            found, reason = _requirements(options["options", option], file, read)
            says[subject] = found
            if reason:
                unknown[subject] = reason
    for (section, extra), lines in options.items():
        if section == "options.extras_require":
            found, reason = _requirements(lines, file, read)
            tied = tuple(Statement(with_extra(one.text, extra), one.file, one.line) for one in found)
            says[Subject.RUNTIME] = (*says.get(Subject.RUNTIME, ()), *tied)
            if reason:
                unknown.setdefault(Subject.RUNTIME, reason)
    return Declarations(file, says, unknown)


def _requirements(
    lines: list[tuple[int, str]], file: str, read: Callable[[str], bytes | None]
) -> tuple[tuple[Statement, ...], str]:
    first = next((text for _, text in lines if text), "")
    if not first.startswith("file:"):
        parts = ((number, part) for number, text in lines for part in text.split(";;"))
        return tuple(_statements(parts, file)), ""
    found: list[Statement] = []
    for name in re.split(r"[,\s]+", " ".join(text for _, text in lines).partition("file:")[2].strip()):
        content = read(name)
        if content is None:
            return tuple(found), f"requirements are read from {name}, which is not in the tree ({file}:{lines[0][0]})"
        found += requirement_lines(content, name)
    return tuple(found), ""


def requirement_lines(content: bytes, file: str) -> list[Statement]:
    """The lines of a file that holds nothing but requirements, as setuptools reads it: no options."""
    numbered = enumerate(content.decode("utf-8", "replace").splitlines(), start=1)
    return list(_statements(numbered, file))


def _statements(lines: Iterator[tuple[int, str]] | enumerate[str], file: str) -> Iterator[Statement]:
    for number, text in lines:
        bare = re.sub(r"(?:^|\s)#.*", "", text).strip().rstrip(",")
        if bare:
            yield Statement(bare, file, number)


def _options(text: str) -> Options:
    options: Options = {}
    section = ""
    current: list[tuple[int, str]] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        if line[0] in " \t":
            if current is not None:
                current.append((number, line.strip()))
            continue
        if match := _SECTION.match(line):
            section, current = match[1].strip(), None
        elif match := _OPTION.match(line):
            name = match[1].strip()
            # Names of extras are kept; those of options may be written with hyphens, in any case.
            name = name if section == "options.extras_require" else name.lower().replace("-", "_")
            current = [(number, match[2].strip())]
            options[section, name] = current
    return options
