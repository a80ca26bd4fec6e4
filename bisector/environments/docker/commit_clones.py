"""`git clone --branch` of a commit, which git refuses: rewritten to fetch the commit and check it out.

A pin that a file holds as a branch or a tag takes a commit in each candidate. Where the file clones at once what the
pin names, the copy that is built clones first, fetches the commit (no branch need lead to it), and checks it out. It
takes as many lines as before, so that messages of the builder still name the right ones. Nothing else is changed, but
that pins within the tree are set behind its checkout where they are searched (`pins_inside`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from bisector.environments.docker.pins_inside import Setting, Settings
from pins.files.dockerfile.syntax import Instruction, json_words, split_dockerfile
from pins.files.joined import JoinedText, join
from pins.files.shell.syntax import Simple, parse_shell

_FULL_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REFERENCE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-[^}]*)?\})")
_ASSIGNMENT = re.compile(r"(?s)([A-Za-z_]\w*)=(.*)")
_BRANCH = frozenset({"-b", "--branch"})
_WITH_VALUE = frozenset(
    [
        *("--depth", "-j", "--jobs", "-o", "--origin", "-c", "--config", "--reference", "--reference-if-able"),
        *("--separate-git-dir", "--shallow-since", "--shallow-exclude", "--filter", "-u", "--upload-pack"),
        *("--template", "--server-option", "--bundle-uri"),
    ]
)
_GLOBAL_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--namespace"})
_OUT = frozenset({"--single-branch", "--no-single-branch"})
_SUBMODULES = frozenset({"--recurse-submodules", "--recursive"})


@dataclass(frozen=True)
class Rewritten:
    """A Dockerfile for candidates with these commits.

    Attributes:
        text: of the copy.
        refused: a clone that can be given no commit, with the line and the reason; "" where there is none.
    """

    text: str
    refused: str = ""


def is_commit(value: str) -> bool:
    """Whether a pin's value is a full hash."""
    return _FULL_HASH.fullmatch(value) is not None


def fetching_commits(
    text: str, values: Mapping[str, str], commits: Collection[str], inside: Settings = MappingProxyType({})
) -> Rewritten:
    """The text of a Dockerfile that is built with these commits.

    Args:
        text: as it is, or with the index's time.
        values: build arguments.
        commits: full hashes that pins have; without any, nothing is changed.
        inside: what is set within their trees.
    """
    found = frozenset(commits)
    if not found:
        return Rewritten(text)
    return _rewritten(text, tuple(sorted(values.items())), found, tuple(sorted(inside.items())))


@lru_cache(maxsize=64)
def _rewritten(
    text: str,
    values: tuple[tuple[str, str], ...],
    commits: frozenset[str],
    inside: tuple[tuple[str, tuple[Setting, ...]], ...],
) -> Rewritten:
    data = text.encode("utf-8", "surrogateescape")
    syntax = split_dockerfile(data)
    holding = _holding(syntax.instructions, dict(values), commits)
    within = [
        _Inside(commit, _holding(syntax.instructions, dict(values), frozenset({commit})), settings)
        for commit, settings in inside
    ]
    set_in: set[str] = set()
    edits: list[tuple[int, int, bytes]] = []
    for instruction in syntax.instructions:
        for body, in_heredoc in _scripts(instruction, data):
            for command in _simple_commands(parse_shell(body.text).tree):
                clone = _read_clone(body, command, holding, commits, within)
                clone = clone or next(filter(None, (_read_checkout(body, command, each) for each in within)), None)
                if clone is None:
                    continue
                set_in |= {clone.commit}
                line = data.count(b"\n", 0, body.source(command.start)) + 1
                if clone.refused:
                    return Rewritten(text, f"line {line}: {clone.refused}")
                start, end = body.source(clone.start), body.source_end(clone.end)
                lines = data.count(b"\n", start, end)
                escape = "\\" if in_heredoc else syntax.escape
                edits.append(
                    (start, end, clone.written.encode("utf-8", "surrogateescape") + f" {escape}\n".encode() * lines)
                )
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new + data[end:]
    for each in within:
        if each.commit not in set_in and (each.holding or each.commit in text):  # else it is another file's
            paths = ", ".join(setting.path for setting in each.settings)
            return Rewritten(text, f"no `git checkout` of {each.commit[:12]} behind which {paths} could be set")
    return Rewritten(data.decode("utf-8", "surrogateescape"))


