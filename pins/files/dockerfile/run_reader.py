"""From the commands of a RUN to mentions of pins, and to what they do to a stage's checkouts and distributions."""

import functools
import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pins.files.commands.download import read_download, versions_in
from pins.files.commands.git import GitCall, read_git
from pins.files.commands.packagers import Packaged, read_packager
from pins.files.commands.pip import PipCall, read_pip
from pins.files.commands.wrappers import unwrap
from pins.files.mention import Mention, Part, part_of
from pins.files.repositories import Checkout, Checkouts
from pins.files.requirement import ReadRequirement, RequirementKind, read_requirement, repository_name
from pins.files.requirement_mentions import insertion_after, mentions_of, unquoted
from pins.files.requirements import RequirementsFile, read_requirements
from pins.files.shell.command import Command
from pins.files.values import Value, cut, text_of, unknown_of, without_credentials
from pins.model import Form, Installed, PinKind

_WORTH_A_LOOK = re.compile(
    r"(?:pip[\d.]*|uv|git|curl|wget2?|aria2c|apk|yum|dnf|microdnf|tdnf|conda|mamba|micromamba|patch|echo|printf|sed|grep|awk"
    r"|sudo|env|timeout|xargs|nice|time|exec|command|nohup)\Z|apt|python|pypy|retr|with_retry|\$"
)
_REVISION_WORDS = frozenset({"HEAD", "ORIG_HEAD", "-", ".", "HEAD~1", "HEAD^"})
_REQUIREMENT_FILE = re.compile(
    r"(?:requirement|constraint|override)s?[^/]*\.(?:txt|in|pip)\Z|constraints?[^/]*\Z", re.IGNORECASE
)


@dataclass(slots=True)
class FileReader:
    """Reads files as a stage sees them.

    Attributes:
        find: gives (path for reports, bytes) of a path in the image, None when it is not at hand.
        why_not: says why it is not.
    """

    find: Callable[[str], tuple[str, bytes] | None]
    why_not: Callable[[str], str]


