"""What one file of a source tree says the tree requires: plain facts, no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Subject(StrEnum):
    """What a file may say something of."""

    NAME = "name"
    VERSION = "version"
    REQUIRES_PYTHON = "requires-python"
    RUNTIME = "runtime"  # what the installed distribution requires, extras included
    BUILD = "build"  # what building it requires


@dataclass(frozen=True)
class Statement:
    """One value, where it is written, and what it rests on.

    Attributes:
        text: a requirement of PEP 508, a version, a name.
        file: path in the tree.
        line: counted from 1.
        assumption: what was taken for granted to read it, as a phrase: "ENABLE_CK is not set"; "" where nothing was.
    """

    text: str
    file: str
    line: int
    assumption: str = ""


@dataclass(frozen=True)
class Declarations:
    """What one file says.

    Attributes:
        file: path in the tree.
        says: the statements on each subject that the file speaks of; none on a subject: "nothing is required".
        unknown: why the file's word on a subject is not, or not fully, known, as a phrase with its line. What is known
            all the same is in `says`.
        dynamic: subjects that the file leaves to another file or to the build.
        backend: what builds the tree, such as "setuptools.build_meta"; "" where the file does not say.
    """

    file: str
    says: Mapping[Subject, tuple[Statement, ...]] = field(default_factory=dict)
    unknown: Mapping[Subject, str] = field(default_factory=dict)
    dynamic: frozenset[Subject] = frozenset()
    backend: str = ""

    def speaks_of(self, subject: Subject) -> bool:
        """Whether the file says anything of a subject, known or not."""
        return subject in self.says or subject in self.unknown


def with_extra(requirement: str, extra: str) -> str:
    """A requirement of an extra as metadata has it: with the extra as a further condition."""
    from packaging.utils import canonicalize_name

    head, separator, marker = requirement.partition(";")
    condition = f'extra == "{canonicalize_name(extra)}"'
    if not separator:
        # A space, for behind a URL the semicolon would be part of it.
        return f"{head.rstrip()} ; {condition}" if "@" in head else f"{head.rstrip()}; {condition}"
    marker = marker.strip()
    either = f"({marker})" if " or " in marker else marker
    return f"{head.rstrip()}{' ' if '@' in head else ''}; {either} and {condition}"
