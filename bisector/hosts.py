"""The machines that an environment uses, where it uses several; of any other environment, none."""

from pathlib import Path
from threading import Event as Flag

from bisector.drift import Change
from bisector.environments.base import Environment
from bisector.events import Note, Reporter
from bisector.host import differing
from bisector.journal import Journal
from bisector.model import Build, Recipe
from bisector.serial import to_json


class Hosts:
    """What a run does with its hosts besides building and running on whichever has room.

    Args:
        environment: it may use several.
        journal: takes what is known of them.
        reporter: told what they have to say.
    """

    def __init__(self, environment: Environment, journal: Journal, reporter: Reporter) -> None:
        self._environment = environment
        self._journal = journal
        self._reporter = reporter
        self._building: dict[str, str] = {}
        self._facts: dict[str, dict[str, str]] = getattr(environment, "host_facts", dict)()
        if self._facts:
            journal.set_meta("hosts", to_json(self._facts))

    @property
    def names(self) -> tuple[str, ...]:
        """Those in use; () where all is done on this machine."""
        return tuple(getattr(self._environment, "hosts", ()))

    def differences(self, change: Change) -> str:
        """What is known to differ between the hosts on which outcomes fall apart, "" for nothing."""
        return differing(self._facts, *change.hosts)

    def set_aside(self, name: str, why: str) -> None:
        """Use a host no more."""
        getattr(self._environment, "set_aside", lambda *_: None)(name, why)

    def build(self, name: str, recipe: Recipe, directory: Path, log: Path, cancel: Flag) -> Build:
        """Build on one host, "" for whichever has room; see `Environment.build`."""
        if not name:
            return self._environment.build(recipe, directory, log, cancel)
        build: Build = getattr(self._environment, "build_on")(name, recipe, directory, log, cancel)  # noqa: B009
        return build

    def look(self) -> None:
        """Record what is built where, for `bisector status`, and pass on what hosts say."""
        building: dict[str, str] = getattr(self._environment, "building", dict)()
        if building != self._building:
            self._building = building
            self._journal.set_meta("building", to_json(building))
        for said in getattr(self._environment, "take_said", list)():
            self._reporter(Note(said))
