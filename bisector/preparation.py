"""From what was asked for to what can be searched: the environment, the axes, the chain."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.base import BuildFailedError, Environment, InfeasibleError
from bisector.environments.fixed_pins import FixedPins
from bisector.feasibility.known_bad import NOTHING_KNOWN, KnownBad
from bisector.model import Axis, AxisValue, Candidate
from bisector.request import IndexRequest, RunRequest
from bisector.space import Chain, chain_through, ends, order_of_pins, without_infeasible
from pins.errors import NoSolutionError, UsageError
from pins.model import PinKind

if TYPE_CHECKING:
    from bisector.environments.docker.pins_inside import SettingsOf
    from bisector.environments.venv.commits import CommitSource
    from bisector.file_axes.space import FileSpace
    from pins.sources.git.clone import Clone
    from pins.sources.index_configuration import IndexConfiguration
    from pins.sources.package_index import PackageIndex


MOST_SECONDS = 20.0
"""So long the candidates of a chain are asked for before a search; what is left is asked for when it is built."""


def read_index(request: IndexRequest, variables: Mapping[str, str], directory: Path) -> "IndexConfiguration":
    """The package index that this run reads."""
    from pins.sources.index_configuration import read_index_configuration

    return read_index_configuration(
        request.index_url, request.extra_index_urls, environment=variables, directory=directory
    )


def make_environment(
    request: RunRequest,
    pins: tuple[str, ...],
    index: "IndexConfiguration",
    exclude_newer: datetime,
    run_id: str,
    *,
    to_plan: bool = False,
) -> Environment:
    """The environment that was asked for, for candidates with these pins; `request.fixed` is added to each of them.

    Args:
        request: what was asked for.
        pins: names of the axes; those of files are found in the files.
        index: the package index.
        exclude_newer: it is read as of then.
        run_id: labels all that is made.
        to_plan: whether nothing will be built.

    Raises:
        UsageError: there is none of that name, or it lacks an option; a repository or a revision does not exist.
        SourceError: a repository cannot be read.
    """
    if request.hosts and not to_plan:
        from bisector.executors.docker_hosts import docker_hosts
        from bisector.executors.spread import SpreadEnvironment

        return SpreadEnvironment(
            docker_hosts(
                request.hosts, lambda: _environment_for(request, pins, index, exclude_newer, run_id), request.health
            ),
            slots=-(-request.workers // len(request.hosts)),
        )
    if request.build_on and not to_plan:
        from bisector.executors.split import split_environment

        return split_environment(request, lambda: _environment_for(request, pins, index, exclude_newer, run_id), run_id)
    if request.executor == "ray" and not to_plan:
        from bisector.executors.ray.spreading import over_cluster

        local = _environment_for(request, pins, index, exclude_newer, run_id, to_plan=request.environment == "docker")
        return over_cluster(request, local, pins, index, exclude_newer, run_id)
    environment = _environment_for(request, pins, index, exclude_newer, run_id, to_plan=to_plan)
    if request.health and not to_plan:
        from bisector.executors.health import HealthyEnvironment

        environment = HealthyEnvironment(environment, request.health)
    if not request.ask or to_plan:
        return environment
    from bisector.environments.asking import AskingEnvironment

    asking: Environment = AskingEnvironment(environment, script=request.smoke.path.is_file())
    return asking


def _environment_for(
    request: RunRequest,
    pins: tuple[str, ...],
    index: "IndexConfiguration",
    exclude_newer: datetime,
    run_id: str,
    *,
    to_plan: bool = False,
) -> Environment:
    if request.images is not None:
        from bisector.environments.docker.images import ImageEnvironment

        return ImageEnvironment(
            request.docker, request.images, run_id=run_id, build_timeout=request.build_timeout, to_plan=to_plan
        )
    if request.files is not None and request.environment == "docker":
        from bisector.file_axes.preparation import docker_environment

        inside = _clones(request) if request.nested else {}
        settings = _settings_inside(request, inside)
        images = docker_environment(request, index, exclude_newer, run_id, to_plan=to_plan, inside=settings)
        images.clones = inside
        assert images.space is not None
        environment = _feasible_files(images, images.space, request, index)
        return FixedPins(environment, request.fixed) if request.fixed else environment
    if request.files is not None and request.environment == "venv":
        from bisector.file_axes.venv_floats import venv_environment

        return venv_environment(request, index, exclude_newer)
    if not request.repositories:
        environment = _make(request, pins, index, exclude_newer, run_id, {}, to_plan=to_plan)
        return FixedPins(environment, request.fixed) if request.fixed else environment
    from bisector.environments.git_pins import GitPins
    from bisector.git_axes import with_commits
    from pins.sources.page_cache import cache_directory

    clones = _clones(request)
    fixed = with_commits(request.fixed, clones)
    request = replace(request, fixed=fixed)
    inside_names = [name for name, _, _ in request.nested]
    only = [one.pin for one in request.repositories if not one.install and one.pin not in inside_names]
    left_out = [*only, *inside_names] if request.environment != "command" else []
    known = tuple(pin for pin in pins if pin not in left_out)
    held = tuple((pin, value) for pin, value in fixed if pin not in left_out)
    own = {pin: clone for pin, clone in clones.items() if pin not in inside_names}
    settings = _settings_inside(request, clones) if request.environment == "docker" else None
    environment = _make(
        replace(request, fixed=held), known, index, exclude_newer, run_id, own, to_plan=to_plan, inside=settings
    )
    lent = {"venv": list(own), "docker": only}.get(request.environment, [])
    environment = GitPins(
        environment,
        request.repositories,
        clones,
        cache_directory(os.environ),
        left_out=only if settings is not None else left_out,
        lent=lent,
        nested=request.nested if settings is None else (),  # an image sets them itself
    )
    return FixedPins(environment, fixed) if fixed else environment


def _clones(request: RunRequest) -> "dict[str, Clone]":
    from bisector.git_axes import clone_of

    return {repository.pin: clone_of(repository) for repository in request.repositories}


def _settings_inside(request: RunRequest, clones: "Mapping[str, Clone]") -> "SettingsOf | None":
    """What sets pins within the trees that images check out, None where none is searched."""
    if not request.nested:
        return None
    from bisector.environments.docker.pins_inside import settings_of

    return settings_of(clones, request.nested)


def _feasible_files(
    environment: Environment, space: "FileSpace", request: RunRequest, index: "IndexConfiguration"
) -> Environment:
    from bisector.feasibility.texts import feasible_files
    from pins.sources.page_cache import cache_directory

    return feasible_files(environment, space, request, index, cache_directory(os.environ))


def _make(
    request: RunRequest,
    pins: tuple[str, ...],
    index: "IndexConfiguration",
    exclude_newer: datetime,
    run_id: str,
    clones: "Mapping[str, Clone]",
    *,
    to_plan: bool = False,
    inside: "SettingsOf | None" = None,
) -> Environment:
    match request.environment:
        case "venv":
            from bisector.environments.venv.environment import VenvEnvironment
            from pins.sources.page_cache import cache_directory

            cache = cache_directory(os.environ)
            environment = VenvEnvironment(
                request.requirements,
                index,
                exclude_newer,
                cache_directory=cache,
                build_timeout=request.build_timeout,
                pins=pins,
                held={pin: value for pin, value in request.fixed if pin not in clones},
                commits=_commit_sources(request, clones, cache),
            )
            if not to_plan:
                return environment
            from bisector.feasibility.packages import PlannedPackages

            held = tuple(pin for pin, _ in request.fixed)
            packages = [pin for pin in (*pins, *held) if pin not in clones]
            return PlannedPackages(environment, packages, clones, exclude_newer, cache)
        case "command":
            from bisector.environments.command import CommandEnvironment
            from bisector.environments.command_checkouts import CommandCheckouts
            from pins.sources.page_cache import cache_directory

            if not request.build_command:
                raise UsageError("--env command needs --build-command: the command that builds a candidate")
            return CommandEnvironment(
                request.build_command,
                python=request.requirements.python,
                build_timeout=request.build_timeout,
                checkouts=CommandCheckouts(clones, cache_directory(os.environ)),
            )
        case "docker":
            from bisector.environments.docker.environment import DockerEnvironment
            from bisector.feasibility.texts import feasible_arguments
            from bisector.file_axes.written_pins import environment_with_written_pins
            from pins.sources.page_cache import cache_directory

            docker = replace(request.docker, commit_pins=tuple(clones))
            written = environment_with_written_pins(
                replace(request, docker=docker), pins, exclude_newer, run_id, to_plan=to_plan, inside=inside
            )
            if written is not None:
                return _feasible_files(*written, request, index)
            images = DockerEnvironment(
                docker,
                (*pins, *dict(request.fixed)),
                exclude_newer,
                run_id=run_id,
                build_timeout=request.build_timeout,
                to_plan=to_plan,
                inside=inside,
            )
            return feasible_arguments(images, request, docker, pins, index, cache_directory(os.environ))
    raise UsageError(f"no environment is called {request.environment!r}; there are venv, docker, command and image")


def _commit_sources(request: RunRequest, clones: "Mapping[str, Clone]", cache: Path) -> "Mapping[str, CommitSource]":
    """Where the pins come from that a virtual environment installs from a commit."""
    if not clones:
        return {}
    from bisector.environments.venv.commits import CommitSource

    return {
        repository.pin: CommitSource(repository.pin, clones[repository.pin], repository.subdirectory, cache)
        for repository in request.repositories
        if repository.install and repository.pin in clones
    }


def with_settled_revisions(request: RunRequest) -> RunRequest:
    """The request with revisions as commits, and tags as digests, so that a resume finds what the start found.

    Raises:
        UsageError: there is no such revision, or tag.
        SourceError: a registry cannot be read.
    """
    if request.images is not None:
        from bisector.image_axes.settling import settled_images

        return replace(request, images=settled_images(request.images))
    request = _with_fixed_commits(request)
    if request.files is None and request.environment != "docker":
        return request
    from bisector.file_axes.preparation import settled

    return settled(request)


def _with_fixed_commits(request: RunRequest) -> RunRequest:
    """The request with pins that are held at a revision held at its commit."""
    git = {repository.pin: repository for repository in request.repositories}
    if request.files is not None or not any(pin in git for pin, _ in request.fixed):
        return request
    from bisector.git_axes import clone_of, with_commits

    clones = {pin: clone_of(git[pin]) for pin, _ in request.fixed if pin in git}
    return replace(request, fixed=with_commits(request.fixed, clones))


def pins_of(request: RunRequest) -> tuple[str, ...]:
    """The names of the pins that move."""
    return tuple(pin.pin for pin in request.pins)


def axes_of(
    request: RunRequest, environment: Environment, index: "IndexConfiguration", before: datetime
) -> tuple[Axis, ...]:
    """The axis of each `--pin`: the releases, or the commits, between its ends.

    Raises:
        UsageError: an unknown package, version or revision, ends that are equal or in the wrong order.
        SourceError: the index or a repository cannot be read.
    """
    from pins.sources.releases import releases_between

    if request.images is not None:
        from bisector.image_axes.settling import image_axis

        return (image_axis(request.images),)
    if (floats := getattr(environment, "floats", None)) is not None:
        return tuple(floats)
    if (space := getattr(environment, "space", None)) is not None and not request.pins:
        from bisector.file_axes.preparation import axes_from_files

        with _releases_of(environment, index) as source:
            axes_of_files, notes = axes_from_files(request, space, source, before)
        if isinstance(environment.notes, list):
            environment.notes.extend(notes)
        else:
            getattr(environment, "add_notes")(notes)  # noqa: B009 - one that stands around another
        return axes_of_files
    names = pins_of(request)
    if not names:
        raise UsageError("nothing to search: name a pin and its two ends")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"--pin names {', '.join(twice)} twice; give each pin one range")
    axes = []
    clones: Mapping[str, Clone] = getattr(environment, "clones", {})
    with _releases_of(environment, index) as source:
        for pin in request.pins:
            if pin.pin in clones:
                from bisector.git_axes import git_axis

                axes.append(git_axis(pin, clones[pin.pin]))
                continue
            found = releases_between(source.releases(pin.pin, before=before), pin.good, pin.bad, name=pin.pin)
            values = tuple(AxisValue(str(release.version), release.upload_time) for release in found)
            axes.append(Axis(pin.pin, PinKind.PACKAGE, values))
    return tuple(axes)


def existing(
    request: RunRequest,
    candidate: Candidate,
    environment: Environment,
    index: "IndexConfiguration",
    before: datetime,
) -> Candidate:
    """A candidate with its versions as the index writes them; a build command may take values that no index knows.

    Raises:
        UsageError: an unknown package or version, or one that cannot be installed here.
        SourceError: the index cannot be read.
    """
    from pins.sources.releases import release_named

    if request.images is not None:
        return candidate
    clones: Mapping[str, Clone] = getattr(environment, "clones", {})
    if clones:
        from bisector.git_axes import with_commits

        candidate = Candidate(with_commits(candidate.pins, clones))
    if request.environment == "command":
        return candidate
    with _releases_of(environment, index) as source:
        releases = {pin: source.releases(pin, before=before) for pin in candidate if pin not in clones}
    return Candidate(
        tuple(
            (pin, str(release_named(releases[pin], text, name=pin).version) if pin in releases else text)
            for pin, text in candidate.pins
        )
    )


def opened_index(request: RunRequest) -> "PackageIndex":
    """The package index of a run, whatever can be installed from it."""
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory

    index = read_index(request.index, os.environ, Path.cwd())
    return PackageIndex(index, None, cache=PageCache(cache_directory(os.environ)))


def _releases_of(environment: Environment, index: "IndexConfiguration") -> "PackageIndex":
    """The index, judged by what the interpreter of an environment can install."""
    from pins.sources.package_index import PackageIndex
    from pins.sources.page_cache import PageCache, cache_directory
    from pins.sources.target import target_of

    interpreter = environment.interpreter
    target = target_of(interpreter) if interpreter is not None else None
    index = getattr(environment, "index", index)  # with what requirement files add
    return PackageIndex(index, target, cache=PageCache(cache_directory(os.environ)))


def lay_chain(
    axes: tuple[Axis, ...],
    environment: Environment,
    reasons: dict[Candidate, str] | None = None,
    *,
    known: KnownBad = NOTHING_KNOWN,
    whole: bool | None = None,
) -> Chain:
    """The chain through the box, without candidates that cannot be: their moves join those of the next one.

    Where several pins move, the environment's resolver is asked which of them can go first, and where that is cheap,
    of every candidate. Elsewhere each is asked for when it is about to be built: the first build begins at once.

    Args:
        axes: the pins.
        environment: knows what can be resolved.
        reasons: takes the candidates that cannot be, with the reasons.
        known: what people know of versions.
        whole: whether every candidate is asked for; None: as the environment says.

    Raises:
        NoSolutionError: an end cannot be resolved.
    """
    reasons = {} if reasons is None else reasons

    def can_be(candidate: Candidate) -> bool:
        return feasible(environment, candidate, reasons)

    if len(axes) == 1:
        chain = chain_through(axes, [axes])
    else:
        for name, end in zip(("good", "bad"), ends(axes), strict=True):
            if not can_be(end):
                raise NoSolutionError(f"the pins of the {name} end exclude one another, {end}: {reasons[end]}")
        chain = chain_through(axes, order_of_pins(axes, can_be), can_be)
    for candidate in chain.candidates[1:-1]:
        if reason := known.why_not(candidate):
            reasons.setdefault(candidate, reason)
    asked = whole if whole is not None else len(axes) > 1 and getattr(environment, "is_foreseeing", False)
    if whole:
        for end in (chain.candidates[0], chain.candidates[-1]):
            can_be(end)  # said, and left where it is
    until = time.monotonic() + MOST_SECONDS

    def stays(candidate: Candidate) -> bool:
        return candidate not in reasons and (not asked or time.monotonic() > until or can_be(candidate))

    return without_infeasible(chain, stays)


def feasible(environment: Environment, candidate: Candidate, reasons: dict[Candidate, str]) -> bool:
    """Whether a candidate can be resolved; `reasons` takes the resolver's reason where not."""
    try:
        environment.resolve(candidate)
    except InfeasibleError as error:
        reasons[candidate] = str(error)
        return False
    except BuildFailedError:
        return True  # what a build shows is for the search
    return True
