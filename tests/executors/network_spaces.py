"""A network namespace, joined to this machine's own by a direct link that can be cut."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Space:
    """A network namespace.

    Attributes:
        name: of the namespace.
        link: this end of the link.
        here, there: the addresses of this end and of the other.
    """

    name: str
    link: str
    here: str
    there: str

    @property
    def inside(self) -> list[str]:
        """The words before a command that is to run in it (`ip netns exec` would hide control groups from it)."""
        return ["nsenter", f"--net=/run/netns/{self.name}", "--"]

    def cut(self) -> None:
        """Cut the link: what is sent is lost, and nothing says so."""
        ip("link", "set", "dev", self.link, "down")


def ip(*words: str) -> None:
    """Run `ip`."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextmanager
def joined_space() -> Iterator[Space]:
    """Make one; needs root."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("needs root and iproute2, for a network namespace")
    mark, third = secrets.token_hex(3), secrets.randbelow(200) + 20
    space = Space(f"space-{mark}", f"here{mark}", f"10.213.{third}.1", f"10.213.{third}.2")
    try:
        ip("netns", "add", space.name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespaces here: {error.stderr.decode(errors='replace').strip()}")
    try:
        ip("link", "add", space.link, "type", "veth", "peer", "name", "there", "netns", space.name)
        ip("addr", "add", f"{space.here}/24", "dev", space.link)
        ip("link", "set", "dev", space.link, "up")
        for words in (
            ("addr", "add", f"{space.there}/24", "dev", "there"),
            ("link", "set", "dev", "there", "up"),
            ("link", "set", "dev", "lo", "up"),
        ):
            ip("-n", space.name, *words)
        yield space
    finally:
        subprocess.run(["ip", "link", "del", space.link], capture_output=True)
        ip("netns", "del", space.name)
