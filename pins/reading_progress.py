"""How far reading is, for a person who waits."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from pins.resolve.problem import Choices, RequirementSource, Requires
from pins.sign_of_life import doing


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
def counted(source: RequirementSource) -> Iterator[RequirementSource]:
    """A source that counts; while inside of `with`, signs of life say how far it is."""
    counting = CountingSource(source)
    with doing(lambda: f"reading: {counting.releases} releases, {counting.names} packages so far"):
        yield counting