def _holding(
    instructions: tuple[Instruction, ...], values: Mapping[str, str], commits: frozenset[str]
) -> frozenset[str]:
    """The variables that hold one of the commits, wherever they are declared."""
    holding = {name for name, value in values.items() if value in commits}
    again = True
    while again:
        again = False
        for instruction in instructions:
            if instruction.keyword not in ("ARG", "ENV"):
                continue
            for word in instruction.body.text.decode("utf-8", "surrogateescape").split():
                assigned = _ASSIGNMENT.fullmatch(word)
                if assigned is None or assigned[1] in holding or assigned[1] in values:
                    continue
                value = _unquoted(assigned[2])
                if value in commits or _referred(value) in holding:
                    holding.add(assigned[1])
                    again = True
    return frozenset(holding)


def _scripts(instruction: Instruction, data: bytes) -> Iterator[tuple[JoinedText, bool]]:
    """The shell texts of an instruction, and whether each is a heredoc."""
    if instruction.keyword != "RUN" or json_words(instruction.body.text) is not None:
        return
    yield instruction.body, False
    for heredoc in instruction.heredocs:
        yield join(data, [(heredoc.start, heredoc.end)]), True


def _simple_commands(node: Any) -> Iterator[Simple]:
    """Every simple command of a script, however deep."""
    if isinstance(node, Simple):
        yield node
    elif isinstance(node, list | tuple):
        for each in node:
            yield from _simple_commands(each)
    elif is_dataclass(node):
        for each in fields(node):
            yield from _simple_commands(getattr(node, each.name))


@dataclass(frozen=True)
class _Clone:
    """A clone at a commit: where it stands, and what is written there, or why that cannot be."""

    start: int
    end: int
    written: str = ""
    refused: str = ""
    commit: str = ""


@dataclass(frozen=True)
class _Inside:
    """What is set within the tree of one commit, and the variables that hold that commit."""

    commit: str
    holding: frozenset[str]
    settings: tuple[Setting, ...]

    def is_meant_by(self, word: str) -> bool:
        return _unquoted(word) == self.commit or _referred(_unquoted(word)) in self.holding

    def commands(self, git: str) -> list[str]:
        return [setting.command(git) for setting in self.settings]


def _read_checkout(body: JoinedText, command: Simple, inside: _Inside) -> _Clone | None:
    """A checkout of the commit within whose tree something is set; None for any other command."""
    raw = _raw_words(body, command)
    place = _subcommand(raw)
    if place >= len(raw) or raw[place] not in ("checkout", "switch", "reset") or command.redirections:
        return None
    named = [word for word in raw[place + 1 :] if not word.startswith("-")]
    if len(named) != 1 or not inside.is_meant_by(named[0]):
        return None
    start, end = command.words[0].start, command.words[-1].end
    steps = [" ".join(raw), *inside.commands(" ".join(raw[:place]))]
    return _Clone(start, end, written="{ " + " && ".join(steps) + "; }", commit=inside.commit)


def _raw_words(body: JoinedText, command: Simple) -> list[str]:
    return [body.text[word.start : word.end].decode("utf-8", "surrogateescape") for word in command.words]


