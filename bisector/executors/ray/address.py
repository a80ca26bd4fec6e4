"""Where a Ray cluster is, and whether anything of its kind answers there.

Ray itself tries for more than ten minutes to reach an address at which nothing is.
"""

import os
import re
import socket
import tempfile
from pathlib import Path

from pins.errors import EnvironmentFailureError, UsageError

AUTO = "auto"
"""The address that means: the cluster that this machine is part of."""
LOCAL = "local"
"""The address that means: a cluster of this machine alone, started for the run."""
PATIENCE = 5.0
"""Seconds in which the head must take a connection, and say its first word."""

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""What a client of gRPC, which Ray's head speaks, says first: RFC 9113, 3.4, and an empty SETTINGS frame."""
_SETTINGS = 4
"""The type of the frame that the server answers with: RFC 9113, 6.5."""


def parse_address(text: str | None) -> str:
    """`--ray-address`: `auto`, `local` or HOST:PORT.

    Raises:
        UsageError: none of them.
    """
    address = (text or AUTO).strip()
    if address in (AUTO, LOCAL):
        return address
    if address.startswith("ray://"):
        raise UsageError(
            f"--ray-address {address}: Ray Client cannot do what a run needs; give the address of the head itself, as"
            " `ray start` prints it, HOST:6379 as a rule"
        )
    host, port = _parts(address)
    if not host or not 0 < port < 65536:
        raise UsageError(f"--ray-address {address!r} is no address: give auto, local or HOST:PORT")
    return address


def check_answers(address: str) -> None:
    """Find out whether something like a Ray cluster answers, before Ray is asked to join it.

    Args:
        address: as `parse_address` gives it; what `auto` means is looked up by Ray, but for RAY_ADDRESS.

    Raises:
        EnvironmentFailureError: nothing answers there, or something else does.
        UsageError: RAY_ADDRESS is none.
    """
    where = address
    if address == AUTO and (set_outside := os.environ.get("RAY_ADDRESS", "")):
        try:
            address = parse_address(set_outside)
        except UsageError as error:
            raise UsageError(f"RAY_ADDRESS: {error.message.removeprefix('--ray-address ')}") from error
        where = f"{address} (RAY_ADDRESS)"
    if address in (AUTO, LOCAL):
        return
    host, port = _parts(address)
    advice = (
        "the address is that of the head, as `ray start` prints it, HOST:6379 as a rule;"
        f" --ray-address {LOCAL} starts a cluster for the run"
    )
    try:
        with socket.create_connection((host, port), timeout=PATIENCE) as connection:
            if os.environ.get("RAY_USE_TLS", "0") in ("", "0"):  # what is encrypted begins otherwise
                connection.sendall(_PREFACE)
                said = connection.recv(9)
                if len(said) < 4 or said[3] != _SETTINGS:
                    raise EnvironmentFailureError(f"what answers at {where} is not the head of a Ray cluster: {advice}")
    except TimeoutError as error:
        raise EnvironmentFailureError(f"nothing answers at {where} within {PATIENCE:.0f} s: {advice}") from error
    except (OSError, UnicodeError) as error:  # the latter of a name that cannot be one
        reason = getattr(error, "strerror", None) or error
        raise EnvironmentFailureError(f"no Ray cluster answers at {where}: {reason}; {advice}") from error


def check_joined(address: str) -> None:
    """Find out whether this machine is part of a cluster: elsewhere Ray ends the process of a driver, by a signal.

    Args:
        address: as `parse_address` gives it.

    Raises:
        EnvironmentFailureError: it is part of none.
    """
    import psutil

    if address == LOCAL or any(process.info["name"] == "raylet" for process in psutil.process_iter(["name"])):
        return
    room = (
        Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray"
    )  # another container of a pod may share it
    if any(room.glob("session_*/sockets/raylet*")):
        return
    head = "HOST:6379" if address == AUTO else address
    raise EnvironmentFailureError(
        "this machine is part of no Ray cluster, and Ray takes drivers on machines of the cluster alone: run this on"
        f" the head, or have this machine join without taking work, where the nodes can reach it: ray start"
        f" --address={head} --num-cpus=0"
    )


def _parts(address: str) -> tuple[str, int]:
    """Host and port; ("", 0) where the text has another form."""
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?)):(\d{1,5})", address)
    return (found[1] or found[2], int(found[3])) if found else ("", 0)
