"""What is to be done and said when a container has ended, or could not begin."""

import contextlib
import tarfile
from pathlib import Path

from bisector.environments.docker.engine import engine, explanation
from bisector.environments.docker.files import keep_output
from bisector.environments.docker.refusals import phrase
from bisector.environments.docker.run import OUTPUT_ROOM
from bisector.model import SmokeRun
from pins.errors import EnvironmentFailureError


def why_not_started(script: Path, said: str) -> str:
    """What the init program says of a script, with the interpreter's name where that is what is missing."""
    if "no such file" not in said.lower():
        return said
    with contextlib.suppress(OSError), script.open("rb") as file:
        first = file.readline(4096).decode("utf-8", "replace")
        if first.startswith("#!") and first[2:].split():
            return f"{first[2:].split()[0]}, the interpreter that {script.name} names, is not in the image"
    return said


def words_of(error: EnvironmentFailureError) -> str:
    """The engine's own words."""
    from docker.errors import APIError

    cause = error.__cause__
    return phrase(explanation(cause)) if isinstance(cause, APIError) else error.message


def take_output(container: str, smoke: SmokeRun) -> None:
    """Take PROBE_OUTPUT out of a container. What cannot be kept is said in the log: the outcome stands without it."""
    from docker.errors import APIError

    with engine() as client:
        try:
            chunks, _ = client.api.get_archive(container, str(OUTPUT_ROOM))
            left_out = keep_output(chunks, smoke.output)
        except APIError as error:
            left_out = str(error.explanation)
        except (OSError, tarfile.TarError) as error:
            left_out = str(error)
    if left_out:
        with smoke.log.open("a", encoding="utf-8") as log:
            log.write(f"\n[PROBE_OUTPUT was not kept whole: {left_out}]\n")
