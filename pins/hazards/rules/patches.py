"""Patches that can land on the wrong lines, and edits by line number."""

import posixpath
import re
from collections.abc import Iterator

from pins.files.commands.git import read_git
from pins.files.context import Commit, Copies, read_through
from pins.files.values import Value, text_of
from pins.hazards.hunks import Hunk, landing, moved_by, read_hunks
from pins.hazards.model import Finding
from pins.hazards.rules.checkouts import lines_pinned_later
from pins.hazards.rules.moving import is_branch, is_pull_request
from pins.hazards.subject import Ran, Subject
from pins.model import Form, Pin, PinKind

_LINE_ADDRESS = re.compile(r"\s*(?P<first>\d+)(?:,(?P<second>\d+|\$|\+\d+))?\s*[a-zA-Z{!]")
_CONFLICT_CHECK = re.compile(rb"<{5,7}|diff\s+--check|ls-files\s+(?:-u|--unmerged)|diff-filter=U|unmerged")
_MOST_EVIDENCE = 12


def applications(subject: Subject) -> Iterator[tuple[Ran, list[Value], str]]:
    """Every call that applies patches: the command, the patches, the directory."""
    for ran in subject.ran:
        if not ran.words:
            continue
        git = read_git(ran.words)
        directory = ran.command.directory
        if git is not None and git.action in {"apply", "am"}:
            if {"--check", "--stat", "-R", "--reverse"} & git.flags:
                continue
            if git.directory:
                directory = posixpath.normpath(posixpath.join(directory or ".", text_of(git.directory)))
            yield ran, [*git.arguments, *ran.command.inputs], directory
        elif git is None and text_of(ran.words[0]) == "patch":
            words = [w for w in ran.words[1:] if not text_of(w).startswith("-")]
            for index, word in enumerate(ran.words):
                if text_of(word) in {"-d", "--directory"} and index + 1 < len(ran.words):
                    directory = posixpath.normpath(posixpath.join(directory or ".", text_of(ran.words[index + 1])))
            named = [text_of(word) for word in words]
            if len(named) > 1 and not named[0].endswith((".patch", ".diff")):  # patch FILE PATCH
                directory = posixpath.dirname(posixpath.normpath(posixpath.join(directory or ".", named[0])))
            yield ran, [*ran.command.inputs, *words], directory


def zero_context_patch(subject: Subject) -> Iterator[Finding]:
    """A patch without context lines: it goes where its line numbers say, whatever stands there."""
    for ran, patches, directory in applications(subject):
        told = any(text_of(word) == "--unidiff-zero" for word in ran.words)
        for patch in patches:
            text = text_of(patch)
            if not text.endswith((".patch", ".diff")):
                continue
            data = patch_data(subject, ran, text)
            bare = [hunk for hunk in read_hunks(data or b"") if hunk.without_context]
            if not told and not bare:
                continue
            count = (
                f"{len(bare)} hunk{'s' * (len(bare) != 1)} without a line of context" if data else "no context lines"
            )
            yield Finding(
                ran.command.start,
                ran.command.end,
                f"{posixpath.basename(text)} has {count}: it is applied by line number, and can land on the wrong lines"
                " without an error",
                _pin_name(subject, directory),
                "make the patch again with three lines of context (git diff), and apply it without --unidiff-zero",
                evidence=tuple(_where_they_land(subject, directory, bare)) if data else (),
            )
        if told and not any(text_of(patch).endswith((".patch", ".diff")) for patch in patches):
            yield Finding(
                ran.command.start,
                ran.command.end,
                "--unidiff-zero: a patch without context is applied by line number, and can land on the wrong lines"
                " without an error",
                _pin_name(subject, directory),
            )


def patch_data(subject: Subject, ran: Ran, path: str) -> bytes | None:
    """A patch that a command applies, from the files around the subject; None where it is not among them."""
    full = posixpath.normpath(posixpath.join(ran.command.directory or ".", path))
    if subject.reading is None:
        return None
    state = subject.reading.left.get(ran.step.stage.index)
    found = read_through(_ReadFile(subject), state.copies if state else Copies(), full)
    return found[1] if found else None


