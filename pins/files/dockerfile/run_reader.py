"""From the commands of a RUN to mentions of pins, and to what they do to a stage's checkouts and distributions."""

import posixpath
import re
from dataclasses import dataclass

from pins.files.commands.download import read_download, versions_in
from pins.files.commands.git import read_git
from pins.files.commands.packagers import Packaged, read_packager
from pins.files.commands.pip import read_pip
from pins.files.commands.wrappers import unwrap
from pins.files.dockerfile.git_reading import take_git, take_patch
from pins.files.dockerfile.pip_reading import take_pip
from pins.files.dockerfile.stage_reading import StageReading
from pins.files.dockerfile.tools import take_tool
from pins.files.dockerfile.written import REQUIREMENT_FILE, take_written
from pins.files.mention import Part, part_of
from pins.files.requirement_mentions import insertion_after, unquoted
from pins.files.shell.command import Command
from pins.files.values import Value, text_of
from pins.model import Form, Installed, PinKind

_WORTH_A_LOOK = re.compile(
    r"(?:pip[\d.]*|uv|git|curl|wget2?|aria2c|apk|yum|dnf|microdnf|tdnf|patch|echo|printf|cat|tee|sed|grep|awk|sudo|env"
    r"|timeout|xargs|nice|time|exec|command|nohup|sh|bash|rustup|rustup-init|cargo|npm|pnpm|yarn|go|gem|pipx|hf"
    r"|huggingface-cli|source|\.|add-apt-repository|apt-add-repository|yum-config-manager|zypper)\Z"
    r"|apt|python|pypy|retr|with_retry|\$|(?:[\w-]+-)?(?:conda|mamba|micromamba|pip)(?:-retry)?\Z"
)

_INSTALLS = re.compile(
    rb"\b(?:pip[\d.]*|uv|conda|mamba|apt|apt-get|dnf|yum)\b[^\n]*\binstall\b|\bgit clone\b|\b(?:curl|wget)\b"
)


@dataclass(slots=True)
class RunReader(StageReading):
    """Reads the commands of one stage's RUN instructions, in order."""

    def take(self, command: Command) -> None:
        """Read one command."""
        name = command.name
        if not _WORTH_A_LOOK.match(name):
            if name.endswith((".sh", ".bash")):
                self._script(command.words, command)
            return
        words = unwrap(command.words)
        if not words:
            return
        name = text_of(words[0]).rsplit("/", 1)[-1]
        if call := read_git(words):
            take_git(self, call, command)
        elif pip := read_pip(words):
            take_pip(self, pip, command)
        elif addresses := read_download(words):
            for address in addresses:
                self.download(address, command)
        elif name == "patch":
            take_patch(self, words, command)
        elif packages := read_packager(words):
            for package in packages:
                self.package(package, command)
        elif name in {"echo", "printf", "cat", "tee"}:
            take_written(self, words, command, self.download)
        elif take_tool(self, words, command, self.download):
            self._script(words, command)
        elif (
            name in {"sed", "awk", "perl"}
            or (name.startswith("python") and len(words) > 2)
            or (name == "grep" and command.outputs)
        ):
            for word in (*words[1:], *command.outputs):
                text = text_of(word)
                if REQUIREMENT_FILE.search(text) or text.endswith((".toml", ".cfg")):
                    self.edited[posixpath.normpath(posixpath.join(command.directory or ".", text))] = self.line(
                        command.start
                    )

    def _script(self, words: tuple[Value, ...], command: Command) -> None:
        """Say so where a script of the build context is run that may install something: it is not read."""
        path = next((text for word in words if (text := text_of(word)).endswith((".sh", ".bash"))), "")
        full = posixpath.normpath(posixpath.join(command.directory or ".", path)) if path else ""
        found = self.files.find(full) if path and "$" not in path else None
        if found is not None and _INSTALLS.search(found[1]):
            said = f"{found[0]} is run, and not read: what it installs or downloads is not known"
            self.problems.append((self.line(command.start), said))

    def download(self, address: Value, command: Command) -> None:
        """Read the version in a download's address."""
        text = text_of(address)
        if command.pipeline:
            self.downloads[command.pipeline] = text
        for found in versions_in(address):
            mention = self.blank(PinKind.URL, found.name or _last_segment(text), address, command, f"download {text}")
            mention.parts = tuple(part_of(version) for version in found.versions)
            mention.effective, mention.repo = text, found.repository
            mention.name_from_variable, mention.note = not found.name, found.note
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


def _last_segment(address: str) -> str:
    return posixpath.basename(address.split("?")[0].rstrip("/")).lower() or address
