"""Which choices a specifier takes, as a mask (bit 0 is "absent", choice number i is bit i + 1)."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from pins.resolve.problem import Choice


def compares_versions(specifiers: SpecifierSet) -> bool:
    """Whether specifiers ask for the version of a choice, not only for its text."""
    return any(specifier.operator != "===" for specifier in specifiers)


class VersionList:
    """The versions of one name, and what specifiers take of them.

    Pre-releases are matched like all others (`prereleases=True`): which of them may be used is another question
    (`pins.resolve.admission`).

    Args:
        choices: in their order.

    Attributes:
        versionless: choices whose version is not known. Every specifier but === takes them: nothing says it does not.
        all: every choice.
    """

    def __init__(self, choices: Sequence[Choice]) -> None:
        self._choices = tuple(choices)
        self.all = ((1 << len(choices)) - 1) << 1
        self.versionless = sum(2 << i for i, choice in enumerate(choices) if choice.version is None)
        known = [choice.version for choice in choices if choice.version is not None]
        ascending = len(known) == len(choices) and all(a <= b for a, b in pairwise(known))
        self._versions: list[Version] | None = known if ascending else None
        self._masks: dict[str, int] = {}

    def taken_by(self, specifiers: SpecifierSet) -> int:
        """The choices that a set of specifiers takes."""
        mask = self.all
        for specifier in specifiers:
            mask &= self._taken(specifier)
        return mask

    def _taken(self, specifier: Specifier) -> int:
        key = str(specifier)
        mask = self._masks.get(key)
        if mask is None:
            if self._versions is None or specifier.operator == "===":
                mask = self._one_by_one(specifier)
            else:
                mask = self._by_bisection(specifier, self._versions)
            self._masks[key] = mask
        return mask

    def _one_by_one(self, specifier: Specifier) -> int:
        if specifier.operator == "===":  # compares texts, and a choice's label is its text
            return sum(2 << i for i, one in enumerate(self._choices) if specifier.contains(one.label, prereleases=True))
        mask = self.versionless
        for i, choice in enumerate(self._choices):
            if choice.version is not None and specifier.contains(choice.version, prereleases=True):
                mask |= 2 << i
        return mask

    def _by_bisection(self, specifier: Specifier, versions: list[Version]) -> int:
        """For ascending versions: what each operator takes, or for != leaves out, is one run of them.

        `packaging` decides for each version that is asked; there are only few to ask where the run is bounded by
        bisection. setuptools alone has 700 versions.
        """
        operator = specifier.operator
        if operator in (">=", ">"):
            return self._from(_first(versions, lambda version: specifier.contains(version, prereleases=True)))
        if operator in ("<=", "<"):
            return self.all & ~self._from(
                _first(versions, lambda version: not specifier.contains(version, prereleases=True))
            )
        positive = Specifier(f"=={specifier.version}") if operator == "!=" else specifier
        start, end = self._run(positive, versions)
        run = self._from(start) & ~self._from(end)
        return self.all & ~run if operator == "!=" else run

    def _run(self, specifier: Specifier, versions: list[Version]) -> tuple[int, int]:
        """The run that ==, ==.* or ~= takes; it lies about the version that is named, or begins behind it."""
        try:
            named = Version(specifier.version.removesuffix(".*"))
        except InvalidVersion:
            return 0, 0
        start = end = bisect_left(versions, named)
        while start > 0 and specifier.contains(versions[start - 1], prereleases=True):
            start -= 1
        while end < len(versions) and specifier.contains(versions[end], prereleases=True):
            end += 1
        return start, end

    def _from(self, position: int) -> int:
        return self.all & ~((2 << position) - 1)


def _first(versions: list[Version], holds: Callable[[Version], bool]) -> int:
    """The first version of which `holds` is true, where it is true of all that follow."""
    low, high = 0, len(versions)
    while low < high:
        middle = (low + high) // 2
        if holds(versions[middle]):
            high = middle
        else:
            low = middle + 1
    return low