class _ReadFile:
    """The files around the subject, as a build context."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def read(self, path: str) -> bytes | None:
        """The file at `path`, None when there is none."""
        return self._subject.read_file(path)


def pin_of(subject: Subject, directory: str) -> Pin | None:
    """The git pin in whose checkout a directory lies."""
    pins = [p for p in subject.pins() if p.kind is PinKind.GIT and p.directory]
    inside = [p for p in pins if directory == p.directory or directory.startswith(p.directory.rstrip("/") + "/")]
    return max(inside, key=lambda p: (len(p.directory), p.line), default=None)


def _pin_name(subject: Subject, directory: str) -> str:
    pin = pin_of(subject, directory)
    return pin.name if pin else ""


def _where_they_land(subject: Subject, directory: str, hunks: list[Hunk]) -> Iterator[str]:
    pin = pin_of(subject, directory)
    name = pin.name if pin else posixpath.basename(directory)
    names = {name, *(pin.aliases if pin else ()), posixpath.basename(pin.repo).removesuffix(".git") if pin else ""}
    clone = next((subject.clones[n.lower()] for n in names if n and n.lower() in subject.clones), None)
    revision = (pin.effective or pin.value or "HEAD") if pin else "HEAD"
    moves: dict[str, set[int]] = {}
    for hunk in hunks[:_MOST_EVIDENCE]:
        said = f"{hunk.file}: @@ {hunk.header} @@"
        if clone is None or revision.startswith("-"):
            yield f"{said} {hunk.effect}"
            continue
        content = Commit(clone, revision).read(hunk.file)
        yield f"{said} {landing(hunk, content, revision)}"
        if content is not None and (moved := moved_by(hunk, content)):
            moves.setdefault(hunk.file, set()).add(moved)
    for file, by in moves.items():
        if any(hunk.file == file and not hunk.removed for hunk in hunks):
            lines = ", ".join(f"{move:+}" for move in sorted(by))
            yield f"{file}: lines have moved ({lines}) since the patch was made; insertions do not move with them"
    if clone is None:
        yield f"give --repo {name}=PATH (a clone) to see which lines of {name} these are"
    if len(hunks) > _MOST_EVIDENCE:
        yield f"and {len(hunks) - _MOST_EVIDENCE} more"


def unchecked_three_way(subject: Subject) -> Iterator[Finding]:
    """``git apply --3way``, and nobody looks for conflicts."""
    for ran in subject.ran:
        git = read_git(ran.words) if ran.words else None
        if git is None or git.action != "apply" or not {"--3way", "-3"} & git.flags or "--check" in git.flags:
            continue
        script = ran.step.script
        if script is not None and _CONFLICT_CHECK.search(script.text):
            continue
        yield Finding(
            ran.command.start,
            ran.command.end,
            "--3way writes conflict markers where the patch does not fit, and nothing here looks for them",
            fix="behind it: ! git grep -q '^<<<<<<<' (or git diff --check); or apply without --3way",
        )


def patch_on_moving_reference(subject: Subject) -> Iterator[Finding]:
    """A patch for a checkout that moves: it fits one day, and fails or lands elsewhere the next."""
    pinned = lines_pinned_later(subject)
    told: set[int] = set()
    for ran, patches, directory in applications(subject):
        pin = pin_of(subject, directory)
        named = [text_of(patch) for patch in patches if text_of(patch).endswith((".patch", ".diff"))]
        if pin is None or not named or any(c.holds is False for c in ran.command.conditions) or id(pin) in told:
            continue
        value = pin.effective or pin.value or ""
        open_ref = pin.form is Form.OPEN and pin.floating
        if open_ref and any((use.stage, use.line) in pinned for use in pin.uses):
            continue
        if not (open_ref or (pin.value and (is_branch(value) or is_pull_request(value)))):
            continue
        told.add(id(pin))
        where = "the default branch" if open_ref else f"the branch {value}" if is_branch(value) else value
        yield Finding(
            ran.command.start,
            ran.command.end,
            f"{', '.join(posixpath.basename(name) for name in named[:3])} is applied on {where} of {pin.name}"
            f" (line {pin.line}), which moves under it",
            pin.name,
            f"pin {pin.name} to the commit that the patch was made for",
        )


def edit_by_line_number(subject: Subject) -> Iterator[Finding]:
    """``sed -i`` with line numbers: the file changes, and another line is edited."""
    for ran in subject.ran:
        if not ran.words or text_of(ran.words[0]).rsplit("/", 1)[-1] not in {"sed", "gsed"}:
            continue
        texts = [text_of(word) for word in ran.words[1:]]
        if not any(re.match(r"-[a-zA-Z]*i|--in-place", text) for text in texts):
            continue
        scripts = _sed_scripts(texts)
        for script in scripts:
            match = _LINE_ADDRESS.match(script)
            if not match or (int(match["first"]) <= 1 and match["second"] in {None, "1"}):
                continue
            lines = match["first"] + (f" to {match['second']}" if match["second"] else "")
            yield Finding(
                ran.command.start,
                ran.command.end,
                f"sed edits by line number (line{'s' * bool(match['second'])} {lines}): when the file changes, another"
                " line is edited, without an error",
                fix="address the line by what it says: sed -i '/text/s/old/new/'",
            )
            break


def _sed_scripts(texts: list[str]) -> list[str]:
    scripts: list[str] = []
    index = 0
    while index < len(texts):
        text = texts[index]
        if text in {"-e", "--expression"} and index + 1 < len(texts):
            scripts.append(texts[index + 1])
            index += 1
        elif text in {"-f", "--file"}:
            return []
        elif not text.startswith("-") and text:
            scripts = scripts or [text]
            break
        index += 1
    return scripts
