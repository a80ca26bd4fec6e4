"""Where the pieces of a run lie in its directory, and whether there is room for them."""

import hashlib
import shutil
from pathlib import Path

from bisector.model import Candidate
from pins.errors import EnvironmentFailureError

LARGE_OUTPUT = 256 * 1024**2
"""Bytes in the PROBE_OUTPUT of one run from which the user is warned: they are kept."""
FULL_DISK = 256 * 1024
"""Bytes: a script that fails with less than this left has met a full disk, whatever it says."""


class Places:
    """The directories of one run: logs and output are kept, scratch and builds are not.

    Raises:
        EnvironmentFailureError: they cannot be made.
    """

    def __init__(self, run_directory: Path) -> None:
        self._directory = run_directory
        for name in ("logs", "output", "scratch", "builds"):
            _make(run_directory / name)

    def name_of(self, path: Path) -> str:
        """A path as the journal has it: relative to the run's directory, which may be moved."""
        return str(path.relative_to(self._directory))

    def log_of(self, piece: str) -> Path:
        """The log of a run of the script ("p001-run-2"), or of a build ("p001-build")."""
        return self._directory / "logs" / f"{piece}.log"

    def of_build(self, probe: str) -> tuple[Path, Path]:
        """Where a build is logged, and where it is to lie."""
        return self.log_of(f"{probe}-build"), self._directory / "builds" / probe

    def of_run(self, piece: str) -> tuple[Path, Path, Path]:
        """Log, output directory and scratch directory of a run of the script; both directories are made, and empty."""
        return (
            self.log_of(piece),
            _fresh(self._directory / "output" / piece),
            _fresh(self._directory / "scratch" / piece),
        )

    def clear_scratch(self, piece: str) -> None:
        """Remove what a run of the script had for itself."""
        shutil.rmtree(self._directory / "scratch" / piece, ignore_errors=True)

    def clear_builds(self) -> None:
        """Remove the directory of builds."""
        shutil.rmtree(self._directory / "builds", ignore_errors=True)

    def refuse_full_disk(self, candidate: Candidate) -> None:
        """Do not believe a failure for which a full disk may be to blame.

        Raises:
            EnvironmentFailureError: there is no room left.
        """
        free = shutil.disk_usage(self._directory).free
        if free < FULL_DISK:
            raise EnvironmentFailureError(
                f"the disk that holds {self._directory} is full ({free} bytes free), so that the run of {candidate}"
                " counts for nothing; free some space, then go on with the run"
            )

    def large_output(self, piece: str) -> str:
        """A warning where a run of the script has left much in its output directory, else ""."""
        place = self._directory / "output" / piece
        size = _size_of(place)
        return f"the script left {size // 1024**2} MiB in {place}, which are kept" if size > LARGE_OUTPUT else ""


def digest_of(script: Path) -> str:
    """Hex SHA-256 of the script, "" where it cannot be read."""
    try:
        return hashlib.sha256(script.read_bytes()).hexdigest()
    except OSError:
        return ""


def _size_of(directory: Path) -> int:
    """Bytes of all files below a directory."""
    return sum(path.lstat().st_size for path in directory.rglob("*") if path.is_file() and not path.is_symlink())


def _fresh(directory: Path) -> Path:
    """An empty directory, whatever was there before."""
    shutil.rmtree(directory, ignore_errors=True)
    return _make(directory)


def _make(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFailureError(
            f"cannot make the directory {directory}: {error.strerror}; nothing is concluded from this"
        ) from error
    return directory
