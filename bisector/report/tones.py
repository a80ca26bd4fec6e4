"""What a piece of text means, for renderers that have colours."""

from enum import StrEnum

from bisector.model import Outcome


class Tone(StrEnum):
    """The meaning of a piece of text."""

    PLAIN = "plain"
    STRONG = "strong"
    GOOD = "good"
    BAD = "bad"
    DOUBT = "doubt"
    FAINT = "faint"


TONES = {
    Outcome.PASS: Tone.GOOD,
    Outcome.FAIL: Tone.BAD,
    Outcome.OTHER: Tone.DOUBT,
    Outcome.UNBUILDABLE: Tone.DOUBT,
    Outcome.SKIP: Tone.DOUBT,
    Outcome.INFRA: Tone.DOUBT,
}
