"""Engines of other machines by ssh, as the docker command reaches them: with the user's own ssh and its configuration.

The SDK has a way of its own, which needs another library, and waits for ever where a link is cut. Here each connection
to a socket of this process becomes one `ssh ... docker system dial-stdio`, whose ends the socket is.
"""

import atexit
import contextlib
import shlex
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

SCHEME = "ssh"
_OPTIONS = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15")
_LONGEST_PATH = 100
"""Bytes of the name of a socket (unix(7): 108), less what stands behind the directory."""


def ssh_words(address: str, command: Sequence[str]) -> tuple[str, ...] | None:
    """The words that run a command on the machine of an address; None where it is none of ssh.

    Args:
        address: "ssh://[USER@]HOST[:PORT]".
        command: its words.
    """
    parts = urlsplit(address)
    if parts.scheme != SCHEME or not parts.hostname:
        return None
    host = parts.netloc.rpartition("@")[2].removesuffix(f":{parts.port}" if parts.port else "")  # as it is written
    target = f"{parts.username}@{host}" if parts.username else host
    port = ("-p", str(parts.port)) if parts.port else ()
    return ("ssh", *_OPTIONS, *port, "--", target, shlex.join(command))


class Tunnel:
    """A socket of this machine that is an engine's on another one, as long as this process lives.

    Args:
        address: "ssh://[USER@]HOST[:PORT][/PATH OF THE SOCKET]".
    """

    def __init__(self, address: str) -> None:
        path = urlsplit(address).path.rstrip("/")
        words = ssh_words(address, ("docker", *((f"--host=unix://{path}",) if path else ()), "system", "dial-stdio"))
        if words is None:
            raise ValueError(f"{address} names no host")
        self._words = words
        place = tempfile.mkdtemp(prefix="bisector-")
        if len(place) > _LONGEST_PATH:
            shutil.rmtree(place)
            place = tempfile.mkdtemp(prefix="bisector-", dir="/tmp")
        self._place = Path(place)
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        self._log = self._place / "said"
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(self._place / "s"))
        self._server.listen()
        threading.Thread(target=self._serve, daemon=True, name=f"tunnel to {address}").start()

    @property
    def url(self) -> str:
        """The socket, as an engine's address."""
        return f"unix://{self._place / 's'}"

    def said(self) -> str:
        """What ssh has said last, "" for nothing."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").strip().splitlines()
            return lines[-1].strip() if lines else ""
        return ""

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            with connection, self._log.open("ab") as log, contextlib.suppress(OSError):
                program = subprocess.Popen(
                    self._words,
                    stdin=connection.fileno(),
                    stdout=connection.fileno(),
                    stderr=log,
                    start_new_session=True,
                )  # Ctrl-C is the caller's alone
                threading.Thread(target=program.wait, daemon=True, name="end of ssh").start()


_tunnels: dict[str, Tunnel] = {}
_turn = threading.Lock()


def tunnel_to(address: str) -> Tunnel:
    """The tunnel to an engine, made when first asked for."""
    with _turn:
        if address not in _tunnels:
            _tunnels[address] = Tunnel(address)
        return _tunnels[address]
