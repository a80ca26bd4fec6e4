"""What the stages of a file ask pip for, in order."""

from dataclasses import dataclass
from typing import cast

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pins.files.commands.pip import PipCall
from pins.files.dockerfile.stages import Stage
from pins.files.requirement import RequirementKind, read_requirement
from pins.files.values import Value, text_of, unknown_of
from pins.hazards.subject import Ran, Subject

_ELSEWHERE = frozenset({"-t", "--target", "--prefix", "--root", "-p", "--python", "--user"})


def span_of(word: Value, ran: Ran) -> tuple[int, int]:
    """Where a word of a command is written; the whole command where it is not."""
    written = [f for f in word if f.written and ran.command.start <= f.start < ran.command.end]
    if not written:
        return ran.command.start, ran.command.end
    return written[0].start, written[-1].end


@dataclass(frozen=True)
class Asked:
    """One requirement of one install, where it is known.

    Attributes:
        name: the distribution.
        specifier: what it asks for.
        ran: the command.
        call: the command as a call of pip.
        start: where the requirement is written.
        end: behind it.
        text: as pip sees it.
        upgrades: whether the newest version is asked for even where one is installed.
        order: place in the stage's sequence of commands.
    """

    name: str
    specifier: SpecifierSet
    ran: Ran
    call: PipCall
    start: int
    end: int
    text: str
    upgrades: bool
    order: int

    @property
    def exact(self) -> Version | None:
        """The one version that is asked for, None where there are more."""
        for clause in self.specifier:
            if clause.operator == "==" and not clause.version.endswith(".*"):
                return Version(clause.version)
        return None

    @property
    def capped(self) -> bool:
        """Whether newer versions are kept out."""
        return any(clause.operator in {"==", "<", "<=", "~="} for clause in self.specifier)

    def excludes(self, other: "Asked") -> bool:
        """Whether the two never run in one build."""
        mine = {c.choice: c.arm for c in self.ran.command.conditions}
        return any(mine.get(c.choice, c.arm) != c.arm for c in other.ran.command.conditions)

    @property
    def runs(self) -> bool:
        """Whether it may run with the values known."""
        return all(condition.holds is not False for condition in self.ran.command.conditions)

    @property
    def certain(self) -> bool:
        """Whether it runs with the values known."""
        return all(condition.holds is True for condition in self.ran.command.conditions)


def asked_in(subject: Subject, stage: Stage) -> tuple[list[Asked], list[tuple[str, int]]]:
    """What a stage and those it descends from ask pip for, in order; and (name, order) of what is uninstalled."""
    key = ("asked", stage.index)
    if key not in subject.kept:
        parent = stage.base_stage
        asked, removed = asked_in(subject, parent) if parent is not None else ([], [])
        more_asked, more_removed = _asked_here(subject, stage, 1_000_000 * len(stage.ancestry))
        subject.kept[key] = ([*asked, *more_asked], [*removed, *more_removed])
    return cast("tuple[list[Asked], list[tuple[str, int]]]", subject.kept[key])


def _asked_here(subject: Subject, stage: Stage, order: int) -> tuple[list[Asked], list[tuple[str, int]]]:
    """What the commands of one stage ask for; `order` is where its commands are counted from."""
    asked: list[Asked] = []
    removed: list[tuple[str, int]] = []
    for ran, call in subject.pip_calls_by_stage.get(stage.index, ()):
        order += 1
        if any(text_of(word).partition("=")[0] in _ELSEWHERE for word in ran.words):
            continue
        for word in call.requirements:
            text = text_of(word)
            read = read_requirement(word)
            if read is None or not read.name or read.marker:
                continue
            if call.action == "uninstall":
                removed.append((read.name, order))
            elif call.action == "install" and read.kind is RequirementKind.SPECIFIER and not unknown_of(word):
                try:
                    specifier = Requirement(text).specifier
                except InvalidRequirement:
                    continue
                upgrades = bool({"-U", "--upgrade"} & call.flags)
                asked.append(Asked(read.name, specifier, ran, call, *span_of(word, ran), text, upgrades, order))
    return asked, removed
