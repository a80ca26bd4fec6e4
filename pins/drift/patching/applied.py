"""Which patches a file's commands apply to the checkout of which pin: no I/O but the build context."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pins.files.commands.git import read_git
from pins.files.values import Value, text_of
from pins.hazards.hunks import Hunk, read_hunks
from pins.hazards.rules.patches import applications, patch_data, pin_of
from pins.hazards.subject import Ran, Subject
from pins.model import Pin


@dataclass(frozen=True)
class AppliedPatch:
    """A patch that a command applies.

    Attributes:
        name: of its file, without directories.
        place: its path in the build context as the file copies it, "" where it is not there.
        pin: whose checkout it is applied to.
        line: of the command.
        data: its content, None where it is not in the build context.
        inside: where in the checkout the command runs, "" for its top.
        by_git: whether git applies it, which leaves no line of context out.
        three_way: whether git may merge it where it does not fit.
        by_number: whether hunks without context go where their line numbers say. Without --unidiff-zero git takes
            them to belong to the end of a file.
    """

    name: str
    place: str
    pin: Pin
    line: int
    data: bytes | None
    inside: str
    by_git: bool
    three_way: bool
    by_number: bool = True

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """Its hunks, in order."""
        return tuple(read_hunks(self.data or b""))

    def path(self, hunk: Hunk) -> str:
        """The file that a hunk is for, from the top of the checkout."""
        named = hunk.source or hunk.file
        return posixpath.normpath(posixpath.join(self.inside, named)) if self._relative else posixpath.normpath(named)

    @property
    def _relative(self) -> bool:
        """Whether its paths are seen from where the command runs: those of git's own patches are not."""
        return not self.by_git or b"diff --git " not in (self.data or b"")

    def skips(self, hunk: Hunk) -> bool:
        """Whether git steps over a hunk, without an error: its file lies outside of where the command runs."""
        return not self._relative and self.inside != "" and not self.path(hunk).startswith(f"{self.inside}/")


@dataclass(frozen=True)
class Target:
    """Where patches go.

    Attributes:
        address: the repository.
        revision: what is checked out.
        pin: name of the pin.
    """

    address: str
    revision: str
    pin: str


def applied_patches(subject: Subject) -> Iterator[AppliedPatch]:
    """Every patch that is applied to the checkout of a pin, in order."""
    for ran, patches, directory in applications(subject):
        pin = pin_of(subject, directory)
        if pin is None or any(condition.holds is False for condition in ran.command.conditions):
            continue
        inside = posixpath.relpath(directory, pin.directory) if directory else "."
        yield from _of_command(subject, ran, patches, pin, "" if inside == "." else inside)


def _of_command(subject: Subject, ran: Ran, patches: Sequence[Value], pin: Pin, inside: str) -> Iterator[AppliedPatch]:
    by_git = read_git(ran.words) is not None
    words = {text_of(word) for word in ran.words}
    for patch in patches:
        text = text_of(patch)
        if not re.search(r"\.(?:patch|diff)\Z", text):
            continue
        yield AppliedPatch(
            posixpath.basename(text),
            _place(subject, ran, text),
            pin,
            subject.line(ran.command.start),
            patch_data(subject, ran, text),
            inside,
            by_git,
            bool(words & {"--3way", "-3"}),
            not by_git or "--unidiff-zero" in words,
        )


def _place(subject: Subject, ran: Ran, path: str) -> str:
    """Where in the build context a patch lies."""
    full = posixpath.normpath(posixpath.join(ran.command.directory or ".", path))
    state = subject.reading.left.get(ran.step.stage.index) if subject.reading else None
    for candidate in state.copies.candidates(full) if state else []:
        if subject.read_file(candidate) is not None:
            return candidate
    return ""


def candidates(path: str) -> list[str]:
    """What a path may stand for: itself, or, where -p1 takes a directory away, what is left."""
    first, slash, rest = path.partition("/")
    return [path, rest] if slash and first not in ("", ".", "..") else [path]
