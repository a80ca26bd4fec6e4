"""The head of a cluster: whether it is still there.

Ray ends the whole process of a driver whose head has been gone for a minute, with a word of its own and nothing
recorded; and nodes without a head are of no use.
"""

import threading
import time

from bisector.executors.ray.address import check_answers
from pins.errors import EnvironmentFailureError

RECONNECT_SECONDS = 900
"""So long Ray waits for a head that is gone (60 s by default): the run ends before, in order."""


class Head:
    """The head of the cluster that this process is part of.

    Args:
        address: HOST:PORT.
        heartbeat: seconds between questions to a machine whether it is still there.
    """

    def __init__(self, address: str, heartbeat: float) -> None:
        self.heartbeat = heartbeat
        self._address = address
        self._silent_since: float | None = None
        self._turn = threading.Lock()
        self.gone = ""

    def why_silent(self) -> str:
        """Why it does not answer now, "" where it does; after a heartbeat of silence it is `gone`, for good."""
        with self._turn:
            if self.gone:
                return self.gone
            try:
                check_answers(self._address)
            except EnvironmentFailureError:
                said = f"the head of the cluster, {self._address}, does not answer any more"
                now = time.monotonic()
                self._silent_since = now if self._silent_since is None else self._silent_since
                if now - self._silent_since >= self.heartbeat:
                    self.gone = said
                return said
            self._silent_since = None
            return ""
