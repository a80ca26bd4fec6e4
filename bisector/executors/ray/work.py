"""What is done on a node: one piece of work of an environment, told and answered in plain values."""

import io
import json
import os
import sys
import tarfile
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bisector.environments.base import BuildFailedError, Environment, InfeasibleError, UnhealthyError
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun
from bisector.processes import end_marked
from bisector.serial import adapter, to_json
from bisector.smoke import check_script
from pins.errors import EnvironmentFailureError, PinsError, UsageError
from pins.home import home

LARGEST_OUTPUT = 64 * 1024**2
"""Bytes of PROBE_OUTPUT that are sent to the driver."""
_LOOK = 0.5


@dataclass(frozen=True)
class Setting:
    """What all work of one run has in common.

    Attributes:
        request: the run's request as JSON, as it is recorded: without credentials.
        pins: names of the axes.
        exclude_newer: package indexes are read as of then (RFC 3339).
        run_id: marks all that is made.
        script_name, script: the smoke script.
        passed: names of variables that a node hands on from its own environment.
    """

    request: str
    pins: tuple[str, ...]
    exclude_newer: str
    run_id: str
    script_name: str
    script: bytes
    passed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a piece of work came to.

    Attributes:
        value: JSON, where it succeeded.
        failure: the kind of error that ended it, "" for none: "infeasible", "build-failed", "usage", "unhealthy",
            "environment" or "fault".
        message: of the error.
        ended: how the build ended that failed, as JSON.
        output: a tar archive of PROBE_OUTPUT.
    """

    value: str = ""
    failure: str = ""
    message: str = ""
    ended: str = ""
    output: bytes = b""


def place_of(run_id: str, node: str) -> Path:
    """Where a node keeps what it makes for a run; several nodes of one machine keep apart."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    base = base if base.is_absolute() else home() / ".local" / "state"
    return base / "bisector" / "nodes" / run_id / node[:16]


def do(setting: Setting, node: str, piece: str, kind: str, told: Mapping[str, Any]) -> Answer:
    """Do one piece of work; never raises."""
    place = place_of(setting.run_id, node)
    try:
        place.mkdir(parents=True, exist_ok=True)
        begun_file(place, piece).touch()
        environment = _environment(setting)
        end_marked(
            {f"{setting.run_id}.{piece.removesuffix('-build')}"}
        )  # what an earlier try of the same piece has left
        return _DO[kind](_Work(environment, setting, place, piece, told))
    except InfeasibleError as error:
        return Answer(failure="infeasible", message=error.message)
    except BuildFailedError as error:
        return Answer(failure="build-failed", message=error.message, ended=to_json(error.ended))
    except UnhealthyError as error:
        return Answer(failure="unhealthy", message=error.message)
    except UsageError as error:
        return Answer(failure="usage", message=error.message)
    except EnvironmentFailureError as error:
        return Answer(failure="environment", message=error.message)
    except PinsError as error:
        return Answer(failure="environment", message=error.message)
    except OSError as error:
        return Answer(failure="environment", message=f"{error}")
    except Exception:
        return Answer(failure="fault", message=traceback.format_exc(limit=8))


_made: dict[str, Environment] = {}


def _environment(setting: Setting) -> Environment:
    """The environment of a run, made once in a process."""
    if setting.run_id not in _made:
        from bisector.environment_making import make_environment, read_index
        from bisector.request import RunRequest

        request: RunRequest = adapter(RunRequest).validate_json(setting.request)
        if request.build_on:
            from bisector.executors.ray.given_images import FetchingImages

            environment: Environment = FetchingImages(request, setting.run_id)
        else:
            index = read_index(request.index, os.environ, Path.cwd())
            before = datetime.fromisoformat(setting.exclude_newer)
            environment = make_environment(request, setting.pins, index, before, setting.run_id)
        if request.health:
            from bisector.executors.health import HealthyEnvironment

            environment = HealthyEnvironment(environment, request.health)
        _made[setting.run_id] = environment
    return _made[setting.run_id]


@dataclass(frozen=True)
class _Work:
    """One piece: of which environment, where, and what it was told."""

    environment: Environment
    setting: Setting
    place: Path
    piece: str
    told: Mapping[str, Any]


