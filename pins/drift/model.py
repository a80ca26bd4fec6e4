"""What a rule of `pins drift` is given, and what it gives back: the contract, no I/O.

A rule lists its checks without touching the network (`Rule.checks`). Each check is about one pin of one file, or about
something that no single file holds, and is a coroutine. It asks for what it needs with

    page = await observations.get(ProjectPage("pybind11"))

A reading (`Reading`) is a frozen value that says what is to be read. Equal readings are read once in a run; readings of
one host take turns, a few at a time, and a host that does not answer holds up no other. So a check simply asks, and
never keeps anything of its own between checks.

The result has three values, and no more than one of them is good news:

- `ok()`: everything was looked at, and nothing has moved. What was found before, and is not now, is resolved.
- `found(...)`: it has moved.
- `unknown(reason)`: it could not be told. Nothing is resolved, nothing forgotten. An `EnvironmentFailureError` (a
  `SourceError` is one) or `UndeterminedError` that a check lets through counts as this, with its message as the reason.
  `found(..., unknown=reason)` is for what could be told in part.

**Ids.** A finding's id is made of its rule, place, pin and bucket. A line number, a head commit or a count must not get
into any of them, or every run would report it afresh. The bucket says which of the rule's cases it is, as coarsely as
a person would want to hear of it once: "more than 50 commits ahead", "3.1.0 is out". Of several thresholds give the
highest that is reached, and nothing for the lower ones: a finding of the same rule, place, pin and `series` takes the
place of the lower one, which is then *superseded* and not reported as resolved. Findings of one check that can stand
beside each other (two releases, two hunks) have different `series`.

**Memory.** What a check has to know of the last time (the digest that a tag had, the version that a requirement came
to) it returns in `Outcome.remember`, a JSON value; the next run hands it to the same check as `previous` (None at
first). It is kept as it was where `remember` is None, and where the outcome is unknown without being `lasting`. What
has moved since a *baseline* stays a finding until the baseline moves: keep the first value seen and the pin's own text
with it, and begin anew when the text, or the time of the file's last change (`WatchedFile.changed`), is another one.
Then the finding resolves when somebody has dealt with it, and not merely because a day has passed.

Every time is aware. `Subject.now` is the only clock; for a replay it lies in the past, and sources are read as of then.
"""

import hashlib
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from pins.hazards.model import Severity
from pins.metadata.known_facts import KnownFacts
from pins.model import Pin
from pins.suggest.holds import Hold

if TYPE_CHECKING:
    from pins.drift.readings.line_dates import LineDates
    from pins.hazards.subject import Subject as FileReading
    from pins.metadata.environments.model import FileEnvironments
    from pins.sources.git.clone import Clone
    from pins.sources.http_reader import HttpReader
    from pins.sources.package_index import PackageIndex

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Seen_co = TypeVar("Seen_co", covariant=True)
Seen = TypeVar("Seen")


@dataclass(frozen=True)
class About:
    """What a check is about.

    Attributes:
        pin: the pin's name; for people, and in the id. Where a file has several pins of a name, `WatchedPin` sets them
            apart.
        place: path of the file that holds it, from the top of its repository; in the id. "" for what no file holds.
        file, line: the same for people, as the user named the file; not in the id.
    """

    pin: str
    place: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Finding:
    """One thing that has moved.

    Attributes:
        rule: id of the rule.
        pin, place, file, line: as in `About`.
        bucket: which of the rule's cases, such as "50 commits" or "3.1.0".
        summary: one sentence, without a full stop. It may hold counts and commits: they do not get into the id.
        evidence: further lines for a person: commits, files with lines, URLs.
        suggestion: what to do, a sentence without a full stop; "" for nothing.
        severity: ERROR where what is built is wrong or will fail, WARNING where somebody should look, NOTE for news.
        series: findings of one check with the same series take each other's place; "" for the rule's own.
    """

    rule: str
    pin: str
    bucket: str
    summary: str
    evidence: tuple[str, ...] = ()
    suggestion: str = ""
    file: str = ""
    line: int = 0
    severity: Severity = Severity.WARNING
    place: str = ""
    series: str = ""

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits, the same in every run."""
        named = "\0".join((self.rule, self.place, self.pin, self.bucket))
        return hashlib.sha256(named.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def finding(
    rule: str,
    about: About,
    bucket: str,
    summary: str,
    *,
    evidence: Iterable[str] = (),
    suggestion: str = "",
    severity: Severity = Severity.WARNING,
    series: str = "",
) -> Finding:
    """A finding about what a check is about."""
    return Finding(
        rule,
        about.pin,
        bucket,
        summary,
        tuple(evidence),
        suggestion,
        about.file,
        about.line,
        severity,
        about.place,
        series,
    )


@dataclass(frozen=True)
class Unknown:
    """What could not be told.

    Attributes:
        pin, place: as in `About`.
        rule: id of the rule.
        reason: a sentence without a full stop: what was asked, and what went wrong.
        file: for people.
    """

    pin: str
    rule: str
    reason: str
    place: str = ""
    file: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one check comes to; made by `ok`, `found` and `unknown`.

    Attributes:
        findings: what has moved.
        unknown: why not everything could be told, "" where it could.
        remember: what the next run is to know, None for what this one knew.
        lasting: whether it is unknown for reasons that hold until what was looked at changes, so that `remember` counts
            all the same: to find it out again would take long and come to the same.
    """

    findings: tuple[Finding, ...] = ()
    unknown: str = ""
    remember: Json = None
    lasting: bool = False