def _subcommand(raw: Sequence[str]) -> int:
    """The place of git's subcommand among the words of a command; behind all of them where it is no call of git."""
    at = next((place for place, word in enumerate(raw) if _unquoted(word).rsplit("/", 1)[-1] == "git"), -1)
    if at < 0:
        return len(raw)
    place = at + 1
    while place < len(raw) and raw[place].startswith("-"):
        place += 2 if raw[place] in _GLOBAL_WITH_VALUE else 1
    return place


def _read_clone(
    body: JoinedText,
    command: Simple,
    holding: frozenset[str],
    commits: frozenset[str],
    within: Sequence[_Inside] = (),
) -> _Clone | None:
    """A clone whose branch is one of the commits; None for any other command."""
    raw = _raw_words(body, command)
    place = _subcommand(raw)
    if place >= len(raw) or raw[place] != "clone":
        return None
    start, end = command.words[0].start, command.words[-1].end
    kept: list[str] = []
    places: list[str] = []
    branch, depth, remote, problem, submodules = "", "", "origin", "", False
    words = iter(raw[place + 1 :])
    for word in words:
        option, equals, value = word.partition("=")
        if option in _BRANCH:
            branch = value if equals else next(words, "")
        elif option in _OUT:
            continue
        elif option in _SUBMODULES:
            submodules = True
        elif word == "--":
            places += words
        elif word.startswith("-"):
            chosen = value if equals or option not in _WITH_VALUE else next(words, "")
            kept += [word] if equals or option not in _WITH_VALUE else [word, chosen]
            depth = chosen if option == "--depth" else depth
            remote = chosen if option in ("-o", "--origin") else remote
            problem = option if option in ("--bare", "--mirror") else problem
        else:
            places.append(word)
    if not branch or not _means_commit(branch, holding, commits):
        return None
    if _referred(_unquoted(branch)) not in holding and _unquoted(branch) not in commits:
        return _Clone(start, end, refused=f"git clone --branch {branch} makes a name of the pin, which is a commit")
    if problem or not 1 <= len(places) <= 2 or any(start < each.start < end for each in command.redirections):
        return _Clone(start, end, refused=f"git clone --branch {branch} is refused by git, and is not understood here")
    before = " ".join(raw[:place])
    into = places[1] if len(places) == 2 else _directory(places[0])
    shallow = f" --depth {depth}" if depth else ""
    steps = [
        " ".join([before, "clone", *kept, "--no-checkout", *places]),
        f"{before} -C {into} fetch --quiet{shallow} {remote} {branch}",
        f"{before} -C {into} -c advice.detachedHead=false checkout --quiet FETCH_HEAD",
    ]
    inside = next((each for each in within if each.is_meant_by(branch)), None)
    steps += inside.commands(f"{before} -C {into}") if inside is not None else []
    if submodules:
        steps.append(f"{before} -C {into} submodule update --init --recursive{shallow}")
    made = "{ " + " && ".join(steps) + "; }"
    return _Clone(start, end, written=made, commit=inside.commit if inside is not None else "")


def _means_commit(branch: str, holding: frozenset[str], commits: frozenset[str]) -> bool:
    """Whether a commit stands in a word, alone or with something around it."""
    if branch.startswith("'") and "$" in branch:  # the shell leaves it as it is
        return False
    return any((found[1] or found[2]) in holding for found in _REFERENCE.finditer(branch)) or any(
        commit in branch for commit in commits
    )


def _referred(word: str) -> str:
    """The variable that a word is a reference to and nothing else; "" for any other."""
    found = _REFERENCE.fullmatch(word)
    return (found[1] or found[2]) if found else ""


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word


def _directory(url: str) -> str:
    """Where git clones to when it is not told."""
    plain = _unquoted(url)
    if re.fullmatch(r"[\w:/.@%+~-]+", plain):
        return plain.rstrip("/").removesuffix("/.git").rsplit("/", 1)[-1].rsplit(":", 1)[-1].removesuffix(".git")
    quoted = url if url.startswith(("'", '"')) else f'"{url}"'
    return f'"$(basename {quoted} .git)"'
