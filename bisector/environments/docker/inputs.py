"""All that goes into the build of a candidate's image, read once: a run's builds are comparable or they are none."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path

from bisector.environments.base import InfeasibleError
from bisector.environments.docker.arguments import PinArguments, pin_arguments
from bisector.environments.docker.build import secret_ids
from bisector.environments.docker.candidate_inputs import BuildStep
from bisector.environments.docker.commit_clones import Rewritten, fetching_commits, is_commit
from bisector.environments.docker.context import ContextReader, context_sources, difference, digest
from bisector.environments.docker.engine import engine
from bisector.environments.docker.instructions import Dockerfile, base_images, read_dockerfile, stage_names
from bisector.environments.docker.mistakes import mistake
from bisector.environments.docker.pins_inside import SettingsOf
from bisector.environments.docker.reach import unreachable, unused
from bisector.environments.docker.stamp import original_line, stamp_values, stamped, with_original_lines
from bisector.model import Candidate, Ended, Recipe
from bisector.request import DockerRequest
from pins.errors import EnvironmentFailureError, UsageError


class BuildInputs:
    """What a run's builds are made from; see `CandidateInputs`.

    Args:
        request: what the user asked for.
        path: the Dockerfile.
        pins: names of the axes.
        time: package indexes are read as of this time; None leaves that to the Dockerfile.
        text: what is built in place of the file's own content.
        around: an identity of the files around it, where they are not those in the context on disk.
        bases: whether the engine is asked for the images that builds start from.
        inside: what is set within the trees of a candidate's commits; None where nothing is.
    """

    def __init__(
        self,
        request: DockerRequest,
        path: Path,
        pins: Sequence[str],
        time: datetime | None,
        *,
        text: bytes | None = None,
        around: str | None = None,
        bases: bool = True,
        inside: SettingsOf | None = None,
    ) -> None:
        self._request = request
        self._inside = inside
        self._path = path
        self._text = text
        self._around = around
        self._ask_for_bases = bases
        self.pins = tuple(pins)
        self.time = time
        self.context = request.context or path.parent
        self._reader = ContextReader(path, self.context)

    @cached_property
    def dockerfile(self) -> Dockerfile:
        """The Dockerfile as it was at the start."""
        if self._text is not None:
            return read_dockerfile(_decoded(self._text))
        try:
            text = _decoded(self._path.read_bytes())
        except OSError as error:
            raise UsageError(f"the Dockerfile {self._path} cannot be read: {error.strerror}") from error
        found = read_dockerfile(text)
        if not any(instruction.keyword == "FROM" for instruction in found.instructions):
            raise UsageError(f"{self._path} has no FROM: it is no Dockerfile")
        return found

    @cached_property
    def _arguments(self) -> PinArguments:
        return pin_arguments(
            self.dockerfile, str(self._path), self.pins, self._request.build_args, self._request.commit_pins
        )

    @cached_property
    def _context_at_start(self) -> dict[str, str]:
        return self._reader.entries(context_sources(self.dockerfile))

    @cached_property
    def _bases(self) -> dict[str, str]:
        """The images that builds start from, with their ids where the engine holds them."""
        fixed = {name: value for name, value in self._request.build_args if "{" not in value}
        found: dict[str, str] = {}
        if not self._ask_for_bases:
            return found
        with engine() as client:
            for image in base_images(self.dockerfile, fixed):
                held = client.images.list(name=image) if "@" not in image else []
                found[image] = str(held[0].id) if len(held) == 1 else ""
        return found

    @property
    def syntax(self) -> str:
        """The frontend that the file or the user names, "" for the engine's own."""
        return dict(self._request.build_args).get("BUILDKIT_SYNTAX", self.dockerfile.directives.get("syntax", ""))

    def check(self) -> None:
        """Find out whether every pin has its ARG, and context and stage are there.

        Raises:
            UsageError: not so.
        """
        if self._around is None and not self.context.is_dir():
            raise UsageError(f"the build context {self.context} is not a directory")
        stages = stage_names(self.dockerfile)
        target = self._request.target
        if target and not target.isdigit() and target.lower() not in {stage.lower() for stage in stages}:
            raise UsageError(f"--target {target}: {self._path} has no such stage; its stages are {', '.join(stages)}")
        typed = {name for name, _ in self._request.build_args}
        for name in self._arguments.carriers:
            if reason := unreachable(self.dockerfile, str(self._path), target, name):
                raise UsageError(reason)
            if name not in typed and unused(self.dockerfile, name):
                template = dict(self._arguments.templates)[name]
                raise UsageError(
                    f"ARG {name} takes a pin, and no instruction of {self._path} uses it, so that its value would"
                    " change nothing; use it, or, where a program in a RUN reads it, say so:"
                    f" --build-arg '{name}={template}'"
                )

    def values(self, candidate: Mapping[str, str]) -> dict[str, str]:
        """The build arguments of a candidate. What the user gives precedes the index's time."""
        values = self._arguments.values(candidate)
        return values if self.time is None else {**stamp_values(self.dockerfile, self.time), **values}

    def fingerprint(self) -> dict[str, str]:
        """Digests of what must not change while a run lasts."""
        found = {
            f"Dockerfile {self._path}": _digest(self.dockerfile.text),
            f"build context {self.context}": digest(self._context_at_start),
        }
        return found | {f"base image {name}": _digest(identity) for name, identity in self._bases.items() if identity}

    def recipe(self, candidate: Candidate, platform: str) -> Recipe:
        """What decides a candidate's build. Secrets enter by name alone, and nothing but pins is recorded."""
        values = self.values(candidate)
        commits = self._fetching_commits(self.dockerfile.text, candidate)
        if commits.refused:
            raise InfeasibleError(f"{self._path.name}, {commits.refused}")
        decisive = {
            "dockerfile": commits.text,
            "arguments": values,
            "context": digest(self._context_at_start) if self._around is None else self._around,
            "bases": self._bases,
            "target": self._request.target,
            "options": self._request.build_options,
            "secrets": secret_ids(self._request.secrets),
            "platform": platform,
        }
        pinned = {name: values[name] for name in self._arguments.carriers}
        return Recipe(candidate, _digest(json.dumps(decisive, sort_keys=True)), instructions={"build_args": pinned})

    def require_unchanged(self) -> None:
        """Compare Dockerfile and context with what they were at the start.

        Raises:
            EnvironmentFailureError: they have changed.
        """
        moved: list[str] = []
        if self._around is None:
            moved += difference(self._context_at_start, self._reader.entries(context_sources(self.dockerfile)))
        try:
            unchanged = self._text is not None or _decoded(self._path.read_bytes()) == self.dockerfile.text
        except OSError:
            unchanged = False
        if not unchanged:
            moved.insert(0, str(self._path))
        if moved:
            shown = ", ".join(moved[:3]) + (f" and {len(moved) - 3} more" if len(moved) > 3 else "")
            raise EnvironmentFailureError(
                f"what the image is built from changed during the run: {shown}; candidates built before and after"
                " cannot be compared. Undo the change and resume, or name the files in"
                f" {self.context / '.dockerignore'} and start again"
            )

    def reusable_stages(self) -> dict[str, bool]:
        """See `CandidateInputs.reusable_stages`: only ends that are read from files have any."""
        return {}

    def shared_steps(self, directory: Path) -> dict[str, tuple[BuildStep, ...]]:  # noqa: ARG002 - there is none
        """See `CandidateInputs.shared_steps`."""
        return {}

    def steps(
        self,
        candidate: Candidate,
        directory: Path,
        shared: Mapping[str, str] | None = None,  # noqa: ARG002 - there is none
    ) -> tuple[BuildStep, ...]:
        """See `CandidateInputs.steps`: one image, from the user's context."""
        copy = self.write_copy(directory, candidate)
        return (BuildStep(copy, self.context, self.values(candidate), self._request.target),)

    def _fetching_commits(self, text: str, candidate: Mapping[str, str]) -> Rewritten:
        """A text with the clones of this candidate's commits made so that git takes them."""
        inside = {} if self._inside is None else self._inside(candidate)
        return fetching_commits(text, self.values(candidate), list(filter(is_commit, candidate.values())), inside)

    def write_copy(self, directory: Path, candidate: Mapping[str, str]) -> Path:
        """Write the Dockerfile that is built: the user's, with the index's time, and commits fetched where it clones.

        The user's own is never written.

        Args:
            directory: of the build's own.
            candidate: the pins.

        Raises:
            EnvironmentFailureError: the directory cannot be made or written to.
        """
        copy = directory / "Dockerfile"  # whatever the user's is called: the name travels in a header of HTTP
        text = self.dockerfile.text if self.time is None else stamped(self.dockerfile)
        text = self._fetching_commits(text, candidate).text
        ignore = self._path.with_name(self._path.name + ".dockerignore")
        try:
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            copy.write_bytes(text.encode("utf-8", "surrogateescape"))
            if ignore.is_file():
                shutil.copyfile(ignore, directory / "Dockerfile.dockerignore")
        except OSError as error:
            raise EnvironmentFailureError(f"cannot write to {directory}: {error.strerror}") from error
        return copy

    def mistake(self, ended: Ended, candidate: Mapping[str, str]) -> str:
        """Why no candidate can be built, as a failed build says it; "" where the failure is this candidate's."""
        carriers = self._arguments.values(candidate)
        pinned = [carriers[name] for name in self._arguments.carriers]

        def line(number: int) -> int:
            return number if self.time is None else original_line(self.dockerfile, number)

        return mistake(ended, self.dockerfile, line, [*candidate.values(), *pinned])

    def in_original_lines(self, message: str, candidate: Mapping[str, str]) -> str:  # noqa: ARG002 - one file for all
        """A builder's message about the copy with the line numbers of the user's file."""
        named = f"{self._path.name}: {message}"
        return named if self.time is None else with_original_lines(self.dockerfile, named)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
