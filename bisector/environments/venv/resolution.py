"""From a candidate's pins to the exact list of what is installed, or to the reason why there is none."""

from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bisector.environments.base import BuildFailedError, InfeasibleError
from bisector.environments.venv.failures import Cause, left_out
from bisector.environments.venv.lock import LockedPackage, read_lock
from bisector.environments.venv.requirements import RequirementLine
from bisector.environments.venv.uv import Uv, UvError
from bisector.environments.venv.workplace import workplace_marker
from bisector.model import Candidate
from pins.errors import EnvironmentFailureError, UsageError


@dataclass(frozen=True)
class Question:
    """One resolution to be made.

    Attributes:
        python: path of the interpreter.
        requirements, constraints, build_constraints: lines.
        options: further options of uv.
    """

    python: Path
    requirements: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    build_constraints: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def pin_requirements(candidate: Candidate) -> tuple[RequirementLine, ...]:
    """The pins as requirements, `name==version`; a pre-release or yanked release is meant where it is named.

    Raises:
        UsageError: a pin is no package, or its value no version.
    """
    return tuple(_pin_requirement(name, value) for name, value in candidate.items())


def _pin_requirement(name: str, value: str) -> RequirementLine:
    try:
        requirement = Requirement(f"{name}=={value}")
        bare = Requirement(name)
    except InvalidRequirement as error:
        raise UsageError(f"{name}=={value} is not a package and a version: {str(error).splitlines()[0]}") from error
    # Whatever else could be written into a name or a version (markers, URLs, further specifiers) is no pin.
    if bare.specifier or bare.url or bare.marker or requirement.marker or len(requirement.specifier) != 1:
        raise UsageError(f"{name}=={value} is not a package and one version")
    specifier = next(iter(requirement.specifier))
    if specifier.operator != "==" or specifier.version.endswith(".*"):
        raise UsageError(f"{name}=={value} names many versions, or none; a pin is one version")
    return RequirementLine(str(requirement), "--pin", canonicalize_name(requirement.name), exact=True)


@dataclass(frozen=True)
class Resolution:
    """What uv resolved, and the packages of which it left files out for want of an upload time."""

    packages: tuple[LockedPackage, ...] = ()
    undated: frozenset[str] = frozenset()


def compile_once(uv: Uv, question: Question, workplace: Path) -> Resolution:
    """Ask uv for one resolution.

    Args:
        uv: the program.
        question: what to resolve.
        workplace: a directory of the caller's own.

    Raises:
        UvError: uv failed, for whatever reason.
        EnvironmentFailureError: the directory cannot be written.
    """
    lock = workplace / "pylock.toml"
    arguments = ["pip", "compile", "requirements.in", "--python", str(question.python), *question.options]
    try:
        lock.unlink(missing_ok=True)  # uv would keep to the versions in it
        for name, lines in (
            ("requirements.in", question.requirements),
            ("constraints.txt", question.constraints),
            ("build-constraints.txt", question.build_constraints),
        ):
            if lines:
                (workplace / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise EnvironmentFailureError(f"cannot write to {workplace}: {error.strerror}") from error
    if question.constraints:
        arguments += ["--constraints", "constraints.txt"]
    if question.build_constraints:
        arguments += ["--build-constraints", "build-constraints.txt"]
    if not question.requirements:
        return Resolution()
    ended = uv.call(
        [*arguments, "--format", "pylock.toml", "--output-file", lock.name],
        configuration=uv.configuration(),
        workplace=workplace,
        log=workplace / "resolve.log",
        marker=workplace_marker(workplace),
    )
    try:
        return Resolution(read_lock(lock.read_text(encoding="utf-8"), workplace), left_out(ended.errors))
    except OSError as error:
        raise EnvironmentFailureError(f"uv's resolution cannot be read: {error}") from error


def failure_of(error: UvError, doing: str) -> InfeasibleError | BuildFailedError | EnvironmentFailureError:
    """The error to raise for a failed call of uv, as the protocol of environments has it."""
    failure, ended = error.failure, error.ended
    if ended.cancelled:
        return BuildFailedError(f"{doing}: cancelled", ended)
    match failure.cause:
        case Cause.INFEASIBLE:
            return InfeasibleError(failure.reason)
        case Cause.BUILD:
            return BuildFailedError(failure.reason, failure.quoted or ended)
        case Cause.ENVIRONMENT:
            return EnvironmentFailureError(f"{doing}: {failure.reason}. Nothing is concluded from this")
