"""Calling uv: against which indexes, with which of the caller's variables, and again when the network failed."""

import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Event

from bisector.environments.venv.cache import cache_for
from bisector.environments.venv.failures import Cause, Failure, explain
from bisector.model import Ended
from bisector.processes import run_process
from pins.errors import EnvironmentFailureError, SourceError, UsageError
from pins.sources.index_configuration import IndexConfiguration, without_index_variables

CONFIGURATION = "uv.toml"
LEAST_UV = (0, 13)
"""Older ones pass over settings of an index that decide what is resolved, without a word."""
RESOLVED_AGE = 3600
"""Seconds before the run that what an index lists may have been read, when only resolved files are asked for."""
RETRIES = 2
"""How often a call is repeated that failed for the network, after uv's own three attempts at each request."""
RETRY_WITHIN = 90.0
"""Seconds after which a call that fails for the network is not begun again: uv has waited long enough itself."""
_PAUSES = (1.0, 4.0)

_KEPT = frozenset(
    [
        *("UV_HTTP_TIMEOUT", "UV_REQUEST_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_HTTP_RETRIES", "UV_OFFLINE"),
        *("UV_CONCURRENT_BUILDS", "UV_CONCURRENT_DOWNLOADS", "UV_CONCURRENT_INSTALLS", "UV_LINK_MODE"),
        *("UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_PYTHON_INSTALL_DIR"),
    ]
)
"""Variables of uv that speak of the machine and its network; all others could change what is resolved."""
_DROPPED = re.compile(r"(?:UV|PIP|PYTHON|CONDA|VIRTUAL_ENV|POETRY|PIPENV)(?:_.*)?|PYTHON[A-Z]+|__PYVENV_LAUNCHER__")
_BUILD = re.compile(
    r"CC|CXX|CPP|LD|AR|[A-Z_]*FLAGS|CMAKE_.*|MAX_JOBS|SETUPTOOLS_.*|CARGO_.*|RUST.*|TORCH_.*|FORCE_.*|PYTORCH_.*"
    r"|CUDA_.*|ROCM_.*|HIP_.*|[A-Z_]*(?:INCLUDE_PATH|LIBRARY_PATH|CPATH)|ARCHFLAGS|MACOSX_DEPLOYMENT_TARGET"
)


class UvError(Exception):
    """A call of uv failed; for this package's own use, since what it means depends on the call."""

    def __init__(self, failure: Failure, ended: Ended) -> None:
        super().__init__(failure.reason)
        self.failure = failure
        self.ended = ended


