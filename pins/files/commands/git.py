"""`git`: what a call clones, fetches, checks out, picks or applies."""

from dataclasses import dataclass

from pins.files.values import Value, cut, text_of

_GLOBAL_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--exec-path"})
_WITH_VALUE = {
    "clone": frozenset(
        [
            "--depth",
            "-j",
            "--jobs",
            "-o",
            "--origin",
            "-c",
            "--config",
            "--reference",
            "--separate-git-dir",
            "--shallow-since",
            "--shallow-exclude",
            "--filter",
            "-u",
            "--upload-pack",
            "--template",
            "--server-option",
            "--recurse-submodules-path",
            "--bundle-uri",
        ]
    ),
    "fetch": frozenset(
        ["--depth", "--deepen", "--shallow-since", "--shallow-exclude", "-j", "--jobs", "--filter", "--refmap", "-o"]
    ),
    "pull": frozenset(["--depth", "-s", "--strategy", "-X"]),
    "checkout": frozenset({"--conflict"}),
    "cherry-pick": frozenset(["-m", "--mainline", "-s", "--strategy", "-X", "--strategy-option"]),
    "apply": frozenset(["-p", "-C", "--directory", "--exclude", "--include", "--whitespace"]),
    "am": frozenset(["-p", "-C", "--directory", "--exclude", "--include", "--whitespace"]),
    "merge": frozenset(["-m", "-s", "-X"]),
    "revert": frozenset({"-m", "--mainline"}),
}


@dataclass(frozen=True, slots=True)
class GitCall:
    """One call of git.

    Attributes:
        action: such as "clone".
        directory: what ``-C`` says, () when it is not given.
        arguments: positional arguments.
        branch: for a clone, what ``-b`` says; for a checkout, () (a new branch's name is no pin).
        flags: options without a value.
    """

    action: str
    directory: Value = ()
    arguments: tuple[Value, ...] = ()
    branch: Value = ()
    flags: frozenset[str] = frozenset()


def read_git(words: tuple[Value, ...]) -> GitCall | None:
    """Read a call of git (unwrapped); None for any other command."""
    if not words or text_of(words[0]).rsplit("/", 1)[-1] != "git":
        return None
    index = 1
    directory: Value = ()
    while index < len(words) and text_of(words[index]).startswith("-"):
        option = text_of(words[index])
        if option == "-C" and index + 1 < len(words):
            directory = words[index + 1]
        index += 2 if option in _GLOBAL_WITH_VALUE else 1
    if index >= len(words):
        return None
    action = text_of(words[index])
    return _arguments(action, directory, words[index + 1 :])


def _arguments(action: str, directory: Value, words: tuple[Value, ...]) -> GitCall:
    arguments: list[Value] = []
    flags: set[str] = set()
    branch: Value = ()
    with_value = _WITH_VALUE.get(action, frozenset())
    index = 0
    while index < len(words):
        word = words[index]
        text = text_of(word)
        index += 1
        option, equals, _ = text.partition("=")
        if text == "--":
            flags.add("--")
            arguments.extend(words[index:])
            break
        if action == "clone" and option in {"-b", "--branch", "--revision"}:
            if equals:
                branch = cut(word, len(option) + 1, len(text))
            elif index < len(words):
                branch = words[index]
                index += 1
        elif (action in {"checkout", "switch"} and option in {"-b", "-B", "-c", "-C", "--orphan"}) or (
            option in with_value and text.startswith("-") and not equals
        ):
            index += 1
            flags.add(option)
        elif text.startswith("-") and len(text) > 1:
            flags.add(option)
        else:
            arguments.append(word)
    return GitCall(action, directory, tuple(arguments), branch, frozenset(flags))
