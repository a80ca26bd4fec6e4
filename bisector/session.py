"""The library's front door: start a run, go on with one, or only plan it."""

import hashlib
import math
import os
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.certificate import certify
from bisector.driver import Driver
from bisector.environments.base import BuildFailedError, Environment, InfeasibleError
from bisector.events import Note, Reporter, RunEnded, RunStarted, silent
from bisector.executors.local import LocalExecutor
from bisector.journal import Journal, adapter, to_json
from bisector.model import Axis, AxisValue, Candidate
from bisector.preparation import (
    axes_of,
    existing,
    host_facts,
    make_environment,
    pins_of,
    read_index,
    refuse_secrets,
    without_credentials,
)
from bisector.prober import Prober
from bisector.processes import end_marked
from bisector.report import short_summary
from bisector.report.model import ProbeRecord, Result, Verdict
from bisector.request import RunRequest
from bisector.results import chain_of, result_of
from bisector.runs import JOURNAL, driving, find_run, identity_of, marker_of, new_run_directory
from bisector.smoke import check_script
from bisector.space import Chain, chain_through, ends, order_of_pins
from pins.errors import EnvironmentFailureError, NoSolutionError, PinsError, UsageError
from pins.model import PinKind

if TYPE_CHECKING:
    from pins.sources.index_configuration import IndexConfiguration

PLANNED_RESOLUTIONS = 64
"""Candidates up to which a plan asks the resolver about each."""

_AXES = tuple[Axis, ...]


