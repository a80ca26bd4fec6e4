"""Builds candidates and runs the script on them, and remembers what each has shown.

A probe goes through stages: resolve (what goes into the build), build (once), run (once per probe asked for). Each
stage is work for the executor; what came of it is recorded here, in the caller's thread, before the next one starts.
Candidates with equal input hashes share one build and one verdict.
"""

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Flag

from bisector.disk_budget import given_up
from bisector.entries import BuildStatus
from bisector.environments.base import BuildFailedError, Environment, InfeasibleError, LostError
from bisector.events import BuildEnded, BuildStarted, Note, Reporter, SmokeStarted
from bisector.executors.local import Executor
from bisector.hosts import Hosts
from bisector.journal import Journal
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun, SmokeScript
from bisector.places import Places, digest_of
from bisector.record import Shown, Tried, tried_so_far
from bisector.runs import marker_of
from bisector.smoke import observe
from pins.errors import EnvironmentFailureError, PinsError

LOST_TRIES = 3
"""Times that work on one candidate may be lost and begun again before the whole run stops."""
HEARTBEAT = 1.0
"""Seconds between looks at cancelled and budget-bound work while something runs."""


@dataclass(frozen=True)
class Finished:
    """A probe that ended: with one more run, unbuildable, or found to be the same as another candidate."""

    tried: Tried
    shown: Shown | None = None
    log: str = ""
    cancelled: bool = False


@dataclass
class _Active:
    tried: Tried
    why: str
    cancel: Flag
    number: int = 0
    name: str = ""
    started: float = 0.0
    host: str = ""
    wanted: str = ""
    also: list[str] = field(default_factory=list)
    """Further runs (why) that wait for this build."""
    after: "Callable[[_Active, Future[object]], Finished | None] | None" = None


