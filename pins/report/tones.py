"""What a piece of text means, for renderers that have colours."""

from enum import StrEnum


class Tone(StrEnum):
    """The meaning of a piece of text."""

    PLAIN = "plain"
    STRONG = "strong"
    GOOD = "good"
    BAD = "bad"
    DOUBT = "doubt"
    FAINT = "faint"
