"""Candidates that the user's own command builds.

The command runs in an empty directory of the build's own, with `PIN_<NAME>` for every pin and these variables:

    BUILD_DIRECTORY   that directory; the smoke script is given it too
    START_DIRECTORY   where bisector was started

Values of pins reach it through the environment alone, never through a command line. Where it makes a virtual
environment in `venv` or `.venv`, a smoke script that ends in .py runs with that one's Python, and every script finds it
active; otherwise with the Python that `--python` names, or that runs bisector.

With git pins, the directory holds their checkouts (`command_checkouts`), and `CHECKOUT_<NAME>` says where each is.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from bisector.environments.base import BuildFailedError
from bisector.environments.build_directory import build_marker, keep_bytecode_with, read_stamp, remove_tree, write_stamp
from bisector.environments.command_checkouts import CommandCheckouts
from bisector.environments.python_interpreters import Interpreter, find_interpreter
from bisector.environments.venv.content import content_identity, installed_distributions
from bisector.model import Build, Candidate, Ended, Recipe, SmokeRun
from bisector.processes import run_process
from bisector.smoke import WORK, checkout_variables, pin_variables, smoke_command, smoke_environment
from pins.errors import EnvironmentFailureError, UsageError
from pins.home import expanded
from pins.sources.redaction import redact

SCHEMA = "command/1"
TREE = "build"
"""The directory that the command fills, below the build's own."""
VENVS = ("venv", ".venv")
SHELL = "/bin/sh"
CANNOT_RUN = (126, 127)

_MEANS_SOMETHING_TO_A_SHELL = re.compile(r"[\s;&|<>$()`*?'\"\\~#{}\[\]=!]")
_MORE_THAN_WORDS = re.compile(r"[;&|<>$()`*?'\"\\~#{}\[\]=!\n]")


