"""Which of the user's options the docker command or the engine does not take, in its own few words."""

import re
import shlex
from collections.abc import Sequence

from bisector.environments.docker.run import MODELS, mounts
from bisector.request import DockerRequest

_PREFIX = re.compile(r"^(?:docker: |Error response from daemon: |ERROR: )+")
_NO_USER = re.compile(r"unable to find (?:user|group) (\S+?):")


def phrase(said: str) -> str:
    """The one line that says what is wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return _PREFIX.sub("", lines[0]) if lines else "no answer"


def users_options(request: DockerRequest) -> list[str]:
    """The options of a container that come from the user, as they were typed."""
    return [
        *([f"--gpu {request.gpu}"] if request.gpu else []),
        *(
            f"--models {mount.source}" if mount.target == str(MODELS) else f"--mount {mount.source}:{mount.target}"
            for mount in mounts(request)
        ),
        *(f"--docker-arg={shlex.quote(argument)}" for argument in request.docker_args),
    ]


def to_blame(arguments: Sequence[str], said: str) -> str:
    """The arguments of `docker run` whose value the engine names, "" where it names none of them.

    Args:
        arguments: as typed, one by one.
        said: the engine's words.
    """
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if equals and argument.startswith("-"):
            shown = f"--docker-arg={argument}"
        elif not argument.startswith("-") and place and arguments[place - 1].startswith("-"):
            value, shown = argument, f"--docker-arg={arguments[place - 1]} --docker-arg={argument}"
        elif re.match(r"-[a-z]\S", name):
            value, shown = argument[2:], f"--docker-arg={argument}"
        else:
            continue
        parts = [value, *(part for part in re.split(r"[:=,]", value) if len(part) > 1)]
        if any(part and re.search(rf"(?<![\w.-]){re.escape(part)}(?![\w-])", said) for part in parts):
            return shown
    return ""


def lacks_user(said: str) -> str:
    """The user or group that an image does not know, "" where the engine speaks of something else."""
    found = _NO_USER.search(said)
    return found[1] if found else ""
