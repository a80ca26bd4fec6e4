"""Files that cannot be read to their end: nothing is known of what follows."""

from collections.abc import Iterator

from pins.hazards.model import Finding
from pins.hazards.subject import Subject


def not_read(subject: Subject) -> Iterator[Finding]:
    """What ended the reading of a file."""
    for problem in subject.pin_set.problems:
        if (
            problem.fatal
            and problem.file == subject.file
            and subject.kind in {"dockerfile", "pyproject", "lock", "bake"}
        ):
            start, end = subject.line_span(problem.line)
            yield Finding(start, end, f"reading stops here: {problem.message}; the lines below are not checked")