def ok(*, remember: Json = None) -> Outcome:
    """Everything was looked at, and nothing has moved."""
    return Outcome(remember=remember)


def found(*findings: Finding, unknown: str = "", remember: Json = None, lasting: bool = False) -> Outcome:
    """Something has moved; without a finding the same as `ok`."""
    return Outcome(findings, unknown, remember, lasting)


def unknown(reason: str, *, remember: Json = None) -> Outcome:
    """It could not be told; with something to remember, it will not be before what that stands on has changed."""
    return Outcome(unknown=reason, remember=remember, lasting=remember is not None)


class Tools(Protocol):
    """What readings read with; safe for several threads.

    Attributes:
        index: the configured package indexes as one. Give its questions `before=tools.as_of`.
        http: for everything else that is asked over HTTP, with retries and masking.
        as_of: for a replay the time as of which sources are read; None for now.
        offline: whether nothing may be asked over the network.
        environment: variables, for credentials and addresses.
    """

    @property
    def index(self) -> "PackageIndex": ...  # noqa: D102 - said above, as with the others
    @property
    def http(self) -> "HttpReader": ...  # noqa: D102
    @property
    def as_of(self) -> datetime | None: ...  # noqa: D102
    @property
    def offline(self) -> bool: ...  # noqa: D102
    @property
    def environment(self) -> Mapping[str, str]: ...  # noqa: D102

    def clone(self, address: str) -> "Clone":
        """Our own clone of a repository; one object a repository, so that it is refreshed once in a run.

        Raises:
            SourceError: it cannot be had, or may not be asked for.
            UsageError: it is no address.
        """


class Reading(Hashable, Protocol[Seen_co]):
    """Something to be read from outside: a frozen dataclass; two that are equal are read once.

    It may have an attribute `at_once`: how many readings of its host may be under way together, where that is more
    than the few of a git server. Package indexes are made for it: uv asks them 50 questions at once.
    """

    @property
    def host(self) -> str:
        """Whose turn it takes, such as "github.com"; "" for this machine."""

    def read(self, tools: Tools) -> Seen_co:
        """Read it; runs in a thread of its own, and may block.

        Raises:
            SourceError: it could not be read.
            UsageError: there is no such thing: no project, no repository.
        """


class Observations(Protocol):
    """What a check may look at of the world."""

    async def get(self, reading: Reading[Seen]) -> Seen:
        """What a reading gives; raises what the reading raised, to everybody who asked for it."""


@dataclass(frozen=True)
class WatchedPin:
    """A pin that is watched.

    Attributes:
        pin: as it was read.
        about: its name (with the stage, or a number, behind "@" where its file holds several of that name) and place.
    """

    pin: Pin
    about: About


@dataclass(frozen=True)
class WatchedFile:
    """A file whose pins are watched.

    Attributes:
        place: its path from the top of its repository.
        reading: the file as `pins check` reads it: bytes, pins, steps, build context, clones.
        pins: its pins.
        last_change: tells when the last commit that touched it was made; `changed` is what it tells.
        environments: what its stages install and build, worked out when first asked for; None for a file of which
            that cannot be said.
        line_dates: reads when each of its lines was last changed; None outside a repository.
    """

    place: str
    reading: "FileReading"
    pins: tuple[WatchedPin, ...]
    last_change: Callable[[], datetime | None] = lambda: None
    environments: "Callable[[], FileEnvironments | None]" = lambda: None
    line_dates: "LineDates | None" = None

    @property
    def changed(self) -> datetime | None:
        """When it was last changed; None where that is not known (no repository, a shallow clone)."""
        return self.last_change()

    @property
    def about(self) -> About:
        """The file itself, for findings that no pin has."""
        return About("", self.place, self.reading.file, 0)


@dataclass(frozen=True)
class Subject:
    """Everything that is watched.

    Attributes:
        files: in the order in which they were named.
        now: the time of this run, or of the replay.
        holds: of `pins.toml`.
        holds_place, holds_file: path of that `pins.toml` from the top of its repository, and as it is shown.
        facts: known-bad versions of it.
        clones: local clones by the name of a pin or repository, in lower case (`--repo`).
        built: when images were last built (`--built`); None where only the files tell (`WatchedFile.changed`).
    """

    files: tuple[WatchedFile, ...]
    now: datetime
    holds: tuple[Hold, ...] = ()
    holds_place: str = "pins.toml"
    holds_file: str = "pins.toml"
    facts: KnownFacts = field(default_factory=KnownFacts)
    clones: Mapping[str, Path] = field(default_factory=dict)
    built: datetime | None = None

    def pins(self) -> Iterable[tuple[WatchedFile, WatchedPin]]:
        """Every pin with its file."""
        return ((file, pin) for file in self.files for pin in file.pins)


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        about: what it is about; with the rule's id it must be unique in a run.
        run: does it, given observations and what it remembered.
    """

    about: About
    run: Callable[[Observations, Json], Awaitable[Outcome]]


class Rule(Protocol):
    """One kind of thing that moves.

    A rule is listed in `pins.drift.table`. `id` is how it is selected and ignored, such as "branch-ahead"; `summary`
    is one line for people; `severity` is that of most of its findings.
    """

    @property
    def id(self) -> str: ...  # noqa: D102 - said above, as with the others
    @property
    def summary(self) -> str: ...  # noqa: D102
    @property
    def severity(self) -> Severity: ...  # noqa: D102

    def checks(self, subject: Subject) -> Iterable[Check]:
        """The checks to make; looks at nothing outside the subject, and is quick."""
