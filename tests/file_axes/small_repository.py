"""A repository with a few revisions of a Dockerfile, and the space between two of them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from packaging.version import Version

from bisector.file_axes.axes import file_axes
from bisector.file_axes.ends import read_space
from bisector.file_axes.request import FilesRequest
from bisector.file_axes.space import FileSpace
from bisector.file_axes.versions import Reading
from bisector.model import Axis
from bisector.space import Chain, chain_through
from pins.errors import UsageError
from pins.release import Release
from tests.docker.image_project import git

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class SmallRepository:
    """A repository in a directory of its own; `index` gives the versions of packages, one a day from 2026-01-01."""

    path: Path
    index: dict[str, list[str]] = field(default_factory=dict)
    revisions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        git(self.path, "init", "--quiet", "--initial-branch=main")

    @property
    def dockerfile(self) -> Path:
        return self.path / "Dockerfile"

    def commit(self, text: str | None, subject: str = "Change", **files: str) -> str:
        """Commit the Dockerfile with this text (None: without it), and other files."""
        if text is None:
            self.dockerfile.unlink()
        else:
            self.dockerfile.write_text(text)
        for name, content in files.items():
            (self.path / name.replace("__", ".")).write_text(content)
        git(self.path, "add", "--all")
        git(self.path, "commit", "--quiet", "--allow-empty", "--message", subject, date=len(self.revisions) * 100)
        self.revisions.append(git(self.path, "rev-parse", "HEAD"))
        return self.revisions[-1]

    def releases(self, name: str, before: datetime | None) -> tuple[Release, ...]:
        if name not in self.index:
            raise UsageError(f"unknown package {name}")
        every = [
            Release(Version(text), FIRST + timedelta(days=number), has_wheel=True)
            for number, text in enumerate(self.index[name])
        ]
        return tuple(release for release in every if before is None or release.upload_time < before)  # type: ignore[operator]

    def space(self, good: str = "", bad: str = "", *, fixed: tuple[str, ...] = (), **request: Any) -> FileSpace:
        """The space between two revisions, by default the first and the last."""
        if "good_file" not in request and "good_date" not in request and not good:
            good, bad = self.revisions[0], self.revisions[-1]
        reading = Reading(request.pop("build_args", {}))
        made = FilesRequest(None if "good_file" in request else self.dockerfile, good, bad, **request)
        return read_space(made, reading, None, fixed, self.releases)

    def axes(self, space: FileSpace) -> dict[str, Axis]:
        return {axis.pin: axis for axis in file_axes(space, self.releases)[0]}

    def chain(self, space: FileSpace) -> Chain:
        axes = file_axes(space, self.releases)[0]
        return chain_through(axes, [[axis] for axis in axes])


def values(axis: Axis) -> list[str]:
    return [value.text for value in axis.values]
