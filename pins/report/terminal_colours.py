"""Colours of a terminal, by what they mean."""

from pins.report.tones import Tone

_CODES = {Tone.STRONG: "1", Tone.GOOD: "32", Tone.BAD: "31", Tone.DOUBT: "33", Tone.FAINT: "2"}


def painted(text: str, tone: Tone) -> str:
    """The text between escape sequences for its tone, as it is where that has none."""
    code = _CODES.get(tone)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text
