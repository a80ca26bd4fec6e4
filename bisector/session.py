"""The library's front door: start a run, go on with one, or try one candidate."""

import os
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from bisector.divergence import divergences
from bisector.environment_making import read_index
from bisector.environments.base import Environment
from bisector.events import Note, Reporter, RunEnded, RunStarted, silent
from bisector.executors.local import LocalExecutor
from bisector.feasibility.known_bad import known_bad
from bisector.feasibility.merged import MergedStep, merged_steps
from bisector.inputs import (
    new_journal,
    refuse_changed_inputs,
    refuse_secrets,
    refuse_unrecordable,
    with_index_again,
)
from bisector.investigation import Investigation
from bisector.journal import Journal
from bisector.model import Axis, AxisValue, Candidate
from bisector.placement import place_environment
from bisector.preparation import (
    axes_of,
    existing,
    lay_chain,
    opened_index,
    pins_of,
    with_settled_revisions,
)
from bisector.prober import Prober
from bisector.processes import end_marked
from bisector.recorded_run import RecordedRun
from bisector.report import short_summary
from bisector.report.model import ProbeRecord, Result, Verdict
from bisector.request import RunRequest
from bisector.results import result_of
from bisector.rounds import chain_of
from bisector.runs import JOURNAL, driving, find_run, identity_of, marker_of, new_run_directory, state_directory
from bisector.search_order import in_search_order
from bisector.serial import adapter, to_json
from bisector.smoke import check_script
from bisector.space import Chain
from pins.errors import EnvironmentFailureError, PinsError, UsageError
from pins.model import PinKind

_AXES = tuple[Axis, ...]


class InterruptedRunError(PinsError):
    """The run was interrupted; the message gives the command that goes on.

    Args:
        run_directory: of the run.
        then: a further command that is to be given behind it, "" for none.
    """

    exit_code = 130

    def __init__(self, run_directory: Path, then: str = "") -> None:
        self.run_directory = run_directory
        again = f"bisector resume {shlex.quote(str(run_directory))}"
        behind = f", then: {then}" if then else ""
        super().__init__(f"interrupted; nothing finished is lost. Go on with: {again}{behind}")


