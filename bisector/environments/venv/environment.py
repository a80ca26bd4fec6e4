"""Candidates as virtual environments, made with uv.

What a candidate is installed with is decided once, by `resolve`, as of one moment of the package index; `build`
installs exactly that. The cache is bisector's own and shared by all runs; files are hard links into it.

Without build isolation, what a source distribution needs for its build comes from the environment itself. Then
everything that has a wheel is installed first, and what must be built follows one by one: dependencies, what `--with`
and requirement files name in their order, and the pins last. So a pinned build tool is there for all that is built,
and a pinned package that is built finds the tools that `--with` names.
"""

import os
import shlex
import shutil
import time
from collections.abc import Collection, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from threading import Event, Lock
from types import MappingProxyType

from bisector.environments.base import BuildFailedError, InfeasibleError
from bisector.environments.build_directory import build_marker, keep_bytecode_with, read_stamp, remove_tree, write_stamp
from bisector.environments.python_interpreters import Interpreter, find_interpreter
from bisector.environments.venv.cache import discard
from bisector.environments.venv.commits import CommitSource, lent_projects
from bisector.environments.venv.content import changed_links, content_identity, installed_distributions, owners_of
from bisector.environments.venv.contradictions import beside_pins, require_existing
from bisector.environments.venv.index import knowing_upload_times, with_file_locations
from bisector.environments.venv.installation import VENV, Instructions, install
from bisector.environments.venv.recipe import Circumstances, private_lines, resolve_candidate
from bisector.environments.venv.requirements import BaseRequirements, read_requirements
from bisector.environments.venv.resolution import failure_of
from bisector.environments.venv.trees import tree_state
from bisector.environments.venv.uv import Uv, UvError, check_uv, find_uv
from bisector.environments.venv.workplace import remove_abandoned, workplace
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun
from bisector.processes import run_process
from bisector.request import RequirementsRequest
from bisector.smoke import WORK, smoke_command, smoke_environment
from pins.errors import EnvironmentFailureError
from pins.sources.index_configuration import IndexConfiguration
from pins.sources.package_index import PackageIndex
from pins.sources.page_cache import PageCache

LEAST_SPACE = 16 * 1024 * 1024
"""Bytes that must be free for anything to be tried at all."""
FULL = 1024 * 1024
"""Bytes free below which a build that failed is not held against the candidate."""


