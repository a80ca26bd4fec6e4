"""What an outcome means, for renderers that have colours."""

from bisector.model import Outcome
from pins.report.tones import Tone

TONES = {
    Outcome.PASS: Tone.GOOD,
    Outcome.FAIL: Tone.BAD,
    Outcome.OTHER: Tone.DOUBT,
    Outcome.UNBUILDABLE: Tone.DOUBT,
    Outcome.SKIP: Tone.DOUBT,
    Outcome.INFRA: Tone.DOUBT,
}