class InterruptedRunError(PinsError):
    """The run was interrupted; the message gives the command that goes on."""

    exit_code = 130

    def __init__(self, run_directory: Path) -> None:
        super().__init__(f"interrupted; nothing finished is lost. Go on with: bisector resume {run_directory}")


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes:
        axes: the pins with their values.
        chain: the candidates in the order that is searched.
        infeasible: candidates that cannot be resolved, with the reason, as far as they were asked for.
    """

    axes: tuple[Axis, ...]
    chain: Chain
    infeasible: tuple[tuple[Candidate, str], ...] = ()

    @property
    def most_builds(self) -> int:
        """Builds that a script without flakes needs at most, both ends included, the swap test apart."""
        return math.ceil(math.log2(self.chain.steps)) + 2


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
    check_script(request.smoke.path, local=request.environment != "docker")
    refuse_secrets(request)
    created = datetime.now(UTC)
    index = read_index(request.index, os.environ, Path.cwd())
    exclude_newer = request.exclude_newer or created
    run_directory = new_run_directory(request.run_directory)
    with ExitStack() as stack:
        try:
            stack.enter_context(driving(run_directory))
            environment = make_environment(request, pins_of(request), index, exclude_newer, identity_of(run_directory))
            environment.check()
            axes = axes_of(request, environment, index, exclude_newer)
            chain = _lay_chain(axes, environment)
            journal = _new_journal(run_directory, request, environment, index, axes, chain, created)
        except BaseException:
            _discard(run_directory, keep_root=request.run_directory is not None)
            raise
        stack.callback(journal.close)
        return _drive(request, environment, axes, chain, journal, run_directory, index.redact, reporter)


def probe(request: RunRequest, candidate: Candidate, *, runs: int = 1, reporter: Reporter = silent) -> ProbeRecord:
    """Build one candidate and run the script on it; no search.

    Args:
        request: everything but its pins and what concerns a search.
        candidate: the pins.
        runs: how often the script runs on the one build.
        reporter: told what happens.

    Raises:
        UsageError, EnvironmentFailureError: as for `bisect`.
        InterruptedRunError: Ctrl-C (`KeyboardInterrupt`).
    """
    check_script(request.smoke.path, local=request.environment != "docker")
    refuse_secrets(request)
    created = datetime.now(UTC)
    index = read_index(request.index, os.environ, Path.cwd())
    run_directory = new_run_directory(request.run_directory, room="probes")
    exclude_newer = request.exclude_newer or created
    with ExitStack() as stack:
        try:
            stack.enter_context(driving(run_directory))
            environment = make_environment(request, tuple(candidate), index, exclude_newer, identity_of(run_directory))
            environment.check()
            candidate = existing(request, candidate, environment, index, exclude_newer)
            axes = tuple(Axis(pin, PinKind.PACKAGE, (AxisValue(value),)) for pin, value in candidate.items())
            journal = _new_journal(run_directory, request, environment, index, axes, Chain((candidate,)), created)
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
            raise InterruptedRunError(run_directory) from None
        finally:
            if not request.keep:
                prober.remove_builds()
            prober.close()
        return result_of(journal, run_directory).probes[0]


def plan(request: RunRequest) -> Plan:
    """What `bisect` would do: axes, chain, what cannot be resolved. Nothing is built, nothing is kept."""
    check_script(request.smoke.path, local=request.environment != "docker")
    exclude_newer = request.exclude_newer or datetime.now(UTC)
    index = read_index(request.index, os.environ, Path.cwd())
    environment = make_environment(request, pins_of(request), index, exclude_newer, "plan")
    environment.check()
    axes = axes_of(request, environment, index, exclude_newer)
    reasons: dict[Candidate, str] = {}
    chain = _lay_chain(axes, environment, reasons)
    for candidate in _worth_asking(chain):
        _feasible(environment, candidate, reasons)
    return Plan(axes, chain, tuple(reasons.items()))


def resume(
    run: str | None,
    *,
    reporter: Reporter = silent,
    index_url: str = "",
    budget: float | None = None,
    max_runs: int | None = None,
) -> Result:
    """Go on with an interrupted run, repeating nothing that was finished.

    Args:
        run: a run's directory, its name or the beginning of it; None for the latest.
        reporter: told what happens.
        index_url: the index again, where it was given with credentials on the command line (they are not recorded).
        budget: a new budget in seconds for the whole run, None to keep the old one.
        max_runs: the same for the number of runs.

    Raises:
        UsageError: no such run, driven by another process, or an input has changed since.
        InterruptedRunError: interrupted again.
    """
    run_directory = find_run(run)
    with ExitStack() as stack:
        stack.enter_context(driving(run_directory))
        journal = Journal(run_directory / JOURNAL)
        stack.callback(journal.close)
        request: RunRequest = adapter(RunRequest).validate_json(journal.meta("request"))
        if budget is not None or max_runs is not None:
            budget = request.budget if budget is None else budget
            request = replace(request, budget=budget, max_runs=request.max_runs if max_runs is None else max_runs)
            journal.set_meta("request", to_json(request))
        elif any(journal.decisions("finished")):
            return result_of(journal, run_directory)
        request = _with_index_again(request, run_directory, index_url)
        index = read_index(request.index, os.environ, Path.cwd())
        exclude_newer = datetime.fromisoformat(journal.meta("exclude_newer"))
        environment = make_environment(request, pins_of(request), index, exclude_newer, identity_of(run_directory))
        check_script(request.smoke.path, local=request.environment != "docker")
        environment.check()
        _refuse_changed_inputs(journal, request, environment)
        end_marked({marker_of(run_directory, piece) for piece in journal.pieces()})
        axes: tuple[Axis, ...] = adapter(_AXES).validate_json(journal.meta("axes"))
        chain = chain_of(journal)
        return _drive(request, environment, axes, chain, journal, run_directory, index.redact, reporter)


def _drive(
    request: RunRequest,
    environment: Environment,
    axes: tuple[Axis, ...],
    chain: Chain,
    journal: Journal,
    run_directory: Path,
    redact: Callable[[str], str],
    reporter: Reporter,
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
    )
    driver = Driver(request, chain, prober, reporter, seconds_before=before)
    runs_before = sum(len(tried.shown) for tried in prober.tried)
    reporter(RunStarted(run_directory.name, str(run_directory), axes, chain.steps, runs_before))
    for note in getattr(environment, "notes", ()):  # what an environment has to say of the request, if anything
        reporter(Note(note))
    if chain.steps == 1:
        reporter(Note("there is no version in between: the two ends are verified, and are the answer"))
    try:
        ending = driver.drive()
        journal.decide("ending", ending)
        if ending.verdict is Verdict.CULPRIT and len(axes) > 1:
            assert ending.lower is not None
            assert ending.upper is not None
            journal.decide("certificate", certify(chain, ending.lower, ending.upper, driver.standing))
        journal.decide("finished", ending.verdict.value)
    except KeyboardInterrupt:
        journal.decide("stopped", "interrupted")
        raise InterruptedRunError(run_directory) from None
    except EnvironmentFailureError as error:
        journal.decide("stopped", redact(str(error)))
    finally:
        prober.close()
        journal.set_meta("seconds", str(before + time.monotonic() - started))
    if any(journal.decisions("finished")) and not request.keep:
        prober.remove_builds()
    result = result_of(journal, run_directory)
    reporter(RunEnded(result.verdict.value, short_summary(result)))
    return result


def _lay_chain(axes: tuple[Axis, ...], environment: Environment, reasons: dict[Candidate, str] | None = None) -> Chain:
    """The chain through the box, asking the environment's resolver only where several pins move."""
    reasons = {} if reasons is None else reasons

    def feasible(candidate: Candidate) -> bool:
        return _feasible(environment, candidate, reasons)

    if len(axes) == 1:
        return chain_through(axes, [axes])
    for name, end in zip(("good", "bad"), ends(axes), strict=True):
        if not feasible(end):
            raise NoSolutionError(f"the pins of the {name} end exclude one another, {end}: {reasons[end]}")
    return chain_through(axes, order_of_pins(axes, feasible), feasible)


