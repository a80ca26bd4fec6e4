"""Run one program to its end, with a time limit, a log, and nothing left running.

Nothing can be made to die with us that works in a program with threads (the kernel ties a parent-death signal to the
starting *thread*, and setting it needs code between fork and exec). So what a killed bisector leaves behind is found
by its mark instead: `end_marked`, which `bisector resume` and `bisector gc` call.
"""

import contextlib
import errno
import fcntl
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from bisector.model import Ended
from bisector.processes.bounded_log import LOG_LIMIT, BoundedLog, Stream
from bisector.processes.memory_kills import MemoryKills
from bisector.processes.tree import MARKER, end_tree
from pins.errors import EnvironmentFailureError

KEPT_OUTPUT = 64 * 1024
"""Bytes of each stream that are kept in `Ended`."""
PIPE_GRACE = 1.0
"""Seconds that output may go on after the program has ended: something it started still holds the pipe."""
LAST_WORDS = 0.2
"""Seconds in which the pipes must end once nothing is left that could write to them."""

_CHUNK = 1 << 20
_CANCEL_INTERVAL = 0.05
_OURS = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EIO}
"""Reasons why a program cannot be started that lie in the machine's state, not in the program."""


def run_process(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: Path,
    log: Path,
    marker: str,
    timeout: float | None = None,
    cancel: threading.Event | None = None,
    log_limit: int = LOG_LIMIT,
    redact: Callable[[str], str] | None = None,
) -> Ended:
    """Run a program in a session of its own and wait for its end, and for that of all that it started.

    Args:
        arguments: the program and its arguments; no shell is involved.
        environment: the whole environment of the program; the mark is added.
        directory: its working directory.
        log: the file that what it writes is appended to; both streams, as they come.
        marker: the id of the probe or build. Whatever carries it is ended when this program has ended, so at most
            one program at a time may run under an id.
        timeout: seconds until the program and all it started are ended.
        cancel: the same as soon as this is set.
        log_limit: bytes that it may add to the log; the middle of a longer output is left out.
        redact: masks credentials in what goes to the log and to `Ended`; is given whole lines where they end.

    Raises:
        EnvironmentFailureError: the log cannot be written, or the machine cannot start any program.
    """
    if cancel is not None and cancel.is_set():
        return Ended(None, cancelled=True)
    try:
        sink = BoundedLog(log, log_limit)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot write the log {log}: {error.strerror}") from error
    try:
        if not directory.is_dir():
            raise EnvironmentFailureError(f"the working directory {directory} of {arguments[0]} does not exist")
        kills = MemoryKills()
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                list(arguments),
                env={**environment, MARKER: marker},
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            return _not_started(arguments[0], error)
        try:
            supervised = _Supervised(process, marker, sink, redact, cancel, started, timeout)
        except BaseException:
            end_tree({marker}, process.pid)
            process.poll()
            raise
        with supervised:
            return supervised.finish(kills)
    except OSError as error:
        raise EnvironmentFailureError(
            f"cannot run {arguments[0]} with its log {log}: {error.strerror}; is the disk full?"
        ) from error
    finally:
        sink.close()


def _not_started(program: str, error: OSError | ValueError) -> Ended:
    if isinstance(error, OSError):
        if error.errno in _OURS:
            raise EnvironmentFailureError(f"this machine could not start {program}: {error.strerror}") from error
        if error.errno == errno.ENOENT and Path(program).exists():
            return Ended(None, not_started=f"{program}: the interpreter that its first line names does not exist")
        return Ended(None, not_started=f"{program}: {error.strerror}")
    return Ended(None, not_started=f"{program}: {error}")


