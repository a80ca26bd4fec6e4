"""From what a run showed to what it means for the search. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisector.metric import Limit, read_metric
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
        metric: the name of the number that decides where the script exits with 0, "" for none.
        limit: what that number must not pass; None before the ends have shown it.
    """

    sought: tuple[Signature, ...] = ()
    bad_end_timed_out: bool = False
    expect: str = ""
    any_failure: bool = False
    timeout_is: TimeoutIs = TimeoutIs.AUTO
    metric: str = ""
    limit: Limit | None = None

    def outcome(self, observation: Observation, ended: Ended) -> Outcome:
        """What one run means.

        Until the bad end has run there is no signature to compare with, so that every failure counts.
        """
        match observation.kind:
            case "pass":
                return self._measured(ended) if self.metric else Outcome.PASS
            case "skip":
                return Outcome.SKIP
            case "infra" | "cancelled":
                return Outcome.INFRA
            case "timeout":
                return self._timeout()
            case _:
                return self.failure(observation.signature, ended)

    def said(self, observation: Observation, ended: Ended) -> str:
        """What a run showed, in one line: its value where a number decides, else its failure, else the reason."""
        if self.metric and observation.kind == "pass":
            value = read_metric(ended.output, self.metric)
            return f"{self.metric} {value:.6g}" if value is not None else f"no value of {self.metric} was printed"
        if observation.signature is None:
            return observation.reason
        from bisector.signature.unmasked import unmasked

        signature = unmasked(observation.signature, f"{ended.output}\n{ended.errors}")
        return ": ".join(part for part in (signature.kind or signature.exit, signature.message) if part)

    def comparison(self, signature: Signature) -> "Comparison":
        """How a failure compares with the nearest of those sought; SAME where there is none yet."""
        from bisector.signature import Comparison, compare

        found = [compare(signature, sought) for sought in self.sought]
        for best in (Comparison.SAME, Comparison.UNSURE):
            if best in found:
                return best
        return Comparison.DIFFERENT if found else Comparison.SAME

    def _measured(self, ended: Ended) -> Outcome:
        """A value decides; one that is missing is not a bad one."""
        value = read_metric(ended.output, self.metric)
        if value is None:
            return Outcome.SKIP
        return Outcome.PASS if self.limit is None or self.limit.holds(value) else Outcome.FAIL

    def _timeout(self) -> Outcome:
        if self.timeout_is is TimeoutIs.SKIP:
            return Outcome.SKIP
        if self.timeout_is is TimeoutIs.FAIL or self.any_failure or self.bad_end_timed_out:
            return Outcome.FAIL
        if not self.sought and not self.metric:
            return Outcome.FAIL
        return Outcome.OTHER

    def failure(self, signature: Signature | None, ended: Ended) -> Outcome:
        """What a failure with this signature means: the one that is sought, or another."""
        if self.any_failure:
            return Outcome.FAIL
        if self.expect:
            matched = re.search(self.expect, ended.errors + "\n" + ended.output, re.MULTILINE)
            return Outcome.FAIL if matched else Outcome.OTHER
        if self.metric:  # the script broke down: that is not a bad value
            return Outcome.OTHER
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
