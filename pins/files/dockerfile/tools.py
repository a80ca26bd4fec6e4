"""Packages and toolchains of other languages: cargo, rustup, npm, go, gem, Python itself by uv, models by hf."""

import posixpath
import re
from collections.abc import Callable

from pins.files.dockerfile.stage_reading import StageReading
from pins.files.mention import part_of
from pins.files.requirement import repository_name
from pins.files.shell.command import Command
from pins.files.values import Value, cut, shape_of, text_of
from pins.model import PinKind

_AT = re.compile(r"(@?[^@=]+)@([^@/]+)\Z")
_GO = re.compile(r"([\w.-]+/[^@]+)@([^@]+)\Z")
_GEM = re.compile(r"([A-Za-z][\w-]*):([^:]+)\Z")
_PYTHON = re.compile(r"(?:python|cpython-?)?([\w.+-]*\d[\w.+-]*)\Z")
_ADDRESS = re.compile(r"(?:deb(?:-src)?\s+(?:\[[^\]]*\]\s+)?)?(https?://[^\s'\"]+)")


def take_tool(
    stage: StageReading, words: tuple[Value, ...], command: Command, address: Callable[[Value, Command], None]
) -> bool:
    """Read a call of such a program; whether it is one."""
    name = posixpath.basename(text_of(words[0]))
    match name:
        case "source" | ".":
            return True
        case "sh" | "bash" | "rustup" | "rustup-init" | "rustup-init.sh":
            _rust(stage, words, command)
        case "cargo":
            _cargo(stage, words, command)
        case "npm" | "pnpm" | "yarn":
            _each(stage, words, command, _AT, {"install", "i", "add", "global"}, name)
        case "go":
            _each(stage, words, command, _GO, {"install", "get"}, name)
        case "gem":
            _each(stage, words, command, _GEM, {"install"}, name)
            _with_option(stage, words, command, {"-v", "--version"}, "gem install")
        case "uv":
            _python(stage, words, command)
        case "hf" | "huggingface-cli":
            _model(stage, words, command)
        case "add-apt-repository" | "apt-add-repository" | "yum-config-manager" | "zypper" | "dnf" | "yum":
            for word in words[1:]:
                if match_ := _ADDRESS.search(shape_of(word)):
                    address(cut(word, *match_.span(1)), command)
        case _:
            return False
    return True


def _chosen(stage: StageReading, name: str, version: Value, command: Command, said: str) -> None:
    if not text_of(version):
        return
    mention = stage.blank(PinKind.TEXT, name.lower(), version, command, said)
    mention.parts = (part_of(version),)
    stage.mentions.append(mention)


def _options(words: tuple[Value, ...], names: set[str]) -> list[Value]:
    """The values of options, given as ``--name value`` or ``--name=value``."""
    values: list[Value] = []
    for index, word in enumerate(words):
        option, equals, _ = text_of(word).partition("=")
        if option in names and equals:
            values.append(cut(word, len(option) + 1, len(text_of(word))))
        elif option in names and index + 1 < len(words):
            values.append(words[index + 1])
    return values


def _rust(stage: StageReading, words: tuple[Value, ...], command: Command) -> None:
    for version in _options(words, {"--default-toolchain"}):
        if text_of(version) != "none":
            _chosen(stage, "rust", version, command, f"rustup --default-toolchain {text_of(version)}")
    texts = [text_of(word) for word in words]
    if posixpath.basename(texts[0]) != "rustup":
        return
    named = words[2:] if texts[1:2] == ["default"] else ()
    if texts[1:3] in (["toolchain", "install"], ["toolchain", "add"], ["override", "set"]):
        named = words[3:]
    toolchain = next((word for word in named if not text_of(word).startswith("-")), ())
    _chosen(stage, "rust", toolchain, command, f"rustup {' '.join(texts[1:])}")


def _arguments(words: tuple[Value, ...], actions: set[str]) -> list[Value]:
    texts = [text_of(word) for word in words]
    action = next((i for i, text in enumerate(texts[1:], start=1) if not text.startswith(("-", "+"))), len(words))
    return list(words[action + 1 :]) if action < len(words) and texts[action] in actions else []


def _each(
    stage: StageReading,
    words: tuple[Value, ...],
    command: Command,
    pattern: "re.Pattern[str]",
    actions: set[str],
    tool: str,
) -> None:
    for word in _arguments(words, actions):
        shape = shape_of(word)
        match = None if "://" in shape else pattern.match(shape)
        if not match:
            continue
        name = match[1]
        if tool == "go":
            name = re.sub(r"/v\d+\Z", "", name)
            name = name.rsplit("/", 1)[-1]
        _chosen(stage, name, cut(word, *match.span(2)), command, f"{tool} install {text_of(word)}")


def _with_option(stage: StageReading, words: tuple[Value, ...], command: Command, options: set[str], said: str) -> None:
    versions = _options(words, options)
    named = [w for w in _arguments(words, {"install"}) if not text_of(w).startswith("-") and w not in versions]
    if versions and named:
        _chosen(stage, text_of(named[0]), versions[0], command, f"{said} {text_of(named[0])} {text_of(versions[0])}")


def _cargo(stage: StageReading, words: tuple[Value, ...], command: Command) -> None:
    addresses = _options(words, {"--git"})
    if addresses:
        for ref in _options(words, {"--tag", "--rev", "--branch"}):
            address = text_of(addresses[0])
            mention = stage.blank(PinKind.GIT, repository_name(address), ref, command, f"cargo install --git {address}")
            mention.parts, mention.repo, mention.name_from_variable = (part_of(ref),), address, True
            stage.mentions.append(mention)
        return
    _each(stage, words, command, _AT, {"install", "binstall"}, "cargo")
    _with_option(stage, words, command, {"--version", "--vers"}, "cargo install")


def _python(stage: StageReading, words: tuple[Value, ...], command: Command) -> None:
    texts = [text_of(word) for word in words]
    wanted: list[Value] = []
    if texts[1:3] in (["python", "install"], ["python", "pin"]):
        wanted = list(words[3:])
    elif texts[1:2] == ["venv"]:
        wanted = _options(words[2:], {"-p", "--python"})
    for word in wanted:
        # what an ARG holds is a pin by the ARG's own name
        if (match := _PYTHON.match(text_of(word))) and not any(fragment.variables for fragment in word):
            _chosen(stage, "python", cut(word, *match.span(1)), command, f"uv {' '.join(texts[1:])}")


def _model(stage: StageReading, words: tuple[Value, ...], command: Command) -> None:
    models = [w for w in _arguments(words, {"download"}) if re.match(r"[\w.-]+/[\w.-]+\Z", text_of(w))]
    for ref in _options(words, {"--revision"}):
        if models:
            name = text_of(models[0])
            mention = stage.blank(PinKind.GIT, name.rsplit("/", 1)[-1].lower(), ref, command, f"hf download {name}")
            mention.parts, mention.repo = (part_of(ref),), f"https://huggingface.co/{name}"
            mention.effective = text_of(ref)
            stage.mentions.append(mention)
