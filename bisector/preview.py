"""What a run would do, without doing any of it."""

import math
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bisector.divergence import divergences
from bisector.earlier_runs import Durations, earlier_durations
from bisector.environment_making import make_environment, read_index
from bisector.feasibility.known_bad import known_bad
from bisector.feasibility.merged import MergedStep, merged_steps
from bisector.model import Axis, Candidate
from bisector.preparation import (
    axes_of,
    lay_chain,
    pins_of,
    with_settled_revisions,
)
from bisector.request import RunRequest
from bisector.search_order import in_search_order
from bisector.smoke import check_script
from bisector.space import Chain
from bisector.stage_times import proposals

CONFIRMATIONS = 6
"""Further runs of the script on builds that exist: several at the culprit and its predecessor."""


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes:
        axes: the pins with their values.
        chain: the candidates in the order that is searched.
        infeasible: candidates that cannot be resolved, with the reason, as far as they were asked for.
        notes: what the user should know of the ends.
        durations: what a build and a run took in earlier runs like this, None where there were none.
    """

    axes: tuple[Axis, ...]
    chain: Chain
    infeasible: tuple[tuple[Candidate, str], ...] = ()
    notes: tuple[str, ...] = ()
    durations: Durations | None = None

    @property
    def most_builds(self) -> int:
        """Builds that a script without flakes needs at most, both ends included, the swap test apart."""
        return math.ceil(math.log2(self.chain.steps)) + 2

    @property
    def expected_builds(self) -> float:
        """Builds on average, likewise, where each step is as likely as any other to be the first bad one.

        Halving tells S steps apart in k + 2 - 2**(k+1) / S builds on average, k being log2(S) rounded down; both ends
        come to that.
        """
        whole = self.chain.steps.bit_length() - 1
        return whole + 2 - (2 << whole) / self.chain.steps + 2

    @property
    def expected_seconds(self) -> float | None:
        """About how long the search takes, the swap test apart; None where no earlier run tells."""
        if self.durations is None:
            return None
        one = self.durations.build + self.durations.run
        return self.expected_builds * one + CONFIRMATIONS * self.durations.run

    def forced(self) -> tuple[MergedStep, ...]:
        """The steps in which more than one pin moves, or one by several values, with the reason."""
        return merged_steps(self.axes, self.chain, dict(self.infeasible))


def plan(request: RunRequest) -> Plan:
    """What `bisect` would do: axes, chain, what cannot be resolved. Nothing is built, nothing is kept."""
    named = request.files is None and request.images is None
    planned_without = request.smoke.path == Path(os.devnull)  # no script was named
    if not planned_without and (named or request.smoke.path.is_file()):
        check_script(request.smoke.path, local=not request.in_containers)
    request = with_settled_revisions(request)
    exclude_newer = request.exclude_newer or datetime.now(UTC)
    index = read_index(request.index, os.environ, Path.cwd())
    environment = make_environment(request, pins_of(request), index, exclude_newer, "plan", to_plan=True)
    environment.check()
    axes = in_search_order(axes_of(request, environment, index, exclude_newer), request)
    reasons: dict[Candidate, str] = {}
    chain = lay_chain(axes, environment, reasons, known=known_bad(request, axes), whole=True)
    notes = (*environment.notes, *([] if request.first_good else divergences(axes)))
    found = Plan(axes, chain, tuple(reasons.items()), notes, earlier_durations(request))
    reusable: dict[str, bool] = getattr(environment, "reusable_stages", dict)()  # of those that build stages
    if found.durations is None or not reusable:
        return found
    return replace(found, notes=(*notes, *proposals(found.durations.stages, reusable, found.most_builds)))
