"""Work on this machine, in a few threads: the processes and containers that they start do the real work."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Executor(Protocol):
    """Runs pieces of a probe; the caller's thread alone keeps the record of them."""

    def submit(self, work: Callable[[], Result]) -> "Future[Result]":
        """Start a piece of work."""

    def wait(self, futures: "set[Future[object]]", timeout: float | None) -> "set[Future[object]]":
        """Those that are done, after at least one is or `timeout` seconds have passed."""

    def close(self) -> None:
        """Wait for what runs (the caller has cancelled it), and let go."""


class LocalExecutor:
    """`workers` threads of this process."""

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="probe")

    def submit(self, work: Callable[[], Result]) -> "Future[Result]":
        """See `Executor`."""
        return self._pool.submit(work)

    def wait(self, futures: "set[Future[object]]", timeout: float | None) -> "set[Future[object]]":
        """See `Executor`."""
        return wait(futures, timeout=timeout, return_when=FIRST_COMPLETED).done

    def close(self) -> None:
        """See `Executor`."""
        self._pool.shutdown(wait=True, cancel_futures=True)
