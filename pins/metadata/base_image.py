"""What the name of a base image tells: its C library, and the Python that it brings."""

import re

_RELEASES = (
    (r"ubuntu[-_:]?18\.04|bionic", "2.27", "3.6"),
    (r"ubuntu[-_:]?20\.04|focal", "2.31", "3.8"),
    (r"ubuntu[-_:]?22\.04|jammy", "2.35", "3.10"),
    (r"ubuntu[-_:]?24\.04|noble", "2.39", "3.12"),
    (r"debian[-_:]?11|bullseye", "2.31", "3.9"),
    (r"debian[-_:]?12|bookworm", "2.36", "3.11"),
    (r"debian[-_:]?13|trixie", "2.41", "3.13"),
    (r"(?:ubi|rhel|rocky(?:linux)?|alma(?:linux)?|centos)[-_:/]?(?:stream)?8|manylinux_?2_28", "2.28", ""),
    (r"(?:ubi|rhel|rocky(?:linux)?|alma(?:linux)?)[-_:/]?9|stream9|manylinux_?2_34", "2.34", "3.9"),
    (r"manylinux_?2014|manylinux_?2_17", "2.17", ""),
)
"""What names of images say, the C library of that release, and its own Python (from the distributions' packages)."""
_PYTHON = re.compile(r"(?:^|[/:_-])(?:python|py|cp)[-_:]?(3)\.?(\d{1,2})(?!\d)")


def told_by(image: str) -> tuple[str, str]:
    """(version of glibc, version of Python) that an image's name tells, "" for what it does not."""
    found = next((row for row in _RELEASES if re.search(row[0], image, re.IGNORECASE)), ("", "", ""))
    named = _PYTHON.search(image.lower())
    return found[1], f"{named[1]}.{named[2]}" if named else found[2]
