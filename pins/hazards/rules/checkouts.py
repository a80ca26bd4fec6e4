"""Git checkouts in the wrong order, or too shallow for what follows."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pins.files.commands.git import GitCall
from pins.files.commands.pip import PipCall
from pins.files.dockerfile.stages import Stage
from pins.files.values import text_of, unknown_of
from pins.hazards.model import Finding
from pins.hazards.subject import Ran, Subject

_COMMIT = re.compile(r"[0-9a-f]{7,40}\Z")
_DEFAULT_BRANCHES = frozenset({"main", "master"})
_NOT_A_REF = re.compile(r"HEAD|ORIG_HEAD|FETCH_HEAD|[-.@~^]|.*\.(?:py|txt|toml|cpp|h|cu|json|yaml|sh)\Z")


@dataclass
class _Clone:
    """A clone as commands go by."""

    ran: Ran
    directory: str
    address: str
    branch: str
    shallow: bool
    other_tips: bool
    fetched: bool = False
    checked_out: bool = False
    read_from: tuple[Ran, str] | None = None


def _directory_of(call: GitCall, ran: Ran) -> str:
    base = ran.command.directory or "."
    return posixpath.normpath(posixpath.join(base, text_of(call.directory))) if call.directory else base


def _cloned(call: GitCall, ran: Ran) -> _Clone | None:
    if not call.arguments:
        return None
    address = text_of(call.arguments[0])
    name = posixpath.basename(address.rstrip("/")).removesuffix(".git")
    target = text_of(call.arguments[1]) if len(call.arguments) > 1 else name
    path = posixpath.normpath(posixpath.join(_directory_of(call, ran), target))
    return _Clone(
        ran,
        path,
        address,
        text_of(call.branch),
        bool({"--depth", "--shallow-since"} & call.flags),
        "--no-single-branch" in call.flags,
    )


def _holder(clones: list[_Clone], directory: str) -> _Clone | None:
    for clone in reversed(clones):
        if directory == clone.directory or directory.startswith(clone.directory.rstrip("/") + "/"):
            return clone
    return None


def _sequence(subject: Subject, stage: Stage) -> Iterator[Ran]:
    for member in reversed(stage.ancestry):
        yield from subject.ran_by_stage.get(member.index, ())


def _checked_out(call: GitCall) -> str:
    """The ref that a checkout names, "" for a file, a new branch, or nothing."""
    if call.action not in {"checkout", "switch", "reset"} or not call.arguments:
        return ""
    if {"-b", "-B", "-c", "-C", "--orphan", "--"} & call.flags or len(call.arguments) > 1:
        return ""
    text = text_of(call.arguments[0])
    return "" if _NOT_A_REF.match(text) else text


def lines_pinned_later(subject: Subject) -> set[tuple[str, int]]:
    """(stage, line) of the clones of which a revision is checked out later, or may be."""
    if subject.reading is None:
        return set()
    found: set[tuple[str, int]] = set()
    calls = {id(ran): call for ran, call in subject.git_calls}
    for stage in subject.reading.stages.stages:
        clones: list[_Clone] = []
        for ran in _sequence(subject, stage):
            call = calls.get(id(ran))
            if call is None:
                continue
            if call.action == "clone" and (clone := _cloned(call, ran)):
                clones.append(clone)
                continue
            holder = _holder(clones, _directory_of(call, ran))
            fetched = call.action in {"checkout", "reset", "switch"} and [text_of(w) for w in call.arguments] == [
                "FETCH_HEAD"
            ]
            if holder is None or not (_checked_out(call) or fetched):
                continue
            if all(condition.holds is not False for condition in ran.command.conditions):
                found.add((holder.ran.step.stage.name, subject.line(holder.ran.command.start)))
    return found


def shallow_checkout(subject: Subject) -> Iterator[Finding]:
    """A clone of depth 1, and a checkout of something else than its tip."""
    if subject.reading is None:
        return
    seen: set[int] = set()
    calls = {id(ran): call for ran, call in subject.git_calls}
    for stage in subject.reading.stages.stages:
        clones: list[_Clone] = []
        for ran in _sequence(subject, stage):
            call = calls.get(id(ran))
            if call is None:
                continue
            if call.action == "clone" and (clone := _cloned(call, ran)):
                clones.append(clone)
                continue
            holder = _holder(clones, _directory_of(call, ran))
            if holder is None:
                continue
            if call.action in {"fetch", "pull"}:
                holder.fetched = True
            ref = _checked_out(call)
            if not ref or not holder.shallow or holder.fetched or ref == holder.branch or ran.command.start in seen:
                continue
            if unknown_of(call.arguments[0]) or any(c.holds is False for c in ran.command.conditions):
                continue
            if holder.other_tips and not _COMMIT.match(ref):
                continue
            variable = next((f.variables[-1].name for f in call.arguments[0] if f.variables), "")
            may_be_cloned = not holder.branch and ref in _DEFAULT_BRANCHES
            if may_be_cloned and not variable:
                continue
            seen.add(ran.command.start)
            line = subject.line(holder.ran.command.start)
            missing = f"whatever else {variable} may name is not in it" if may_be_cloned else f"{ref} is not in it"
            yield Finding(
                ran.command.start,
                ran.command.end,
                f"the clone of line {line} has depth 1: {missing}, unless it is the tip on that day",
                posixpath.basename(holder.directory),
                f"fetch it first: git fetch --depth 1 origin {f'${variable}' if variable else ref}"
                " && git checkout FETCH_HEAD",
            )


def read_before_checkout(subject: Subject) -> Iterator[Finding]:
    """Requirements read from a clone before the revision that is pinned is checked out."""
    if subject.reading is None:
        return
    calls = {id(ran): call for ran, call in subject.git_calls}
    pips = {id(ran): call for ran, call in subject.pip_calls}
    seen: set[int] = set()
    for stage in subject.reading.stages.stages:
        clones: list[_Clone] = []
        for ran in _sequence(subject, stage):
            git, pip = calls.get(id(ran)), pips.get(id(ran))
            if pip is not None and pip.action == "install":
                for path in _paths_read(pip, ran):
                    holder = _holder(clones, path)
                    if holder is not None and holder.read_from is None and not holder.checked_out:
                        holder.read_from = (ran, path)
            if git is None:
                continue
            if git.action == "clone" and (clone := _cloned(git, ran)):
                clones.append(clone)
                continue
            holder = _holder(clones, _directory_of(git, ran))
            ref = _checked_out(git)
            if git.action in {"checkout", "reset"} and [text_of(word) for word in git.arguments] == ["FETCH_HEAD"]:
                ref = "FETCH_HEAD"
            if holder is None or not ref:
                continue
            if holder.read_from and not holder.checked_out and holder.read_from[0].command.start not in seen:
                reader, path = holder.read_from
                if holder.branch != ref and not _exclusive(reader, ran):
                    seen.add(reader.command.start)
                    yield Finding(
                        reader.command.start,
                        reader.command.end,
                        f"this reads {path} before line {subject.line(ran.command.start)} checks out {ref}: what is"
                        " installed belongs to another revision",
                        posixpath.basename(holder.directory),
                        "install behind the checkout",
                    )
            holder.checked_out = True


def _exclusive(one: Ran, other: Ran) -> bool:
    mine = {c.choice: c.arm for c in one.command.conditions}
    return any(mine.get(c.choice, c.arm) != c.arm for c in other.command.conditions)


def _paths_read(call: PipCall, ran: Ran) -> list[str]:
    base = ran.command.directory or "."
    found = [text_of(path) for role, path in call.files if role in {"requirement", "constraint"}]
    for word in (*call.editable, *call.requirements):
        text = text_of(word).split("[")[0]
        if (text.startswith((".", "/")) or text in {"."}) and not text.endswith(".whl") and "*" not in text:
            found.append(text)
    return [posixpath.normpath(posixpath.join(base, text)) for text in found]


def empty_reference(subject: Subject) -> Iterator[Finding]:
    """A checkout of a variable that is empty by default: git then does nothing, and says nothing."""
    for ran, call in subject.git_calls:
        if call.action not in {"checkout", "switch"} or any(c.holds is False for c in ran.command.conditions):
            continue
        words = ran.command.words
        empty = [w for w in words if not text_of(w) and not unknown_of(w) and any(f.variables for f in w)]
        named = [w for w in call.arguments if text_of(w)]
        if not empty or named or call.flags & {"-b", "-B"}:
            continue
        variable = next(f.variables[-1].name for f in empty[0] if f.variables)
        yield Finding(
            ran.command.start,
            ran.command.end,
            f"{variable} is empty by default: git {call.action} then leaves what the clone has, the default branch",
            variable,
            f"give ARG {variable} a default, or stop without one: ${{{variable}:?}}",
        )
