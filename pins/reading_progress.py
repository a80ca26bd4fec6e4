"""A line now and then while much is read, so that a person sees that something happens."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from pins.resolve.problem import Choices, RequirementSource, Requires

_SECONDS = 5.0


class CountingSource:
    """A source that counts what it was asked; for the rest the one within.

    Attributes:
        names: how many names were asked for.
        releases: of how many releases the requirements were asked for.
    """

    def __init__(self, source: RequirementSource) -> None:
        self._source = source
        self.names = 0
        self.releases = 0

    def choices(self, names: Collection[str]) -> Mapping[str, Choices]:
        """As the source within answers."""
        self.names += len(names)
        return self._source.choices(names)

    def requires(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Requires]:
        """As the source within answers."""
        self.releases += len(wanted)
        return self._source.requires(wanted)


@contextmanager
def heartbeat(
    source: RequirementSource, say: Callable[[str], None], *, every: float = _SECONDS
) -> Iterator[RequirementSource]:
    """A source that counts; while inside of `with`, a line says every few seconds how far it is.

    Args:
        source: what is read.
        say: takes the lines.
        every: seconds between two lines; the first comes after as many.
    """
    counting = CountingSource(source)
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(every):
            say(f"reading: {counting.releases} releases, {counting.names} packages so far")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield counting
    finally:
        ended.set()
        thread.join()
