"""From a request to the environment that makes its candidates runnable, on the machine that this runs on."""

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.base import Environment
from bisector.environments.fixed_pins import FixedPins
from bisector.request import IndexRequest, RunRequest
from pins.errors import UsageError

if TYPE_CHECKING:
    from bisector.environments.docker.pins_inside import SettingsOf
    from bisector.environments.venv.commits import CommitSource
    from bisector.file_axes.space import FileSpace
    from pins.sources.git.clone import Clone
    from pins.sources.index_configuration import IndexConfiguration


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
            sources = _commit_sources(request, clones, cache)
            environment = VenvEnvironment(
                request.requirements,
                index,
                exclude_newer,
                cache_directory=cache,
                build_timeout=request.build_timeout,
                pins=pins,
                held={pin: value for pin, value in request.fixed if pin not in clones},
                commits=sources,
            )
            if not to_plan:
                return _feasible_commits(environment, request, sources)
            from bisector.feasibility.packages import PlannedPackages

            held = tuple(pin for pin, _ in request.fixed)
            packages = [pin for pin in (*pins, *held) if pin not in clones]
            planned = PlannedPackages(environment, packages, clones, exclude_newer, cache)
            return _feasible_commits(planned, request, sources)
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


def _feasible_commits(
    environment: Environment, request: RunRequest, sources: "Mapping[str, CommitSource]"
) -> Environment:
    """The environment, which refuses commits that require other versions than package pins have."""
    if not sources:
        return environment
    from bisector.feasibility.commits import CommitProject, FeasibleCommits
    from bisector.git_axes import with_commits
    from bisector.model import Candidate

    clones = {pin: source.clone for pin, source in sources.items()}

    def ends() -> tuple[Candidate, ...]:
        both = ([(pin.pin, pin.good) for pin in request.pins], [(pin.pin, pin.bad) for pin in request.pins])
        return tuple(Candidate(with_commits((*end, *request.fixed), clones)) for end in both)

    projects = [CommitProject(pin, source.clone, source.subdirectory) for pin, source in sources.items()]
    return FeasibleCommits(environment, projects, ends)


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