@dataclass(slots=True)
class RunReader:
    """Reads the commands of one stage's RUN instructions, in order.

    Attributes:
        data: the Dockerfile.
        stage: name of the stage.
        newlines: offsets of the file's line ends.
        checkouts: the stage's.
        files: reads files as the stage sees them.
        mentions: what was found.
        installs: what happened to distributions.
        problems: (line, message) of what could not be known.
        edited: paths that a command has rewritten, with its line.
        read: further files that were read, by path.
    """

    data: bytes
    stage: str
    newlines: list[int]
    checkouts: Checkouts
    files: FileReader
    mentions: list[Mention] = field(default_factory=list)
    installs: list[Installed] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    edited: dict[str, int] = field(default_factory=dict)
    read: dict[str, bytes] = field(default_factory=dict)
    downloads: dict[int, str] = field(default_factory=dict)

    def line(self, offset: int) -> int:
        """The line of an offset."""
        return bisect_right(self.newlines, offset - 1) + 1

    def take(self, command: Command) -> None:
        """Read one command."""
        name = command.name
        if not _WORTH_A_LOOK.match(name):
            return
        words = unwrap(command.words)
        if not words:
            return
        name = text_of(words[0]).rsplit("/", 1)[-1]
        if call := read_git(words):
            self.git(call, command)
        elif pip := read_pip(words):
            self.pip(pip, command)
        elif addresses := read_download(words):
            for address in addresses:
                self.download(address, command)
        elif name == "patch":
            self.patch(words, command)
        elif packages := read_packager(words):
            for package in packages:
                self.package(package, command)
        elif name in {"echo", "printf"} and command.outputs:
            self.written(words, command)
        elif (
            name in {"sed", "awk", "perl"}
            or (name.startswith("python") and len(words) > 2)
            or (name == "grep" and command.outputs)
        ):
            for word in (*words[1:], *command.outputs):
                text = text_of(word)
                if _REQUIREMENT_FILE.search(text) or text.endswith((".toml", ".cfg")):
                    self.edited[posixpath.normpath(posixpath.join(command.directory or ".", text))] = self.line(
                        command.start
                    )

    def blank(self, kind: PinKind, name: str, value: Value, command: Command, said: str) -> Mention:
        """A mention with what the command says."""
        offset = command.start
        for fragment in value:
            if command.start <= fragment.start < command.end:
                offset = fragment.start
                break
        return Mention(
            kind,
            name,
            (),
            Form.VALUE,
            text_of(value),
            self.stage,
            self.line(offset),
            offset,
            said[:160],
            command.conditions,
        )

    # -- git -----------------------------------------------------------------------------------------------------

    def git(self, call: GitCall, command: Command) -> None:
        """Read a call of git."""
        directory = command.directory
        if call.directory:
            directory = posixpath.normpath(posixpath.join(directory or ".", text_of(call.directory)))
        match call.action:
            case "clone":
                self._clone(call, command, directory)
            case "init":
                target = posixpath.join(directory, text_of(call.arguments[0])) if call.arguments else directory
                self.checkouts.add(Checkout(posixpath.normpath(target), "", posixpath.basename(target).lower()))
            case "remote":
                self._remote(call, directory)
            case "fetch" | "pull":
                self._fetch(call, command, directory)
            case "checkout" | "switch":
                self._checkout(call, command, directory)
            case "reset":
                if any(flag in {"--hard", "--soft", "--mixed"} for flag in call.flags) or call.arguments:
                    self._checkout(call, command, directory)
            case "cherry-pick" | "revert" | "merge":
                self._picked(call, command, directory)
            case "apply" | "am":
                self._applied(call.arguments, command, directory)
            case "worktree" if call.arguments and text_of(call.arguments[0]) == "add" and len(call.arguments) > 2:
                self._checkout(replace(call, arguments=call.arguments[2:]), command, directory)
            case _:
                pass

    def _around(self, directory: str) -> Checkout:
        found = self.checkouts.around(directory)
        if found is None:
            found = Checkout(directory, "", posixpath.basename(directory).lower().strip(".") or "repository")
            self.checkouts.add(found)
        return found

    def _clone(self, call: GitCall, command: Command, directory: str) -> None:
        if not call.arguments:
            return
        address = text_of(call.arguments[0])
        name = repository_name(address)
        if unknown_of(call.arguments[0]) and (holder := re.match(r"\$\{?(\w+?)_(?:REPO|URL|GIT)\w*\}?\Z", address)):
            name = holder[1].lower().replace("_", "-")
        target = (
            text_of(call.arguments[1])
            if len(call.arguments) > 1
            else posixpath.basename(address.rstrip("/")).removesuffix(".git")
        )
        path = posixpath.normpath(posixpath.join(directory or ".", target))
        checkout = Checkout(path, address, name)
        self.checkouts.add(checkout)
        mention = self._ref(
            checkout, call.branch, call.arguments[0] if not call.branch else call.branch, command, "git clone --branch"
        )
        if not call.branch:
            mention.form, mention.parts, mention.effective = Form.OPEN, (Part(None, None),), ""
            mention.command = f"git clone {address}"
        mention.comment = ""
        checkout.starting = checkout.current = mention

    def _ref(self, checkout: Checkout, ref: Value, at: Value, command: Command, said: str) -> Mention:
        mention = self.blank(PinKind.GIT, checkout.name, at, command, f"{said} {text_of(ref)}")
        mention.parts = (part_of(ref),)
        mention.effective = text_of(ref)
        mention.repo = checkout.address
        mention.directory = checkout.directory
        mention.patches = checkout.patches
        mention.name_from_variable = True
        self.mentions.append(mention)
        checkout.mentions.append(mention)
        return mention

    def _remote(self, call: GitCall, directory: str) -> None:
        words = [text_of(word) for word in call.arguments]
        if len(words) >= 3 and words[0] in {"add", "set-url"}:
            checkout = self._around(directory)
            checkout.remotes[words[1]] = words[2]
            if words[1] == "origin" or not checkout.address:
                checkout.address, checkout.name = words[2], repository_name(words[2])

    def _fetch(self, call: GitCall, command: Command, directory: str) -> None:
        checkout = self._around(directory)
        remote = text_of(call.arguments[0]) if call.arguments else ""
        for ref in call.arguments[1:]:
            text = text_of(ref)
            if "*" in text or text in _REVISION_WORDS or text == "tag":
                continue
            start = 1 if text.startswith("+") else 0
            source = cut(ref, start, text.find(":") if ":" in text else len(text))
            mention = self._ref(checkout, source, ref, command, f"git {call.action} {remote}")
            mention.repo = checkout.remotes.get(remote, remote if "://" in remote else checkout.address)
            checkout.fetched = mention
            if call.action == "pull":
                self._decided(checkout, mention)

    def _checkout(self, call: GitCall, command: Command, directory: str) -> None:
        checkout = self._around(directory)
        if not call.arguments:
            return
        ref = call.arguments[0]
        text = text_of(ref)
        if text == "FETCH_HEAD":
            if checkout.fetched is not None:
                self._decided(checkout, checkout.fetched)
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
        mention = self._ref(checkout, ref, ref, command, f"git {call.action}")
        self._decided(checkout, mention)

    def _decided(self, checkout: Checkout, mention: Mention) -> None:
        """`mention` is what is checked out; an earlier branch of the clone was only where it started from."""
        earlier = checkout.current
        if earlier is not None and earlier is not mention and not mention.conditions:
            same = earlier.parts and mention.parts and earlier.parts[0].span == mention.parts[0].span
            if earlier.form is Form.OPEN and earlier in self.mentions:
                self.mentions.remove(earlier)
            elif not same and earlier is checkout.starting:
                earlier.note = (
                    f"only where the clone starts: {mention.effective or 'another ref'} is checked out after it"
                )
        checkout.current = mention

    def _picked(self, call: GitCall, command: Command, directory: str) -> None:
        checkout = self._around(directory)
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
            mention = self._ref(checkout, ref, ref, command, f"git {call.action}")
            mention.name, mention.name_from_variable = f"{checkout.name}-{call.action}", False
            mention.patches = []
            checkout.patches.append(f"{call.action} {text}")

    def _applied(self, patches: tuple[Value, ...], command: Command, directory: str) -> None:
        names = [text_of(patch) for patch in (*patches, *command.inputs) if text_of(patch) not in {"-", ""}]
        if not names and command.pipeline in self.downloads and command.pipeline:
            names = [self.downloads[command.pipeline]]
        checkout = self.checkouts.around(directory)
        if checkout is None:
            checkout = self._package_patched(names) or self._around(directory)
        checkout.patches.extend(names)

    def patch(self, words: tuple[Value, ...], command: Command) -> None:
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
        self._applied(tuple(patches), command, directory)

    def _package_patched(self, names: list[str]) -> Checkout | None:
        """The package that a patch on installed files is for, by the patch's file name."""
        for name in names:
            subject = re.sub(r"[^a-z0-9]", "", posixpath.basename(name).split(".")[0].lower())
            for mention in reversed(self.mentions):
                plain = re.sub(r"[^a-z0-9]", "", mention.name)
                if mention.kind in {PinKind.PACKAGE, PinKind.GIT} and plain and subject.startswith(plain):
                    return Checkout("", "", mention.name, patches=mention.patches)
        return None

    # -- pip -----------------------------------------------------------------------------------------------------

    def pip(self, call: PipCall, command: Command) -> None:
        """Read a call of pip or uv."""
        line = self.line(command.start)
        if call.action == "uninstall":
            for word in call.requirements:
                if read := read_requirement(word):
                    self.installs.append(Installed(read.name, "", self.line(_offset(word, command)), unknown="removed"))
            return
        for role, path in call.files:
            self._requirements_file(role, path, command)
        for word in (*call.editable, *call.requirements):
            text = text_of(word)
            read = read_requirement(word)
            if word in call.editable and (read is None or read.kind is RequirementKind.SPECIFIER):
                read = ReadRequirement(RequirementKind.PATH, "", url=text)
            if read is None:
                if not re.search(r"[*?{}]", text) and re.match(r"[A-Za-z0-9]", text):
                    self.problems.append(
                        (self.line(_offset(word, command)), f"not understood as a requirement: {text[:80]}")
                    )
                continue
            self._requirement(read, word, command, f"pip {call.action} {text}", line)

    def _requirement(self, read: ReadRequirement, word: Value, command: Command, said: str, line: int) -> None:
        at = self.line(_offset(word, command)) or line

        def blank(kind: PinKind, name: str) -> Mention:
            return self.blank(kind, name, word, command, said)

        found = mentions_of(read, blank)
        if lost := _lost_bound(word, command):
            for mention in found:
                mention.note = f"the shell takes '{lost}' for a redirection: the bound does not reach pip; quote it"
        self.mentions.extend(unquoted(mention, self.data) for mention in found)
        unknown = ""
        name = read.name
        if read.kind is RequirementKind.PATH:
            name = name or self._name_of_path(text_of(word), command)
            unknown = "a local file or directory decides"
        elif unknown_of(word):
            unknown = unknown_of(word)
        self.installs.append(Installed(name, without_credentials(text_of(word)), at, unknown=unknown))

    def _name_of_path(self, path: str, command: Command) -> str:
        base = posixpath.basename(path)
        if base.endswith(".whl"):
            return re.split(r"-|\*", base)[0].lower().replace("_", "-")
        directory = posixpath.normpath(posixpath.join(command.directory or ".", path.split("[")[0]))
        checkout = self.checkouts.around(directory)
        return checkout.name if checkout and checkout.address else ""

    def _requirements_file(self, role: str, path: Value, command: Command) -> None:
        text = text_of(path)
        line = self.line(_offset(path, command))
        option = "-c" if role == "constraint" else "-r"
        full = posixpath.normpath(posixpath.join(command.directory or ".", text))
        found = None if unknown_of(path) else self.files.find(full)
        if found is None:
            reason = unknown_of(path) or self.files.why_not(full)
            self.problems.append((line, f"{option} {text} is not at hand: {reason}"))
            if role == "requirement":
                self.installs.append(Installed("", f"{option} {text}", line, unknown=reason))
            return
        name, data = found
        base = posixpath.dirname(full)

        def nested(other: str) -> bytes | None:
            relative = posixpath.relpath(other, posixpath.dirname(name) or ".")
            more = self.files.find(posixpath.normpath(posixpath.join(base, relative)))
            return more[1] if more else None

        if name.endswith((".toml", ".lock", ".cfg", ".py")):
            return
        read = read_requirements(data, name, nested, role)
        self._take_file(read, role, command, text, line, self.edited.get(full, 0))

    def _take_file(
        self, read: RequirementsFile, role: str, command: Command, path: str, line: int, edited: int
    ) -> None:
        self.read.update(read.read)
        note = f"line {edited} edits this file before it is used" if edited else ""
        for mention in read.mentions:
            mention.stage, mention.conditions = self.stage, command.conditions
            mention.note = note
            mention.command = f"pip install {'-c' if role == 'constraint' else '-r'} {path} (line {line})"
            self.mentions.append(mention)
        for entry in read.lines:
            if entry.role == "requirement":
                self.installs.append(
                    Installed(entry.requirement.name, entry.text, entry.line, source=entry.file, unknown=note)
                )
        self.problems.extend((line, f"{file}:{number}: {message}") for file, number, message in read.problems)

    def written(self, words: tuple[Value, ...], command: Command) -> None:
        """Requirements that `echo` writes into a requirements or constraints file."""
        if not any(_REQUIREMENT_FILE.search(text_of(output)) for output in command.outputs):
            return
        for word in words[1:]:
            text = text_of(word)
            if not re.match(r"[A-Za-z0-9._-]+(\[.*\])?\s*(===?|[<>~!]=|[<>])", text):
                continue
            read = read_requirement(word)
            if read is not None:
                blank = functools.partial(self._blank_for, value=word, command=command, said=f"echo {text}")
                self.mentions.extend(mentions_of(read, blank))

    def _blank_for(self, kind: PinKind, name: str, *, value: Value, command: Command, said: str) -> Mention:
        return self.blank(kind, name, value, command, said)

    # -- the rest ------------------------------------------------------------------------------------------------

    def download(self, address: Value, command: Command) -> None:
        """Read the version in a download's address."""
        text = text_of(address)
        if command.pipeline:
            self.downloads[command.pipeline] = text
        for found in versions_in(address):
            mention = self.blank(PinKind.URL, found.name or _last_segment(text), address, command, f"download {text}")
            mention.parts = tuple(part_of(version) for version in found.versions)
            mention.effective, mention.repo = text, found.repository
            mention.name_from_variable = not found.name
            if found.patch:
                mention.name = f"{found.name}-patch"
            self.mentions.append(mention)

    def package(self, package: Packaged, command: Command) -> None:
        """Read a package of a packager."""
        text = text_of(package.word)
        conda = package.packager == "conda"
        said = f"{'conda' if conda else package.packager} install {text}"
        mention = self.blank(PinKind.PACKAGE if conda else PinKind.APT, package.name, package.word, command, said)
        mention.effective = text
        if package.version:
            mention.parts = (part_of(package.version),)
            part = mention.parts[0]
            literal = part.holder is None and part.whole
            mention.form = Form.SPECIFIER if literal and package.is_range else Form.VALUE
        else:
            mention.form, mention.parts = Form.OPEN, (insertion_after(package.word) if conda else Part(None, None),)
        mention.name_from_variable = package.templated
        mention.name = mention.name or text.split("$")[0].rstrip("-") or text
        if package.templated:
            mention.name = re.sub(r"[\d.]+.*", "", text).rstrip("-_") or text
        self.mentions.append(unquoted(mention, self.data))
        if conda:
            self.installs.append(Installed(package.name, text, mention.line))


def _offset(value: Value, command: Command) -> int:
    for fragment in value:
        if command.start <= fragment.start < command.end:
            return fragment.start
    return command.start


def _lost_bound(word: Value, command: Command) -> str:
    """The bound behind a requirement that the shell takes for a redirection: ``foo>=4`` without quotes."""
    if not word or not word[-1].written:
        return ""
    for redirected in command.outputs:
        first = redirected[0] if redirected else None
        if first is not None and 0 < first.start - word[-1].end <= 2 and text_of(redirected).startswith("="):
            return f">{text_of(redirected)}"
    return ""


def _is_file(text: str) -> bool:
    return text.endswith((".py", ".txt", ".toml", ".cpp", ".h", ".cu", ".json", ".yaml", ".sh"))


def _last_segment(address: str) -> str:
    return posixpath.basename(address.split("?")[0].rstrip("/")).lower() or address
