"""The life of one container: made, started, watched, and gone."""

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bisector.environments.docker.engine import engine, explanation
from bisector.environments.docker.refusals import phrase
from bisector.model import Ended
from bisector.processes import KEPT_OUTPUT, run_process
from bisector.processes.bounded_log import LOG_LIMIT, BoundedLog, Stream
from bisector.temporary import temporary_directory
from pins.errors import EnvironmentFailureError, UsageError

if TYPE_CHECKING:
    import docker

CREATE_TIMEOUT = 120.0
"""Seconds in which the engine must have made a container."""
KILL_TIMEOUT = 30.0
"""Seconds in which a container that was killed must be gone."""
_LOOK = 0.1

_INIT_FAILED = re.compile(
    r"\[FATAL +tini \(\d+\)\] exec (?P<tini>.*) failed: (?P<reason>.*)$"
    r"|(?:ERROR|catatonit) ?\(?catatonit.*?failed to exec (?P<other>.*)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Container:
    """A container that was made and is not started yet."""

    id: str
    image: str


def create(
    program: str,
    options: Sequence[str],
    image: str,
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    marker: str,
    typed: Sequence[str] = (),
) -> Container:
    """Make a container with the docker command.

    Args:
        program: the docker command.
        options: of `docker create`, the user's among them.
        image: its id; it is never fetched.
        command: the program and its arguments.
        environment: of the docker command.
        marker: marks the process of the docker command.
        typed: the user's options as they were typed, for messages.

    Raises:
        UsageError: the arguments are refused, or make another image of the one asked for.
        EnvironmentFailureError: the engine cannot make it.
    """
    with temporary_directory() as room:
        identity = room / "container"
        # First of all, since a word without a dash among the user's ends the options there and then.
        own = ["--pull=never", f"--cidfile={identity}", f"--entrypoint={command[0]}"]
        words = [program, "create", *own, *options, "--", image]
        ended = run_process(
            [*words, *command[1:]],
            environment=environment,
            directory=room,
            log=room / "log",
            marker=marker,
            timeout=CREATE_TIMEOUT,
        )
        created = identity.read_text().strip() if identity.is_file() else ""
    try:
        if ended.exit_status != 0 or not created:
            _refused(ended, typed or options)
        with engine() as client:
            found = client.api.inspect_container(created)
            if found["Config"]["Image"] != image:
                shown = " ".join(typed or options)
                raise UsageError(
                    f"--docker-arg: among {shown} a word without a dash is taken for the image; write"
                    " options with their values in one word, --option=value"
                )
    except BaseException:
        if created:
            with contextlib.suppress(EnvironmentFailureError):
                remove(created)
        raise
    return Container(created, image)


def _refused(ended: Ended, typed: Sequence[str]) -> None:
    said = (ended.errors or ended.output).strip() or ended.not_started or "no answer"
    first = phrase(said)
    with engine():  # where it has gone, that is what is to be said
        pass
    if "no space left on device" in said.lower():
        raise EnvironmentFailureError(f"no container can be made, the engine's disk is full: {first}")
    refused = (
        r"unknown (?:shorthand )?flag|invalid|bind source path|needs an argument|no such image: (?!sha256:)"
        r"|minimum memory|unknown runtime|range of cpus"
    )
    if ended.exit_status == 125 or re.search(refused, said, re.IGNORECASE):
        raise UsageError(f"docker does not accept {' '.join(typed)} as options of a container: {first}")
    raise EnvironmentFailureError(f"the engine cannot make a container: {first}")


def remove(container: str) -> None:
    """Remove a container and the volume of its own, whatever it does. One that is gone is no error."""
    from docker.errors import APIError

    with engine() as client:
        try:
            client.api.remove_container(container, v=True, force=True)
        except APIError as error:
            if error.status_code not in {404, 409}:  # gone, or being removed
                raise


class Watched:
    """Starts a container, writes what it prints to a log, and waits for its end."""

    def __init__(self, client: "docker.DockerClient", container: Container, log: BoundedLog) -> None:
        self._client = client
        self._container = container
        self._log = log
        self._output = Stream(log, None, KEPT_OUTPUT)
        self._errors = Stream(log, None, KEPT_OUTPUT)
        self._lock = threading.Lock()
        self._failure: OSError | None = None

    def run(self, timeout: float | None, cancel: threading.Event, killed_here: Callable[[], bool]) -> Ended:
        """Run it to its end.

        Args:
            timeout: seconds until it is killed.
            cancel: kills it at once.
            killed_here: whether the kernel has killed a process for lack of memory since the start.

        Raises:
            docker.errors.APIError: the engine refuses to start it.
            EnvironmentFailureError: its output cannot be written, or it cannot be ended.
        """
        # Attached before the start, so that nothing is missed. The stream ends when the container has.
        stream = self._client.api.attach(self._container.id, stream=True, demux=True)
        reader = threading.Thread(target=self._read, args=(stream,), daemon=True, name="container output")
        started = time.monotonic()
        self._client.api.start(self._container.id)
        reader.start()
        deadline = None if timeout is None else started + timeout
        timed_out = cancelled = False
        while reader.is_alive() and not (timed_out or cancelled) and self._failure is None:
            now = time.monotonic()
            timed_out = deadline is not None and now >= deadline
            cancelled = cancel.is_set()
            left = _LOOK if deadline is None else min(_LOOK, max(0.0, deadline - now))
            reader.join(left)
        seconds = time.monotonic() - started
        if reader.is_alive():
            self._kill()
            reader.join(KILL_TIMEOUT)
        if self._failure is not None:
            raise EnvironmentFailureError(f"the log of the run cannot be written: {self._failure.strerror}")
        state = self._state()
        with self._lock:
            self._output.finish()
            self._errors.finish()
        status = int(state["ExitCode"])
        return Ended(
            exit_status=status,
            seconds=seconds,
            timed_out=timed_out,
            cancelled=cancelled,
            not_started="" if timed_out or cancelled else self._not_started(status),
            out_of_memory="" if timed_out or cancelled else self._out_of_memory(state, killed_here),
            output=self._output.text,
            errors=self._errors.text,
        )

    def _read(self, stream: Iterator[tuple[bytes | None, bytes | None]]) -> None:
        while True:
            try:
                output, errors = next(stream)
            except Exception:
                # The end, or a connection that broke: what became of the container is asked in either case.
                return
            try:
                with self._lock:
                    if output:
                        self._output.take(output)
                    if errors:
                        self._errors.take(errors)
            except OSError as error:
                self._failure = error
                return

    def _kill(self) -> None:
        from docker.errors import APIError

        try:
            self._client.api.kill(self._container.id)
        except APIError as error:
            if error.status_code not in {404, 409}:  # it has just ended
                raise

    def _state(self) -> dict[str, Any]:
        """Its state once it has ended; the stream may break a moment earlier, or with the connection alone."""
        until = time.monotonic() + KILL_TIMEOUT
        while True:
            state: dict[str, Any] = self._client.api.inspect_container(self._container.id)["State"]
            if not state["Running"]:
                return state
            if time.monotonic() > until:
                raise EnvironmentFailureError(
                    f"the engine no longer passes on what container {self._container.id[:12]} prints, and it still runs"
                )
            time.sleep(_LOOK)

    def _not_started(self, status: int) -> str:
        """Why the init program could not start the command; the engine reports success then."""
        if status not in {126, 127} or self._output.text:
            return ""
        failed = _INIT_FAILED.match(self._errors.text)
        return f"{failed['tini'] or failed['other']}: {failed['reason'] or ''}".rstrip(": ") if failed else ""

    @staticmethod
    def _out_of_memory(state: Mapping[str, Any], killed_here: Callable[[], bool]) -> str:
        if state["ExitCode"] == 0:
            return ""
        if state.get("OOMKilled"):
            return "the engine says that the container ran out of memory (OOMKilled)"
        if killed_here():  # whatever the script's own status: what was killed may be a child of it
            return "the kernel killed a process on this machine for lack of memory"
        return ""


def run_container(
    container: Container,
    archive: bytes,
    room: str,
    log: Path,
    timeout: float | None,
    cancel: threading.Event,
    *,
    killed_here: Callable[[], bool],
) -> Ended:
    """Put files into a container, and run it to its end.

    Raises:
        EnvironmentFailureError: the engine fails, or refuses to start it.
    """
    from docker.errors import APIError

    with engine() as client:
        try:
            client.api.put_archive(container.id, room, archive)
        except APIError as error:
            raise EnvironmentFailureError(f"files cannot be put into the container: {explanation(error)}") from error
        try:
            sink = BoundedLog(log, LOG_LIMIT)
        except OSError as error:
            raise EnvironmentFailureError(f"cannot write the log {log}: {error.strerror}") from error
        try:
            return Watched(client, container, sink).run(timeout, cancel, killed_here)
        finally:
            sink.close()