def _new_journal(
    run_directory: Path,
    request: RunRequest,
    environment: Environment,
    index: "IndexConfiguration",
    axes: tuple[Axis, ...],
    chain: Chain,
    created: datetime,
) -> Journal:
    """The journal of a run that begins, with all that a resume needs."""
    return Journal(
        run_directory / JOURNAL,
        facts={
            "created": created.isoformat(),
            "exclude_newer": (request.exclude_newer or created).isoformat(),
            "request": to_json(without_credentials(request, index)),
            "axes": to_json(axes),
            "chain": to_json(tuple(candidate.pins for candidate in chain.candidates)),
            "fingerprint": to_json(_fingerprint(request, environment)),
            "environment": environment.name,
            "facts": to_json(host_facts()),
        },
    )


def _feasible(environment: Environment, candidate: Candidate, reasons: dict[Candidate, str]) -> bool:
    """Whether a candidate can be resolved; `reasons` takes the resolver's reason where not."""
    try:
        environment.resolve(candidate)
    except InfeasibleError as error:
        reasons[candidate] = str(error)
        return False
    except BuildFailedError:
        return True  # what a build shows is for the search
    return True


def _worth_asking(chain: Chain) -> tuple[Candidate, ...]:
    """The candidates whose resolution a plan asks for: all of a short chain, the ends of a long one."""
    return chain.candidates if chain.steps < PLANNED_RESOLUTIONS else (chain.candidates[0], chain.candidates[-1])


def _fingerprint(request: RunRequest, environment: Environment) -> dict[str, str]:
    script = hashlib.sha256(request.smoke.path.read_bytes()).hexdigest()
    return {f"the smoke script {request.smoke.path}": script, **environment.fingerprint()}


def _refuse_changed_inputs(journal: Journal, request: RunRequest, environment: Environment) -> None:
    before: dict[str, str] = adapter(dict[str, str]).validate_json(journal.meta("fingerprint"))
    now = _fingerprint(request, environment)
    changed = sorted(label for label in before.keys() | now.keys() if before.get(label) != now.get(label))
    if changed:
        raise UsageError(
            f"{', '.join(changed)} changed since this run began, so that what it found so far would not fit what is"
            " still to come; put it back, or start a new run"
        )


def _with_index_again(request: RunRequest, run_directory: Path, index_url: str) -> RunRequest:
    if index_url:
        return replace(request, index=replace(request.index, index_url=index_url))
    if "****" in request.index.index_url:
        raise UsageError(
            f"this run read an index with credentials, {request.index.index_url}, and credentials are not recorded;"
            f" give it again: bisector resume {run_directory.name} --index-url URL"
        )
    return request


def _discard(run_directory: Path, *, keep_root: bool) -> None:
    """Remove a run directory in which nothing has begun."""
    shutil.rmtree(run_directory, ignore_errors=True)
    if keep_root:
        run_directory.mkdir(exist_ok=True)
