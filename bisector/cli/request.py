"""From options as they were typed to the request for a run."""

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

from bisector.cli import arguments
from bisector.cli.files_request import files_request, fixed_pins
from bisector.cli.images_request import images_request, one_image
from bisector.cli.machines_request import where_work_is_done
from bisector.cli.options import ENVIRONMENTS, RunOptions, key_of
from bisector.cli.reproduction import worth_repeating
from bisector.cli.search_arguments import parse_metric, parse_suspect
from bisector.model import SmokeScript
from bisector.request import (
    BuildFailureIs,
    DockerRequest,
    IndexRequest,
    PinRange,
    RepositoryRequest,
    RequirementsRequest,
    RunRequest,
    TimeoutIs,
)
from pins.errors import UsageError

T = TypeVar("T")

NO_SCRIPT = Path(os.devnull)
"""The script of a plan that is made without one."""
ONLY_FOR = {
    "venv": (
        "with_", "requirements", "constraint", "build_constraint", "no_build_isolation",
    ),
    "docker": (
        "reuse_stage", "cache_from", "cache_to",
    ),
    "docker or image": (
        "gpu", "mount", "models", "docker_arg", "docker_build_option", "disk", "dockerfile", "context", "target",
        "build_arg", "secret", "ssh", "no_index_time",
    ),
    "command": ("build_command",),
}  # fmt: skip
"""Options that these environments alone can honour: given with another they would be silently without effect."""


def request_from(
    options: RunOptions,
    directory: Path,
    script_arguments: Sequence[str] = (),
    command_line: Sequence[str] = (),
    *,
    to_plan: bool = False,
) -> RunRequest:
    """Make sense of every option.

    Args:
        options: as typed, or read from a file.
        directory: where relative paths start.
        script_arguments: what followed `--`.
        command_line: the words of the whole command, for the report's reproduce line.
        to_plan: whether it is only planned: a script is not needed then.

    Raises:
        UsageError: an option is missing, wrong, or of no effect together with the others.
    """
    if options.environment == "image":
        return _request_of_images(options, directory, script_arguments, command_line, to_plan=to_plan)
    files = files_request(options, directory)
    if not options.pin and files is None:
        raise UsageError(
            "nothing to search: name a pin and its two ends, for example --pin setuptools=80.9.0..82.0.1, or a file and"
            " two revisions of it, --dockerfile FILE --good REV --bad REV"
        )
    repositories = _repositories(options, directory)
    git = [repository.pin for repository in repositories]
    pins = tuple(arguments.parse_pin(text, git) for text in options.pin)
    options = _without_script(options, to_plan=to_plan)
    request = _request(options, pins, repositories, directory, script_arguments, command_line, from_files=bool(files))
    return replace(request, files=files)


def _request_of_images(
    options: RunOptions,
    directory: Path,
    script_arguments: Sequence[str],
    command_line: Sequence[str],
    *,
    to_plan: bool,
) -> RunRequest:
    """The request where candidates are images that exist."""
    images = images_request(options)
    pin = PinRange(images.repository, images.good, images.bad)
    options = _without_script(options, to_plan=to_plan)
    return replace(_request(options, (pin,), (), directory, script_arguments, command_line), images=images)


def _without_script(options: RunOptions, *, to_plan: bool) -> RunOptions:
    """The options with a script that says nothing, where none is needed and none is named."""
    return replace(options, smoke=str(NO_SCRIPT)) if (to_plan or options.ask) and not options.smoke else options


def request_for_one(
    options: RunOptions, directory: Path, script_arguments: Sequence[str] = (), command_line: Sequence[str] = ()
) -> RunRequest:
    """The same for one candidate: each `--pin` is NAME=VALUE, and both ends are that value.

    Raises:
        UsageError: as `request_from`.
    """
    if not options.pin:
        raise UsageError("nothing to build: name a pin and its value, for example --pin setuptools==82.0.1")
    if options.environment == "image":
        images = one_image(options)
        pin = PinRange(images.repository, images.good, images.bad)
        return replace(_request(options, (pin,), (), directory, script_arguments, command_line), images=images)
    repositories = _repositories(options, directory)
    git = [repository.pin for repository in repositories]
    chosen = [arguments.parse_choice_of_version(text, "--pin", git) for text in options.pin]
    pins = tuple(PinRange(name, value, value) for name, value in chosen)
    return _request(options, pins, repositories, directory, script_arguments, command_line)


