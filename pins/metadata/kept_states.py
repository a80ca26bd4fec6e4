"""What projects require at commits, kept between calls: by the contents of the files that say so."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pins.metadata.declarations import Statement, Subject
from pins.metadata.project_state import Implied, ProjectPlace, ProjectState
from pins.metadata.tree import TreeRequirements
from pins.sources.metadata_cache import MetadataCache

_FORMAT = 2
"""Raised whenever reading the same files gives something else: what was kept before is then read anew."""
Key = tuple[tuple[str, str], ...]
"""(path, hash of its content) of every file that a state was read from, sorted."""


class KeptStates:
    """States of one project in a cache.

    Args:
        cache: where they are kept.
        repository: its address.
        place: where in it the project lies.
        markers: of the target.
    """

    def __init__(self, cache: MetadataCache, repository: str, place: ProjectPlace, markers: Mapping[str, str]) -> None:
        self._cache = cache
        about = [
            _FORMAT,
            place.directories,
            place.requirement_files,
            sorted(place.variables.items()),
            sorted(markers.items()),
            place.rules,
        ]
        self._about = _digest(about)
        self._paths_key = f"paths:{_digest([repository, self._about])}"

    def paths(self) -> set[str]:
        """The files that its build files were seen to read."""
        text = self._cache.get([self._paths_key]).get(self._paths_key, "[]")
        try:
            return {path for path in json.loads(text) if isinstance(path, str)}
        except ValueError:
            return set()

    def states(self, keys: Collection[Key]) -> dict[Key, ProjectState]:
        """Those states that are kept."""
        by_name = {self._name(key): key for key in keys}
        found = {by_name[name]: _from_text(text) for name, text in self._cache.get(by_name).items()}
        return {key: state for key, state in found.items() if state is not None}

    def keep(self, paths: Collection[str], states: Mapping[Key, ProjectState]) -> None:
        """Keep states, and which files they were read from; not those that lack an object of the repository."""
        entries = {self._name(key): json.dumps(asdict(state)) for key, state in states.items() if state.lasting}
        self._cache.put({self._paths_key: json.dumps(sorted(paths)), **entries}, datetime.now(UTC))

    def _name(self, key: Key) -> str:
        return f"state:{_digest([self._about, key])}"


def _digest(about: object) -> str:
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _from_text(text: str) -> ProjectState | None:
    try:
        fields: dict[str, Any] = json.loads(text)
        tree: dict[str, Any] = fields["tree"]
        return ProjectState(
            tree=TreeRequirements(
                **{
                    **tree,
                    "runtime": _statements(tree["runtime"]),
                    "build": _statements(tree["build"]),
                    "unknown": {Subject(name): reason for name, reason in tree["unknown"].items()},
                    "disagreements": tuple(tree["disagreements"]),
                }
            ),
            installed=_statements(fields["installed"]),
            unknown=fields["unknown"],
            implied=tuple(Implied(**row) for row in fields["implied"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _statements(rows: Any) -> tuple[Statement, ...]:
    return tuple(Statement(**row) for row in rows)