class CommandEnvironment:
    """Makes candidates runnable by the user's own build command; see `bisector.environments.base.Environment`.

    Args:
        build_command: its words; one word with blanks or other signs of the shell is a line for /bin/sh.
        python: what runs .py scripts where the build makes no environment, as `--python`.
        build_timeout: seconds that one build may take.
        variables: the caller's environment; by default, that of this process.
        directory: where bisector was started; by default, the working directory.
        checkouts: the git pins among the candidates' pins.
    """

    def __init__(
        self,
        build_command: Sequence[str],
        *,
        python: str = "",
        build_timeout: float | None = None,
        variables: Mapping[str, str] | None = None,
        directory: Path | None = None,
        checkouts: CommandCheckouts | None = None,
    ) -> None:
        self._checkouts = checkouts or CommandCheckouts()
        self._words = tuple(build_command)
        self._python = python
        self._build_timeout = build_timeout
        self._variables = dict(os.environ if variables is None else variables)
        self._start = (directory or Path.cwd()).absolute()
        self._has_built = threading.Event()

    @property
    def name(self) -> str:
        """`command`."""
        return "command"

    @property
    def description(self) -> str:
        """What this environment is, for a report."""
        return f"command: {redact(shlex.join(self._words) if len(self._words) > 1 else self._words[0], ())}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know before anything is built: nothing."""
        return ()

    @property
    def interpreter(self) -> Path | None:
        """The Python that the user named; None where the build alone knows."""
        return self.python.path if self._python else None

    @cached_property
    def python(self) -> Interpreter:
        """What runs .py scripts where the build makes no environment."""
        return find_interpreter(self._python, environment=self._variables)

    @cached_property
    def _command(self) -> list[str]:
        return _command_line(self._words, self._start)

    @property
    def _is_line(self) -> bool:
        """Whether /bin/sh reads the user's one word."""
        return len(self._words) == 1 and self._command == [SHELL, "-c", self._words[0]]

    def check(self) -> None:
        """See `Environment.check`: the command can be started, and the Python exists."""
        if not self._words or not self._words[0].strip():
            raise UsageError("--build-command is empty; name the command that builds a candidate")
        if any("\0" in word for word in self._words):
            raise UsageError("--build-command holds a NUL character")
        program = self._command[0]
        if self._is_line:
            _check_syntax(self._words[0])
        elif shutil.which(program, path=self._variables.get("PATH", os.defpath)) is None:
            path = Path(program)
            why = "is not executable; `chmod +x` it" if path.is_file() else "does not exist"
            raise UsageError(f"the build command {program} {why}")
        assert self.python

    def fingerprint(self) -> dict[str, str]:
        """See `Environment.fingerprint`: the files that the command line names."""
        found = {}
        words = self._words[0].split() if self._is_line else self._command
        for word in words:
            path = self._start / word
            if word and "\n" not in word and len(word) < 4096 and _is_small_file(path):
                found[f"build command file {word}"] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`; what the command installs is not known beforehand."""
        inputs = {
            "schema": SCHEMA,
            "command": self._command,
            "pins": candidate.pins,
            "python": self.python.identity,
            "files": self.fingerprint(),
        }
        input_hash = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode(errors="surrogateescape")).hexdigest()
        return Recipe(candidate, input_hash, (), {"command": [redact(word, ()) for word in self._words]})

    def build(self, recipe: Recipe, directory: Path, log: Path, cancel: threading.Event) -> Build:
        """See `Environment.build`; nothing is left of a build that fails."""
        directory = directory.absolute()
        tree = directory / TREE
        remove_tree(directory)
        try:
            tree.mkdir(parents=True)
        except OSError as error:
            raise EnvironmentFailureError(f"cannot make the build directory {tree}: {error.strerror}") from error
        try:
            self._checkouts.write(recipe.candidate, tree)
            ended = run_process(
                self._command,
                environment=self._variables | pin_variables(recipe.candidate) | self._places(tree),
                directory=tree,
                log=log,
                marker=build_marker(directory),
                timeout=self._build_timeout,
                cancel=cancel,
                redact=_redact,
            )
            if ended.exit_status != 0 or ended.timed_out or ended.cancelled:
                raise self._failure(ended, recipe.candidate)
            venv = _venv_in(tree)
            installed = installed_distributions(venv) if venv else ()
            identity = content_identity(venv) if venv else ""
            write_stamp(directory, {"input_hash": recipe.input_hash})
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        self._has_built.set()
        return Build(recipe.input_hash, str(directory), identity, installed)

    def _places(self, tree: Path) -> dict[str, str]:
        own = {"BUILD_DIRECTORY": str(tree), "START_DIRECTORY": str(self._start), "PWD": str(tree)}
        return own | checkout_variables(self._checkouts.places(tree))

    def _failure(self, ended: Ended, candidate: Candidate) -> BuildFailedError | EnvironmentFailureError:
        doing = f"building {candidate} with {self._command[0]}"
        if ended.cancelled:
            return BuildFailedError(f"{doing} was cancelled", ended)
        if ended.timed_out:
            return BuildFailedError(f"not built within {self._build_timeout:g} s (--build-timeout)", ended)
        if ended.not_started:
            return EnvironmentFailureError(f"the build command could not be started: {ended.not_started}")
        if ended.out_of_memory:
            return EnvironmentFailureError(f"{doing}: memory ran out ({ended.out_of_memory})")
        last = next((line for line in reversed((ended.output + ended.errors).splitlines()) if line.strip()), "")
        if "No space left on device" in ended.errors:
            return EnvironmentFailureError(f"{doing}: the disk is full ({last.strip()})")
        how = f"signal {ended.signal}" if ended.signal is not None else f"exit status {ended.exit_status}"
        reason = f"the build command failed ({how}){': ' if last else ''}{last.strip()[:300]}"
        if ended.exit_status in CANNOT_RUN and not self._has_built.is_set():
            return EnvironmentFailureError(
                f"{reason}. A command in it could not be run, and no candidate has been built yet;"
                " make sure that the command works on this machine"
            )
        return BuildFailedError(reason, ended)

    def forget(self, recipe: Recipe) -> None:
        """See `Environment.forget`; what the user's command keeps elsewhere is its own affair."""

    def exists(self, build: Build) -> bool:
        """See `Environment.exists`."""
        stamp = read_stamp(Path(build.location))
        return stamp is not None and stamp.get("input_hash") == build.input_hash

    def run(self, build: Build, smoke: SmokeRun, cancel: threading.Event) -> Ended:
        """See `Environment.run`."""
        tree = Path(build.location) / TREE
        variables = smoke_environment(smoke, self._variables) | self._places(tree)
        variables["PWD"] = str(smoke.scratch / WORK)
        keep_bytecode_with(Path(build.location), variables)
        python = str(self.python.path)
        if (venv := _venv_in(tree)) is not None:
            python = str(venv / "bin" / "python")
            variables["PATH"] = os.pathsep.join([str(venv / "bin"), variables.get("PATH", os.defpath)])
            variables["VIRTUAL_ENV"] = str(venv)
        return run_process(
            smoke_command(smoke.script, python),
            environment=variables,
            directory=smoke.scratch / WORK,
            log=smoke.log,
            marker=smoke.probe,
            timeout=smoke.script.timeout,
            cancel=cancel,
            redact=_redact,
        )

    def shell(self, build: Build) -> str:
        """The command line that gets into a candidate, as a person types it."""
        return f"cd {shlex.quote(str(Path(build.location) / TREE))}"

    def remove(self, build: Build) -> None:
        """See `Environment.remove`."""
        self._checkouts.leave(Path(build.location) / TREE)
        remove_tree(Path(build.location))


def _redact(text: str) -> str:
    return redact(text, ())


def _command_line(words: tuple[str, ...], start: Path) -> list[str]:
    """The words to run. A program named by a relative path is meant as seen from where bisector was started."""
    if len(words) == 1 and _MEANS_SOMETHING_TO_A_SHELL.search(words[0]):
        split = [] if _MORE_THAN_WORDS.search(words[0]) else words[0].split()
        if not split or os.sep not in split[0] or not (start / split[0]).is_file():
            return [SHELL, "-c", words[0]]
        words = tuple(split)
    program, *arguments = words
    if os.sep in program:
        program = os.path.normpath(start / expanded(program))
    return [program, *arguments]


def _check_syntax(line: str) -> None:
    try:
        checked = subprocess.run(
            [SHELL, "-n", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentFailureError(f"{SHELL}, which runs the build command, does not work: {error}") from error
    if checked.returncode != 0:
        raise UsageError(f"the build command is no line for {SHELL}: {checked.stderr.strip()}")


def _is_small_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size < 1 << 20
    except (OSError, ValueError):
        return False


def _venv_in(tree: Path) -> Path | None:
    return next((tree / name for name in VENVS if (tree / name / "bin" / "python").exists()), None)
