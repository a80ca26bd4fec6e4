"""What a bisect run has found, read from its `bisector.result/1` document.

`pins` knows nothing of the other command's code: the document is the contract (docs/json.md).
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pins.errors import UndeterminedError, UsageError

SCHEMA = "bisector.result/1"


@dataclass(frozen=True)
class Tried:
    """One probe of the culprit's pin.

    Attributes:
        value: the pin's value.
        outcome: PASS, FAIL, ...
        runs: how often the script ran on it.
    """

    value: str
    outcome: str
    runs: int


@dataclass(frozen=True)
class Bisected:
    """A culprit.

    Attributes:
        pin: its name.
        kind: git, package, float, ...
        old: the last good value.
        new: the first bad value.
        confidence: of the named step, None where the document does not say.
        url: of the change or release, "" for none.
        subject: of the commit, "" for none.
        message: of the failure.
        partners: (pin, value) it needs to fail.
        moves: further (pin, old, new) that move with it.
        tried: its values that were tried.
        run: name of the run.
        reproduce: the command that repeats it.
        created: when.
        alone_on_good: what the step alone did to the good set, "" where it was not run.
        output: the end of what the failing run printed.
    """

    pin: str
    kind: str
    old: str
    new: str
    confidence: float | None
    url: str
    subject: str
    message: str
    partners: tuple[tuple[str, str], ...]
    moves: tuple[tuple[str, str, str], ...]
    tried: tuple[Tried, ...]
    run: str
    reproduce: str
    created: datetime | None
    alone_on_good: str = ""
    output: str = ""


def document_of(run: str) -> str:
    """The document of a run: a file, or a run of this machine by its name, which `bisector report` renders.

    Raises:
        UsageError: there is no such file or run.
    """
    path = Path(run)
    if path.is_file():
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--run {run} cannot be read: {error}") from error
    if run.startswith("-"):
        raise UsageError(f"--run {run!r} is neither a file nor a run")
    done = subprocess.run(
        [sys.executable, "-m", "bisector", "report", "--format", "json", "--", run],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if not done.stdout.lstrip().startswith("{"):
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise UsageError(
            f"--run {run}: no such file, and `bisector report {run}` says: {said}; give the file that"
            " `bisector report --format json --output FILE` writes"
        )
    return done.stdout


def read_bisection(text: str, origin: str) -> Bisected:
    """The culprit that a document names.

    Raises:
        UsageError: it is no such document.
        UndeterminedError: it names no culprit.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{origin} is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UsageError(f"{origin} is not a {SCHEMA} document; `bisector report --format json` writes one")
    culprit = document.get("culprit")
    if document.get("verdict") != "culprit" or not isinstance(culprit, dict):
        said = document.get("summary") or document.get("verdict")
        raise UndeterminedError(f"{origin} names no culprit, so nothing can be suggested from it: {said}")
    try:
        return _culprit(document, culprit, origin)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{origin} is not a whole {SCHEMA} document: {error!r}") from error


def _culprit(document: dict[str, Any], culprit: dict[str, Any], origin: str) -> Bisected:
    pin = str(culprit["pin"])
    signature = document.get("signature") or {}
    created = document.get("created")
    return Bisected(
        pin,
        str(culprit["kind"]),
        str(culprit["old"]),
        str(culprit["new"]),
        document.get("confidence"),
        str(culprit.get("url") or ""),
        str(culprit.get("subject") or ""),
        str(signature.get("message") or ""),
        tuple((str(p["pin"]), str(p["value"])) for p in culprit.get("partners") or ()),
        tuple(
            (str(m["pin"]), str(m["old"]), str(m["new"])) for m in culprit.get("moves") or () if str(m["pin"]) != pin
        ),
        tuple(_tried(document.get("probes") or (), pin)),
        str(document.get("run_id") or origin),
        str(document.get("reproduce") or ""),
        datetime.fromisoformat(created) if isinstance(created, str) else None,
        str(culprit.get("alone_on_good") or ""),
        str(document.get("failing_output") or ""),
    )


def _tried(probes: Any, pin: str) -> list[Tried]:
    found: dict[tuple[str, str], int] = {}
    for probe in probes:
        value = (probe.get("candidate") or {}).get(pin)
        if value is not None:
            key = (str(value), str(probe.get("outcome") or ""))
            found[key] = found.get(key, 0) + max(1, len(probe.get("runs") or ()))
    return [Tried(value, outcome, runs) for (value, outcome), runs in found.items()]
