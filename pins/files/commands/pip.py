"""`pip` and `uv`: what a call installs or removes, and which files it reads requirements from."""

import re
from dataclasses import dataclass

from pins.files.values import Value, cut, text_of

_PIP = re.compile(r"(?:[\w-]+-)?pip(?:[\d.]*)(?:-retry)?\Z")
_VALUE_OPTIONS = frozenset(
    [
        "-t",
        "--target",
        "--prefix",
        "--root",
        "--platform",
        "--python-version",
        "--implementation",
        "--abi",
        "--only-binary",
        "--no-binary",
        "--progress-bar",
        "--timeout",
        "--default-timeout",
        "--retries",
        "--trusted-host",
        "--cache-dir",
        "--log",
        "--src",
        "--upgrade-strategy",
        "--global-option",
        "--install-option",
        "--build-option",
        "-C",
        "--config-settings",
        "--config-setting",
        "--proxy",
        "--cert",
        "--client-cert",
        "--report",
        "--index-strategy",
        "--torch-backend",
        "-p",
        "--python",
        "--refresh-package",
        "--reinstall-package",
        "-P",
        "--upgrade-package",
        "--exclude-newer",
        "--link-mode",
        "--index",
        "--default-index",
        "--keyring-provider",
        "--prerelease",
        "--resolution",
        "-w",
        "--wheel-dir",
        "-d",
        "--dest",
        "--no-build-isolation-package",
        "--extra",
        "--group",
        "--python-platform",
        "--exists-action",
        "--use-feature",
        "--use-deprecated",
        "--root-user-action",
        "-i",
        "--index-url",
        "--pypi-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "--allow-insecure-host",
        "--fork-strategy",
        "--no-binary-package",
        "--only-binary-package",
        "--no-build-package",
        "--uploaded-prior-to",
        "--directory",
        "--project",
        "--color",
        "--config-file",
        "--suffix",
        "--python-preference",
        "--with",
        "--package",
        "--script",
        "--bounds",
        "--tag",
        "--branch",
        "--rev",
    ]
)
_FILE_OPTIONS = {
    "-r": "requirement",
    "--requirement": "requirement",
    "--requirements": "requirement",
    "-c": "constraint",
    "--constraint": "constraint",
    "--constraints": "constraint",
    "-b": "build-constraint",
    "--build-constraint": "build-constraint",
    "--build-constraints": "build-constraint",
    "--override": "override",
    "--overrides": "override",
}
_EDITABLE = frozenset({"-e", "--editable"})
_CLUSTER = re.compile(r"-[UqvIn]+(?=[rcebiftdwp])")
"""Short options in one word, the last of which takes a value: ``-Ur requirements.txt``."""


@dataclass(frozen=True, slots=True)
class PipCall:
    """One call of pip or uv.

    Attributes:
        action: "install", "uninstall", "download", "wheel".
        requirements: positional requirements.
        editable: what follows ``-e``.
        files: (role, path): role is "requirement", "constraint", "build-constraint" or "override".
        flags: options without a value, such as "--no-deps".
        indexes: addresses of further or other indexes.
    """

    action: str
    requirements: tuple[Value, ...] = ()
    editable: tuple[Value, ...] = ()
    files: tuple[tuple[str, Value], ...] = ()
    flags: frozenset[str] = frozenset()
    indexes: tuple[str, ...] = ()


def read_pip(words: tuple[Value, ...]) -> PipCall | None:
    """Read a call of pip or uv (unwrapped); None for any other command."""
    if not words:
        return None
    name = text_of(words[0]).rsplit("/", 1)[-1]
    if name in {"uv", "uv.exe"}:
        return _read_uv(words)
    if name == "pipx":
        return _arguments(words[1:]) if any(text_of(word) == "install" for word in words[1:3]) else None
    if not _PIP.match(name):
        return None
    return _arguments(words[1:])


def _read_uv(words: tuple[Value, ...]) -> PipCall | None:
    texts = [text_of(word) for word in words]
    index = 1
    while index < len(texts) and texts[index].startswith("-"):
        index += 2 if texts[index] in _VALUE_OPTIONS else 1
    if index >= len(texts):
        return None
    if texts[index] == "pip":
        return _arguments(words[index + 1 :])
    if texts[index] == "add":
        return _arguments((words[index], *words[index + 1 :]), "install")
    if texts[index] == "tool" and texts[index + 1 : index + 2] == ["install"]:
        return _arguments(words[index + 1 :])
    return None


def _arguments(words: tuple[Value, ...], action: str = "") -> PipCall | None:
    requirements: list[Value] = []
    editable: list[Value] = []
    files: list[tuple[str, Value]] = []
    flags: set[str] = set()
    indexes: list[str] = []
    index = 0
    found = False
    while index < len(words):
        word = words[index]
        text = text_of(word)
        index += 1
        if not text:
            continue
        if cluster := _CLUSTER.match(text):
            flags.update(f"-{letter}" for letter in cluster[0][1:])
            text, word = f"-{text[cluster.end() :]}", cut(word, cluster.end() - 1, len(text))
        option, equals, attached = text.partition("=")
        following = words[index] if index < len(words) else ()
        if text == "--":
            requirements.extend(words[index:])
            break
        if option in _FILE_OPTIONS and text.startswith("-"):
            if equals:
                files.append((_FILE_OPTIONS[option], cut(word, len(option) + 1, len(text))))
            else:
                files.append((_FILE_OPTIONS[option], following))
                index += 1
        elif text[:2] in {"-r", "-c"} and len(text) > 2 and not text.startswith("--"):
            files.append((_FILE_OPTIONS[text[:2]], cut(word, 2, len(text))))
        elif option in _EDITABLE:
            editable.append(cut(word, len(option) + 1, len(text)) if equals else following)
            index += 0 if equals else 1
        elif text.startswith("-e") and not text.startswith("--") and len(text) > 2:
            editable.append(cut(word, 2, len(text)))
        elif option in _VALUE_OPTIONS and text.startswith("-"):
            argument = attached if equals else text_of(following)
            if option in {"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index"}:
                indexes.append(argument)
            index += 0 if equals else 1
        elif text.startswith("-") and len(text) > 1:
            flags.add(text)
        elif not found:
            found = True
            if not re.match(r"install|uninstall|download|wheel|sync|add|compile", text):
                return None
            action = action or text
        else:
            requirements.append(word)
    if action == "sync":
        files += [("requirement", word) for word in requirements]
        requirements = []
        action = "install"
    if action not in {"install", "uninstall", "download", "wheel"}:
        return None
    return PipCall(action, tuple(requirements), tuple(editable), tuple(files), frozenset(flags), tuple(indexes))
