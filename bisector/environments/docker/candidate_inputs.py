"""What goes into the images of candidates: the protocol that environments build by."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bisector.model import Candidate, Ended, Recipe


@dataclass(frozen=True)
class BuildStep:
    """One image to build: a candidate's, or one that it is built on.

    Attributes:
        dockerfile: the copy that is built.
        context: the build context.
        values: build arguments by ARG.
        target: the stage, "" for the last.
        argument: the ARG of the next step that takes the image, "" for the candidate's own.
    """

    dockerfile: Path
    context: Path
    values: Mapping[str, str]
    target: str
    argument: str = ""


class CandidateInputs(Protocol):
    """All that goes into the images of candidates."""

    pins: tuple[str, ...]
    time: datetime | None

    @property
    def syntax(self) -> str:
        """The frontend that the file or the user names, "" for the engine's own."""

    def check(self) -> None:
        """Find out whether every pin has its place, and context and stage are there.

        Raises:
            UsageError: not so.
        """

    def fingerprint(self) -> dict[str, str]:
        """Digests of what must not change while a run lasts."""

    def recipe(self, candidate: Candidate, platform: str) -> Recipe:
        """What decides a candidate's build. Secrets enter by name alone, and nothing but pins is recorded.

        Raises:
            InfeasibleError: its file cannot be made.
        """

    def require_unchanged(self) -> None:
        """Compare what is built from with what it was at the start.

        Raises:
            EnvironmentFailureError: it has changed.
        """

    def reusable_stages(self) -> Mapping[str, bool]:
        """The stages that `--reuse-stage` could take, in lower case, with whether packages would be put over them."""

    def shared_steps(self, directory: Path) -> dict[str, tuple[BuildStep, ...]]:
        """What is built once for all candidates, by stage (`--reuse-stage`), written into directories beside this one.

        Of each stage its own image is the last, after those that its file is built on.

        Raises:
            EnvironmentFailureError: they cannot be made or written to.
        """

    def steps(
        self, candidate: Candidate, directory: Path, shared: Mapping[str, str] | None = None
    ) -> tuple[BuildStep, ...]:
        """Write what is built into a directory of the build's own: the images in order, the candidate's last.

        Args:
            candidate: the pins.
            directory: of the build's own.
            shared: images that are taken in place of stages, by stage; None for a full build.

        Raises:
            EnvironmentFailureError: the directory cannot be made or written to.
        """

    def mistake(self, ended: Ended, candidate: Mapping[str, str]) -> str:
        """Why no candidate can be built, as a failed build says it; "" where the failure is this candidate's."""

    def in_original_lines(self, message: str, candidate: Mapping[str, str]) -> str:
        """A builder's message about the copy with the line numbers of the user's file."""
