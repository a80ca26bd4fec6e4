"""A heartbeat: while work is under way on a host, the host is asked now and then whether it is still there.

A program that talks to a machine whose link was cut, or whose engine hangs, may wait for ever: its end tells nothing.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bisector.executors.host import Host
from pins.errors import EnvironmentFailureError

SILENCES = 2
"""Questions in a row that must go without an answer before a host is taken to be gone."""
_LOOK = 0.25


@contextmanager
def watched(host: Host, cancel: threading.Event, interval: float) -> Iterator[threading.Event]:
    """Lend an event that is set when the caller cancels, or when the host is gone.

    Args:
        host: where the work is under way.
        cancel: set by the caller.
        interval: seconds between one question and the next.

    Raises:
        EnvironmentFailureError: the host is gone; however the work ended is of no account.
    """
    inner, done = threading.Event(), threading.Event()
    silent: list[str] = []

    def watch() -> None:
        since_asked = 0.0
        while not done.is_set():
            if cancel.wait(_LOOK):
                inner.set()
                return
            since_asked += _LOOK
            if since_asked < interval:
                continue
            since_asked = 0.0
            why = host.why_gone()
            if not why:
                silent.clear()
                continue
            silent.append(why)
            if len(silent) >= SILENCES:
                inner.set()
                return

    watcher = threading.Thread(target=watch, daemon=True, name=f"heartbeat of {host.name}")
    watcher.start()
    try:
        yield inner
    except EnvironmentFailureError:
        raise
    except Exception as error:
        if len(silent) >= SILENCES:
            raise EnvironmentFailureError(silent[-1]) from error
        raise
    else:
        if len(silent) >= SILENCES:
            raise EnvironmentFailureError(silent[-1])
    finally:
        done.set()
