"""Whether the pip and uv calls of a candidate's Dockerfile have a solution, as the package index tells.

Only what is certain counts: of a call that may find packages elsewhere, in a file that does not say its Python, or
where an index cannot be read, nothing is told, and the build shows it. Nor is a call believed that would have no
solution at an end: ends are there to be built. All releases of today are admitted, whatever time builds read the index
as of, since not every pip keeps to that.
"""

import hashlib
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from bisector.environments.around import AroundEnvironment
from bisector.environments.base import Environment, InfeasibleError
from bisector.model import Candidate, Recipe
from pins.errors import PinsError, SourceError, UsageError
from pins.metadata.base_image import told_by
from pins.sources.target import Installer

if TYPE_CHECKING:
    from pins.metadata.environments.install_calls import InstallCall
    from pins.metadata.index_requirements import IndexRequirements
    from pins.sources.index_configuration import IndexConfiguration

PYTHONS = tuple(f"3.{minor}" for minor in range(8, 15))
"""Those that an image may have whose file does not tell: what excludes a candidate must hold for all of them."""
_NEWEST_GLIBC = "2.99"
"""Of a C library that is not known, so that no wheel is held to be out of reach."""


@dataclass(frozen=True)
class DockerfileText:
    """A Dockerfile that is to be built.

    Attributes:
        content: of the file.
        name: for people.
        build_args: what the build is given.
        target: the stage that is built, "" for the last.
        read: gives a file around it, None when there is none.
        around: an identity of the files around it, where they are not those on disk.
    """

    content: bytes
    name: str
    build_args: Mapping[str, str]
    target: str
    read: Callable[[str], bytes | None]
    around: str = ""

    @property
    def key(self) -> str:
        """Equal for files that ask for the same."""
        values = repr((self.name, sorted(self.build_args.items()), self.target, self.around))
        return hashlib.sha256(self.content + b"\0" + values.encode()).hexdigest()


TextsOf = Callable[[Candidate], Sequence[DockerfileText]]
"""The files that a candidate is built from, those first that the others are built on."""


class FeasibleDockerfiles(AroundEnvironment):
    """An environment of images that refuses candidates whose installations cannot succeed.

    Args:
        environment: the one that does the work.
        index: where packages come from.
        cache: the user's cache directory.
        texts_of: the files of a candidate.
        ends: the files of both ends.
    """

    def __init__(
        self,
        environment: Environment,
        index: "IndexConfiguration",
        cache: Path,
        texts_of: TextsOf,
        ends: Sequence[Sequence[DockerfileText]],
    ) -> None:
        super().__init__(environment)
        self._texts_of = texts_of
        self._ends = ends
        self._resolver = _Resolver(index, cache)
        self._calls: dict[str, _Calls] = {}
        self._known: dict[tuple[InstallCall, tuple[str, ...]], str] = {}
        self._lock = RLock()

    is_foreseeing = True
    """Whether asking for a candidate's feasibility is cheap enough to ask for all of a chain."""

    def resolve(self, candidate: Candidate) -> Recipe:
        """See `Environment.resolve`; what cannot be installed is infeasible."""
        recipe = self._environment.resolve(candidate)
        texts = self._texts_of(candidate)
        if [text.key for text in texts] in self._keys_of_ends:
            return recipe  # built whatever is said of it, and without waiting for an index
        with self._lock:
            reason = self._why_not(texts)
        if reason:
            raise InfeasibleError(reason)
        return recipe

    @cached_property
    def _keys_of_ends(self) -> list[list[str]]:
        return [[text.key for text in texts] for texts in self._ends]

    def _why_not(self, texts: Sequence[DockerfileText]) -> str:
        python = ""
        for text in texts:
            found = self._calls_of(text)
            python = found.python or python
            for call in found.calls:
                if _named(call) in self._distrusted:
                    continue
                if reason := self._contradiction(call, (python,) if python else PYTHONS):
                    return f"{text.name}:{call.line} cannot be installed: {reason}"
        return ""

    @cached_property
    def _distrusted(self) -> frozenset[tuple[str, frozenset[str]]]:
        """Calls that would have no solution at an end: what is known of them does not suffice."""
        found = set()
        for texts in self._ends:
            python = ""
            for text in texts:
                calls = self._calls_of(text)
                python = calls.python or python
                for call in calls.calls:
                    if self._contradiction(call, (python,) if python else PYTHONS):
                        found.add(_named(call))
        return frozenset(found)

    def _calls_of(self, text: DockerfileText) -> "_Calls":
        if text.key not in self._calls:
            self._calls[text.key] = _read(text)
        return self._calls[text.key]

    def _contradiction(self, call: "InstallCall", pythons: tuple[str, ...]) -> str:
        if (call, pythons) not in self._known:
            reason = ""
            for python in pythons:
                reason = self._resolver.contradiction(call, python)
                if not reason:
                    break
            self._known[call, pythons] = reason
        return self._known[call, pythons]