def _request(
    options: RunOptions,
    pins: tuple[PinRange, ...],
    repositories: tuple[RepositoryRequest, ...],
    directory: Path,
    script_arguments: Sequence[str],
    command_line: Sequence[str],
    *,
    from_files: bool = False,
) -> RunRequest:
    if not options.smoke:
        raise UsageError("no smoke script: name a program that tells good from bad, for example --smoke ./smoke.py")
    environment = _environment(options)
    git = [repository.pin for repository in repositories]
    if from_files:
        fixed = fixed_pins(options)
    else:
        fixed = tuple(arguments.parse_choice_of_version(text, git=git) for text in options.fix)
    both = sorted({name for name, _ in fixed} & {pin.pin for pin in pins})
    if both:
        raise UsageError(f"{', '.join(both)}: both searched (--pin) and held still (--fix); leave one of them out")
    return RunRequest(
        pins=pins,
        smoke=_smoke(options, directory, script_arguments),
        environment=environment,
        build_command=tuple(options.build_command),
        requirements=_requirements(options, directory),
        docker=_docker(options, directory),
        index=IndexRequest(options.index_url or "", tuple(options.extra_index_url)),
        exclude_newer=_given(options.exclude_newer, lambda text: arguments.parse_date(text, "--exclude-newer")),
        fixed=fixed,
        repositories=repositories
        if from_files or options.descend
        else _of_pins(repositories, {*(pin.pin for pin in pins), *dict(fixed)}),
        nested=_nested(options, {pin.pin for pin in pins}, git),
        timeout_is=TimeoutIs(_choice(options.timeout_is, "--timeout-is", tuple(TimeoutIs))),
        build_failure_is=BuildFailureIs(_choice(options.build_failure_is, "--build-failure-is", tuple(BuildFailureIs))),
        build_timeout=_seconds(options.build_timeout, "--build-timeout"),
        expect=arguments.parse_pattern(options.expect or "", "--expect"),
        any_failure=bool(options.any_failure),
        first_good=bool(options.first_good),
        suspects=tuple(parse_suspect(text) for text in options.suspect),
        metric=parse_metric(options.metric, options.regress),
        every_culprit=bool(options.every_culprit),
        descend=bool(options.descend),
        confidence=arguments.parse_confidence(options.confidence or "0.99"),
        max_runs=_given(options.max_runs, arguments.parse_max_runs),
        budget=_seconds(options.budget, "--budget"),
        repeat=arguments.parse_repeat(options.repeat or ("1" if options.ask else "auto")),
        ask=bool(options.ask),
        rebuild_witnesses=bool(options.rebuild_witnesses or options.reuse_stage),
        keep=bool(options.keep),
        **where_work_is_done(options, environment),
        run_directory=_path(options.run_dir, directory),
        command_line=worth_repeating(command_line),
    )


def _repositories(options: RunOptions, directory: Path) -> tuple[RepositoryRequest, ...]:
    """`--repo`, with what `--checkout-only` and `--require-path` say of each."""
    named = [arguments.parse_repository(text, directory) for text in options.repo]
    pins = [name for name, _, _ in named]
    twice = sorted({name for name in pins if pins.count(name) > 1})
    if twice:
        raise UsageError(f"--repo names {', '.join(twice)} twice; a pin has one repository")
    only = {arguments.parse_pin_name(text, "--checkout-only") for text in options.checkout_only}
    if only - set(pins):
        name = min(only - set(pins))
        raise UsageError(f"--checkout-only {name}: it has no repository; name that with --repo {name}=PATH_OR_URL")
    if options.require_path and not pins:
        raise UsageError("--require-path: there is no repository in which to look; name one with --repo")
    required = [arguments.parse_required_path(text, pins) for text in options.require_path]
    return tuple(
        RepositoryRequest(
            name, location, subdirectory, name not in only, tuple(path for pin, path in required if pin == name)
        )
        for name, location, subdirectory in named
    )


def _nested(options: RunOptions, pins: Collection[str], git: Collection[str]) -> tuple[tuple[str, str, str], ...]:
    """`--within`, each of a pin that is searched."""
    nested = tuple(arguments.parse_nested(text, git) for text in options.within)
    for name, outer, _ in nested:
        if name not in pins or name == outer:
            raise UsageError(f"--within {name}=...: no such pin is searched; name it with --pin {name}=GOOD..BAD")
    return nested


def _of_pins(repositories: tuple[RepositoryRequest, ...], pins: Collection[str]) -> tuple[RepositoryRequest, ...]:
    """The repositories, each of which belongs to a pin."""
    lost = [repository.pin for repository in repositories if repository.pin not in pins]
    if lost:
        raise UsageError(f"--repo {lost[0]}: no pin is called so; search it with --pin {lost[0]}=GOOD..BAD")
    return repositories


def _environment(options: RunOptions) -> str:
    is_docker = options.dockerfile or options.build_on or options.run_on or _is_dockerfile(options)
    implied = "docker" if is_docker else "command" if options.build_command else "venv"
    chosen = arguments.parse_choice(options.environment or implied, "--env", ENVIRONMENTS)
    given = {each.name for each in fields(RunOptions) if getattr(options, each.name)}
    for owner, names in ONLY_FOR.items():
        useless = [f"--{key_of(name)}" for name in names if name in given]
        if chosen not in owner.split(" or ") and useless:
            raise UsageError(
                f"{', '.join(useless)}: of use in --env {owner} alone, and this run has --env {chosen}; leave one out"
            )
    if chosen == "docker":
        if not options.dockerfile and not options.bad_file and not _built_by_command(options):
            raise UsageError("--env docker needs a Dockerfile, for example --dockerfile docker/Dockerfile")
        if options.python:
            raise UsageError("--python: a Dockerfile brings its own Python; say it there, or with --build-arg")
    if chosen == "command" and not options.build_command:
        raise UsageError("--env command needs what builds a candidate, for example --build-command 'make deps'")
    return chosen


