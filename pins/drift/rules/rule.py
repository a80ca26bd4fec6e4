"""A rule as a table has it: what it is called, and a function that lists its checks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pins.drift.model import Check, Subject
from pins.hazards.model import Severity


@dataclass(frozen=True)
class ListedRule:
    """A rule (`pins.drift.model.Rule`) whose checks one function lists.

    Attributes:
        id: how it is selected and ignored.
        severity: of most of its findings.
        summary: one line for people.
        lists: lists the checks.
    """

    id: str
    severity: Severity
    summary: str
    lists: Callable[[Subject], Iterable[Check]]

    def checks(self, subject: Subject) -> Iterable[Check]:
        """The checks to make; looks at nothing outside the subject."""
        return self.lists(subject)
