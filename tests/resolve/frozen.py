"""Real universes, frozen by scripts/freeze_universe.py: as a source in memory, and as an index on localhost."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import Version

from pins.resolve.problem import Choice, Choices, Constraint, Origin, Problem, Requires
from pins.sources.target import Installer, described_target
from tests.local_index import LocalIndex
from tests.resolve.memory_source import MemorySource

DIRECTORY = Path(__file__).parent / "universes"
PLATFORM = "linux-x86_64"
GLIBC = "2.39"


@dataclass
class FrozenUniverse:
    """What the index had.

    Attributes:
        python: the version of Python that it was frozen for.
        requirements: from which it was reached.
        releases: (name, version, yanked, requirements).
    """

    python: str
    requirements: list[str]
    releases: list[tuple[str, str, bool, list[str]]] = field(default_factory=list)

    def source(self) -> MemorySource:
        """All of it, in memory."""
        by_name: dict[str, list[Choice]] = {}
        required: dict[tuple[str, str], Requires] = {}
        for name, version, yanked, lines in self.releases:
            by_name.setdefault(name, []).append(Choice(version, Version(version), yanked=yanked))
            required[name, version] = Requires(tuple(lines))
        return MemorySource({name: Choices(tuple(choices)) for name, choices in by_name.items()}, required)

    def problem(self, *requirements: str, installer: Installer = Installer.UV) -> Problem:
        """These requirements on its Python."""
        target = described_target(self.python, platform=PLATFORM, glibc=GLIBC, installer=installer)
        stated = tuple(Constraint(text, Origin(file="--require")) for text in requirements or self.requirements)
        return Problem(stated, markers=dict(target.markers), installer=installer)


def frozen(name: str) -> FrozenUniverse:
    """The universe of that name."""
    document: dict[str, Any] = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    lines = document["lines"]
    found = FrozenUniverse(document["python"], document["requirements"])
    for project, groups in document["packages"].items():
        for group in groups:
            required = [lines[number] for number in group["requires"]]
            found.releases += [(project, version, group["yanked"], required) for version in group["versions"]]
    return found


class FrozenIndex(LocalIndex):
    """An index that holds a frozen universe; each answer is made once."""

    def __init__(self, universe: FrozenUniverse) -> None:
        super().__init__()
        self._answers: dict[tuple[str, bool], tuple[str, bytes] | None] = {}
        for name, version, yanked, lines in universe.releases:
            self.add(name, version, requires=lines, files={"none.py": ""}, yanked="yanked" if yanked else None)

    def page(self, path: str, accept: str) -> tuple[str, bytes] | None:
        """As the index's own, kept."""
        key = (path, "json" in accept)
        if key not in self._answers:
            self._answers[key] = super().page(path, accept)
        return self._answers[key]