class VenvEnvironment:
    """Makes candidates runnable as virtual environments; see `bisector.environments.base.Environment`.

    Args:
        requirements: what every candidate is installed with, and its Python.
        index: where packages come from; requirement files may add to it.
        exclude_newer: the index is read as of this time (aware).
        cache_directory: what is kept between runs; uv's cache lies in it.
        build_timeout: seconds that one build may take.
        variables: the caller's environment; by default, that of this process.
        pins: names of the pins that move.
        held: those that are held still, with their versions; candidates hold them, too.
        commits: where those of the pins come from that are installed from a commit, by pin.
    """

    def __init__(
        self,
        requirements: RequirementsRequest,
        index: IndexConfiguration,
        exclude_newer: datetime,
        *,
        cache_directory: Path,
        build_timeout: float | None = None,
        variables: Mapping[str, str] | None = None,
        pins: Collection[str] = (),
        held: Mapping[str, str] = MappingProxyType({}),
        commits: Mapping[str, CommitSource] = MappingProxyType({}),
    ) -> None:
        self._pins = tuple(pins)
        self._held = dict(held)
        self._commits = dict(commits)
        self._request = requirements
        self._given_index = index
        self._exclude_newer = exclude_newer
        self._cache = cache_directory.absolute()
        self._build_timeout = build_timeout
        self._variables = dict(os.environ if variables is None else variables)
        self._began = time.time()
        self._lock = Lock()
        self._judging = Lock()
        self._judged: IndexConfiguration | None = None
        self._judged_by: frozenset[str] = frozenset()
        self._resolved: dict[Candidate, Future[Recipe]] = {}

    @property
    def name(self) -> str:
        """`venv`."""
        return "venv"

    @property
    def interpreter(self) -> Path:
        """The Python that candidates are installed for."""
        return self.python.path

    @property
    def index(self) -> IndexConfiguration:
        """Where packages come from, with what requirement files add."""
        return self._uv.index

    @property
    def description(self) -> str:
        """What this environment is, for a report."""
        return f"venv, Python {self.python.version} ({self.python.path})"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the requirements before anything is built, in sentences."""
        return beside_pins(self._base, self._pins, self._held)

    @cached_property
    def python(self) -> Interpreter:
        """The same, with its version and platform."""
        return find_interpreter(self._request.python, environment=self._variables, uv=find_uv(self._variables))

    @property
    def base(self) -> BaseRequirements:
        """What every candidate is installed with, besides its pins."""
        return self._base

    @cached_property
    def _base(self) -> BaseRequirements:
        return read_requirements(self._request, self._variables)

    @cached_property
    def _uv(self) -> Uv:
        return Uv(
            find_uv(self._variables),
            self._cache,
            with_file_locations(self._given_index, self._base),
            self._exclude_newer,
            self._variables,
            began=self._began,
        )

    def _judge(self, names: Collection[str]) -> IndexConfiguration:
        """The index, with those marked that give no upload times; each package's pages are looked at once."""
        with self._judging:
            fresh = frozenset(names) - self._judged_by
            if fresh:
                self._judged = knowing_upload_times(self._judged or self._uv.index, fresh)
                self._judged_by |= fresh
            return self._judged or self._uv.index

    def check(self) -> None:
        """See `Environment.check`: the interpreter, the requirements, uv, and room on the disk."""
        check_uv(self._uv)
        assert self.python
        assert self.notes is not None
        try:
            self._cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentFailureError(f"cannot make the cache {self._cache}: {error.strerror}") from error
        free = _free(self._cache)
        if free < LEAST_SPACE:
            raise EnvironmentFailureError(
                f"the disk that holds the cache {self._cache} is full ({free / 1024**2:.0f} MiB are free, and"
                f" {LEAST_SPACE / 1024**2:.0f} MiB are the least that a build needs); make room, or set"
                " XDG_CACHE_HOME to a directory on another disk"
            )
        remove_abandoned(self._cache)
        with PackageIndex(self.index, cache=PageCache(self._cache)) as source:
            require_existing(self._base, self._pins, self._held, source, self._exclude_newer)

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`: requirement and constraint files, nested ones too, and local projects."""
        projects = {line.directory for line in self._base.requirements if line.directory is not None}
        return self._base.digests | {f"local project {path}": tree_state(path) for path in sorted(projects)}

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`; each candidate is resolved once, however often it is asked for."""
        with self._lock:
            known = self._resolved.get(candidate)
            if known is None:
                mine: Future[Recipe] = Future()
                self._resolved[candidate] = mine
        if known is not None:
            return known.result()
        try:
            circumstances = Circumstances(
                replace(self._uv, index=self._judge(())),
                self.python,
                self._base,
                self._request.build_isolation,
                self._cache,
                self._commits,
            )
            recipe = resolve_candidate(candidate, circumstances, self._judge)
        except BaseException as error:
            if not isinstance(error, InfeasibleError | BuildFailedError):  # it may go well the next time
                with self._lock:
                    del self._resolved[candidate]
            mine.set_exception(error)
            raise
        mine.set_result(recipe)
        return recipe

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: Event) -> Build:
        """See `Environment.build`; nothing is left of a build that fails."""
        directory = directory.absolute()
        deadline = None if self._build_timeout is None else time.monotonic() + self._build_timeout
        remove_tree(directory)
        try:
            directory.mkdir(parents=True)
            instructions = Instructions.from_json(recipe.instructions)
            with lent_projects(self._commits, dict(instructions.commits)) as projects:
                venv = install(
                    self._uv,
                    instructions,
                    directory,
                    log=log,
                    marker=build_marker(directory),
                    deadline=deadline,
                    cancel=cancel,
                    private=private_lines(self._base),
                    projects=projects,
                )
            installed = installed_distributions(venv)
            identity = content_identity(venv)
            write_stamp(directory, {"input_hash": recipe.input_hash})
        except BaseException as error:
            shutil.rmtree(directory, ignore_errors=True)
            if isinstance(error, UvError):
                raise self._not_built(error, recipe.candidate) from error
            if isinstance(error, OSError):
                raise EnvironmentFailureError(f"cannot build in {directory}: {error.strerror}") from error
            raise
        return Build(recipe.input_hash, str(directory), identity, installed)

    def _not_built(self, error: UvError, candidate: Candidate) -> Exception:
        """What a failed installation means."""
        if error.ended.cancelled:
            return BuildFailedError(f"building {candidate} was cancelled", error.ended)
        if error.ended.timed_out:
            return BuildFailedError(f"not built within {self._build_timeout:g} s (--build-timeout)", error.ended)
        failure = failure_of(error, f"building {candidate}")
        if isinstance(failure, InfeasibleError):  # what was resolved a moment ago is not on offer any more
            return EnvironmentFailureError(f"building {candidate}: {failure}. Nothing is concluded from this")
        if isinstance(failure, BuildFailedError) and _free(self._cache) < FULL:
            return EnvironmentFailureError(
                f"building {candidate}: the disk that holds {self._cache} is full ({failure})"
            )
        return failure

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`; what was only downloaded is kept."""
        discard(self._cache, Instructions.from_json(recipe.instructions).circumstances)

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`."""
        directory = Path(build.location)
        stamp = read_stamp(directory)
        return (
            stamp is not None
            and stamp.get("input_hash") == build.input_hash
            and (directory / VENV / "bin" / "python").exists()
        )

    def run(self, build: Build, smoke: SmokeRun, cancel: Event) -> Ended:
        """See `Environment.run`; the environment is active, as if its `activate` had been sourced."""
        venv = Path(build.location) / VENV
        variables = smoke_environment(smoke, self._variables)
        variables["PATH"] = os.pathsep.join([str(venv / "bin"), variables.get("PATH", os.defpath)])
        variables["VIRTUAL_ENV"] = str(venv)
        keep_bytecode_with(Path(build.location), variables)
        before = (smoke.scratch / WORK).stat().st_mtime_ns  # made just now, and by the clock that stamps files
        ended = run_process(
            smoke_command(smoke.script, str(venv / "bin" / "python")),
            environment=variables,
            directory=smoke.scratch / WORK,
            log=smoke.log,
            marker=smoke.probe,
            timeout=smoke.script.timeout,
            cancel=cancel,
            redact=self.index.redact,
        )
        self._refuse_changed_links(venv, before)
        return ended

    def _refuse_changed_links(self, venv: Path, since: int) -> None:
        """A script that writes into an installed file in place has changed it for every other candidate too."""
        changed = changed_links(venv, since)
        if not changed:
            return
        names = owners_of(venv, changed)
        with suppress(UvError), workplace(self._cache) as place:
            self._uv.forget(names, place)
        raise EnvironmentFailureError(
            f"the smoke script wrote into {changed[0]}, which other candidates share: installed files are links into"
            " one cache. What it has changed was taken out of the cache; nothing is concluded from this run. Start a"
            " new one with UV_LINK_MODE=copy in the environment, or let the script work on a copy of the file"
        )

    def shell(self, build: Build) -> str:
        """The command line that gets into a candidate, as a person types it."""
        return f"source {shlex.quote(str(Path(build.location) / VENV / 'bin' / 'activate'))}"

    def remove(self, build: Build) -> None:
        """See `Environment.remove`."""
        remove_tree(Path(build.location))


def _free(path: Path) -> int:
    try:
        status = os.statvfs(path)
    except OSError:
        return FULL
    return status.f_bavail * status.f_frsize
