"""From what was resolved to a virtual environment that holds exactly that."""

import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from bisector.environments.build_directory import remove_tree
from bisector.environments.venv.cache import discard
from bisector.environments.venv.commits import LentProjects
from bisector.environments.venv.trees import copied
from bisector.environments.venv.uv import Uv
from pins.errors import EnvironmentFailureError

VENV = "venv"
WORK = "build"


@dataclass(frozen=True)
class Instructions:
    """How one environment is installed.

    Attributes:
        python: path of the interpreter it is made with.
        phases: what is installed, in order: requirements with hashes, free of credentials.
        build_isolation: whether source distributions are built in an environment of their own.
        build_constraints: requirements that hold in those.
        options: further options of uv, such as `--no-binary=spam`.
        without_upload_times: URLs of indexes that give none.
        trees: local projects among them, and their state (`trees`); the requirements name the user's directory.
        commits: pins that are commits (`commits`); the requirements name repository and commit.
        circumstances: a digest of all that decides what builds make of their sources (`cache`).
        lone: no other candidate builds in the same circumstances.
    """

    python: str
    phases: tuple[tuple[str, ...], ...]
    build_isolation: bool = True
    build_constraints: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    without_upload_times: tuple[str, ...] = ()
    trees: tuple[tuple[str, str], ...] = ()
    commits: tuple[tuple[str, str], ...] = ()
    circumstances: str = "none"
    lone: bool = False

    def as_json(self) -> dict[str, object]:
        """For a recipe."""
        return {
            "python": self.python,
            "phases": [list(phase) for phase in self.phases],
            "build_isolation": self.build_isolation,
            "build_constraints": list(self.build_constraints),
            "options": list(self.options),
            "without_upload_times": list(self.without_upload_times),
            "trees": [list(tree) for tree in self.trees],
            "commits": [list(commit) for commit in self.commits],
            "circumstances": self.circumstances,
            "lone": self.lone,
        }

    @staticmethod
    def from_json(entry: Mapping[str, Any]) -> "Instructions":
        """From a recipe."""
        return Instructions(
            str(entry["python"]),
            tuple(tuple(phase) for phase in entry["phases"]),
            bool(entry["build_isolation"]),
            tuple(entry["build_constraints"]),
            tuple(entry["options"]),
            tuple(entry["without_upload_times"]),
            tuple((str(path), str(state)) for path, state in entry["trees"]),
            tuple((str(pin), str(commit)) for pin, commit in entry.get("commits", ())),
            str(entry["circumstances"]),
            bool(entry["lone"]),
        )


def install(
    uv: Uv,
    instructions: Instructions,
    directory: Path,
    *,
    log: Path,
    marker: str,
    deadline: float | None = None,
    cancel: Event | None = None,
    private: Callable[[str], str] = lambda line: line,
    projects: LentProjects | None = None,
) -> Path:
    """Make the virtual environment `directory/venv`.

    Args:
        uv: the program.
        instructions: what to install.
        directory: exists; what the builds need meanwhile lies in it too, and is removed.
        log: takes what uv and the builds print.
        marker: the id that marks their processes.
        deadline: `time.monotonic()` at which they are ended.
        cancel: set when the result is not wanted any more.
        private: puts credentials back into a line that names a URL.
        projects: those of the commits among what is installed.

    Returns:
        The environment's directory.

    Raises:
        UvError: a call failed.
        EnvironmentFailureError: the directory cannot be written.
    """
    venv = directory / VENV
    work = directory / WORK
    uv = replace(
        uv,
        index=replace(uv.index, without_upload_times=frozenset(instructions.without_upload_times)),
        circumstances=instructions.circumstances,
    )
    configuration = uv.configuration(resolved=True)

    def call(*arguments: str) -> None:
        uv.call(
            arguments,
            configuration=configuration,
            workplace=work,
            log=log,
            marker=marker,
            deadline=deadline,
            cancel=cancel,
        )

    def in_copies(line: str) -> str:
        if projects is not None and line in projects.directories:
            return projects.in_directory(line)
        for path, state in instructions.trees:
            named = f" @ {Path(path).as_uri()}"
            if line.endswith(named):
                copy = copied(Path(path), state, cache=uv.cache, circumstances=uv.circumstances)
                return f"{line.removesuffix(named)} @ {copy.as_uri()}"
        return line

    try:
        call("venv", "--no-project", "--quiet", "--python", instructions.python, str(venv))
        common = [
            "pip",
            "install",
            "--python",
            str(venv / "bin" / "python"),
            "--no-deps",
            *_link_mode(uv.cache, directory),
        ]
        if instructions.build_constraints:
            common += [
                "--build-constraints",
                str(_written(work / "build-constraints.txt", instructions.build_constraints)),
            ]
        if not instructions.build_isolation:
            common.append("--no-build-isolation")
        for number, phase in enumerate(instructions.phases, 1):
            file = _written(work / f"requirements-{number}.txt", [in_copies(private(line)) for line in phase])
            call(*common, *instructions.options, "--requirements", str(file))
    finally:
        remove_tree(work)
        if instructions.lone:
            discard(uv.cache, uv.circumstances)
    return venv


def _written(path: Path, lines: Sequence[str]) -> Path:
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    except OSError as error:
        raise EnvironmentFailureError(f"cannot write {path}: {error.strerror}; is the disk full?") from error
    return path


def _link_mode(cache: Path, directory: Path) -> list[str]:
    """Files are linked, not copied, where cache and environment lie in one file system."""
    try:
        same = cache.stat().st_dev == directory.stat().st_dev
    except OSError:
        same = False
    return [] if same else ["--link-mode=copy"]
