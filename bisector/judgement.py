"""From what a run showed to what it means for the search. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisector.model import Ended, Outcome, Signature
from bisector.request import TimeoutIs
from bisector.smoke import Observation

if TYPE_CHECKING:
    from bisector.signature import Comparison


@dataclass(frozen=True)
class Judge:
    """Which failures count as the one that is sought.

    Attributes:
        sought: the signatures seen at the bad end; empty before it has run.
        bad_end_timed_out: whether a run of the bad end ran out of time.
        expect: a failure's output must match it, "" to go by signatures.
        any_failure: every failure counts.
        timeout_is: what a run means whose time ran out.
    """

    sought: tuple[Signature, ...] = ()
    bad_end_timed_out: bool = False
    expect: str = ""
    any_failure: bool = False
    timeout_is: TimeoutIs = TimeoutIs.AUTO

    def outcome(self, observation: Observation, ended: Ended) -> Outcome:
        """What one run means.

        Until the bad end has run there is no signature to compare with, so that every failure counts.
        """
        match observation.kind:
            case "pass":
                return Outcome.PASS
            case "skip":
                return Outcome.SKIP
            case "infra" | "cancelled":
                return Outcome.INFRA
            case "timeout":
                return self._timeout()
            case _:
                return self.failure(observation.signature, ended)

    def comparison(self, signature: Signature) -> "Comparison":
        """How a failure compares with the nearest of those sought; SAME where there is none yet."""
        from bisector.signature import Comparison, compare

        found = [compare(signature, sought) for sought in self.sought]
        for best in (Comparison.SAME, Comparison.UNSURE):
            if best in found:
                return best
        return Comparison.DIFFERENT if found else Comparison.SAME

    def _timeout(self) -> Outcome:
        if self.timeout_is is TimeoutIs.SKIP:
            return Outcome.SKIP
        if self.timeout_is is TimeoutIs.FAIL or self.any_failure or self.bad_end_timed_out or not self.sought:
            return Outcome.FAIL
        return Outcome.OTHER

    def failure(self, signature: Signature | None, ended: Ended) -> Outcome:
        """What a failure with this signature means: the one that is sought, or another."""
        if self.any_failure:
            return Outcome.FAIL
        if self.expect:
            matched = re.search(self.expect, ended.errors + "\n" + ended.output, re.MULTILINE)
            return Outcome.FAIL if matched else Outcome.OTHER
        if signature is None:
            return Outcome.FAIL
        from bisector.signature import Comparison

        return Outcome.OTHER if self.comparison(signature) is Comparison.DIFFERENT else Outcome.FAIL


def overall(outcomes: Sequence[Outcome]) -> Outcome:
    """The one outcome that a candidate with several runs is shown with: a failure seen once is a failure."""
    for outcome in (Outcome.FAIL, Outcome.PASS, Outcome.OTHER, Outcome.SKIP, Outcome.UNBUILDABLE):
        if outcome in outcomes:
            return outcome
    return Outcome.INFRA
