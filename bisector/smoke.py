"""The smoke protocol: what a script is given, and what its end means.

Which of the caller's variables a script sees: those of `PASSED` and `PASSED_PREFIXES` (where programs, libraries and
devices are found, and how the network is reached), and those named by `--pass-env`. So a result does not depend on the
shell that it was started from, and a token in that shell does not reach a log.
"""

import codecs
import errno
import os
import re
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from bisector.caches import WORK, cache_variables, fresh_directories
from bisector.model import Candidate, Ended, Signature, SmokeRun, SmokeScript
from bisector.processes.tree import MARKER
from pins.choices import not_there
from pins.errors import EnvironmentFailureError, UsageError

__all__ = [
    "WORK",
    "Observation",
    "cache_variables",
    "check_script",
    "checkout_variables",
    "fixed_variables",
    "fresh_directories",
    "observe",
    "passed_variables",
    "pin_variables",
    "smoke_command",
    "smoke_environment",
]

SKIP = 125
CANNOT_RUN = (126, 127)
"""What a shell (and `env`) says when a command cannot be run, or is not found."""

PASSED = frozenset(
    [
        *("PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME"),
        *("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "PKG_CONFIG_PATH"),
        *("CC", "CXX", "TORCH_CUDA_ARCH_LIST", "PYTORCH_ROCM_ARCH", "GPU_DEVICE_ORDINAL"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    ]
)
PASSED_PREFIXES = ("CUDA_", "NVIDIA_", "ROCM_", "ROCR_", "HIP_", "HSA_", "NCCL_", "RCCL_")


@dataclass(frozen=True)
class Observation:
    """What one run showed, before it is compared with what is sought.

    Attributes:
        kind: "pass"; "fail" with a signature; "skip": the script cannot judge; "timeout": its time ran out; "infra":
            our side or the machine's broke; "cancelled": nobody waited for it.
        signature: what the failure looks like, for "fail" and "timeout".
        reason: why, in one sentence, "" for a pass.
        command_not_found: a failure with status 126 or 127, which is an error of the environment where the good end
            gives it too.
    """

    kind: Literal["pass", "fail", "skip", "timeout", "infra", "cancelled"]
    signature: Signature | None = None
    reason: str = ""
    command_not_found: bool = False


def check_script(path: Path, *, local: bool = True) -> None:
    """Find out before the first build whether the script can be started.

    Args:
        path: the script.
        local: it runs on this machine, so that what its first line names must be here.

    Raises:
        UsageError: it is missing, not a file, not readable, not executable, or does not say what runs it.
        EnvironmentFailureError: what it says runs it is not on this machine.
    """
    if not path.exists():
        raise UsageError(f"the smoke script {not_there(path)}")
    if not path.is_file():
        raise UsageError(f"the smoke script {path} is a directory or a device; name a file")
    try:
        with path.open("rb") as file:
            head = file.read(512)
    except OSError as error:
        raise UsageError(f"the smoke script {path} cannot be read: {error.strerror}") from error
    if path.suffix == ".py":
        return
    if head.startswith(codecs.BOM_UTF8):
        raise UsageError(
            f"the smoke script {path} begins with a byte order mark (BOM), so that its first line names no program to"
            " the system; save it as UTF-8 without BOM"
        )
    if not os.access(path, os.X_OK):
        raise UsageError(
            f"the smoke script {path} is not executable; `chmod +x {shlex.quote(str(path))}`, or name it *.py to run it"
            " with the candidate's Python"
        )
    if head.startswith(b"#!"):
        _check_interpreter(path, head[2:].split(b"\n", 1)[0], local)
    elif b"\0" not in head:
        raise UsageError(f"the smoke script {path} does not say what runs it; give it a first line such as #!/bin/sh")


def _check_interpreter(path: Path, line: bytes, local: bool) -> None:
    if line.endswith(b"\r"):
        raise UsageError(
            f"the first line of the smoke script {path} ends in a carriage return; save it with Unix lines"
        )
    words = os.fsdecode(line).split()
    if not words:
        raise UsageError(f"the first line of the smoke script {path} names no program; write, say, #!/bin/sh")
    if local and not (os.path.isfile(words[0]) and os.access(words[0], os.X_OK)):  # noqa: PTH113
        raise EnvironmentFailureError(
            f"the smoke script {path} is to be run by {words[0]}, which is not here or not executable; install it or"
            " change the script's first line"
        )


def smoke_command(script: SmokeScript, python: str) -> list[str]:
    """The words that start the script; a .py runs with `python`, the candidate's."""
    runner = [python] if script.path.suffix == ".py" else []
    return [*runner, str(script.path), *script.arguments]


def pin_variables(candidate: Candidate) -> dict[str, str]:
    """`PIN_<NAME>` for every pin: upper case, everything but letters and digits as `_`."""
    return {f"PIN_{_in_variable(pin)}": value for pin, value in candidate.items()}


def checkout_variables(checkouts: Sequence[tuple[str, PurePath]]) -> dict[str, str]:
    """`CHECKOUT_<NAME>` for the tree of each git pin, and `CHECKOUT` where there is one alone."""
    alone = {"CHECKOUT": str(checkouts[0][1])} if len(checkouts) == 1 else {}
    return {f"CHECKOUT_{_in_variable(pin)}": str(tree) for pin, tree in checkouts} | alone


def _in_variable(pin: str) -> str:
    """A pin's name as it stands in the name of a variable."""
    return re.sub(r"[^A-Z0-9]", "_", pin.upper())


def passed_variables(base: Mapping[str, str], asked_for: tuple[str, ...] = ()) -> dict[str, str]:
    """What of the caller's environment a script sees; `asked_for` are the names of `--pass-env`."""
    return {
        name: value
        for name, value in base.items()
        if name in PASSED or name.startswith(PASSED_PREFIXES) or name in asked_for
    }


def fixed_variables(smoke: SmokeRun, output: str) -> dict[str, str]:
    """What every run's environment says whatever the user asks for; `output` is PROBE_OUTPUT as the script sees it."""
    return pin_variables(smoke.candidate) | {"PROBE_OUTPUT": output, MARKER: smoke.probe}


def smoke_environment(smoke: SmokeRun, base: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a run on this machine, its directories made.

    Args:
        smoke: the run; its working directory is `smoke.scratch / WORK`.
        base: the caller's environment.

    Raises:
        EnvironmentFailureError: a directory cannot be made.
    """
    try:
        fresh = fresh_directories(smoke.scratch, smoke.script.share_cache)
        smoke.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFailureError(
            f"cannot make the directories of a run below {smoke.scratch}: {error.strerror}"
        ) from error
    asked_for = {name: base[name] for name in smoke.script.pass_environment if name in base}
    return {
        "PATH": os.defpath,
        **passed_variables(base),
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        **fresh,
        **asked_for,
        **dict(smoke.script.variables),
        **fixed_variables(smoke, str(smoke.output)),
        **checkout_variables(smoke.checkouts),
    }


def observe(ended: Ended, script: Path | None) -> Observation:
    """What the end of a run says.

    Args:
        ended: how the script ended, or a build.
        script: the script, whose lines the signature quotes; None for a build.
    """
    if ended.cancelled:
        return Observation("cancelled", reason="cancelled")
    if ended.out_of_memory:
        return Observation("infra", reason=f"out of memory: {ended.out_of_memory}")
    if ended.not_started:
        return Observation("infra", reason=f"could not be started: {ended.not_started}")
    if script is None:
        return _observe_build(ended)
    if ended.timed_out:
        reason = f"ended after {ended.seconds:.0f} s: its time was up"
        return Observation("timeout", Signature("timeout"), reason)
    if ended.exit_status == 0:
        return Observation("pass")
    if ended.exit_status == SKIP:
        return Observation("skip", reason=f"the script said that it cannot judge this candidate (exit status {SKIP})")
    return _observe_failure(ended, script)


def _observe_build(ended: Ended) -> Observation:
    if ended.exit_status == 0 and not ended.timed_out:
        return Observation("pass")
    from bisector.signature import read_build_signature

    reason = "the build ran out of time" if ended.timed_out else f"the build failed ({_end(ended)})"
    return Observation("fail", read_build_signature(ended), reason)


def _observe_failure(ended: Ended, script: Path) -> Observation:
    try:
        source = script.read_text(encoding="utf-8", errors="replace")
    except OSError:
        source = ""
    if full := _disk_full(ended):
        return Observation("infra", reason=f"a disk is full: {full}")
    if why := _not_startable(ended, script, source):
        return Observation("infra", reason=why)
    from bisector.signature import read_signature

    signature = read_signature(ended, source, script.name)
    return Observation("fail", signature, _end(ended), command_not_found=ended.exit_status in CANNOT_RUN)


_FULL = re.compile(rf"^.*(?:{os.strerror(errno.ENOSPC)}|{os.strerror(errno.EDQUOT)}).*$", re.MULTILINE | re.IGNORECASE)
_LAST_WORDS = 2000
"""Characters at the end of what a script prints, in which a full disk is looked for."""


def _disk_full(ended: Ended) -> str:
    """The line that says that a disk is full, which is the machine's fault; "" without one."""
    found = _FULL.search(ended.errors[-_LAST_WORDS:]) or _FULL.search(ended.output[-_LAST_WORDS:])
    return found[0].strip() if found else ""


def _end(ended: Ended) -> str:
    if ended.signal is not None:
        try:
            return f"ended by {signal.Signals(ended.signal).name}"
        except ValueError:
            return f"ended by signal {ended.signal}"
    return f"exit status {ended.exit_status}"


def _not_startable(ended: Ended, script: Path, source: str) -> str:
    """Why the script itself, rather than a command in it, could not be run; "" where it was.

    A missing interpreter behind `#!/usr/bin/env`, a script that Python or a container's engine does not find, show only
    in what is printed, as the one line of all the output.
    """
    printed = (ended.errors + ended.output).strip()
    if not printed or "\n" in printed:
        return ""
    name = re.escape(script.name)
    signs = [
        rf"can't open file .*{name}",
        rf"\bexec[: ].*{name}.*: (no such file or directory|permission denied|exec format)",
    ]
    shebang = re.match(r"#!\s*\S*\benv\s+(?:-S\s*)?(\S+)", source)
    if shebang:
        signs.append(rf"\benv: .*{re.escape(shebang[1])}.*: (no such file or directory|permission denied)")
    if any(re.search(sign, printed, re.IGNORECASE) for sign in signs):
        return f"the smoke script could not be started (exit status {ended.exit_status}): {printed}"
    return ""
