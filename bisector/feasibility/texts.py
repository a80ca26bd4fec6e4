"""The Dockerfiles of candidates, for those who read what they install."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.docker.arguments import pin_arguments
from bisector.environments.docker.instructions import read_dockerfile
from bisector.feasibility.dockerfiles import DockerfileText, FeasibleDockerfiles
from bisector.model import Candidate
from bisector.request import DockerRequest, RunRequest
from pins.errors import PinsError
from pins.files.context import Directory
from pins.files.locate import locate
from pins.model import PinKind

if TYPE_CHECKING:
    from bisector.environments.base import Environment
    from bisector.file_axes.space import FilePart, FileSpace
    from bisector.file_axes.versions import Version
    from pins.sources.index_configuration import IndexConfiguration


def feasible_files(
    environment: "Environment", space: "FileSpace", request: RunRequest, index: "IndexConfiguration", cache: Path
) -> "Environment":
    """The environment for candidates that are files, which refuses those whose installations cannot succeed."""

    def texts_of(candidate: Candidate) -> Sequence[DockerfileText]:
        return [_text_of_part(part, candidate, request.docker) for part in space.parts]

    ends = [
        [_text(version, version.data, request.docker, part.target) for version, part in versions]
        for versions in (
            [(part.history.good, part) for part in space.parts],
            [(part.history.bad, part) for part in space.parts],
        )
    ]
    return FeasibleDockerfiles(environment, index, cache, texts_of, ends)


def feasible_arguments(
    environment: "Environment",
    request: RunRequest,
    docker: DockerRequest,
    pins: Sequence[str],
    index: "IndexConfiguration",
    cache: Path,
) -> "Environment":
    """The same where ARGs take the pins; the environment as it is where its Dockerfile cannot be read so."""
    path = docker.dockerfile
    names = (*pins, *dict(request.fixed))
    try:
        assert path is not None
        content = path.read_bytes()
        text = read_dockerfile(content.decode("utf-8", "surrogateescape"))
        carried = pin_arguments(text, str(path), names, docker.build_args, docker.commit_pins)
    except (OSError, PinsError):
        return environment  # what is wrong with it is said where it is built
    around = Directory(docker.context or path.parent)
    still = {pin.pin: pin.bad for pin in request.pins if pin.pin in docker.commit_pins}

    def texts_of(candidate: Candidate) -> Sequence[DockerfileText]:
        values = carried.values({**candidate, **still})
        return [DockerfileText(content, _shown(path), values, docker.target, around.read)]

    ends = [
        texts_of(Candidate((*((pin.pin, end(pin.good, pin.bad)) for pin in request.pins), *request.fixed)))
        for end in (lambda good, _: good, lambda _, bad: bad)
        if {*names} <= {*(pin.pin for pin in request.pins), *dict(request.fixed)}
    ]
    return FeasibleDockerfiles(environment, index, cache, texts_of, ends)


def _text_of_part(part: "FilePart", candidate: Mapping[str, str], docker: DockerRequest) -> DockerfileText:
    """The file of a candidate, with commits left as they are: what they require is not known from the file."""
    git = {slot.name for slot in part.slots if slot.kind is PinKind.GIT}
    content = part.render({name: value for name, value in candidate.items() if name not in git})
    return _text(part.version(candidate), content, docker, part.target)


def _text(version: "Version", content: bytes, docker: DockerRequest, target: str) -> DockerfileText:
    return DockerfileText(
        content,
        _shown(version.path),
        version.reading.build_args,
        target or version.reading.target,
        _reader(version, docker),
        version.context,
    )


def _reader(version: "Version", docker: DockerRequest) -> Callable[[str], bytes | None]:
    """What reads files around a version: of its commit, from the top of the repository or from beside the file."""
    if not version.commit:
        return Directory(docker.context or version.path.parent).read

    def read(path: str) -> bytes | None:
        tree, relative = locate(version.path, version.commit)
        here = relative.rpartition("/")[0]
        found = tree.read(path)
        return found if found is not None or not here else tree.read(f"{here}/{path}")

    return read


def _shown(path: Path) -> str:
    """A path for people: from the working directory where it lies below."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