@dataclass(frozen=True)
class Uv:
    """The program uv as one run uses it.

    Attributes:
        program: its path.
        cache: bisector's cache directory, in which uv's lie.
        index: where packages come from.
        exclude_newer: the index is read as of this time (aware).
        variables: the caller's environment.
        circumstances: a digest of all that decides what builds make of their sources (`cache`).
        began: when this run began to read the index (`time.time()`): what it has read since then is not asked for
            again, since time stands still during a run.
    """

    program: str
    cache: Path
    index: IndexConfiguration
    exclude_newer: datetime
    variables: Mapping[str, str]
    circumstances: str = "none"
    began: float = field(default_factory=time.time)

    def build_variables(self) -> dict[str, str]:
        """Those of the caller's variables that are known to change what a build makes."""
        return {name: value for name, value in sorted(self.variables.items()) if _BUILD.fullmatch(name)}

    def configuration(self, *, resolved: bool = False) -> str:
        """The text of a `uv.toml`, free of credentials.

        Args:
            resolved: only files that were resolved before are asked for, by their hashes.
        """
        text = self.index.uv_configuration(self.exclude_newer)
        # Files never change under their name; what lists them was read in this run, or is read again.
        # One second more than that, for the index tells the time in whole seconds.
        age = max(0, math.ceil(time.time() - self.began) + (RESOLVED_AGE if resolved else 1))
        control = f'cache-control = {{ api = "max-age={age}", files = "max-age=365000000, immutable" }}'
        return text.replace("[[index]]\n", f"[[index]]\n{control}\n")

    def environment(self, cache: Path, temporary: Path) -> dict[str, str]:
        """The variables that uv and the builds it starts see; `temporary` takes their temporary files."""
        kept = {
            name: value
            for name, value in without_index_variables(self.variables).items()
            if name in _KEPT or not _DROPPED.fullmatch(name)
        }
        return {
            "UV_LINK_MODE": "hardlink",
            **kept,
            **self.index.uv_file_environment(),
            "UV_CACHE_DIR": str(cache),
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
            "UV_PREVIEW": "0",
            "UV_PREVIEW_FEATURES": "index-exclude-newer",  # in use either way; said to be, uv does not warn of it
            "NO_COLOR": "1",
            "TMPDIR": str(temporary),
        }

    def call(
        self,
        arguments: Sequence[str],
        *,
        configuration: str,
        workplace: Path,
        log: Path,
        marker: str,
        deadline: float | None = None,
        cancel: Event | None = None,
    ) -> Ended:
        """Run uv to its end.

        Args:
            arguments: `["pip", "compile", ...]`.
            configuration: the text of its `uv.toml`.
            workplace: a directory of the call's own, its working directory; the configuration is written there.
            log: takes what it prints.
            marker: the id that marks its processes.
            deadline: `time.monotonic()` at which it is ended.
            cancel: set when the result is not wanted any more.

        Returns:
            How it ended: well.

        Raises:
            UvError: it failed, was cancelled, or its time was up.
            EnvironmentFailureError: the workplace or the log cannot be written.
        """
        began = time.monotonic()
        temporary = workplace / "tmp"
        try:
            temporary.mkdir(parents=True, exist_ok=True)
            file = workplace / CONFIGURATION
            file.write_text(configuration, encoding="utf-8")
        except OSError as error:
            raise EnvironmentFailureError(f"cannot prepare a build in {workplace}: {error.strerror}") from error
        environment = self.environment(cache_for(self.cache, self.circumstances), temporary)
        pauses = iter(_PAUSES[:RETRIES])
        while True:
            before = log.stat().st_size if log.exists() else 0
            ended = run_process(
                [self.program, *arguments, "--config-file", str(file), "--color", "never"],
                environment=environment,
                directory=workplace,
                log=log,
                marker=marker,
                timeout=None if deadline is None else max(0.1, deadline - time.monotonic()),
                cancel=cancel,
                redact=self.index.redact,
            )
            if ended.exit_status == 0 and not (ended.timed_out or ended.cancelled):
                return ended
            failure = explain(ended, _beginning(log, before))
            pause = next(pauses, None) if failure.transient else None
            late = time.monotonic() - began > RETRY_WITHIN or (deadline or time.monotonic() + 60) < time.monotonic() + 5
            if ended.timed_out or ended.cancelled or pause is None or late:
                raise UvError(self._verified(failure), ended)
            _pause(pause, cancel)

    def forget(self, names: Collection[str], workplace: Path) -> None:
        """Take packages out of the cache; raises as `call` does."""
        if names:
            self.call(
                ["cache", "clean", *names],
                configuration="",
                workplace=workplace,
                log=workplace / "log",
                marker=f"forget.{workplace.name}",
            )

    def _verified(self, failure: Failure) -> Failure:
        """The failure, after asking the index ourselves for what uv says that it does not have.

        uv says that too where an index answers 401 or 403, without a word of why if a configuration file named it.
        """
        if not failure.missing:
            return failure
        from pins.sources.package_index import PackageIndex

        with PackageIndex(self.index) as source:
            for name in sorted(failure.missing):
                try:
                    source.files(name)
                except UsageError:
                    continue
                except SourceError as error:
                    return Failure(Cause.ENVIRONMENT, str(error))
                return Failure(Cause.ENVIRONMENT, f"uv did not find {name}, which the index has ({failure.reason})")
        return failure


def find_uv(variables: Mapping[str, str]) -> str:
    """The program uv: the one that came with this installation, else the one on PATH.

    Raises:
        EnvironmentFailureError: there is none.
    """
    import uv

    try:
        return uv.find_uv_bin()
    except FileNotFoundError as error:
        found = shutil.which("uv", path=variables.get("PATH", os.defpath))
        if found is None:
            raise EnvironmentFailureError(
                "the program uv, which makes virtual environments, is neither beside this installation nor on PATH;"
                " reinstall bisector, or install uv"
            ) from error
        return found


def check_uv(uv: Uv) -> None:
    """Find out whether uv can be started, and is recent enough.

    Raises:
        EnvironmentFailureError: it is not.
    """
    try:
        said = subprocess.run(
            [uv.program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentFailureError(
            f"{uv.program}, which makes virtual environments, does not work: {error}"
        ) from error
    version = re.match(r"uv (\d+)\.(\d+)", said)
    if version and (int(version[1]), int(version[2])) < LEAST_UV:
        least = ".".join(map(str, LEAST_UV))
        raise EnvironmentFailureError(f"{uv.program} is {said.strip()}; bisector needs {least} or newer: upgrade uv")


def _beginning(log: Path, start: int) -> str:
    try:
        with log.open("rb") as file:
            file.seek(start)
            return file.read(8192).decode(errors="replace")
    except OSError:
        return ""


def _pause(seconds: float, cancel: Event | None) -> None:
    if cancel is None:
        time.sleep(seconds)
    else:
        cancel.wait(seconds)