class InterruptedProbeError(PinsError):
    """A single probe was interrupted; it is made again from the start."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("interrupted; nothing is concluded. To try this candidate, type the command again")


def bisect(request: RunRequest, *, reporter: Reporter = silent) -> Result:
    """Find the first bad pin.

    Args:
        request: what to search, and how.
        reporter: told what happens, as it happens.

    Returns:
        What was found, whatever it is: look at its `verdict`.

    Raises:
        UsageError: the request cannot be carried out as it stands.
        EnvironmentFailureError: our side or the machine failed before there was a run to go on with.
        InterruptedRunError: Ctrl-C (`KeyboardInterrupt`); the run can be resumed.
    """
    request = replace(request, smoke=replace(request.smoke, path=request.smoke.path.absolute()))
    _check_script(request)
    refuse_secrets(request)
    refuse_unrecordable(request, state_directory())
    request = with_settled_revisions(request)
    created = datetime.now(UTC)
    index = read_index(request.index, os.environ, Path.cwd())
    exclude_newer = request.exclude_newer or created
    run_directory = new_run_directory(request.run_directory)
    with ExitStack() as stack:
        stack.enter_context(driving(run_directory))  # who fails here has nothing to discard: another made use of it
        try:
            environment = place_environment(request, pins_of(request), index, exclude_newer, identity_of(run_directory))
            stack.callback(_leave, environment)
            environment.check()
            axes = in_search_order(axes_of(request, environment, index, exclude_newer), request)
            passed_by: dict[Candidate, str] = {}
            chain = lay_chain(axes, environment, passed_by, known=known_bad(request, axes))
            journal = new_journal(run_directory, request, environment, index, axes, chain, created)
        except BaseException:
            _discard(run_directory, keep_root=request.run_directory is not None)
            raise
        stack.callback(journal.close)
        said = merged_steps(axes, chain, passed_by)
        if said:
            journal.set_meta("left_out", to_json([(one.pins, reason) for one, reason in passed_by.items()]))
        return _drive(request, environment, axes, chain, journal, run_directory, index.redact, reporter, said)


def probe(request: RunRequest, candidate: Candidate, *, runs: int = 1, reporter: Reporter = silent) -> ProbeRecord:
    """Build one candidate and run the script on it; no search.

    Args:
        request: everything but its pins and what concerns a search.
        candidate: the pins.
        runs: how often the script runs on the one build.
        reporter: told what happens.

    Raises:
        UsageError, EnvironmentFailureError: as for `bisect`.
        InterruptedProbeError: Ctrl-C (`KeyboardInterrupt`).
    """
    request = replace(request, smoke=replace(request.smoke, path=request.smoke.path.absolute()))
    _check_script(request)
    refuse_secrets(request)
    refuse_unrecordable(request, state_directory())
    if request.images is not None:
        request = with_settled_revisions(request)
    created = datetime.now(UTC)
    index = read_index(request.index, os.environ, Path.cwd())
    run_directory = new_run_directory(request.run_directory, room="probes")
    exclude_newer = request.exclude_newer or created
    with ExitStack() as stack:
        stack.enter_context(driving(run_directory))  # who fails here has nothing to discard: another made use of it
        try:
            environment = place_environment(request, tuple(candidate), index, exclude_newer, identity_of(run_directory))
            stack.callback(_leave, environment)
            environment.check()
            candidate = existing(request, candidate, environment, index, exclude_newer)
            git = getattr(environment, "clones", {})
            axes = tuple(
                Axis(pin, PinKind.GIT if pin in git else PinKind.PACKAGE, (AxisValue(value),))
                for pin, value in candidate.items()
            )
            journal = new_journal(run_directory, request, environment, index, axes, Chain((candidate,)), created)
        except BaseException:
            _discard(run_directory, keep_root=request.run_directory is not None)
            raise
        stack.callback(journal.close)
        prober = Prober(
            environment, request.smoke, journal, run_directory, LocalExecutor(1), reporter, redact=index.redact
        )
        try:
            for _ in range(runs):
                prober.probe(candidate, "asked for")
            journal.decide("finished", "probe")
        except KeyboardInterrupt:
            raise InterruptedProbeError from None
        finally:
            if not request.keep:
                prober.remove_builds()
            prober.close()
        return result_of(journal, run_directory).probes[0]


def resume(
    run: str | None,
    *,
    reporter: Reporter = silent,
    index_url: str = "",
    budget: float | None = None,
    max_runs: int | None = None,
    retry_builds: bool = False,
) -> Result:
    """Go on with an interrupted run, repeating nothing that was finished.

    Args:
        run: a run's directory, its name or the beginning of it; None for the latest.
        reporter: told what happens.
        index_url: the index again, where it was given with credentials on the command line (they are not recorded).
        budget: a new budget in seconds for the whole run, None to keep the old one.
        max_runs: the same for the number of runs.
        retry_builds: what could not be built is built again where it is needed; else it stays as it was found.

    Raises:
        UsageError: no such run, driven by another process, or an input has changed since.
        InterruptedRunError: interrupted again.
    """
    run_directory = find_run(run)
    with ExitStack() as stack:
        stack.enter_context(driving(run_directory))
        journal = Journal(run_directory / JOURNAL)
        stack.callback(journal.close)
        chain = chain_of(journal)
        if chain.steps == 0:
            raise UsageError(f"{run_directory} is a single probe, not a search: type `bisector probe` again")
        request: RunRequest = adapter(RunRequest).validate_json(journal.meta("request"))
        again = retry_builds and journal.forget_failed_builds() > 0
        if budget is not None or max_runs is not None:
            budget = request.budget if budget is None else budget
            request = replace(request, budget=budget, max_runs=request.max_runs if max_runs is None else max_runs)
            journal.set_meta("request", to_json(request))
        elif not again and any(journal.decisions("finished")):
            return result_of(journal, run_directory)
        request = with_index_again(request, run_directory, index_url)
        index = read_index(request.index, os.environ, Path.cwd())
        exclude_newer = datetime.fromisoformat(journal.meta("exclude_newer"))
        environment = place_environment(request, pins_of(request), index, exclude_newer, identity_of(run_directory))
        _check_script(request)
        stack.callback(_leave, environment)
        environment.check()
        refuse_changed_inputs(journal, request, environment)
        end_marked({marker_of(run_directory, piece) for piece in journal.pieces()})
        axes: tuple[Axis, ...] = adapter(_AXES).validate_json(journal.meta("axes"))
        return _drive(request, environment, axes, chain, journal, run_directory, index.redact, reporter)


def request_of(run: str | None) -> RunRequest:
    """What was asked of a run, as it is recorded: free of credentials.

    Raises:
        UsageError: no such run.
    """
    journal = Journal(find_run(run) / JOURNAL, writable=False)
    try:
        request: RunRequest = adapter(RunRequest).validate_json(journal.meta("request"))
    finally:
        journal.close()
    return request


def _check_script(request: RunRequest) -> None:
    """Find out whether the script can be started, where there must be one."""
    if not request.ask or request.smoke.path.is_file():
        check_script(request.smoke.path, local=not request.in_containers)


def _drive(
    request: RunRequest,
    environment: Environment,
    axes: tuple[Axis, ...],
    chain: Chain,
    journal: Journal,
    run_directory: Path,
    redact: Callable[[str], str],
    reporter: Reporter,
    merged: Sequence[MergedStep] = (),
) -> Result:
    """Search, certify and record, until there is a result or something stops it."""
    before = float(journal.meta("seconds") or 0.0)
    started = time.monotonic()
    prober = Prober(
        environment,
        request.smoke,
        journal,
        run_directory,
        LocalExecutor(request.workers),
        reporter,
        redact=redact,
        disk=request.docker.disk,
    )
    deadline = None if request.budget is None else started + request.budget - before

    def seconds_left() -> float | None:
        return None if deadline is None else max(0.0, deadline - time.monotonic())

    investigation = Investigation(request, environment, journal, prober, reporter, seconds_left)
    runs_before = sum(len(tried.shown) for tried in prober.tried)
    reporter(RunStarted(run_directory.name, str(run_directory), axes, chain.steps, runs_before))
    for note in (*environment.notes, *([] if request.first_good else divergences(axes))):
        reporter(Note(note))
    for step in merged:
        reporter(Note(f"forced together: {step}"))
    known = request.images is None or request.images.good_is_known
    if known and chain.steps == 1 and axes[0].steps == 1:
        reporter(Note("there is no version in between: the two ends are verified, and are the answer"))
    try:
        journal.decide("finished", investigation.run(axes, chain).value)
    except KeyboardInterrupt:
        journal.decide("stopped", "interrupted")
        raise InterruptedRunError(run_directory) from None
    except EnvironmentFailureError as error:
        journal.decide("stopped", redact(str(error)))
    finally:
        prober.close()
        if not any(journal.decisions("finished")):
            _leave(environment)
        journal.set_meta("seconds", str(before + time.monotonic() - started))
    if request.images is not None and any(journal.decisions("finished")):
        _offer_what_is_between(request, environment, journal, run_directory, prober)
    if any(journal.decisions("finished")) and not request.keep:
        prober.remove_builds()
    _leave(environment)
    result = result_of(journal, run_directory)
    reporter(RunEnded(result.verdict.value, short_summary(result)))
    return result


def _offer_what_is_between(
    request: RunRequest, environment: Environment, journal: Journal, run_directory: Path, prober: Prober
) -> None:
    """Say what moved between two neighbouring images, where a search among images has named them."""
    from bisector.image_axes.offering import HoldsImages, offer

    images = cast("HoldsImages", environment)  # or what stands around one
    result = RecordedRun(journal, run_directory)
    ending = result.ending
    if ending is None or ending.verdict is not Verdict.CULPRIT:
        return
    witnesses = result.rounds[0].witnesses(ending)
    builds = [(candidate, tried.build) for candidate in witnesses if (tried := prober.known(candidate))]
    there = [(candidate, build) for candidate, build in builds if build is not None]
    if len(there) == len(witnesses):
        offer(request, images, journal, run_directory, (there[0], there[1]), lambda: opened_index(request))


def _leave(environment: Environment) -> None:
    """Let go of other machines, where the environment uses any."""
    getattr(environment, "close", lambda: None)()


def _discard(run_directory: Path, *, keep_root: bool) -> None:
    """Remove a run directory in which nothing has begun."""
    shutil.rmtree(run_directory, ignore_errors=True)
    if keep_root:
        run_directory.mkdir(exist_ok=True)
