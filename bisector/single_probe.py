"""One pin set, built and smoked without a search: `bisector probe`."""

import json
import os
import secrets
import shutil
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bisector.environments.base import BuildFailedError, Environment
from bisector.events import BuildEnded, BuildStarted, Reporter, SmokeEnded, SmokeStarted, silent
from bisector.model import Build, Candidate, Outcome, Recipe, Signature, SmokeRun
from bisector.preparation import make_environment, read_index
from bisector.processes import end_marked
from bisector.request import RunRequest
from bisector.runs import state_directory
from bisector.signature import read_build_signature
from bisector.smoke import check_script, observe
from pins.errors import EnvironmentFailureError, UsageError

SCHEMA = "bisector.probe/1"
TAIL = 4000
"""Characters of the script's output that a record carries."""
OUTCOMES = {"pass": Outcome.PASS, "fail": Outcome.FAIL, "timeout": Outcome.FAIL, "skip": Outcome.SKIP}
WHY = "the only candidate"


@dataclass(frozen=True)
class SingleProbe:
    """What became of one candidate.

    Attributes:
        outcome: PASS, FAIL, SKIP, UNBUILDABLE, or INFRA.
        signature: of a failure, its build's or its run's.
        reason: for all but PASS, in one sentence.
        tail: the end of what the script (or a build that failed) printed.
        build_log, log: files with all of it. output: the directory that the script saw as PROBE_OUTPUT.
    """

    candidate: Candidate
    outcome: Outcome
    directory: Path
    signature: Signature | None = None
    reason: str = ""
    tail: str = ""
    build_seconds: float = 0.0
    run_seconds: float = 0.0

    @property
    def build_log(self) -> Path:
        """Everything that the build printed."""
        return self.directory / "build.log"

    @property
    def log(self) -> Path:
        """Everything that the script printed."""
        return self.directory / "run.log"

    @property
    def output(self) -> Path:
        """The directory that the script saw as PROBE_OUTPUT."""
        return self.directory / "output"


def probe(request: RunRequest, *, reporter: Reporter = silent) -> SingleProbe:
    """Build the good end of a request (its bad end is not looked at) and run the script once.

    Raises:
        UsageError: the request cannot be carried out as it stands.
        NoSolutionError: the pins exclude one another.
        EnvironmentFailureError: our side or the machine failed.
    """
    check_script(request.smoke.path)
    exclude_newer = request.exclude_newer or datetime.now(UTC)
    identity = f"probe-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    environment = make_environment(request, read_index(request.index, os.environ, Path.cwd()), exclude_newer, identity)
    environment.check()
    candidate = Candidate(tuple((pin.pin, pin.good) for pin in request.pins))
    recipe = environment.resolve(candidate)
    directory = request.run_directory or state_directory() / "probes" / identity
    with ExitStack() as stack:
        try:
            for name in ("output", "scratch"):
                (directory / name).mkdir(parents=True)
        except FileExistsError as error:
            raise UsageError(f"the directory {directory} is in use already; name another with --run-dir") from error
        except OSError as error:
            raise EnvironmentFailureError(f"cannot make {directory}: {error.strerror}") from error
        stack.callback(shutil.rmtree, directory / "scratch", ignore_errors=True)
        stack.callback(end_marked, {identity})
        return _Attempt(request, environment, recipe, directory, identity, reporter, stack).carry_out()


@dataclass(frozen=True)
class _Attempt:
    request: RunRequest
    environment: Environment
    recipe: Recipe
    directory: Path
    identity: str
    reporter: Reporter
    stack: ExitStack

    def carry_out(self) -> SingleProbe:
        candidate = self.recipe.candidate
        log = self.directory / "build.log"
        self.reporter(BuildStarted(self.identity, candidate, WHY))
        started = time.monotonic()
        try:
            build = self.environment.build(self.recipe, self.directory / "build", log, threading.Event())
        except BuildFailedError as error:
            seconds = time.monotonic() - started
            self.reporter(BuildEnded(self.identity, candidate, seconds, str(error), str(log)))
            signature = read_build_signature(error.ended)
            tail = (error.ended.output + error.ended.errors)[-TAIL:]
            return SingleProbe(candidate, Outcome.UNBUILDABLE, self.directory, signature, str(error), tail, seconds)
        seconds = time.monotonic() - started
        if not self.request.keep:
            self.stack.callback(self.environment.remove, build)
        self.reporter(BuildEnded(self.identity, candidate, seconds, log=str(log)))
        return self._smoke(build, seconds)

    def _smoke(self, build: Build, build_seconds: float) -> SingleProbe:
        candidate = self.recipe.candidate
        log = self.directory / "run.log"
        run = SmokeRun(
            self.request.smoke, candidate, self.identity, self.directory / "scratch", self.directory / "output", log
        )
        self.reporter(SmokeStarted(self.identity, candidate, WHY))
        ended = self.environment.run(build, run, threading.Event())
        seen = observe(ended, self.request.smoke.path)
        outcome = OUTCOMES.get(seen.kind, Outcome.INFRA)
        self.reporter(SmokeEnded(self.identity, candidate, outcome, ended.seconds, seen.reason, str(log)))
        tail = (ended.output + ended.errors)[-TAIL:]
        return SingleProbe(
            candidate, outcome, self.directory, seen.signature, seen.reason, tail, build_seconds, ended.seconds
        )


def exit_code(record: SingleProbe) -> int:
    """0: passed; 1: failed, or could not be built; 3: the script could not say; 6: our side failed."""
    return {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNBUILDABLE: 1, Outcome.SKIP: 3}.get(record.outcome, 6)


def render_probe(record: SingleProbe, output_format: str) -> str:
    """A probe as text, or as a `bisector.probe/1` document."""
    if output_format == "json":
        return json.dumps(_document(record), indent=2, ensure_ascii=False)
    lines = [f"{record.outcome.value}: {record.candidate}"]
    if record.reason:
        lines.append(record.reason)
    if record.outcome is not Outcome.PASS and record.tail.strip():
        lines += ["", *(f"    {line}" for line in record.tail.rstrip().splitlines()[-20:]), ""]
    lines.append(
        f"Built in {record.build_seconds:.1f} s, ran {record.run_seconds:.1f} s; logs are in {record.directory}"
    )
    return "\n".join(lines)


def _document(record: SingleProbe) -> dict[str, object]:
    signature = record.signature
    return {
        "schema": SCHEMA,
        "tool": {"name": "bisector", "version": version("bisector")},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "candidate": dict(record.candidate),
        "outcome": record.outcome.value,
        "signature": signature and {"exit": signature.exit, "kind": signature.kind, "message": signature.message},
        "reason": record.reason,
        "build_seconds": record.build_seconds,
        "build_log": str(record.build_log),
        "run_seconds": record.run_seconds,
        "log": str(record.log),
        "output": str(record.output),
    }
