"""What a person asks of a run: every option of `bisector run`, checked as far as it can be without looking outside."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal

from bisector.file_axes.request import FilesRequest
from bisector.image_axes.request import ImagesRequest
from bisector.model import SmokeScript


class TimeoutIs(StrEnum):
    """What a run means whose time ran out (`--timeout-is`); `auto`: what it means at the bad end."""

    AUTO = "auto"
    FAIL = "fail"
    SKIP = "skip"


class BuildFailureIs(StrEnum):
    """What a failed build means (`--build-failure-is`); `auto`: nothing, but a bad end that does not build is said."""

    AUTO = "auto"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True)
class PinRange:
    """`--pin NAME=GOOD..BAD`: one axis by its ends."""

    pin: str
    good: str
    bad: str


@dataclass(frozen=True)
class RepositoryRequest:
    """`--repo NAME=PATH_OR_URL`: the pin's values are revisions of this repository.

    Attributes:
        pin: its name.
        location: an absolute path, or a URL, free of passwords.
        subdirectory: where in its tree the project lies that is installed, "" for the top (`#subdirectory=...`).
        install: whether candidates install it; False: it is only checked out for the script (`--checkout-only`).
        required_paths: a commit whose tree lacks one of these cannot be tried (`--require-path`).
    """

    pin: str
    location: str
    subdirectory: str = ""
    install: bool = True
    required_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexRequest:
    """Package indexes named on the command line; empty means: as pip or uv is configured.

    Attributes:
        index_url: replaces the configured index (`--index-url`).
        extra_index_urls: looked at as well (`--extra-index-url`).
    """

    index_url: str = ""
    extra_index_urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class RequirementsRequest:
    """What every candidate is installed with, besides its pins (`venv`).

    Attributes:
        requirements: PEP 508 strings (`--with`).
        requirement_files, constraint_files: absolute paths.
        build_constraints: PEP 508 strings for isolated build environments (`--build-constraint`).
        python: a version ("3.12") or the path of an interpreter; "" is the one that runs this program.
        build_isolation: whether source distributions are built in an environment of their own.
    """

    requirements: tuple[str, ...] = ()
    requirement_files: tuple[Path, ...] = ()
    constraint_files: tuple[Path, ...] = ()
    build_constraints: tuple[str, ...] = ()
    python: str = ""
    build_isolation: bool = True


@dataclass(frozen=True)
class DockerRequest:
    """How images are built and run (`docker`).

    Attributes:
        dockerfile: absolute path, or None where the environment is another.
        context: the build context; None is the directory of the Dockerfile.
        target: the stage to build, "" for the last.
        build_args: (ARG, template): `{NAME}` in a template is replaced by that pin's value. A pin without a template
            goes to the ARG that carries it.
        docker_args: further arguments of `docker run`, as typed, one by one (`--docker-arg`).
        mounts: SRC:DST[:ro] as typed.
        gpu: "", "rocm" or "nvidia".
        models: a directory mounted read-only, with model hubs set offline.
        secrets, ssh: handed to BuildKit as typed; never recorded.
        build_options: further options of `docker build`, as typed, one by one (`--docker-build-option`).
        index_time: whether builds read package indexes as of the run's time (off with `--no-index-time`).
        commit_pins: those of the pins whose values are commits.
        disk: bytes that the images of a run may take together, None for no limit (`--disk`).
        reuse_stages: (stage, image) that are taken as built once; "" for as the bad end has it (`--reuse-stage`).
    """

    dockerfile: Path | None = None
    context: Path | None = None
    target: str = ""
    build_args: tuple[tuple[str, str], ...] = ()
    docker_args: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    gpu: str = ""
    models: Path | None = None
    secrets: tuple[str, ...] = ()
    ssh: tuple[str, ...] = ()
    build_options: tuple[str, ...] = ()
    index_time: bool = True
    commit_pins: tuple[str, ...] = ()
    reuse_stages: tuple[tuple[str, str], ...] = ()
    disk: int | None = None


@dataclass(frozen=True)
class Suspect:
    """`--suspect`: a pin, one of its values, or some of its commits, thought to be the culprit.

    Attributes:
        pin: its name.
        value: the one value that is meant; "" for any.
        word: commits are meant whose subject holds it; "" for any.
        path: commits are meant that change a file or directory which this pattern of git's matches; "" for any.
    """

    pin: str
    value: str = ""
    word: str = ""
    path: str = ""

    def __str__(self) -> str:
        parts = (("=", self.value), ("~", self.word), (":", self.path))
        return self.pin + "".join(f"{mark}{text}" for mark, text in parts if text)


@dataclass(frozen=True)
class MetricRequest:
    """`--metric`: a number that the script prints decides, where its exit status is 0.

    Attributes:
        name: what it is called in the output.
        bound: the worst value that is good (`NAME<=VALUE`); None where `regress` says it.
        regress: how much worse than the good end is bad, as a share of it (`--regress 5%`).
        worse: which way is worse; "" where the ends show it.
    """

    name: str
    bound: float | None = None
    regress: float | None = None
    worse: Literal["", "higher", "lower"] = ""


HEARTBEAT = 20.0
"""Seconds between one question to another machine and the next; one that is silent for about twice as long is gone."""


@dataclass(frozen=True)
class RunRequest:
    """One run.

    Attributes:
        pins: the axes.
        smoke: the script.
        environment: "venv", "docker", "command" or "image".
        build_command: for `command`: the words of the user's build command; one word alone is a shell command line
            of the user's own writing.
        exclude_newer: the index is read as of this time (aware); None: as of the run's start.
        fixed: pins held still, (name, value) (`--fix`).
        repositories: those of the pins that are revisions; a pin without one is a package.
        nested: pins that lie within the tree of another one: (name, that other pin, path in its tree) (`--within`).
        files: the ends are read from files; None where `pins` names them.
        images: candidates are images that exist; None where they are built.
        canary: the bad end is tried first, and where it passes there is nothing to search (`bisector canary`).
        ask: a person judges each candidate (`--ask`); a script, if there is one, runs first.
        floating: requirements that candidates leave open, for a report: found when a run starts.
        timeout_is, build_failure_is: see there.
        build_timeout: seconds, None for no limit.
        expect: a regular expression that a failure's output must match, "" for the bad end's own signature.
        any_failure: every failure counts.
        first_good: the first end of each pin fails and the second passes: the fix is sought.
        suspects: what is thought likely. metric: what decides in place of the exit status.
        descend: the search goes on inside the tree of a commit that is found.
        every_culprit: where the culprit is not alone, the next one is searched for.
        confidence: probability that the named step must reach. max_runs: None for the engine's own bound.
        budget: seconds that the whole run may take. repeat: confirming runs, None for `auto`.
        executor: "local" or "ray".
        ray_address: of the cluster. ray_resources: what one run takes, by Ray's names. ray_labels: of nodes to use.
        hosts: endpoints of the engines that candidates are built and run on; () for the one that docker talks to.
        build_on: where images are built, "" for where they run: "local", an endpoint, or "command:" and its line.
        run_on: where images run that are built there: endpoints, or "local".
        registry: the name under which images pass from the one to the other.
        health: the words of the command that asks a machine whether it is well; () for none.
        heartbeat: seconds between questions to another machine, while work is under way there, whether it still is.
        keep: keep environments afterwards. workers: probes at once.
        run_directory: None for a new one under the user's state directory.
        command_line: the words to type again, for the report's reproduce line.
    """

    pins: tuple[PinRange, ...]
    smoke: SmokeScript
    environment: str = "venv"
    build_command: tuple[str, ...] = ()
    requirements: RequirementsRequest = field(default_factory=RequirementsRequest)
    docker: DockerRequest = field(default_factory=DockerRequest)
    index: IndexRequest = field(default_factory=IndexRequest)
    exclude_newer: datetime | None = None
    fixed: tuple[tuple[str, str], ...] = ()
    repositories: tuple[RepositoryRequest, ...] = ()
    nested: tuple[tuple[str, str, str], ...] = ()
    files: FilesRequest | None = None
    images: ImagesRequest | None = None
    canary: bool = False
    ask: bool = False
    floating: str = ""
    timeout_is: TimeoutIs = TimeoutIs.AUTO
    build_failure_is: BuildFailureIs = BuildFailureIs.AUTO
    build_timeout: float | None = None
    expect: str = ""
    any_failure: bool = False
    first_good: bool = False
    suspects: tuple[Suspect, ...] = ()
    metric: MetricRequest | None = None
    every_culprit: bool = False
    descend: bool = False
    confidence: float = 0.99
    max_runs: int | None = None
    budget: float | None = None
    repeat: int | None = None
    rebuild_witnesses: bool = False
    executor: str = "local"
    ray_address: str = "auto"
    ray_resources: tuple[tuple[str, float], ...] = ()
    ray_labels: tuple[tuple[str, str], ...] = ()
    hosts: tuple[str, ...] = ()
    build_on: str = ""
    run_on: tuple[str, ...] = ()
    registry: str = ""
    health: tuple[str, ...] = ()
    heartbeat: float = HEARTBEAT
    keep: bool = False
    workers: int = 1
    run_directory: Path | None = None
    command_line: tuple[str, ...] = ()

    @property
    def in_containers(self) -> bool:
        """Whether the script runs in containers, with what their images hold."""
        return self.environment in ("docker", "image")
