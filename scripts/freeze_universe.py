"""Freeze a part of the package index as it is now, for tests: every release that requirements can lead to.

    .venv/bin/python scripts/freeze_universe.py NAME --python 3.12 REQUIREMENT... [--at-most N] [--date DATE]

Writes tests/resolve/universes/NAME.json: for each name its releases that Linux on x86-64 can use, and the requirements
that count there. Asked is the library's own default index, whatever is configured. `--at-most N` keeps the newest N
releases of each name that is not asked for itself.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pins.metadata.index_requirements import IndexRequirements  # noqa: E402
from pins.resolve.problem import Choice  # noqa: E402
from pins.resolve.requirement_line import Markers, read_line  # noqa: E402
from pins.sources.index_configuration import IndexConfiguration, default_index  # noqa: E402
from pins.sources.package_index import PackageIndex  # noqa: E402
from pins.sources.target import described_target  # noqa: E402
from pins.windows_request import moment  # noqa: E402

PLATFORM = "linux-x86_64"
GLIBC = "2.39"


class Freezer:
    """Follows requirements until nothing new is named."""

    def __init__(self, source: IndexRequirements, markers: dict[str, str], at_most: int) -> None:
        self.source = source
        self.markers = Markers(markers)
        self.at_most = at_most
        self.releases: dict[str, list[Choice]] = {}
        self.lines: dict[tuple[str, str], list[str]] = {}
        self.extras: set[tuple[str, str]] = set()

    def follow(self, requirements: list[str]) -> None:
        """Read all that these requirements can lead to."""
        asked = [read_line(text) for text in requirements]
        self.extras = {(line.name, extra) for line in asked for extra in line.extras}
        roots = {line.name for line in asked}
        while True:
            before = len(self.releases), len(self.extras)
            names = roots | {read_line(text).name for lines in self.lines.values() for text in lines}
            self.read(names, roots)
            self.find_extras()
            print(f"{len(self.releases)} names, {len(self.lines)} releases", file=sys.stderr)
            if (len(self.releases), len(self.extras)) == before:
                return

    def read(self, names: set[str], roots: set[str]) -> None:
        """Releases of new names, and what all of them require."""
        new = sorted(names - set(self.releases))
        for name, found in self.source.choices(new).items():
            usable = [choice for choice in found.choices if not choice.unusable]
            self.releases[name] = usable if name in roots or not self.at_most else usable[-self.at_most :]
        pairs = [(name, choice.label) for name, choices in self.releases.items() for choice in choices]
        for pair, answer in self.source.requires(pairs).items():
            if answer.unknown:
                self.releases[pair[0]] = [choice for choice in self.releases[pair[0]] if choice.label != pair[1]]
                self.lines.pop(pair, None)
            else:
                self.lines[pair] = [text for text in answer.lines if self.counts(pair[0], text)]

    def counts(self, name: str, text: str) -> bool:
        """Whether a line can count here, with the extras that are asked for so far."""
        line = read_line(text)
        asked = ["", *(extra for owner, extra in self.extras if owner == name)]
        return not line.url and any(self.markers.hold(line.marker, extra) for extra in asked)

    def find_extras(self) -> None:
        """Extras that something asks for."""
        for lines in self.lines.values():
            for text in lines:
                line = read_line(text)
                self.extras |= {(line.name, extra) for extra in line.extras}


def document(freezer: Freezer, requirements: list[str], python: str) -> dict[str, Any]:
    """The universe; lines are numbered, since most of them repeat, and releases with equal lines stand together."""
    numbers: dict[str, int] = {}
    packages: dict[str, list[dict[str, Any]]] = {}
    for name, choices in sorted(freezer.releases.items()):
        groups: list[dict[str, Any]] = []
        for choice in choices:
            lines = [numbers.setdefault(text, len(numbers)) for text in freezer.lines[name, choice.label]]
            if groups and groups[-1]["requires"] == lines and groups[-1]["yanked"] == choice.yanked:
                groups[-1]["versions"].append(choice.label)
            else:
                groups.append({"versions": [choice.label], "requires": lines, "yanked": choice.yanked})
        packages[name] = groups
    return {"requirements": requirements, "python": python, "lines": list(numbers), "packages": packages}


def main() -> None:
    """Read the index and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("requirements", nargs="+")
    parser.add_argument("--python", default="3.12")
    parser.add_argument("--at-most", type=int, default=0)
    parser.add_argument("--date", default="")
    arguments = parser.parse_args()
    target = described_target(arguments.python, platform=PLATFORM, glibc=GLIBC)
    before = moment(arguments.date) if arguments.date else None
    with PackageIndex(IndexConfiguration((default_index(),)), target) as index:
        freezer = Freezer(IndexRequirements(index, before=before), dict(target.markers), arguments.at_most)
        freezer.follow(arguments.requirements)
    file = ROOT / "tests" / "resolve" / "universes" / f"{arguments.name}.json"
    text = json.dumps(document(freezer, arguments.requirements, arguments.python), separators=(",", ":"))
    file.write_text(text.replace('"],"requires', '"],\n"requires').replace('}],"', '}],\n"') + "\n", encoding="utf-8")
    print(f"{file}: {len(text)} bytes")


if __name__ == "__main__":
    main()