@dataclass(frozen=True)
class _Calls:
    """What a file installs, and with which Python, "" where that is not certain."""

    calls: "tuple[InstallCall, ...]" = ()
    python: str = ""


def _read(text: DockerfileText) -> _Calls:
    from pins.files.dockerfile.read import ReadOptions, read_closely
    from pins.metadata.environments.install_calls import install_calls

    @dataclass(frozen=True)
    class Around:
        read: Callable[[str], bytes | None]

    try:
        reading = read_closely(text.content, text.name, ReadOptions(text.build_args, text.target, Around(text.read)))
        if any(problem.fatal for problem in reading.pin_set.problems):
            return _Calls()
        calls = install_calls(reading, text.name, text.read)
    except PinsError:
        return _Calls()
    told = [told_by(stage.base)[1] for stage in reading.pin_set.stages if not stage.parent and "python" in stage.base]
    named = next((pin.value for pin in reading.pin_set.pins if pin.name == "python" and pin.value), "")
    return _Calls(calls, _version(named) or _version(next(iter(told), "")))


def _version(text: str | None) -> str:
    """A version of Python, "" where the text is none."""
    return text if text and re.fullmatch(r"3\.\d{1,2}(\.\d{1,3})?", text) else ""


def _named(call: "InstallCall") -> tuple[str, frozenset[str]]:
    """A call by its stage and what it names, in whatever version."""
    from pins.resolve.requirement_line import read_line

    return call.stage, frozenset(read_line(one.requirement).name for one in call.requirements)


@dataclass
class _Resolver:
    """Asks what the index tells, once for each Python and installer."""

    index: "IndexConfiguration"
    cache: Path
    sources: "dict[tuple[str, Installer], IndexRequirements]" = field(default_factory=dict)
    unreadable: bool = False

    def contradiction(self, call: "InstallCall", python: str) -> str:
        from pins.resolve.contradiction import contradiction
        from pins.resolve.problem import Problem
        from pins.sources.target import described_target

        if self.unreadable:
            return ""
        machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
        target = described_target(python, platform=f"linux-{machine}", glibc=_NEWEST_GLIBC, installer=call.installer)
        if (python, call.installer) not in self.sources:
            from pins.metadata.index_requirements import IndexRequirements
            from pins.sources.metadata_cache import MetadataCache
            from pins.sources.package_index import PackageIndex
            from pins.sources.page_cache import PageCache

            index = PackageIndex(self.index, target, cache=PageCache(self.cache))
            kept = MetadataCache(self.cache / "metadata.sqlite")
            self.sources[python, call.installer] = IndexRequirements(index, cache=kept)
        problem = Problem(
            call.requirements,
            bounds=call.bounds,
            overrides=call.overrides,
            markers=dict(target.markers),
            installer=call.installer,
        )
        try:
            return contradiction(problem, self.sources[python, call.installer])
        except SourceError:
            self.unreadable = True  # each further question would wait as long
        except UsageError:
            pass  # no requirement of PEP 508: what the installer makes of it is its own affair
        return ""