class Prober:
    """The only place that starts builds and runs, and the only writer of their records.

    Args:
        environment: makes candidates runnable.
        smoke: the script.
        journal: the record; what it holds already is taken up.
        run_directory: where builds, logs and kept output lie.
        executor: where the work runs.
        reporter: told of every start and end.
        redact: masks credentials in text that is recorded.
        disk: bytes that builds may take together, None for no limit.

    Attributes:
        hosts: the machines that the environment uses.
    """

    def __init__(
        self,
        environment: Environment,
        smoke: SmokeScript,
        journal: Journal,
        run_directory: Path,
        executor: Executor,
        reporter: Reporter,
        *,
        redact: Callable[[str], str] = lambda text: text,
        disk: int | None = None,
    ) -> None:
        self._environment = environment
        self._smoke = smoke
        self._journal = journal
        self._directory = run_directory
        self._executor = executor
        self._reporter = reporter
        self._redact = redact
        self._disk = disk
        self._here = socket.gethostname()
        self._script_digest = digest_of(smoke.path)
        self._active: dict[Future[object], _Active] = {}
        self._ready: list[Finished] = []
        self._places = Places(run_directory)
        self.hosts = Hosts(environment, journal, reporter)
        self._tried = tried_so_far(journal)
        self._by_hash = {tried.recipe.input_hash: tried for tried in self.tried if tried.recipe and not tried.same_as}
        for tried in self.tried:
            for build in tried.all_builds:
                if not environment.exists(build):
                    tried.lose(build)

    # What is known.

    @property
    def tried(self) -> Iterable[Tried]:
        """Every candidate that was chosen, in order."""
        return self._tried.values()

    def known(self, candidate: Candidate) -> Tried | None:
        """What is known of a candidate, None where it was never chosen."""
        return self._tried.get(candidate)

    @property
    def in_flight(self) -> tuple[Candidate, ...]:
        """Candidates with work under way."""
        return tuple(active.tried.candidate for active in self._active.values() for _ in range(1 + len(active.also)))

    @property
    def has_finished(self) -> bool:
        """Whether `wait` has something to give at once."""
        return bool(self._ready)

    def feasible(self, candidate: Candidate) -> bool:
        """Whether the pins of a candidate can be resolved together (asked of the environment, not recorded)."""
        try:
            self._environment.resolve(candidate)
        except InfeasibleError:
            return False
        except BuildFailedError:
            return True
        return True

    # Probing.

    def start(self, candidate: Candidate, why: str, host: str = "") -> None:
        """Begin a probe: what is missing of its build, then one run.

        Args:
            candidate: which.
            why: for the record.
            host: where it is to run, in case that it has run elsewhere; "" for wherever it has been built.
        """
        tried = self._tried.get(candidate)
        if tried is None:
            tried = Tried(self._journal.add_probe(candidate, why))
            self._tried[candidate] = tried
        while tried.same_as is not None:
            tried = tried.same_as
        active = _Active(tried, why, Flag())
        building = next((one for one in self._active.values() if one.tried is tried and not one.name), None)
        if building is not None:
            building.also.append(why)
        elif tried.unbuildable:
            tried.begun += 1
            self._ready.append(Finished(tried))
        elif tried.recipe is None:
            self._submit(active, lambda: self._environment.resolve(candidate), self._resolved)
        elif tried.build is None:
            self._start_build(active)
        elif host in {"", tried.build.host}:
            self._start_run(active)
        elif host in tried.elsewhere:
            self._start_run(active, tried.elsewhere[host])
        else:
            self._start_build(active, host)

    def rebuild(self, candidate: Candidate, why: str) -> Finished:
        """Build a candidate once more, from nothing, and run the script on that build."""
        tried = self._tried[candidate]
        while tried.same_as is not None:
            tried = tried.same_as
        assert tried.recipe is not None
        for build in tried.all_builds:
            self._environment.remove(build)
            tried.lose(build)
        self._environment.forget(tried.recipe)
        return self.probe(tried.candidate, why)

    def cancel(self, candidate: Candidate) -> None:
        """End what runs for a candidate, since nobody needs its result any more."""
        for active in self._active.values():
            if active.tried.candidate == candidate:
                active.cancel.set()

    def wait(self, timeout: float | None = None) -> list[Finished]:
        """Probes that ended, after at least one has or `timeout` seconds have passed.

        Raises:
            EnvironmentFailureError: our side failed; nothing was recorded as evidence.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        finished, self._ready = self._ready, []
        while not finished and self._active:
            left = HEARTBEAT if deadline is None else min(HEARTBEAT, deadline - time.monotonic())
            if left <= 0:
                break
            self.hosts.look()
            for future in self._executor.wait(set(self._active), left):
                active = self._active.pop(future)
                assert active.after is not None
                try:
                    ended = active.after(active, future)
                except OSError as error:
                    raise EnvironmentFailureError(
                        f"{active.tried.candidate} could not be tried: {error}. Is {self._directory} still there and"
                        " writable? Nothing is concluded from this"
                    ) from error
                if ended is not None:
                    finished.append(ended)
            finished += self._ready
            self._ready = []
        return finished

    def probe(self, candidate: Candidate, why: str) -> Finished:
        """One probe from start to end, with nothing else under way."""
        self.start(candidate, why)
        return self.wait()[0]

    def close(self) -> None:
        """Cancel and wait for what is under way, and say of it in the journal that it came to nothing."""
        for active in self._active.values():
            active.cancel.set()
        for future, active in list(self._active.items()):
            seconds = time.monotonic() - active.started
            try:
                result = future.result()
            except PinsError:
                result = None
            if isinstance(result, Build):  # it was done: not to be done again after a resume
                self._journal.end_build(active.number, BuildStatus.BUILT, seconds, build=result)
            elif active.after == self._built:
                self._journal.end_build(active.number, BuildStatus.ABANDONED, seconds)
        self._active.clear()
        self._executor.close()

    def remove_builds(self) -> None:
        """Remove every build that this run made."""
        for tried in self._tried.values():
            for build in tried.all_builds:
                self._environment.remove(build)
        getattr(self._environment, "remove_shared", lambda: None)()  # of those that build for several candidates
        self._places.clear_builds()

    # The stages.

    def _submit(
        self,
        active: _Active,
        work: Callable[[], object],
        after: "Callable[[_Active, Future[object]], Finished | None]",
    ) -> None:
        active.started = time.monotonic()
        active.after = after
        self._active[self._executor.submit(work)] = active

    def _resolved(self, active: _Active, future: "Future[object]") -> Finished | None:
        tried = active.tried
        try:
            recipe = future.result()
        except (InfeasibleError, BuildFailedError) as error:
            return self._not_built(active, error)
        assert isinstance(recipe, Recipe)
        twin = self._by_hash.get(recipe.input_hash)
        tried.recipe = recipe
        self._journal.add_recipe(tried.entry.id, recipe)
        if twin is not None:
            tried.same_as = twin
            return Finished(tried)
        self._by_hash[recipe.input_hash] = tried
        self._start_build(active)
        return None

    def _start_build(self, active: _Active, host: str = "") -> None:
        tried = active.tried
        recipe = tried.recipe
        assert recipe is not None
        log, directory = self._places.of_build(tried.entry.id)
        active.number = self._journal.start_build(tried.entry.id, self._places.name_of(log))
        self._reporter(BuildStarted(tried.entry.id, tried.candidate, active.why))
        active.wanted = host
        self._submit(active, lambda: self.hosts.build(host, recipe, directory, log, active.cancel), self._built)

    def _built(self, active: _Active, future: "Future[object]") -> Finished | None:
        tried = active.tried
        seconds = time.monotonic() - active.started
        try:
            build = future.result()
        except BuildFailedError as error:
            if error.ended.cancelled:
                self._journal.end_build(active.number, BuildStatus.ABANDONED, seconds)
                return Finished(tried, cancelled=True)
            return self._built_elsewhere_alone(active, error) if active.wanted else self._not_built(active, error)
        except EnvironmentFailureError as error:
            self._journal.end_build(active.number, BuildStatus.ABANDONED, seconds, reason=self._redact(str(error)))
            if not isinstance(error, LostError):
                raise
            cancelled = self._lost(active, error)
            if cancelled is None:
                self._begin_again(active)
            return cancelled
        assert isinstance(build, Build)
        if active.wanted:
            tried.elsewhere[build.host] = build
        else:
            tried.build = build
        tried.builds += 1
        tried.build_seconds = seconds
        self._journal.end_build(active.number, BuildStatus.BUILT, seconds, build=build)
        self._reporter(BuildEnded(tried.entry.id, tried.candidate, seconds))
        self._keep_to_disk(tried)
        self._start_run(active, build)
        for why in active.also:
            self._start_run(_Active(tried, why, Flag()), build)
        active.also.clear()
        return None

    def _lost(self, active: _Active, error: LostError) -> Finished | None:
        """What came of work that was lost: nothing, if nobody wants it any more; else it is begun again.

        Raises:
            EnvironmentFailureError: that has been so too often.
        """
        tried = active.tried
        if error.gone:
            for build in tried.all_builds:
                if build.host == error.host:
                    tried.lose(build)
        if active.cancel.is_set():
            return Finished(tried, cancelled=True)
        tried.lost.append(str(error))
        if len(tried.lost) > LOST_TRIES:
            counted = Counter(tried.lost)
            listed = "".join(
                f"\n  {reason}" + (f" ({times} times)" if times > 1 else "") for reason, times in counted.items()
            )
            raise EnvironmentFailureError(
                f"{tried.candidate} (probe {tried.entry.id}) was begun {len(tried.lost)} times, and lost each time;"
                f" nothing is concluded from this:{listed}"
            ) from error
        said = f"{tried.candidate}: {error}; what was done there is lost, and begun again"
        self._reporter(Note(self._redact(said), warning=True))
        return None

    def _begin_again(self, active: _Active) -> None:
        """Start anew, on the host that is asked for as long as it is in use."""
        wanted = active.wanted if active.wanted in self.hosts.names else ""
        self.start(active.tried.candidate, active.why, wanted)
        for why in active.also:
            self.start(active.tried.candidate, why)

    def _built_elsewhere_alone(self, active: _Active, error: BuildFailedError) -> Finished:
        """A candidate that has been built on one host could not be built on another: that host is at fault."""
        reason = f"{active.tried.candidate} cannot be built there, and was built elsewhere: {error}"
        seconds = time.monotonic() - active.started
        self._journal.end_build(active.number, BuildStatus.ABANDONED, seconds, reason=self._redact(reason))
        self.hosts.set_aside(active.wanted, reason)
        self._reporter(Note(self._redact(f"the host {active.wanted} is used no more: {reason}"), warning=True))
        return Finished(active.tried, cancelled=True)

    def _keep_to_disk(self, newest: Tried) -> None:
        """Remove builds that are not needed now where all take more room than they may."""
        size_of = getattr(self._environment, "sizes_of", None)  # of those whose builds are large
        if self._disk is None or size_of is None:
            return
        built = [tried for tried in self._tried.values() if tried.build is not None]
        sizes = size_of([tried.build for tried in built])
        needed = {newest.candidate, *(active.tried.candidate for active in self._active.values())}
        for tried in given_up(built, needed, sum(sizes) - self._disk, sizes):
            assert tried.build is not None
            self._environment.remove(tried.build)
            tried.build = None
            self._reporter(Note(f"{tried.candidate}: its build is removed to keep to --disk"))

    def _not_built(self, active: _Active, error: InfeasibleError | BuildFailedError) -> Finished:
        tried = active.tried
        seconds = time.monotonic() - active.started
        log, _ = self._places.of_build(tried.entry.id)
        number = active.number or self._journal.start_build(tried.entry.id, self._places.name_of(log))
        ended = error.ended if isinstance(error, BuildFailedError) else None
        tried.unbuildable = self._redact(str(error))
        tried.feasible = ended is not None
        tried.build_ended = ended
        tried.build_seconds = seconds
        status = BuildStatus.FAILED if ended is not None else BuildStatus.INFEASIBLE
        if not log.exists():
            log.write_text(tried.unbuildable + "\n", encoding="utf-8")
        self._journal.end_build(number, status, seconds, reason=tried.unbuildable, ended=ended)
        self._reporter(BuildEnded(tried.entry.id, tried.candidate, seconds, tried.unbuildable, str(log)))
        return Finished(tried)

    def _start_run(self, active: _Active, on: Build | None = None) -> None:
        tried = active.tried
        build = on or tried.build
        assert build is not None
        if digest_of(self._smoke.path) != self._script_digest:
            raise EnvironmentFailureError(
                f"the smoke script {self._smoke.path} changed while the run was under way: what it would show now does"
                " not fit what it has shown. Put it back and resume, or start a new run"
            )
        tried.begun += 1
        name = active.name = f"{tried.entry.id}-run-{tried.begun}"
        log, output, scratch = self._places.of_run(name)
        marker = marker_of(self._directory, name)
        run = SmokeRun(self._smoke, tried.candidate, marker, scratch, output, log)
        active.host = build.host or self._here
        active.number = self._journal.start_run(
            tried.entry.id, active.why, self._places.name_of(log), self._places.name_of(output), active.host
        )
        self._reporter(SmokeStarted(tried.entry.id, tried.candidate, active.why))
        self._submit(active, lambda: self._run_once(build, run, active.cancel), self._ran)

    def _run_once(self, build: Build, run: SmokeRun, cancel: Flag) -> Ended:
        ended = self._environment.run(build, run, cancel)
        if ended.exit_status != 0:
            self._places.refuse_full_disk(run.candidate)
        return ended

    def _ran(self, active: _Active, future: "Future[object]") -> Finished | None:
        tried = active.tried
        try:
            ended = future.result()
        except LostError as error:
            cancelled = self._lost(active, error)
            if cancelled is None:
                active.wanted = active.host
                self._begin_again(active)
            return cancelled
        finally:
            self._places.clear_scratch(active.name)
        assert isinstance(ended, Ended)
        if ended.cancelled:
            return Finished(tried, cancelled=True)
        warning = self._places.large_output(active.name)
        if warning:
            self._reporter(Note(warning, warning=True))
        shown = Shown(ended, observe(ended, self._smoke.path), active.number, active.host)
        self._journal.end_run(active.number, ended, shown.observation)
        tried.shown.append(shown)
        return Finished(tried, shown, str(self._places.log_of(active.name)))
