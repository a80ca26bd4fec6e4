"""From a request whose ends are files to an environment and axes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from bisector.file_axes.axes import GitAxis, file_axes
from bisector.file_axes.ends import read_space
from bisector.file_axes.floats import described, floating
from bisector.file_axes.index import package_index
from bisector.file_axes.repository import Repository
from bisector.file_axes.space import FileSpace
from bisector.file_axes.values import Releases
from bisector.file_axes.versions import Reading
from bisector.model import Axis
from bisector.request import PinRange, RepositoryRequest, RunRequest
from pins.errors import PinsError
from pins.files.locate import locate
from pins.files.reading import ReadRequest, read_all
from pins.release import Release

if TYPE_CHECKING:
    from bisector.environments.docker.environment import DockerEnvironment
    from bisector.environments.docker.pins_inside import SettingsOf
    from pins.sources.index_configuration import IndexConfiguration
    from pins.sources.package_index import PackageIndex


def settled(request: RunRequest) -> RunRequest:
    """The request with its revisions as commits, since HEAD may move before the run is resumed, and with what floats.

    Raises:
        UsageError: there is no such revision.
    """
    files = request.files
    if files is not None and files.good_image and files.good_inventory is None:
        from bisector.environments.docker.inventory import read_inventory

        good_end, bad_end = (read_inventory(image, "inventory") for image in (files.good_image, files.bad_image))
        files = replace(files, good_inventory=good_end, bad_inventory=bad_end)
        request = replace(request, files=files)
    if files is None or files.file is None or not files.good:
        return _with_floating(request, "")
    tree, _ = locate(files.file, files.good)
    repository = Repository(tree.root)
    good, bad = (repository.commit(revision).id for revision in (files.good, files.bad))
    return _with_floating(replace(request, files=replace(files, good=good, bad=bad)), bad)


def _with_floating(request: RunRequest, revision: str) -> RunRequest:
    """The request with a list of what its Dockerfile leaves open."""
    path = request.docker.dockerfile
    if path is None or request.environment != "docker":
        return request
    try:
        [pins] = read_all(ReadRequest((path,), revision))
    except (PinsError, ValueError):
        return request  # what is wrong with the file is said where it is built
    return replace(request, floating=described(floating(pins)))


def space_of(request: RunRequest, releases: Releases) -> FileSpace:
    """The files of a request.

    Args:
        request: what was asked for.
        releases: of packages, as of a date.

    Raises:
        UsageError: a file, revision or pin does not exist, or the ends do not differ.
    """
    assert request.files is not None
    clones = {
        repository.pin: Path(repository.location)
        for repository in request.repositories
        if "://" not in repository.location
    }
    given = {name: value for name, value in request.docker.build_args if "{" not in value}
    reading = Reading(given, request.docker.target, {name: path for name, path in clones.items() if path.is_dir()})
    fixed = [name for name, _ in request.fixed if name not in request.files.held]
    return read_space(request.files, reading, request.docker.context, fixed, releases)


def docker_environment(
    request: RunRequest,
    index: "IndexConfiguration",
    time: datetime,
    run_id: str,
    *,
    to_plan: bool,
    inside: "SettingsOf | None" = None,
) -> "DockerEnvironment":
    """An environment for candidates that are files.

    Args:
        request: what was asked for.
        index: where packages come from.
        time: package indexes are read as of then, or as of the bad end's date.
        run_id: labels all that is made.
        to_plan: whether nothing will be built, so that no engine is needed.
        inside: what is set within the trees of a candidate's commits.
    """
    from bisector.environments.docker.environment import DockerEnvironment
    from bisector.environments.docker.file_inputs import FileInputs

    assert request.files is not None
    with package_index(index) as source:
        space = space_of(request, lambda name, date: source.releases(name, before=date or time))
    time = request.files.span[1] if request.files.span else time
    index_time = time if request.docker.index_time else None
    pins = tuple(dict.fromkeys((*space.pins, *dict(request.fixed))))
    environment = DockerEnvironment(
        request.docker,
        pins,
        time,
        run_id=run_id,
        build_timeout=request.build_timeout,
        files=lambda docker: FileInputs(docker, space, pins, index_time, bases=not to_plan, inside=inside),
        to_plan=to_plan,
    )
    environment.space = space
    environment.notes += space.notes
    return environment


def axes_from_files(
    request: RunRequest, space: FileSpace, source: "PackageIndex", before: datetime
) -> tuple[tuple[Axis, ...], Sequence[str]]:
    """The axes of a file space, and what the user should know of them.

    Raises:
        SourceError: an index or repository cannot be read where nothing else tells the values.
    """

    def releases(name: str, time: datetime | None) -> Sequence[Release]:
        return source.releases(name, before=time or before)

    return file_axes(space, releases, _git_axis(request.repositories))


def _git_axis(repositories: Sequence[RepositoryRequest]) -> GitAxis:
    named = {canonicalize_name(repository.pin): repository for repository in repositories}

    def read(names: Sequence[str], address: str, good: str, bad: str) -> Axis:
        from bisector.git_axes import clone_of, git_axis

        known = next((named[canonicalize_name(name)] for name in names if canonicalize_name(name) in named), None)
        clone = clone_of(known or RepositoryRequest(names[0], address))
        return git_axis(PinRange(names[0], good, bad), clone, may_go_back=True)

    return read
