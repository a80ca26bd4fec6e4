"""What a requirements file of a repository asks for at a revision."""

import posixpath
from dataclasses import dataclass

from pins.drift.model import Tools
from pins.drift.readings.repository import repository_host
from pins.files.requirement import RequirementKind
from pins.files.requirements import read_requirements
from pins.sources.git.contents import read_blob
from pins.sources.git.revisions import resolve_revision


@dataclass(frozen=True)
class TreeRequirement:
    """One requirement.

    Attributes:
        text: of PEP 508.
        file, line: where it is written, from the top of the tree.
    """

    text: str
    file: str
    line: int


@dataclass(frozen=True)
class TreeRequirements:
    """Reads a requirements file, and those that it includes, from our own clone.

    Attributes:
        address: of the repository.
        revision: what is checked out.
        path: from the top of the tree.
        pin: for messages.
    """

    address: str
    revision: str
    path: str
    pin: str

    @property
    def host(self) -> str:
        """Where the repository is."""
        return repository_host(self.address)

    def read(self, tools: Tools) -> tuple[TreeRequirement, ...]:
        """Read it; empty where the tree has no such file.

        Raises:
            SourceError: the repository cannot be read.
            UsageError: it has no such revision.
        """
        clone = tools.clone(self.address)
        commit = resolve_revision(clone, self.revision, name=self.pin)

        def blob(path: str) -> bytes | None:
            inside = posixpath.normpath(path)
            return None if inside.startswith(("../", "/")) else read_blob(clone, commit, inside)

        content = blob(self.path)
        if content is None:
            return ()
        parsed = read_requirements(content, self.path, blob)
        return tuple(
            TreeRequirement(one.text.strip(), one.file, one.line)
            for one in parsed.lines
            if one.requirement.kind is RequirementKind.SPECIFIER and one.role == "requirement"
        )
