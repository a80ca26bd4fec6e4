"""What is known of releases beyond what their metadata says.

Each entry names where it was read. It is used where a file leaves the distribution open while compiled modules that
must agree on it are built elsewhere (the hazard `compiled-skew`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownBreak:
    """A release that changes what separately compiled modules must agree on.

    Attributes:
        name: the distribution.
        first: the first release with the change.
        before: the newest line without it.
        reason: what changes.
        origin: where that can be read.
        link: its address.
        until: what ends the need for a cap.
        in_short: the reason in a few words.
        until_in_short: the end in a few words.
    """

    name: str
    first: str
    before: str
    reason: str
    origin: str
    link: str
    until: str
    in_short: str
    until_in_short: str


KNOWN_BREAKS = (
    KnownBreak(
        "pybind11",
        "3.1.0",
        "3.0",
        "pybind11 3.1.0 raises PYBIND11_INTERNALS_VERSION from 11 to 12: modules compiled with it share no types with"
        " modules compiled with 3.0",
        "pybind11 commit e8e8d6ab, include/pybind11/detail/internals.h",
        "https://github.com/pybind/pybind11/commit/e8e8d6ab",
        "all modules that exchange types are compiled with internals version 12; the pybind11 inside torch is one of"
        " them (torch 2.13.0 has 11, torch 2.14.1 has 12)",
        "3.1.0 changes the internals that compiled modules share (11 to 12)",
        "all wheels have internals 12, torch's among them",
    ),
)


def breaks_of(name: str) -> list[KnownBreak]:
    """What is known of a distribution, oldest first."""
    return [entry for entry in KNOWN_BREAKS if entry.name == name]
