"""Files to check, from text."""

from pins.hazards.gather import subject
from pins.hazards.subject import Subject


def subject_of(text: str, file: str = "Dockerfile", **files: bytes) -> Subject:
    """A file with others beside it, by path."""
    return subject(text.encode(), file, read_file=files.get)
