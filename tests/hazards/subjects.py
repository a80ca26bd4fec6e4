"""Files to check, from text."""

from collections.abc import Iterable
from dataclasses import replace

from packaging.specifiers import SpecifierSet

from pins.hazards.gather import subject
from pins.hazards.subject import Subject


def subject_of(text: str, file: str = "Dockerfile", **files: bytes) -> Subject:
    """A file with others beside it, by path; one release is known to require something."""
    return replace(subject(text.encode(), file, read_file=files.get), requires=_requires)


def _requires(name: str, version: str) -> Iterable[tuple[str, str, SpecifierSet]]:
    if (name, version) == ("needs-numpy-two", "1.0"):
        yield "numpy>=2", "numpy", SpecifierSet(">=2")
