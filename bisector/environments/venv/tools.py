"""Reading, without build isolation, what a source distribution requires when that takes a build.

uv reads requirements in isolation as long as that works, which is quick and right for almost all. Where the isolated
build fails, the one that counts is the one in the environment itself. There, a person would have installed the build
tools beforehand: so all that can be had without the failing package is put into an environment of its own, and the
candidate is resolved once more with builds that see it.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bisector.environments.venv.cache import discard
from bisector.environments.venv.failures import Cause
from bisector.environments.venv.installation import Instructions, install
from bisector.environments.venv.lock import LockedPackage
from bisector.environments.venv.resolution import Question, compile_once, failure_of
from bisector.environments.venv.uv import Uv, UvError
from bisector.environments.venv.workplace import workplace_marker


def resolve_among_tools(uv: Uv, question: Question, place: Path, what: str) -> tuple[LockedPackage, ...]:
    """Resolve with builds that see the candidate's own tools.

    Args:
        uv: the program.
        question: as it failed in isolation.
        place: a directory of this call's own.
        what: names the candidate in messages.

    Raises:
        InfeasibleError, BuildFailedError, EnvironmentFailureError: as `Environment.resolve`.
    """
    tools = _without_what_fails(uv, question, place, what)
    ready = tuple(package.requirement for package in tools if not package.built)
    directory = place / "tools"
    try:
        directory.mkdir()
        venv = install(
            uv,
            Instructions(
                str(question.python),
                (ready,) if ready else (),
                without_upload_times=tuple(uv.index.without_upload_times),
                circumstances=uv.circumstances,
            ),
            directory,
            log=place / "resolve.log",
            marker=workplace_marker(place),
        )
    except UvError as error:
        raise failure_of(error, f"resolving {what}") from error
    python = venv / "bin" / "python"
    among = replace(question, python=python, options=(*question.options, "--no-build-isolation"))
    uv = replace(uv, circumstances=hashlib.sha256("\n".join([uv.circumstances, *sorted(ready)]).encode()).hexdigest())
    try:
        return compile_once(uv, among, place).packages
    except UvError as error:
        raise failure_of(error, f"resolving {what}") from error
    finally:
        discard(uv.cache, uv.circumstances)


def _without_what_fails(uv: Uv, question: Question, place: Path, what: str) -> tuple[LockedPackage, ...]:
    left = dict(enumerate(question.requirements))
    while True:
        try:
            return compile_once(uv, replace(question, requirements=tuple(left.values())), place).packages
        except UvError as error:
            failing = canonicalize_name(error.failure.unbuilt.partition("==")[0].partition("@")[0].strip())
            mine = [number for number, text in left.items() if _name(text) == failing]
            if error.failure.cause is not Cause.BUILD or not mine:
                raise failure_of(error, f"resolving {what}") from error
            for number in mine:
                del left[number]


def _name(text: str) -> str:
    try:
        return canonicalize_name(Requirement(text).name)
    except ValueError:
        return ""