def _built_by_command(options: RunOptions) -> bool:
    return (options.build_on or "").startswith("command:")


def _is_dockerfile(options: RunOptions) -> bool:
    """Whether the ends are two files that are Dockerfiles."""
    if not options.bad_file:
        return False
    from pins.files.read import kind_of

    kind = kind_of(options.bad_file)
    if kind:
        return kind == "dockerfile"
    try:
        return re.search(rb"(?mi)^[ \t]*FROM[ \t]", Path(options.bad_file).read_bytes()) is not None
    except OSError:
        return False  # said where it is read


def _smoke(options: RunOptions, directory: Path, script_arguments: Sequence[str]) -> SmokeScript:
    return SmokeScript(
        path=arguments.parse_path(options.smoke or "", directory),
        arguments=tuple(script_arguments) or tuple(options.smoke_args),
        variables=tuple(arguments.parse_smoke_variable(text) for text in options.smoke_env),
        timeout=_seconds(options.timeout, "--timeout"),
        share_cache=_given(options.share_cache, lambda text: _shared_cache(text, directory)),
        pass_environment=tuple(arguments.parse_variable_name(text, "--pass-env") for text in options.pass_env),
    )


def _shared_cache(text: str, directory: Path) -> Path:
    """A directory that scripts may write to, or a place where one can be made."""
    path = arguments.parse_path(text, directory)
    there = next(each for each in (path, *path.parents) if each.exists())
    if not there.is_dir():
        raise UsageError(f"--share-cache {text}: {there} is not a directory; name one, or where one can be made")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"--share-cache {text}: {there} cannot be written to; name a directory of yours")
    return path


def _requirements(options: RunOptions, directory: Path) -> RequirementsRequest:
    if options.python is not None and not options.python.strip():
        raise UsageError("--python is empty; give a version, such as 3.12, or the path of an interpreter")
    python = options.python or ""
    return RequirementsRequest(
        requirements=tuple(arguments.parse_requirement(text, "--with") for text in options.with_),
        requirement_files=tuple(arguments.parse_path(text, directory) for text in options.requirements),
        constraint_files=tuple(arguments.parse_path(text, directory) for text in options.constraint),
        build_constraints=tuple(
            arguments.parse_requirement(text, "--build-constraint") for text in options.build_constraint
        ),
        python=str(arguments.parse_path(python, directory)) if "/" in python else python,
        build_isolation=not options.no_build_isolation,
    )


def _docker(options: RunOptions, directory: Path) -> DockerRequest:
    return DockerRequest(
        dockerfile=_path(options.dockerfile or options.bad_file, directory),
        context=_path(options.context, directory),
        target=options.target or "",
        build_args=tuple(arguments.parse_variable(text, "--build-arg") for text in options.build_arg),
        docker_args=tuple(options.docker_arg),
        mounts=tuple(arguments.parse_mount(text, directory) for text in options.mount),
        gpu=arguments.parse_choice(options.gpu, "--gpu", ("rocm", "nvidia")) if options.gpu else "",
        models=_path(options.models, directory),
        secrets=tuple(options.secret),
        ssh=tuple(options.ssh),
        build_options=(
            *options.docker_build_option,
            *(f"--cache-from={source}" for source in options.cache_from),
            *(f"--cache-to={target}" for target in options.cache_to),
        ),
        disk=_disk(options),
        reuse_stages=tuple(_reused_stage(text) for text in options.reuse_stage),
        index_time=not options.no_index_time,
    )


def _disk(options: RunOptions) -> int | None:
    if options.disk and options.reuse_stage:
        raise UsageError(
            "--disk beside --reuse-stage: an image that was removed and built again could not be told from a full one;"
            " leave one of them out"
        )
    return _given(options.disk, lambda text: arguments.parse_size(text, "--disk"))


def _reused_stage(text: str) -> tuple[str, str]:
    """`STAGE` or `STAGE=IMAGE`."""
    stage, equals, image = text.partition("=")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", stage) or (equals and not image) or image.startswith("-"):
        raise UsageError(f"--reuse-stage {text!r} must be STAGE, or STAGE=IMAGE to take that image for it")
    return stage, image


def _path(text: str | None, directory: Path) -> Path | None:
    return _given(text, lambda given: arguments.parse_path(given, directory))


def _seconds(text: str | None, option: str) -> float | None:
    return _given(text, lambda given: arguments.parse_duration(given, option))


def _choice(text: str | None, option: str, choices: Sequence[str]) -> str:
    return arguments.parse_choice(text or choices[0], option, choices)


def _given(text: str | None, parse: Callable[[str], T]) -> T | None:
    return parse(text) if text else None
