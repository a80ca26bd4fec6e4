"""What git and `patch` do to a stage's checkouts, and the revisions that they name."""

import posixpath
import re
from dataclasses import replace

from pins.files.commands.git import GitCall
from pins.files.dockerfile.stage_reading import StageReading
from pins.files.mention import Mention, Part, part_of
from pins.files.repositories import Checkout
from pins.files.requirement import repository_name
from pins.files.shell.command import Command
from pins.files.values import Value, cut, text_of, unknown_of
from pins.model import Form, PinKind

_REVISION_WORDS = frozenset({"HEAD", "ORIG_HEAD", "-", ".", "HEAD~1", "HEAD^"})


def take_git(stage: StageReading, call: GitCall, command: Command) -> None:
    """Read a call of git."""
    directory = command.directory
    if call.directory:
        directory = posixpath.normpath(posixpath.join(directory or ".", text_of(call.directory)))
    match call.action:
        case "clone":
            _clone(stage, call, command, directory)
        case "init":
            target = posixpath.join(directory, text_of(call.arguments[0])) if call.arguments else directory
            stage.checkouts.add(Checkout(posixpath.normpath(target), "", posixpath.basename(target).lower()))
        case "remote":
            _remote(stage, call, directory)
        case "fetch" | "pull":
            _fetch(stage, call, command, directory)
        case "checkout" | "switch":
            _checkout(stage, call, command, directory)
        case "reset":
            if any(flag in {"--hard", "--soft", "--mixed"} for flag in call.flags) or call.arguments:
                _checkout(stage, call, command, directory)
        case "cherry-pick" | "revert" | "merge":
            _picked(stage, call, command, directory)
        case "apply" | "am":
            _applied(stage, call.arguments, command, directory)
        case "worktree" if call.arguments and text_of(call.arguments[0]) == "add" and len(call.arguments) > 2:
            _checkout(stage, replace(call, arguments=call.arguments[2:]), command, directory)
        case _:
            pass


def _around(stage: StageReading, directory: str) -> Checkout:
    found = stage.checkouts.around(directory) or stage.checkouts.settle(directory)
    if found is None:
        found = Checkout(directory, "", posixpath.basename(directory).lower().strip(".") or "repository")
        stage.checkouts.add(found)
    return found


def _clone(stage: StageReading, call: GitCall, command: Command, directory: str) -> None:
    if not call.arguments:
        return
    address = text_of(call.arguments[0])
    name = repository_name(address)
    computed = unknown_of(call.arguments[0]) and not re.fullmatch(r"[\w.:/@{}$-]+", address)
    known_as = re.search if computed else re.fullmatch
    if unknown_of(call.arguments[0]) and (holder := known_as(r"\$\{?(\w+?)_(?:REPO|URL|GIT)\w*\}?", address)):
        name = holder[1].lower().replace("_", "-")
    target = (
        text_of(call.arguments[1])
        if len(call.arguments) > 1
        else posixpath.basename(address.rstrip("/")).removesuffix(".git")
    )
    unsettled = bool(computed) and len(call.arguments) == 1
    path = posixpath.normpath(posixpath.join(directory or ".", f"${name}" if unsettled else target))
    checkout = Checkout(path, address, name, unsettled=unsettled)
    stage.checkouts.add(checkout)
    mention = _ref(
        stage,
        checkout,
        call.branch,
        call.arguments[0] if not call.branch else call.branch,
        command,
        "git clone --branch",
    )
    if not call.branch:
        mention.form, mention.parts, mention.effective = Form.OPEN, (Part(None, None),), ""
        mention.command = f"git clone {address}"
    mention.comment = ""
    checkout.starting = checkout.current = mention


def _ref(stage: StageReading, checkout: Checkout, ref: Value, at: Value, command: Command, said: str) -> Mention:
    mention = stage.blank(PinKind.GIT, checkout.name, at, command, f"{said} {text_of(ref)}")
    mention.parts = (part_of(ref),)
    mention.effective = text_of(ref)
    mention.repo = checkout.address
    mention.directory = checkout.directory
    mention.patches = checkout.patches
    mention.name_from_variable = True
    stage.mentions.append(mention)
    checkout.mentions.append(mention)
    return mention


def _remote(stage: StageReading, call: GitCall, directory: str) -> None:
    words = [text_of(word) for word in call.arguments]
    if len(words) >= 3 and words[0] in {"add", "set-url"}:
        checkout = _around(stage, directory)
        checkout.remotes[words[1]] = words[2]
        if words[1] == "origin" or not checkout.address:
            checkout.address, checkout.name = words[2], repository_name(words[2])


def _fetch(stage: StageReading, call: GitCall, command: Command, directory: str) -> None:
    checkout = _around(stage, directory)
    remote = text_of(call.arguments[0]) if call.arguments else ""
    for ref in call.arguments[1:]:
        text = text_of(ref)
        if "*" in text or text in _REVISION_WORDS or text == "tag":
            continue
        start = 1 if text.startswith("+") else 0
        source = cut(ref, start, text.find(":") if ":" in text else len(text))
        mention = _ref(stage, checkout, source, ref, command, f"git {call.action} {remote}")
        mention.repo = checkout.remotes.get(remote, remote if "://" in remote else checkout.address)
        checkout.fetched = mention
        if call.action == "pull":
            _decided(stage, checkout, mention)


