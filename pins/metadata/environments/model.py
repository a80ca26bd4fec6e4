"""What a stage of a Dockerfile installs and builds: plain facts, no I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pins.resolve.problem import Constraint


@dataclass(frozen=True)
class Requested:
    """A requirement that a command names.

    Attributes:
        text: of PEP 508.
        file, line: where it is written.
        upgrade: whether the command was to take the newest, whatever is installed.
        without_dependencies: whether what it requires in turn is left out (`--no-deps`).
    """

    text: str
    file: str
    line: int
    upgrade: bool = False
    without_dependencies: bool = False


@dataclass(frozen=True)
class Project:
    """A checkout of a pinned repository, as one stage builds it.

    Attributes:
        pin: name of the git pin.
        address: of the repository.
        revision: what is checked out.
        pin_line: where that is written.
        comment: what is written beside the pin.
        stage, line: which stage builds it, and where.
        directory: of the checkout in the image.
        subdirectories: where in it the project may lie; see `ProjectPlace.directories`.
        requirement_files: paths in the tree that are installed beforehand.
        variables: the environment of the build.
        isolated: whether what building it requires is installed apart.
    """

    pin: str
    address: str
    revision: str
    pin_line: int
    comment: str
    stage: str
    line: int
    directory: str
    subdirectories: tuple[str, ...] = ("",)
    requirement_files: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    isolated: bool = False


@dataclass(frozen=True)
class InstalledProject:
    """A project whose distribution a stage installs.

    Attributes:
        project: as it was built, perhaps in another stage.
        line: of the command that installs it.
        without_dependencies: whether what it requires is left out.
        extras: of the project that are asked for.
    """

    project: Project
    line: int
    without_dependencies: bool = False
    extras: tuple[str, ...] = ()


@dataclass
class StageContents:
    """What is in a stage, what it descends from included.

    Attributes:
        name: of the stage.
        requested: requirements, in order.
        built: projects that were built in it.
        installed: projects whose distributions are installed in it.
        bounds, overrides: of constraints files and override files.
        wheels: directory -> projects whose wheels lie there.
        requirement_files: directory of a checkout -> files of it that were installed.
        removed: distributions that were uninstalled.
        does_something: whether the stage itself installs or builds anything.
        notes: what could not be followed.
        not_counted: those of the notes that tell of something installed whose requirements are not known.
    """

    name: str
    requested: list[Requested] = field(default_factory=list)
    built: list[Project] = field(default_factory=list)
    installed: list[InstalledProject] = field(default_factory=list)
    bounds: list[Constraint] = field(default_factory=list)
    overrides: list[Constraint] = field(default_factory=list)
    wheels: dict[str, list[Project]] = field(default_factory=dict)
    requirement_files: dict[str, list[str]] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    does_something: bool = False
    notes: list[str] = field(default_factory=list)
    not_counted: list[str] = field(default_factory=list)

    def leave_out(self, note: str) -> None:
        """Say of something installed that what it requires is not known."""
        self.notes.append(note)
        self.not_counted.append(note)

    def child(self, name: str) -> "StageContents":
        """What a stage built from this one starts with."""
        return StageContents(
            name,
            list(self.requested),
            list(self.built),
            list(self.installed),
            list(self.bounds),
            list(self.overrides),
            {directory: list(projects) for directory, projects in self.wheels.items()},
            {directory: list(files) for directory, files in self.requirement_files.items()},
            list(self.removed),
            not_counted=list(self.not_counted),
        )


@dataclass(frozen=True)
class FileEnvironments:
    """All that a file installs and builds.

    Attributes:
        file: its path, for people.
        stages: those that are worth an answer: what they install ends up in the target, or helps to build it.
        python: the Python of the file, "" where it does not tell.
        glibc: the C library of its base image, "" where it is not told.
        pins: current versions, by name, where a requirement is exact.
        notes: what could not be followed.
        is_image: whether it builds an image, whose Python need not be the one that runs this.
    """

    file: str
    stages: tuple[StageContents, ...]
    python: str = ""
    glibc: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    is_image: bool = False
