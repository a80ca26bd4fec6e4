"""Write docs/dependencies.md: each package that comes along with this one, its licence and its last release.

    scripts/dependencies [--output docs/dependencies.md]

Read are the packages of the environment that runs this, and the package index that is configured, for dates. The exit
code is 1, and nothing is written, where a licence is none of those below: then a person has to look.
"""

import argparse
import importlib.metadata
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PERMISSIVE = frozenset({"Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "PSF-2.0"})
"""What may be combined with Apache-2.0 without a further thought; "BSD" where a package says no more."""
SEPARATE = frozenset({"MPL-2.0"})
"""Copyleft for the files themselves alone: a package of its own, unchanged, asks nothing of those that use it."""
_WORDED = {
    "apache software license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "bsd license": "BSD",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
"""How licences are worded in classifiers, and in what was written before there were expressions."""


PAGE = """\
# Dependencies

Written by `scripts/dependencies` on {day}, from the packages of an environment and from the package index. A
test holds the names and bounds against `pyproject.toml`, and the licences of what is installed against the list below.

## Asked for directly

| package | allowed | looked at | newest | released | licence | for |
|---|---|---|---|---|---|---|
{direct}

Each lower bound has been tried: CI runs the installed commands with the oldest versions that are allowed.

## What these bring along

| package | looked at | newest | released | licence | asked for by |
|---|---|---|---|---|---|
{brought}

The extra `ray` asks for Ray (Apache-2.0), which brings packages of its own along; none of them is imported unless
`--executor ray` is given.

## Licences

This project is under Apache-2.0. Its dependencies are packages of their own; none is copied into it.

- Permissive, and so compatible: {permissive}.
- Compatible as long as the package is not changed: {separate}, which asks that changes to its own files be published,
  and nothing of those who use it.

## Known vulnerabilities

This page says nothing of them: what was right on one day misleads on the next. Ask, with an index that offers the
advisories (a mirror often does not, and then every package is "not found"):

```console
$ uv pip compile pyproject.toml -o runtime.txt && uvx pip-audit -r runtime.txt --no-deps --disable-pip
```
"""


@dataclass(frozen=True)
class Dependency:
    """One package that is installed along.

    Attributes:
        name: canonical.
        version: the one that was looked at.
        licence: an SPDX expression; "" where the package does not say.
        asked_by: the names of those that require it, sorted; "bisector" for a direct one.
        newest, released: the newest release that the index has, and its day; "" where it was not asked.
    """

    name: str
    version: str
    licence: str
    asked_by: tuple[str, ...]
    newest: str = ""
    released: str = ""


def direct_requirements(project: Mapping[str, Any]) -> dict[str, Requirement]:
    """What pyproject.toml asks for, by canonical name."""
    requirements = [Requirement(line) for line in project["project"]["dependencies"]]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def dependencies(project: Mapping[str, Any]) -> list[Dependency]:
    """The direct ones and all that these require here, without extras, by name.

    Raises:
        importlib.metadata.PackageNotFoundError: one is not installed.
    """
    asked_by: dict[str, set[str]] = {}
    waiting = [("bisector", requirement) for requirement in direct_requirements(project).values()]
    while waiting:
        who, requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        new = name not in asked_by
        asked_by.setdefault(name, set()).add(who)
        if new:
            waiting.extend((name, each) for each in _required(name, requirement.extras))
    return [
        Dependency(name, importlib.metadata.version(name), licence_of(name), tuple(sorted(asked_by[name])))
        for name in sorted(asked_by)
    ]


def licence_of(name: str) -> str:
    """What a package says of its licence: its expression, else its classifiers, else its text where that is short."""
    metadata = importlib.metadata.metadata(name)
    if expression := metadata.get_all("License-Expression"):
        return str(expression[0])
    classified = metadata.get_all("Classifier") or []
    told = [line.rsplit(" :: ", 1)[-1] for line in classified if "License ::" in line]
    told = told or metadata.get_all("License") or []
    return " AND ".join(_WORDED.get(each.strip().lower(), each.strip()) for each in told if len(each) < 60)


def parts(licence: str) -> set[str]:
    """The licences that an expression names."""
    return set(re.split(r" AND | OR |[()]", licence)) - {""}


def doubtful(found: Dependency) -> bool:
    """Whether a person has to look: one of the licences is not among those that are known to go together with ours."""
    return not found.licence or not parts(found.licence) <= PERMISSIVE | SEPARATE


def page(found: list[Dependency], project: Mapping[str, Any], day: str) -> str:
    """The document."""
    direct = direct_requirements(project)
    reasons = dict(_reasons((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    asked = [
        f"| {each.name} | `{direct[each.name].specifier}` | {each.version} | {each.newest} | {each.released}"
        f" | {each.licence} | {reasons.get(each.name, '')} |"
        for each in found
        if each.name in direct
    ]
    brought = [
        f"| {each.name} | {each.version} | {each.newest} | {each.released} | {each.licence}"
        f" | {', '.join(each.asked_by)} |"
        for each in found
        if each.name not in direct
    ]
    return PAGE.format(
        day=day,
        direct="\n".join(asked),
        brought="\n".join(brought),
        permissive=", ".join(sorted(PERMISSIVE)),
        separate=", ".join(sorted(SEPARATE)),
    )


def _required(name: str, extras: set[str]) -> Iterator[Requirement]:
    for line in importlib.metadata.requires(name) or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            yield requirement


def _reasons(text: str) -> Iterator[tuple[str, str]]:
    """What the comments of pyproject.toml say of each direct dependency."""
    for match in re.finditer(r'^    "([A-Za-z0-9._-]+)[^"]*", *# (.+)$', text, re.MULTILINE):
        yield canonicalize_name(match[1]), match[2]


def _with_releases(found: list[Dependency]) -> Iterator[Dependency]:
    """The same, with the newest final release of each and its day, as the configured index tells."""
    from pins.sources.index_configuration import read_index_configuration
    from pins.sources.package_index import PackageIndex

    configuration = read_index_configuration(environment=os.environ, directory=Path.cwd())
    with PackageIndex(configuration, None) as index:
        for each in found:
            releases = [one for one in index.releases(each.name) if not one.yanked and not one.version.is_prerelease]
            newest = releases[-1]
            day = newest.upload_time.date().isoformat() if newest.upload_time else "not told"
            yield replace(each, newest=str(newest.version), released=day)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "dependencies.md")
    arguments = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = dependencies(project)
    doubts = [f"{each.name} {each.version}: {each.licence or 'no licence told'}" for each in found if doubtful(each)]
    if doubts:
        print("not known to be compatible with Apache-2.0:", *doubts, sep="\n  ", file=sys.stderr)
        return 1
    text = page(list(_with_releases(found)), project, datetime.now(UTC).date().isoformat())
    arguments.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
