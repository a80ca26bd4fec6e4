"""Running git: with the user's own ways to authenticate, and without anything that a repository could have it run."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pins.errors import EnvironmentFailureError
from pins.sources.redaction import redact

_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.quotePath": "false",
    "core.pager": "cat",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "safe.directory": "*",  # it is read, never asked to run anything
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "90",  # seconds without a byte after which a server is held to be gone
    "advice.detachedHead": "false",
}
_LEFT_OUT = frozenset(
    [
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_REPLACE_REF_BASE", "GIT_GRAFT_FILE"),
        *("GIT_SHALLOW_FILE", "GIT_TEMPLATE_DIR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_ATTR_SOURCE"),
        *("GIT_INTERNAL_SUPER_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_DEFAULT_HASH", "LANGUAGE"),
    ]
)
"""Variables that would have git look elsewhere than where it is told to."""


_LONGEST = 256 * 1024
"""Bytes of standard error that are kept."""


class GitFailedError(EnvironmentFailureError):
    """A call of git failed.

    Attributes:
        status: its exit status, negative for a signal.
        said: what it wrote to standard error, free of credentials.
    """

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


def git_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that git sees: the caller's, without those that would lead it elsewhere."""
    kept = {
        name: value for name, value in variables.items() if name not in _LEFT_OUT and not name.startswith("GIT_TRACE")
    }
    return kept | {
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


def git(
    arguments: Sequence[str],
    *,
    repository: Path | None = None,
    work_tree: Path | None = None,
    given: bytes = b"",
    variables: Mapping[str, str] | None = None,
    statuses: frozenset[int] = frozenset({0}),
    patience: float | None = None,
) -> bytes:
    """What a call of git prints.

    Args:
        arguments: its command and what follows; revisions and paths go behind `--end-of-options` or `--`.
        repository: the git directory.
        work_tree: where its files are checked out; the index lies in `.git` below it.
        given: its standard input.
        variables: further environment variables.
        statuses: exit statuses that are no failure.
        patience: seconds that it may take; None for as many as it needs.

    Raises:
        GitFailedError: it failed.
        EnvironmentFailureError: git is not installed, or cannot be started.
    """
    words = ["git"]
    for name, value in _SETTINGS.items():
        words += ["-c", f"{name}={value}"]
    environment = git_environment(os.environ) | dict(variables or {})
    if repository is not None:
        words.append(f"--git-dir={repository}")
    if work_tree is not None:
        words.append(f"--work-tree={work_tree}")
        environment["GIT_INDEX_FILE"] = str(work_tree / ".git" / "index")
    try:
        with tempfile.TemporaryFile() as errors:  # with one pipe alone, a long answer is read without polling
            done = subprocess.run(
                [*words, *arguments],
                input=given or None,
                stdin=None if given else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                check=False,
                env=environment,
                cwd=work_tree or repository or os.sep,
                timeout=patience,
            )
            errors.seek(0)
            said = errors.read(_LONGEST)
    except FileNotFoundError as error:
        raise EnvironmentFailureError("git, which reads repositories, is not installed; install it") from error
    except OSError as error:
        raise EnvironmentFailureError(f"git could not be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        said_so = f"no answer within {patience:g} s"
        raise GitFailedError(f"git {arguments[0]} failed: {said_so}", -1, said_so) from error
    if done.returncode not in statuses:
        words_said = redact(said.decode("utf-8", "replace").strip(), ())
        where = f" in {work_tree or repository}" if work_tree or repository else ""
        message = f"git {arguments[0]} failed{where}: {_last_words(words_said)}"
        raise GitFailedError(message, done.returncode, words_said)
    return done.stdout


def _last_words(said: str) -> str:
    """The line of what git says that names the fault."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    fault = next((line for line in lines if line.startswith(("fatal:", "error:", "remote:"))), "")
    return fault or (lines[-1] if lines else "it said nothing")
