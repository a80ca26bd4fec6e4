"""Inputs of candidates that are files of their own: a version of the Dockerfile with pins set, and its context.

Nothing of the user's is written: a candidate's file is a copy, and the files around it as of a commit are checked out
into the build's own directory. Values stand in the file itself rather than in build arguments, since many a pin has no
ARG; for the builder's cache the two are the same.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from bisector.environments.docker.candidate_inputs import BuildStep
from bisector.environments.docker.inputs import BuildInputs
from bisector.environments.docker.pins_inside import SettingsOf
from bisector.environments.docker.reused_stages import (
    all_stages,
    built_stage,
    stages_among,
    with_overlay,
    with_reused_stages,
)
from bisector.file_axes.request import INDEX
from bisector.file_axes.slots import value_of
from bisector.file_axes.space import FilePart, FileSpace
from bisector.file_axes.values import exact
from bisector.file_axes.versions import Version
from bisector.model import Candidate, Ended, Recipe
from bisector.request import DockerRequest
from pins.errors import EnvironmentFailureError, UsageError
from pins.model import Pin, PinKind


class FileInputs:
    """What a run's builds are made from, where files are the ends; see `CandidateInputs`.

    Args:
        request: what the user asked for.
        space: the files.
        pins: names of the axes and of pins held still.
        time: package indexes are read as of this time; None leaves that to the file.
        bases: whether the engine is asked for the images that builds start from.
        inside: what is set within the trees of a candidate's commits; None where nothing is.
    """

    def __init__(
        self,
        request: DockerRequest,
        space: FileSpace,
        pins: Sequence[str],
        time: datetime | None,
        *,
        bases: bool = True,
        inside: SettingsOf | None = None,
    ) -> None:
        self._request = request
        self._inside = inside
        self._space = space
        self._bases = bases
        self.pins = tuple(pins)
        self.time = time
        self._reused = {stage.lower(): image for stage, image in request.reuse_stages}
        self._known: dict[tuple[int, bytes, str, datetime | None], BuildInputs] = {}

    @property
    def syntax(self) -> str:
        """See `CandidateInputs.syntax`: that of the bad end."""
        return self._ends[1].syntax

    @cached_property
    def _ends(self) -> tuple[BuildInputs, BuildInputs]:
        part = self._space.parts[-1]
        good, bad = part.history.good, part.history.bad
        return self._inputs(len(self._space.parts) - 1, good, good.data), self._inputs(
            len(self._space.parts) - 1, bad, bad.data
        )

    def check(self) -> None:
        """See `CandidateInputs.check`."""
        given = {name for name, _ in self._request.build_args}
        for part in self._space.parts:
            for slot, _, bad in part.moving:
                if bad.variable in given and any(bad.variable in how.split() for how in bad.override.how):
                    raise UsageError(
                        f"--build-arg {bad.variable} holds {slot.name} still, which differs between the ends; leave the"
                        f" option out, or say --fix {slot.name}=VALUE"
                    )
        self._ends[1].check()
        self._check_reused()

    def _check_reused(self) -> None:
        """Refuse stages that no file has, and pins that reused stages alone would show."""
        there: set[str] = set()
        for number, part in enumerate(self._space.parts):
            bad = part.history.bad
            found = stages_among(bad.data, [*self._reused])
            there.update(found)
            if self._overlaid(number):
                continue  # what moves there is put over it
            for slot, _, pin in part.moving:
                stages = {use.stage.lower() for use in pin.uses}
                if stages and stages <= set(found):
                    raise UsageError(
                        f"--reuse-stage {min(stages)}: {slot.name} differs between the ends and is used in that stage"
                        f" alone, so that no candidate would show it; leave the stage out, or --exclude {slot.name}"
                    )
        if unknown := sorted(set(self._reused) - there):
            raise UsageError(f"--reuse-stage {unknown[0]}: there is no such stage; `pins show` lists them")
        for number, part in enumerate(self._space.parts):
            if stage := self._overlaid(number):
                self._check_overlay(stage, part)

    def _overlaid(self, number: int) -> str:
        """The stage that one file's build ends with, where that one is reused: packages are put over it; else ""."""
        bad = self._space.parts[number].history.bad
        stage = built_stage(bad.data, self._target(number))
        return stage if stage in self._reused else ""

    def _check_overlay(self, stage: str, last: FilePart) -> None:
        """Refuse what cannot be put over a finished image: it is no package, or goes into other stages."""
        found = [name for part in self._space.parts if part.has_text_axis for name in [part.text]]
        found += [INDEX] if self._space.index else []
        found += [name for part in self._space.parts if part is not last for name in _slots(part)]
        found += [name for name, pin in _slots(last).items() if not _is_package_of(pin, stage)]
        if found:
            raise UsageError(
                f"--reuse-stage {stage}: that stage is what is built, so that packages which it alone installs can be"
                f" put over it, and {found[0]} is none of them; leave the stage out, or --exclude {found[0]}"
            )

    def _target(self, number: int) -> str:
        last = number == len(self._space.parts) - 1
        return self._request.target if last else self._space.parts[number].target

    def fingerprint(self) -> dict[str, str]:
        """See `CandidateInputs.fingerprint`: files as of commits cannot change, those on disk can."""
        found: dict[str, str] = {}
        for number, part in enumerate(self._space.parts):
            for version in (part.history.good, part.history.bad):
                found[f"the file {version.path} ({version.name})"] = hashlib.sha256(version.data).hexdigest()
            if part.history.repository is None:
                bad = part.history.bad
                around = self._inputs(number, bad, bad.data).fingerprint()
                found |= {label: digest for label, digest in around.items() if not label.startswith("Dockerfile ")}
        return found

    def recipe(self, candidate: Candidate, platform: str) -> Recipe:
        """See `CandidateInputs.recipe`."""
        taken = {stage: image or f"bisector/reused:{stage}" for stage, image in self._reused.items()}
        found = [
            self._candidate_inputs(number, part, candidate, taken).recipe(candidate, platform)
            for number, part in enumerate(self._space.parts)
        ]
        whole = found[-1].input_hash
        if len(found) > 1:
            whole = hashlib.sha256(json.dumps([recipe.input_hash for recipe in found]).encode()).hexdigest()
        return Recipe(candidate, whole, instructions={"pins": dict(candidate), "approximate": bool(self._reused)})

    def require_unchanged(self) -> None:
        """See `CandidateInputs.require_unchanged`."""
        for number, part in enumerate(self._space.parts):
            if part.history.repository is not None:
                continue
            for version in (part.history.good, part.history.bad):
                try:
                    unchanged = version.path.read_bytes() == version.data
                except OSError:
                    unchanged = False
                if not unchanged:
                    raise EnvironmentFailureError(
                        f"{version.path} changed during the run; candidates built before and after cannot be compared."
                        " Put it back and resume, or start a new run"
                    )
            self._inputs(number, part.history.bad, part.history.bad.data).require_unchanged()

    def reusable_stages(self) -> dict[str, bool]:
        """See `CandidateInputs.reusable_stages`: those that `check` would not refuse, and that are not reused yet."""
        found: dict[str, bool] = {}
        for number, part in enumerate(self._space.parts):
            for stage in all_stages(part.history.bad.data):
                alone = replace(self._request, reuse_stages=((stage, ""),))
                inputs = FileInputs(alone, self._space, self.pins, self.time, bases=False)
                try:
                    inputs._check_reused()
                except UsageError:
                    continue
                if stage not in self._reused:
                    found[stage] = bool(inputs._overlaid(number))
        return found

    def shared_steps(self, directory: Path) -> dict[str, tuple[BuildStep, ...]]:
        """See `CandidateInputs.shared_steps`: stages as the bad end has them; none where the user names an image."""
        found: dict[str, tuple[BuildStep, ...]] = {}
        for number, part in enumerate(self._space.parts):
            bad = part.history.bad
            for stage in stages_among(bad.data, [*self._reused]):
                if not self._reused[stage]:
                    below = [self._at_bad_end(each, self._target(each), directory, stage) for each in range(number)]
                    own = replace(self._at_bad_end(number, stage, directory, stage), argument="")
                    found[stage] = (*below, own)
        return found

    def _at_bad_end(self, number: int, target: str, directory: Path, stage: str) -> BuildStep:
        """One file as the bad end has it, to be built up to a target."""
        part = self._space.parts[number]
        bad = part.history.bad
        room = directory.with_name(f"{directory.name}-stage-{stage}-{number}")
        inputs = self._inputs(number, bad, bad.data)
        copy = inputs.write_copy(room, {})
        return BuildStep(copy, self._context(part, bad, room), inputs.values({}), target, part.argument)

    def steps(
        self, candidate: Candidate, directory: Path, shared: Mapping[str, str] | None = None
    ) -> tuple[BuildStep, ...]:
        """See `CandidateInputs.steps`."""
        taken = {} if shared is None else {**shared, **{stage: image for stage, image in self._reused.items() if image}}
        found = []
        for number, part in enumerate(self._space.parts):
            last = number == len(self._space.parts) - 1
            room = directory if last else directory.with_name(f"{directory.name}-base{number}")
            inputs = self._candidate_inputs(number, part, candidate, taken)
            copy = inputs.write_copy(room, candidate)
            context = self._context(part, part.version(candidate), room)
            found.append(BuildStep(copy, context, inputs.values({}), self._target(number), part.argument))
        return tuple(found)

    def mistake(self, ended: Ended, candidate: Mapping[str, str]) -> str:
        """See `CandidateInputs.mistake`: what is wrong with an earlier text is that candidate's failure."""
        part = self._space.parts[-1]
        if part.version(candidate) is not part.history.bad:
            return ""
        return self._main(candidate).mistake(ended, candidate)

    def in_original_lines(self, message: str, candidate: Mapping[str, str]) -> str:
        """See `CandidateInputs.in_original_lines`."""
        return self._main(candidate).in_original_lines(message, candidate)

    def _main(self, candidate: Mapping[str, str]) -> BuildInputs:
        number = len(self._space.parts) - 1
        return self._candidate_inputs(number, self._space.parts[number], candidate)

    def _candidate_inputs(
        self, number: int, part: FilePart, candidate: Mapping[str, str], taken: Mapping[str, str] | None = None
    ) -> BuildInputs:
        time = self._space.index_time(candidate)
        text = part.render(candidate)
        if taken:
            text = with_reused_stages(text, taken)
            if stage := self._overlaid(number):
                text = with_overlay(text, stage, self._over(part, candidate))
        return self._inputs(number, part.version(candidate), text, time)

    @staticmethod
    def _over(part: FilePart, candidate: Mapping[str, str]) -> dict[str, str]:
        """The packages of a candidate that differ from those of the bad end."""
        ends = {slot.name: exact(bad) or value_of(bad) for slot, _, bad in part.moving}
        ends |= {each.slot.name: each.values[-1].text for each in part.floats}
        return {
            slot.names[0]: candidate[slot.name]
            for slot in part.slots
            if slot.name in ends and candidate.get(slot.name, ends[slot.name]) != ends[slot.name]
        }

    def _inputs(self, number: int, version: Version, text: bytes, time: datetime | None = None) -> BuildInputs:
        """The inputs of one file with this text, with the files around this version of it."""
        time = self.time if time is None or self.time is None else time
        key = (number, text, version.context, time)
        if key not in self._known:
            part = self._space.parts[number]
            last = number == len(self._space.parts) - 1
            request = replace(self._request, target=self._request.target if last else part.target)
            self._known[key] = BuildInputs(
                request,
                version.path if part.history.repository is not None else part.history.bad.path,
                (),
                time,
                text=text,
                around=None if part.history.repository is None else version.context,
                bases=self._bases,
                inside=self._inside,
            )
        return self._known[key]

    def _context(self, part: FilePart, version: Version, room: Path) -> Path:
        """The build context of a version: as it is on disk, or checked out as of its commit."""
        history = part.history
        if history.repository is None:
            return self._request.context or history.bad.path.parent
        tree = room / "context"
        try:
            history.repository.check_out(version.commit, history.sources, tree, room / "index")
            (tree / history.context).mkdir(parents=True, exist_ok=True)
            ignore = tree / f"{history.relative}.dockerignore"
            if ignore.is_file():
                ignore.replace(room / "Dockerfile.dockerignore")
        except OSError as error:
            raise EnvironmentFailureError(f"cannot write to {room}: {error.strerror}") from error
        return tree / history.context


def _slots(part: FilePart) -> dict[str, Pin]:
    """The pins of a file that are axes, by name."""
    return {slot.name: bad for slot, _, bad in part.moving} | {each.slot.name: each.pin for each in part.floats}


def _is_package_of(pin: Pin, stage: str) -> bool:
    """Whether a pin is a package that this stage alone installs."""
    stages = {use.stage.lower() for use in pin.uses} or {pin.stage.lower()}
    return pin.kind is PinKind.PACKAGE and stages == {stage}
