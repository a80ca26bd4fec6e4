"""Packages of the distribution and of conda: apt, dnf, apk, conda."""

import re
from dataclasses import dataclass

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from pins.files.values import Value, cut, text_of

_APT = frozenset({"apt", "apt-get", "aptitude", "apt-fast"})
_RPM = frozenset({"yum", "dnf", "microdnf", "tdnf", "zypper"})
_CONDA = re.compile(r"(?:[\w-]+-)?(?:conda|mamba|micromamba)(?:-retry)?\Z")
"""With what wraps them, such as `rapids-conda-retry`."""
_VALUE_OPTIONS = {
    "apt": frozenset({"-o", "--option", "-c", "--config-file", "-t", "--target-release", "--default-release"}),
    "rpm": frozenset({"-c", "--config", "--repo", "--repoid", "--from"}),
    "apk": frozenset({"-t", "--virtual", "-p", "--root", "-X", "--repository"}),
    "conda": frozenset(
        {"-c", "--channel", "-n", "--name", "-p", "--prefix", "-f", "--file", "--override-channels-from"}
    ),
}
"""Options that take the next word, by packager: ``-f`` names a file to mamba, and is a word of its own to apt."""
_ACTIONS = frozenset({"install", "add", "upgrade", "localinstall", "reinstall", "create", "downgrade"})
_EQUALS = re.compile(r"([A-Za-z0-9][A-Za-z0-9.+_-]*)(?::[a-z0-9]+)?=(?!=)(.+)\Z", re.DOTALL)
_RPM_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_+.-]*?)-(\d+[.:]\d[A-Za-z0-9_.+~:^*-]*)\Z")
_CONDA_NAME = re.compile(
    r"(?:[A-Za-z0-9_./-]+::)?([A-Za-z0-9][A-Za-z0-9._-]*)\s*((?:===?|=|>=|<=|<|>|!=|~=).*)?\Z", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Packaged:
    """A package that a packager installs.

    Attributes:
        name: the package.
        version: the part that holds a version, () when there is none.
        exact: whether `version` stands behind an equals sign (else it is a range).
        word: the whole word.
        packager: "apt", "rpm", "apk" or "conda".
        templated: whether the version is a part of the package's own name (``python${VERSION}-dev``).
    """

    name: str
    version: Value
    exact: bool
    word: Value
    packager: str
    templated: bool = False

    @property
    def is_range(self) -> bool:
        """Whether `version` is a specifier with operators; conda's own (``3.8|3.9``) are not."""
        try:
            SpecifierSet(text_of(self.version))
        except InvalidSpecifier:
            return False
        return not self.exact


def read_packager(words: tuple[Value, ...]) -> list[Packaged]:
    """The packages that a call (unwrapped) installs."""
    if not words:
        return []
    tool = text_of(words[0]).rsplit("/", 1)[-1]
    packager = (
        "apt"
        if tool in _APT
        else "rpm"
        if tool in _RPM
        else "apk"
        if tool == "apk"
        else "conda"
        if _CONDA.match(tool)
        else ""
    )
    if not packager:
        return []
    arguments: list[Value] = []
    action = ""
    index = 1
    while index < len(words):
        text = text_of(words[index])
        index += 1
        if text in _VALUE_OPTIONS[packager]:
            index += 1
        elif text.startswith("-") or not text:
            continue
        elif not action:
            action = text
        else:
            arguments.append(words[index - 1])
    if action not in _ACTIONS and not (tool == "zypper" and action == "in"):
        return []
    return [found for word in arguments if (found := _read(word, packager))]


def _read(word: Value, packager: str) -> Packaged | None:
    text = text_of(word)
    if "://" in text or text.startswith((".", "/", "@")):
        return None
    if packager == "conda":
        match = _CONDA_NAME.match(text)
        if not match:
            return None
        if not match[2]:
            return Packaged(match[1].lower(), (), False, word, packager)
        operator = re.match(r"===?|=", match[2])
        single = operator and not re.search(r"[<>,| ]", match[2])
        start = match.start(2) + (operator.end() if single and operator else 0)
        version_end = match.end(2)
        if single and (build := text.find("=", start)) > 0:
            version_end = build
        return Packaged(match[1].lower(), cut(word, start, version_end), bool(single), word, packager)
    if packager in {"apt", "apk"} and (match := _EQUALS.match(text)):
        return Packaged(match[1], cut(word, match.start(2), match.end(2)), True, word, packager)
    for fragment in word:
        if fragment.variables and not fragment.unknown and re.search(r"\d", fragment.text) and fragment.text != text:
            return Packaged("", (fragment,), True, word, packager, templated=True)
    if packager == "rpm" and (match := _RPM_NAME.match(text)):
        return Packaged(match[1], cut(word, match.start(2), match.end(2)), True, word, packager)
    return None
