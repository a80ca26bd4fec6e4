"""The agent on a node: it has work done, keeps what came of it, and outlives the driver that asked."""

import os
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bisector.executors.ray.work import Answer, Setting, begun_file, cancel_file, do, log_file, place_of

IDLE_SECONDS = 1800.0
"""After so long without a word from a driver, with nothing under way, an agent ends itself."""
_LOG_PIECE = 256 * 1024


@dataclass
class _Piece:
    answer: Any
    kind: str
    key: str
    driver: str


@dataclass(frozen=True)
class State:
    """Where a piece of work stands.

    Attributes:
        answer: what it came to, None while it is under way.
        log: what it has printed since the offset that was asked for.
        begun: whether it has got the resources that it takes.
    """

    answer: Answer | None
    log: bytes = b""
    begun: bool = True


class Agent:
    """See the module; an actor, pinned to its node.

    Args:
        setting: what all work has in common.
        node: id of the node.
    """

    def __init__(self, setting: Setting, node: str) -> None:
        self._setting = setting
        self._node = node
        self._place = place_of(setting.run_id, node)
        self._pieces: dict[str, _Piece] = {}
        self._heard = time.monotonic()
        self._lock = threading.Lock()
        threading.Thread(target=self._end_when_idle, daemon=True, name="idle").start()

    def hello(self) -> dict[str, str]:
        """What the node is, and what it runs: host facts, and versions."""
        from bisector.host import host_facts
        from pins.json_document import installed_version

        self._heard = time.monotonic()
        return {**host_facts(), "bisector": installed_version()}

    def start(
        self, driver: str, piece: str, kind: str, key: str, told: Mapping[str, Any], resources: Mapping[str, Any]
    ) -> None:
        """Have a piece of work done; one of this name and key that is known already is taken up in its place."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._heard = time.monotonic()
        with self._lock:
            known = self._pieces.get(piece)
            if known is not None and known.key == key:
                known.driver = driver
                return
            with suppress(OSError):
                cancel_file(self._place, piece).unlink(missing_ok=True)
                begun_file(self._place, piece).unlink(missing_ok=True)
                log_file(self._place, piece).unlink(missing_ok=True)
            task = ray.remote(do).options(
                max_retries=0,
                name=f"bisector {kind} {piece}",
                scheduling_strategy=NodeAffinitySchedulingStrategy(self._node, soft=False),
                **resources,
            )
            self._pieces[piece] = _Piece(task.remote(self._setting, self._node, piece, kind, told), kind, key, driver)

    def unclaimed(self, driver: str, kind: str, key: str) -> str:
        """The name of a piece that another driver has begun and not fetched, "" for none; it is this driver's now."""
        with self._lock:
            for name, piece in self._pieces.items():
                if (piece.kind, piece.key) == (kind, key) and piece.driver != driver:
                    piece.driver = driver
                    return name
        return ""

    def poll(self, piece: str, offset: int, seconds: float) -> State:
        """Where a piece stands, after `seconds` at the most."""
        import ray

        self._heard = time.monotonic()
        known = self._pieces.get(piece)
        if known is None:
            return State(Answer(failure="lost", message=f"the node knows nothing of {piece}"))
        done, _ = ray.wait([known.answer], timeout=seconds)
        self._heard = time.monotonic()
        answer: Answer | None = None
        if done:
            try:
                answer = ray.get(known.answer)
            except ray.exceptions.RayError as error:
                answer = Answer(failure="lost", message=f"{type(error).__name__}: {str(error).splitlines()[0][:300]}")
        begun = answer is not None or begun_file(self._place, piece).exists()
        return State(answer, self._printed(piece, offset), begun)

    def done_with(self, piece: str) -> None:
        """Forget a piece whose answer has been fetched."""
        with self._lock:
            self._pieces.pop(piece, None)
        for file in (cancel_file(self._place, piece), begun_file(self._place, piece), log_file(self._place, piece)):
            with suppress(OSError):
                file.unlink(missing_ok=True)

    def cancel(self, piece: str) -> None:
        """Say that a piece is not wanted any more; its answer comes all the same."""
        with suppress(OSError):
            self._place.mkdir(parents=True, exist_ok=True)
            cancel_file(self._place, piece).touch()

    def close(self) -> None:
        """End what is under way, and remove what the run has made here but for its builds."""
        for piece in tuple(self._pieces):
            self.cancel(piece)
        deadline = time.monotonic() + 20
        import ray

        left = [piece.answer for piece in self._pieces.values()]
        if left:
            ray.wait(left, num_returns=len(left), timeout=max(0.0, deadline - time.monotonic()))
        shutil.rmtree(self._place, ignore_errors=True)
        with suppress(OSError):
            self._place.parent.rmdir()  # where other nodes keep nothing beside it

    def _printed(self, piece: str, offset: int) -> bytes:
        with suppress(OSError), log_file(self._place, piece).open("rb") as log:
            log.seek(offset)
            return log.read(_LOG_PIECE)
        return b""

    def _end_when_idle(self) -> None:
        import ray

        while True:
            time.sleep(min(30.0, IDLE_SECONDS / 4))
            left = [piece.answer for piece in self._pieces.values()]
            running = left and len(ray.wait(left, num_returns=len(left), timeout=0)[1])
            if not running and time.monotonic() - self._heard > IDLE_SECONDS:
                os._exit(0)
