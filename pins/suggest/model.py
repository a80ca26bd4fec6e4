"""What is suggested: plain facts for every renderer, no I/O."""

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from pins.model import Pin


class Certainty(StrEnum):
    """How a suggestion is known."""

    BISECTED = "bisected"  # a run has tried both sides of the step
    DECLARED = "declared"  # a project's requirements say so
    INFERRED = "inferred"  # read from code, or known of a release, by a rule of ours


class SuggestionKind(StrEnum):
    """What sort of edit it is."""

    HOLD = "hold"  # a bound with a condition that ends it
    CAP = "cap"  # a bound that stays
    EXACT = "exact"
    COMMIT = "commit"


class Policy(StrEnum):
    """Which of several valid answers is wanted."""

    MINIMAL = "minimal"
    NEWEST = "newest"
    LOWEST = "lowest"
    EXACT = "exact"


class State(StrEnum):
    """What is known of one version."""

    ALLOWED = "allowed"
    EXCLUDED = "excluded"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class VersionState:
    """One version in a drawn window.

    Attributes:
        version: as the index writes it, or a commit.
        state: whether it may be taken.
        reason: why not, or what is known.
        current: whether it is what the file gives now.
        suggested: whether it is what the suggestion gives.
    """

    version: str
    state: State
    reason: str = ""
    current: bool = False
    suggested: bool = False


@dataclass(frozen=True)
class Reason:
    """One link of the chain from what was seen to the user's own line.

    Attributes:
        text: a sentence, without a full stop.
        origin: file and line, run, or release that says so; "" where the sentence does.
        link: an address where it can be read, "" for none.
    """

    text: str
    origin: str = ""
    link: str = ""


@dataclass(frozen=True)
class Option:
    """One valid answer.

    Attributes:
        value: what would be written: "<3.1.0", "==3.0.4", a commit.
        kind: what sort of edit.
        trade: what speaks for and against it.
    """

    value: str
    kind: SuggestionKind
    trade: str


@dataclass(frozen=True)
class Rejected:
    """What was considered and not taken.

    Attributes:
        value: a version, a range, an edit.
        why: a sentence.
    """

    value: str
    why: str


@dataclass(frozen=True)
class Suggestion:
    """What to do about one pin.

    Attributes:
        pin: as it stands in the file; several places of one name are several suggestions.
        now: what the file gives now, in words.
        suggested: what to write.
        window: all that may be taken, in words.
        kind: what sort of edit.
        certainty: how it is known.
        headline: the change and its reason in one sentence.
        because: from what was seen to the user's own line, which is last.
        options: valid answers, the recommended first.
        rejected: what was considered.
        until: the condition that ends a hold, "" for what stays.
        review: the day to look again.
        rebuilds: stages that are built again.
        not_enough: edits that would not do.
        versions: for the drawn window, in order.
        evidence: what was run: (what, outcome).
        reproduce: the command that shows it again, "" for none.
        in_short: the reason in a few words, for a comment; "" where the first reason is short enough.
        until_in_short: the same of the end.
    """

    pin: Pin
    now: str
    suggested: str
    window: str
    kind: SuggestionKind
    certainty: Certainty
    headline: str
    because: tuple[Reason, ...]
    options: tuple[Option, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    until: str = ""
    review: date | None = None
    rebuilds: tuple[str, ...] = ()
    not_enough: tuple[str, ...] = ()
    versions: tuple[VersionState, ...] = ()
    evidence: tuple[tuple[str, str], ...] = ()
    reproduce: str = ""
    in_short: str = ""
    until_in_short: str = ""

    @property
    def why(self) -> str:
        """The reason in short."""
        return self.in_short or (self.because[0].text if self.because else "")

    @property
    def ends(self) -> str:
        """What ends a hold, in short."""
        return self.until_in_short or self.until


@dataclass(frozen=True)
class Kept:
    """A pin that is left as it is.

    Attributes:
        name: the pin.
        line: where it stands.
        now: what it holds.
        why: a sentence.
        window: what may be taken, "" where that was not asked.
        versions: for the drawn window.
    """

    name: str
    line: int
    now: str
    why: str
    window: str = ""
    versions: tuple[VersionState, ...] = ()


@dataclass(frozen=True)
class Conflict:
    """Requirements of one environment that cannot all be kept.

    Attributes:
        where: which environment, "" where there is only one.
        because: the facts that contradict each other, as sentences that can be followed.
        ways: what would have to give way, as sentences; any one of them is enough.
    """

    where: str
    because: tuple[str, ...]
    ways: tuple[str, ...] = ()


@dataclass(frozen=True)
class SuggestReport:
    """All of it.

    Attributes:
        file: the file.
        headline: what to change and why, in one sentence.
        suggestions: the changes, the surest first.
        kept: what was not changed, and why.
        unknown: what could not be told, as sentences.
        patch: the exact change, "" where there is none.
        reproduce: the command that made this report.
        data_time: as of when the evidence is; None where nothing was read.
        conflicts: what cannot be kept all together, whatever is pinned.
    """

    file: str
    headline: str
    suggestions: tuple[Suggestion, ...] = ()
    kept: tuple[Kept, ...] = ()
    unknown: tuple[str, ...] = ()
    patch: str = ""
    reproduce: str = ""
    data_time: datetime | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    conflicts: tuple[Conflict, ...] = ()
