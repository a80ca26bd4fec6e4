"""What a search answers when asked what to do next."""

from dataclasses import dataclass
from enum import StrEnum


class ConclusionKind(StrEnum):
    """How a search ended."""

    CULPRIT = "culprit"
    RANGE = "range"
    """The culprit lies within several steps that no testable candidate can tell apart."""
    NONE = "none"
    """The bad end is not bad, or the failure does not depend on the candidates."""
    ALL_BAD = "all-bad"
    """The good end fails as well."""
    SWAPPED = "swapped"
    """The good end fails and the bad end passes."""
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Probe:
    """Run this candidate once (and build it first, where no build exists).

    Attributes:
        candidate: its index.
        why: "good end", "bad end", "search", "culprit", "predecessor", or one of these with " again".
    """

    candidate: int
    why: str


@dataclass(frozen=True)
class Wait:
    """Nothing is worth starting until something that is in flight ends."""


@dataclass(frozen=True)
class Conclusion:
    """The search is over.

    Attributes:
        kind: what it found.
        lower, upper: the culprit is a step within lower..upper: that very step where they are neighbours. For
            `undetermined` a short interval that holds the asked-for probability; for the other kinds the ends.
        confidence: probability that this is right.
        confidence_if_flaky: the same if the script is taken to be flaky, however consistent it looked.
        reason: why it ended so, in a sentence or two.
        expected_further_runs: for `undetermined`, about how many more runs would settle it; None where none can.
    """

    kind: ConclusionKind
    lower: int
    upper: int
    confidence: float
    confidence_if_flaky: float
    reason: str
    expected_further_runs: float | None = None


Decision = Probe | Wait | Conclusion
