"""A requirement source in memory, which remembers what it was asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.version import Version

from pins.resolve.problem import Choice, Choices, Constraint, Origin, Problem, Requires
from pins.sources.target import Installer

MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.12.4",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "6.1",
    "platform_system": "Linux",
    "platform_version": "1",
    "python_full_version": "3.12.4",
    "python_version": "3.12",
    "sys_platform": "linux",
}


@dataclass
class MemorySource:
    """Packages in memory.

    Attributes:
        packages: name -> what it can be.
        required: (name, label) -> what that requires; without an entry, nothing.
        asked: every (name, label) whose requirements were asked for.
        waves: how many questions were put, of both kinds.
    """

    packages: dict[str, Choices] = field(default_factory=dict)
    required: dict[tuple[str, str], Requires] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    waves: int = 0

    def add(
        self,
        name: str,
        version: str,
        requires: Sequence[str] = (),
        *,
        yanked: bool = False,
        unusable: str = "",
        unknown: str = "",
    ) -> "MemorySource":
        """One more release."""
        choice = Choice(version, Version(version), yanked=yanked, unusable=unusable)
        choices = [*self.packages.get(name, Choices()).choices, choice]
        self.packages[name] = Choices(tuple(sorted(choices, key=lambda one: one.version or Version("0"))))
        self.required[name, version] = Requires(tuple(requires), unknown=unknown)
        return self

    def choices(self, names: Collection[str]) -> Mapping[str, Choices]:
        self.waves += 1
        return {name: self.packages.get(name, Choices(missing="no index has it")) for name in names}

    def requires(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Requires]:
        self.waves += 1
        self.asked.extend(wanted)
        return {pair: self.required.get(pair, Requires()) for pair in wanted}


def problem(
    *requirements: str,
    bounds: Sequence[str] = (),
    targets: Sequence[str] = (),
    installer: Installer = Installer.UV,
    overrides: Sequence[str] = (),
) -> Problem:
    """A problem on Python 3.12, Linux."""
    return Problem(
        tuple(Constraint(text, Origin(file="--require", line=i)) for i, text in enumerate(requirements, 1)),
        bounds=tuple(Constraint(text, Origin(file="constraints.txt", line=i)) for i, text in enumerate(bounds, 1)),
        overrides=tuple(Constraint(text) for text in overrides),
        targets=tuple(targets),
        markers=MARKERS,
        installer=installer,
    )