def _check(work: _Work) -> Answer:
    work.environment.check()
    check_script(_script(work.setting, work.place), local=work.environment.name not in {"docker", "image"})
    found = {
        "notes": list(work.environment.notes),
        "fingerprint": work.environment.fingerprint(),
        "python": sys.executable,
        "unset": [name for name in work.setting.passed if name not in os.environ],
    }
    return Answer(json.dumps(found))


def _resolve(work: _Work) -> Answer:
    return Answer(to_json(work.environment.resolve(_candidate(work.told))))


def _build(work: _Work) -> Answer:
    recipe: Recipe = adapter(Recipe).validate_json(work.told["recipe"])
    if work.told["reference"]:
        getattr(work.environment, "give")(recipe, work.told["reference"])  # noqa: B009 - of FetchingImages
    directory = work.place / "builds" / work.told["probe"]
    directory.parent.mkdir(exist_ok=True)
    with _Cancelled(work.place, work.piece) as cancel:
        build = work.environment.build(recipe, directory, _log(work.place, work.piece), cancel)
    return Answer(to_json(build))


def _run(work: _Work) -> Answer:
    build: Build = adapter(Build).validate_json(work.told["build"])
    run: SmokeRun = adapter(SmokeRun).validate_json(work.told["run"])
    scratch, output = work.place / "scratch" / work.piece, work.place / "output" / work.piece
    for directory in (scratch, output):
        _remove(directory)
        directory.mkdir(parents=True)
    local = replace(
        run,
        script=replace(run.script, path=_script(work.setting, work.place)),
        scratch=scratch,
        output=output,
        log=_log(work.place, work.piece),
    )
    try:
        with _Cancelled(work.place, work.piece) as cancel:
            ended: Ended = work.environment.run(build, local, cancel)
        return Answer(to_json(ended), output=_packed(output))
    finally:
        _remove(scratch)
        _remove(output)


def _exists(work: _Work) -> Answer:
    return Answer(json.dumps(work.environment.exists(adapter(Build).validate_json(work.told["build"]))))


def _remove_build(work: _Work) -> Answer:
    work.environment.remove(adapter(Build).validate_json(work.told["build"]))
    return Answer("null")


def _forget(work: _Work) -> Answer:
    work.environment.forget(adapter(Recipe).validate_json(work.told["recipe"]))
    return Answer("null")


_DO = {
    "check": _check,
    "resolve": _resolve,
    "build": _build,
    "run": _run,
    "exists": _exists,
    "remove": _remove_build,
    "forget": _forget,
}


class _Cancelled:
    """An event that is set as soon as the agent has written that a piece of work is not wanted any more."""

    def __init__(self, place: Path, piece: str) -> None:
        self._file = cancel_file(place, piece)
        self._event = threading.Event()
        self._done = threading.Event()

    def __enter__(self) -> threading.Event:
        threading.Thread(target=self._watch, daemon=True, name="cancel").start()
        return self._event

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def _watch(self) -> None:
        while not self._done.wait(_LOOK):
            if self._file.exists():
                self._event.set()
                return


def cancel_file(place: Path, piece: str) -> Path:
    """The file that says that a piece of work is not wanted any more."""
    return place / f"{piece}.cancel"


def begun_file(place: Path, piece: str) -> Path:
    """The file that says that a piece of work has got what it takes, and is being done."""
    return place / f"{piece}.begun"


def log_file(place: Path, piece: str) -> Path:
    """What a piece of work prints."""
    return place / "logs" / f"{piece}.log"


def _log(place: Path, piece: str) -> Path:
    log = log_file(place, piece)
    log.parent.mkdir(exist_ok=True)
    return log


def _script(setting: Setting, place: Path) -> Path:
    path = place / "script" / setting.script_name
    if not path.is_file() or path.read_bytes() != setting.script:
        path.parent.mkdir(exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        beside.write_bytes(setting.script)
        beside.chmod(0o755)
        beside.replace(path)
    return path


def _candidate(told: Mapping[str, Any]) -> Candidate:
    return Candidate(tuple((str(pin), str(value)) for pin, value in told["candidate"]))


def _packed(directory: Path) -> bytes:
    size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    if size == 0 or size > LARGEST_OUTPUT:
        return b""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.add(directory, arcname=".")
    return archive.getvalue()


def _remove(directory: Path) -> None:
    import shutil

    with suppress(OSError):
        shutil.rmtree(directory)
