"""From what a search concludes to how a run ends. Pure."""

from collections.abc import Callable

from bisector.bracket import Bracket, Ending
from bisector.record import Tried
from bisector.replay import step_name
from bisector.report.model import Verdict
from bisector.request import RunRequest
from bisector.search import ChainSearch, Conclusion
from bisector.space import Chain

_VERDICTS = {
    "culprit": Verdict.CULPRIT,
    "range": Verdict.RANGE,
    "none": Verdict.NO_BRACKET,
    "all-bad": Verdict.NO_BRACKET,
    "swapped": Verdict.NO_BRACKET,
}


def ending_of(
    request: RunRequest,
    chain: Chain,
    search: ChainSearch,
    conclusion: Conclusion,
    bracket: Bracket,
    known: Callable[[int], Tried | None],
) -> Ending:
    """What a conclusion means for the run.

    Args:
        request: what was asked for.
        chain: the candidates.
        search: what concluded so.
        conclusion: its conclusion.
        bracket: the ends.
        known: what is on record of a candidate, by its index.
    """
    lower, upper = conclusion.lower, conclusion.upper
    verdict = _VERDICTS.get(conclusion.kind, Verdict.UNDETERMINED)
    if verdict is Verdict.RANGE and _steps_left(lower, upper, known) == 1:
        verdict = Verdict.CULPRIT  # nothing that can exist lies between: one step, in which several values pass by
    reason = conclusion.reason
    if verdict is Verdict.NO_BRACKET:
        reason = bracket.why_not(conclusion.kind)
    elif verdict is Verdict.CULPRIT and _changes_nothing(request, known(lower), known(upper)):
        verdict = Verdict.ENVIRONMENT
        reason = (
            f"the step {step_name(chain, upper, first_good=request.first_good)} changes nothing in what was built, so"
            " that it cannot be the cause: the script is flaky, or something outside the candidates changed"
        )
    elif verdict is Verdict.UNDETERMINED and conclusion.expected_further_runs is not None:
        reason += f"; about {max(1, round(conclusion.expected_further_runs))} further runs would settle it"
    found = verdict in (Verdict.CULPRIT, Verdict.RANGE)
    fail_if_good, fail_if_bad = search.rates()
    return Ending(
        verdict,
        lower if found else None,
        upper if found else None,
        conclusion.confidence,
        conclusion.confidence_if_flaky,
        fail_if_good,
        fail_if_bad,
        reason,
    )


def _steps_left(lower: int, upper: int, known: Callable[[int], Tried | None]) -> int:
    """Steps of a range that could not be told apart: candidates that cannot be resolved are none of them."""
    between = (known(index) for index in range(lower + 1, upper))
    return 1 + sum(1 for tried in between if tried is None or tried.feasible)


def _changes_nothing(request: RunRequest, lower: Tried | None, upper: Tried | None) -> bool:
    """Whether two candidates came out as one and the same.

    A build command's identity covers its Python environment alone, and does not tell.
    """
    if request.environment == "command" or lower is None or upper is None:
        return False
    found = [(one.same_as or one).build for one in (lower, upper)]
    identities = [build.content_identity for build in found if build is not None]
    return len(identities) == 2 and identities[0] != "" and identities[0] == identities[1]