def _checkout(stage: StageReading, call: GitCall, command: Command, directory: str) -> None:
    checkout = _around(stage, directory)
    if not call.arguments:
        return
    ref = call.arguments[0]
    text = text_of(ref)
    if text == "FETCH_HEAD":
        if checkout.fetched is not None:
            _decided(stage, checkout, checkout.fetched)
            checkout.fetched.command += f"; git {call.action} FETCH_HEAD"
            if command.conditions:
                checkout.fetched.conditions = command.conditions
        return
    if text in _REVISION_WORDS or text.startswith(("HEAD", "@{")):
        return
    if "--" in call.flags and len(call.arguments) >= 1 and call.action == "checkout":
        return
    if len(call.arguments) > 1 and call.action == "checkout" and not unknown_of(ref):
        checkout.patches.append(f"{' '.join(text_of(a) for a in call.arguments[1:])} from {text}")
        return
    if _is_file(text):
        return
    mention = _ref(stage, checkout, ref, ref, command, f"git {call.action}")
    _decided(stage, checkout, mention)


def _decided(stage: StageReading, checkout: Checkout, mention: Mention) -> None:
    """`mention` is what is checked out; an earlier branch of the clone was only where it started from."""
    earlier = checkout.current
    # what must hold for the clone holds for what follows it in the same branch
    if earlier is not None and earlier is not mention and set(mention.conditions) <= set(earlier.conditions):
        same = earlier.parts and mention.parts and earlier.parts[0].span == mention.parts[0].span
        if earlier.form is Form.OPEN and earlier in stage.mentions:
            stage.mentions.remove(earlier)
        elif not same and earlier is checkout.starting:
            earlier.note = f"only where the clone starts: {mention.effective or 'another ref'} is checked out after it"
    checkout.current = mention


def _picked(stage: StageReading, call: GitCall, command: Command, directory: str) -> None:
    checkout = _around(stage, directory)
    for ref in call.arguments:
        text = text_of(ref)
        if text in _REVISION_WORDS or text.startswith("-"):
            continue
        if text == "FETCH_HEAD":
            if checkout.fetched is not None:
                checkout.fetched.name = f"{checkout.name}-{call.action}"
                checkout.fetched.name_from_variable = False
                checkout.patches.append(f"{call.action} {checkout.fetched.effective}")
            continue
        mention = _ref(stage, checkout, ref, ref, command, f"git {call.action}")
        mention.name, mention.name_from_variable = f"{checkout.name}-{call.action}", False
        mention.patches = []
        checkout.patches.append(f"{call.action} {text}")


def _applied(stage: StageReading, patches: tuple[Value, ...], command: Command, directory: str) -> None:
    names = [text_of(patch) for patch in (*patches, *command.inputs) if text_of(patch) not in {"-", ""}]
    if not names and command.pipeline in stage.downloads and command.pipeline:
        names = [stage.downloads[command.pipeline]]
    checkout = stage.checkouts.around(directory)
    if checkout is None:
        checkout = _package_patched(stage, names) or _around(stage, directory)
    checkout.patches.extend(names)


def take_patch(stage: StageReading, words: tuple[Value, ...], command: Command) -> None:
    """Read a call of patch."""
    directory = command.directory
    patches: list[Value] = []
    index = 1
    while index < len(words):
        text = text_of(words[index])
        if text in {"-d", "--directory"} and index + 1 < len(words):
            directory = posixpath.normpath(posixpath.join(directory or ".", text_of(words[index + 1])))
            index += 1
        elif text in {"-i", "--input"} and index + 1 < len(words):
            patches.append(words[index + 1])
            index += 1
        elif text.startswith("--input="):
            patches.append(cut(words[index], 8, len(text)))
        elif text.startswith("--directory="):
            directory = posixpath.normpath(posixpath.join(directory or ".", text[12:]))
        elif not text.startswith("-"):
            patches.append(words[index])
        index += 1
    _applied(stage, tuple(patches), command, directory)


def _package_patched(stage: StageReading, names: list[str]) -> Checkout | None:
    """The package that a patch on installed files is for, by the patch's file name."""
    for name in names:
        subject = re.sub(r"[^a-z0-9]", "", posixpath.basename(name).split(".")[0].lower())
        for mention in reversed(stage.mentions):
            plain = re.sub(r"[^a-z0-9]", "", mention.name)
            if mention.kind in {PinKind.PACKAGE, PinKind.GIT} and plain and subject.startswith(plain):
                return Checkout("", "", mention.name, patches=mention.patches)
    return None


def _is_file(text: str) -> bool:
    return text.endswith((".py", ".txt", ".toml", ".cpp", ".h", ".cu", ".json", ".yaml", ".sh"))
