"""The trees that a build command works in: a clean checkout of each git pin, in the build's own directory.

With one git pin, the build's directory is its checkout. With several, each has a directory of its own in it, named as
the pin is. They stay with the build, for what the command has made in them is what the script tries. When builds are
removed, a few of their trees are kept for the next builds, which then need write only what differs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bisector.environments.base import BuildFailedError
from bisector.model import Candidate, Ended
from pins.errors import EnvironmentFailureError
from pins.sources.git.clone import Clone
from pins.sources.git.work_trees import UnusableCommitError, check_out, give_tree, take_tree


@dataclass(frozen=True)
class CommandCheckouts:
    """The git pins of a run, for a build command.

    Attributes:
        clones: our clone of each repository, by pin.
        cache: the user's cache directory.
    """

    clones: Mapping[str, Clone] = field(default_factory=dict)
    cache: Path = Path()

    def places(self, tree: Path) -> tuple[tuple[str, Path], ...]:
        """Where each pin's checkout lies in a build's directory."""
        if len(self.clones) == 1:
            return tuple((pin, tree) for pin in self.clones)
        return tuple((pin, tree / pin) for pin in self.clones)

    def write(self, candidate: Candidate, tree: Path) -> None:
        """Check out what a candidate's build needs; the directory exists, and is empty.

        Raises:
            BuildFailedError: a commit cannot be checked out.
            EnvironmentFailureError: a repository cannot be read, or the disk is full.
        """
        for pin, place in self.places(tree):
            try:
                if place == tree:
                    place.rmdir()
                if not take_tree(self.clones[pin], place):
                    place.mkdir()
                check_out(self.clones[pin], candidate[pin], place, self.cache)
            except UnusableCommitError as error:
                raise BuildFailedError(str(error), Ended(1, errors=f"{error}\n")) from error
            except OSError as error:
                raise EnvironmentFailureError(f"cannot check {pin} out to {place}: {error.strerror}") from error

    def leave(self, tree: Path) -> None:
        """Keep the checkouts of a build that is removed, as far as there is use for them: writing them takes long."""
        for pin, place in self.places(tree):
            give_tree(self.clones[pin], place)
