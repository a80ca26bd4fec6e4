"""Asking git about a repository on this machine.

Git's own variables (`GIT_DIR` and its like, which are set where a hook runs) are not passed on: they would have every
question answered by one repository, whichever was meant.
"""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pins.choices import did_you_mean
from pins.errors import EnvironmentFailureError

_OTHER_REPOSITORY = frozenset(
    [
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    ]
)


_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "log.showSignature": "false",
    "protocol.ext.allow": "never",
}
"""What keeps a repository's own configuration from having git run something: it may come from anywhere."""
_READS_FILES = frozenset({"blame", "diff"})
"""Commands that put files on disk through the filters that attributes name."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What git says.

    Attributes:
        ok: whether it did what it was asked for.
        output: its standard output.
        complaint: the last line of its standard error.
    """

    ok: bool
    output: bytes
    complaint: str

    @property
    def text(self) -> str:
        """The output as one string, as paths are written here."""
        return self.output.decode("utf-8", "surrogateescape")


def git_environment() -> dict[str, str]:
    """The environment, without what would lead git to another repository than the one that is meant."""
    return {name: value for name, value in os.environ.items() if name not in _OTHER_REPOSITORY}


def ask_git(directory: Path, *arguments: str, given: bytes = b"") -> Answer:
    """Run git in `directory`.

    Args:
        directory: in a repository or not; git says which.
        arguments: git's.
        given: its standard input.

    Raises:
        EnvironmentFailureError: git is not installed.
    """
    variables = git_environment() | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }
    try:
        done = subprocess.run(
            ["git", "--literal-pathspecs", "-C", str(directory), *_settings(directory, arguments), *arguments],
            input=given,
            capture_output=True,
            check=False,
            env=variables,
        )
    except FileNotFoundError as error:
        raise EnvironmentFailureError("git is not installed here, so no revision can be read; install git") from error
    except ValueError as error:  # a NUL byte in an argument
        return Answer(ok=False, output=b"", complaint=str(error))
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return Answer(done.returncode == 0, done.stdout, said[-1] if said else "")


def _settings(directory: Path, arguments: Sequence[str]) -> list[str]:
    names = _filters(directory) if arguments and arguments[0] in _READS_FILES else ()
    return [word for name in names for word in ("-c", f"{name}=")] + [
        word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")
    ]


@cache
def _filters(directory: Path) -> tuple[str, ...]:
    """The settings that name programs which git puts files through, so that they can be set to none."""
    asked = ("config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.(clean|smudge|process|required)$")
    return tuple(name for name in ask_git(directory, *asked).text.split("\0") if name)


def no_revision(top: Path, revision: str) -> str:
    """What to say of a revision that a repository has not: names of its own that are alike, or that it is shallow."""
    try:
        names = ask_git(top, "for-each-ref", "--format=%(refname:short)").output.decode(errors="replace").split()
        shallow = ask_git(top, "rev-parse", "--is-shallow-repository").output.strip() == b"true"
    except EnvironmentFailureError:
        names, shallow = [], False
    near = did_you_mean(revision, names)
    if shallow and not near:
        near = "; the clone is shallow: `git fetch --unshallow --tags` brings the rest"
    elif not near:
        near = "; `git fetch --tags` brings what its remote has meanwhile"
    return f"{top} has no revision {revision!r}{near}"
