"""Python requirements: bounds that do not reach the installer, and pins that a later install undoes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pins.files.commands.pip import PipCall
from pins.files.dockerfile.stages import Stage
from pins.files.edit import Edit
from pins.files.requirement import RequirementKind, read_requirement
from pins.files.values import Value, text_of, unknown_of
from pins.hazards.model import Finding
from pins.hazards.subject import Ran, Subject
from pins.model import Quoting

_BOUND = re.compile(rb"[ \t]*(?:>=|<=|>|<)[^\s;&|]*(?:,[ \t]*(?:[<>!~=]=?)[^\s;&|]*)*")
_REDIRECTED = re.compile(r"=|v?\d+(?:\.[\d*]+)*,?\Z")
_LOOKS_BOUND = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?\s*(?:[<>=~!]|\Z)")
_ELSEWHERE = frozenset({"-t", "--target", "--prefix", "--root", "-p", "--python", "--user"})


def unquoted_specifier(subject: Subject) -> Iterator[Finding]:
    """``pip install foo>=4``: the shell takes the bound for a redirection."""
    for ran, call in subject.pip_calls:
        if call.action not in {"install", "download", "wheel"}:
            continue
        for word in call.requirements:
            found = _lost(subject, ran, word)
            if found is None:
                continue
            start, end = found
            raw = subject.data[start:end]
            lost = raw[len(text_of(word).encode()) :].decode("utf-8", "replace").strip()
            quote = b'"' if b"$" in raw else b"'"
            edits = (Edit(start, end, quote + raw + quote),) if b"'" not in raw and b'"' not in raw else ()
            yield Finding(
                start,
                end,
                f"the shell takes {lost} for a redirection: pip is asked for {text_of(word)} without a bound",
                text_of(word).split("[")[0].lower(),
                f"quote it: {quote.decode()}{raw.decode('utf-8', 'replace')}{quote.decode()}",
                edits,
            )


def _lost(subject: Subject, ran: Ran, word: Value) -> tuple[int, int] | None:
    """The span of a requirement with the bound that the shell takes away."""
    if not word or not word[-1].written or word[-1].quoting is not Quoting.SHELL_BARE or word[-1].variables:
        return None
    start, end = word[0].start, word[-1].end
    redirected = [target for target in (*ran.command.outputs, *ran.command.inputs) if target and target[0].written]
    near = [target for target in redirected if 0 < target[0].start - end <= 3]
    if not near or not any(_REDIRECTED.match(text_of(target)) for target in near):
        return None
    match = _BOUND.match(subject.data, end, ran.command.end)
    if not match or match[0].strip().startswith((b"<<", b">>")):
        return None
    adjacent = not match[0].startswith((b" ", b"\t"))
    if not adjacent and not match[0].lstrip().startswith((b">=", b"<=")):
        return None
    return start, match.end()


def invalid_specifier(subject: Subject) -> Iterator[Finding]:
    """A requirement that no installer accepts, or reads otherwise than it looks."""
    for ran, call in subject.pip_calls:
        for word in call.requirements:
            text = text_of(word).strip()
            if unknown_of(word) or call.action == "uninstall" or not _is_named(text):
                continue
            problem = _problem(text)
            if problem:
                start, end = _span(word, ran)
                yield Finding(start, end, f"{text} is not a requirement that pip accepts: {problem}", _name(text))
    if subject.kind == "requirements":
        for pin_problem in subject.pin_set.problems:
            if pin_problem.message.startswith("not understood as a requirement") and pin_problem.file == subject.file:
                start, end = subject.line_span(pin_problem.line)
                yield Finding(start, end, "this line is not a requirement that pip accepts")


def _is_named(text: str) -> bool:
    if re.search(r"[/\\:@]|\.whl|\.tar|\.zip|[{}?]", text.split(";")[0]):
        return False
    return _LOOKS_BOUND.match(text) is not None and re.search(r"[<>=~!]", text) is not None


def _problem(text: str) -> str:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        bare = text.split(";")[0].strip().rstrip(",")
        try:
            Requirement(bare)
        except InvalidRequirement:
            if re.match(r"[\w.\[\],-]+\s*=\s*[^=]", text):
                return "the operator is ==, not ="
            if re.search(r"(?:<|>|~|!)=?\s*[\w.]*\*", text):
                return "only == and != take a version with .*"
            if re.search(r"=[<>]", text):
                return "the operators are <= and >="
            return "its specifier cannot be read"
        return ""
    for specifier in requirement.specifier:
        if specifier.operator in {"===", "=="}:
            continue
        try:
            Version(specifier.version.removesuffix(".*"))
        except InvalidVersion:
            return f"{specifier.version} is not a version"
    return ""


def _name(text: str) -> str:
    match = re.match(r"[A-Za-z0-9][\w.-]*", text)
    return canonicalize_name(match[0]) if match else ""


def _span(word: Value, ran: Ran) -> tuple[int, int]:
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
                asked.append(Asked(read.name, specifier, ran, call, *_span(word, ran), text, upgrades, order))
    return asked, removed


def pin_undone(subject: Subject) -> Iterator[Finding]:
    """A later install that brings another version than an earlier one pinned."""
    for earlier, later, how in undone(subject):
        line = subject.line(earlier.start)
        yield Finding(
            later.start,
            later.end,
            f"{later.text} {how} {earlier.text} of line {line}: what is built does not have what that line says",
            later.name,
            f"write the version in one place, or take away line {line}'s",
        )


def undone(subject: Subject) -> Iterator[tuple[Asked, Asked, str]]:
    """Pairs of installs of which the later undoes the earlier, once each."""
    if subject.reading is None:
        return
    seen: set[tuple[int, int]] = set()
    for stage in subject.reading.stages.stages:
        asked, removed = asked_in(subject, stage)
        for index, later in enumerate(asked):
            for earlier in reversed(asked[:index]):
                if earlier.name != later.name or earlier.order == later.order:
                    continue
                if (earlier.start, later.start) in seen or not (earlier.runs and later.certain):
                    break
                if earlier.excludes(later) or _program(earlier) != _program(later):
                    continue
                if any(name == later.name and earlier.order <= at <= later.order for name, at in removed):
                    break
                how = _how(earlier, later)
                if how:
                    seen.add((earlier.start, later.start))
                    yield earlier, later, how
                break


def _program(asked: Asked) -> str:
    first = text_of(asked.ran.command.words[0]) if asked.ran.command.words else ""
    return first.rpartition("/")[0]


def _how(earlier: Asked, later: Asked) -> str:
    if not earlier.capped:
        return ""
    version = later.exact
    if version is not None:
        return "" if earlier.specifier.contains(version, prereleases=True) else "replaces"
    pinned = earlier.exact
    if pinned is not None:
        if not later.specifier.contains(pinned, prereleases=True):
            return "does not admit"
        return "upgrades" if later.upgrades and not later.capped else ""
    if later.upgrades and not later.capped:
        return "upgrades beyond"
    lowest = [c.version for c in later.specifier if c.operator in {">=", ">", "~="}]
    if any(not earlier.specifier.contains(v, prereleases=True) for v in lowest):
        return "contradicts"
    return ""


def two_requirements(subject: Subject) -> Iterator[Finding]:
    """Two bounds on one distribution in one environment, in calls that do not know of each other."""
    if subject.reading is None:
        return
    told = {later.start for _, later, _ in undone(subject)}
    seen: set[int] = set()
    for stage in subject.reading.stages.stages:
        asked, removed = asked_in(subject, stage)
        bounded = [a for a in asked if a.specifier and a.runs]
        for index, later in enumerate(bounded):
            if later.start in seen or later.start in told:
                continue
            for earlier in bounded[:index]:
                if earlier.name != later.name or earlier.specifier == later.specifier or earlier.order == later.order:
                    continue
                if earlier.excludes(later) or _program(earlier) != _program(later) or earlier.start == later.start:
                    continue
                if any(name == later.name and earlier.order <= at <= later.order for name, at in removed):
                    continue
                seen.add(later.start)
                line = subject.line(earlier.start)
                yield Finding(
                    later.start,
                    later.end,
                    f"{later.name} is bound twice in one environment: {earlier.text} on line {line}, {later.text} here;"
                    " each install looks at its own bound only",
                    later.name,
                    "write one bound, or give both calls the same constraints file",
                )
                break