class _Supervised:
    """One running program; leaving the context leaves nothing of it running."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        marker: str,
        sink: BoundedLog,
        redact: Callable[[str], str] | None,
        cancel: threading.Event | None,
        started: float,
        timeout: float | None,
    ) -> None:
        self._process = process
        self._marker = marker
        self._sink = sink
        self._cancel = cancel
        self._started = started
        self._deadline = None if timeout is None else started + timeout
        self._ended_at: float | None = None
        self._selector = selectors.DefaultSelector()
        assert process.stdout is not None
        assert process.stderr is not None
        self._output = self._watch(process.stdout, redact)
        self._errors = self._watch(process.stderr, redact)
        self._open_streams = 2
        self._exit = _exit_descriptor(process)
        self._selector.register(self._exit, selectors.EVENT_READ, None)

    def _watch(self, pipe: IO[bytes], redact: Callable[[str], str] | None) -> Stream:
        stream = Stream(self._sink, redact, KEPT_OUTPUT)
        os.set_blocking(pipe.fileno(), False)
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _CHUNK)
        self._selector.register(pipe.fileno(), selectors.EVENT_READ, stream)
        return stream

    def __enter__(self) -> "_Supervised":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is not None:
                end_tree({self._marker}, None if self._process.returncode is not None else self._process.pid)
        finally:
            self._selector.close()
            os.close(self._exit)
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()
            self._process.poll()

    def finish(self, kills: MemoryKills) -> Ended:
        """Wait for the end, or bring it about, and say how it was."""
        timed_out = cancelled = False
        while self._ended_at is None and not (timed_out or cancelled):
            now = time.monotonic()
            timed_out = self._deadline is not None and now >= self._deadline
            cancelled = self._cancel is not None and self._cancel.is_set()
            if not (timed_out or cancelled):
                left = None if self._deadline is None else self._deadline - now
                if self._cancel is not None:
                    left = _CANCEL_INTERVAL if left is None else min(left, _CANCEL_INTERVAL)
                self._read(left)
        if self._ended_at is not None:
            self._drain(PIPE_GRACE)
        word = kills.word() if self._ended_at is not None else ""
        # The program itself is not waited for before all others are gone: its number, which names the session, must
        # not be given to a stranger meanwhile.
        _, immortal = end_tree({self._marker}, self._process.pid, self._pause)
        self._drain(LAST_WORDS)
        if immortal:
            self._errors.take(f"\n[these processes could not be ended: {immortal}]\n".encode())
        self._output.finish()
        self._errors.finish()
        status = self._process.wait(timeout=0.5) if self._process.pid not in immortal else None
        seconds = (self._ended_at or time.monotonic()) - self._started
        return Ended(
            exit_status=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            seconds=seconds,
            timed_out=timed_out,
            cancelled=cancelled,
            out_of_memory=word if status != 0 and not (timed_out or cancelled) else "",
            output=self._output.text,
            errors=self._errors.text,
        )

    def _drain(self, seconds: float) -> None:
        """Read on for so long, or until both streams have ended and the program too."""
        until = time.monotonic() + seconds
        while self._open_streams or self._ended_at is None:
            left = until - time.monotonic()
            if left <= 0:
                return
            self._read(left)

    def _pause(self, seconds: float) -> None:
        """Let time pass, reading what is written meanwhile."""
        until = time.monotonic() + seconds
        self._drain(seconds)
        time.sleep(max(0.0, until - time.monotonic()))

    def _read(self, wait: float | None) -> None:
        for key, _ in self._selector.select(wait):
            if key.data is None:
                self._ended_at = time.monotonic()
                self._selector.unregister(key.fd)
                continue
            try:
                data = os.read(key.fd, _CHUNK)
            except BlockingIOError:
                continue
            if data:
                key.data.take(data)
            else:
                self._selector.unregister(key.fd)
                self._open_streams -= 1


def _exit_descriptor(process: "subprocess.Popen[bytes]") -> int:
    """A descriptor that becomes readable when the program has ended."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(process.pid)
    reading, writing = os.pipe()

    def wait() -> None:
        process.wait()
        os.close(writing)

    threading.Thread(target=wait, daemon=True, name=f"wait for {process.pid}").start()
    return reading
