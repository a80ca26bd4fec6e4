"""Whether a repository's server speaks git's protocol, or is a plain directory of files behind http.

A directory of files ("dumb" http) can leave nothing out of what it gives. A partial clone of it is worse than none: git
2.39 asks the server for each object that it has not got yet, by a fetch, which asks for its objects by a fetch in turn,
and so on, a process each, until the machine has no room for more.
"""

import tempfile
from pathlib import Path

from pins.sources.git.address import RepositoryAddress
from pins.sources.git.program import GitFailedError, git

PATIENCE = 60.0
"""Seconds that the server may take for one ref."""


def is_plain_directory(address: RepositoryAddress) -> bool:
    """Whether a repository at a URL is served without git's protocol; False where it cannot be read at all.

    The packets tell: git records every one that a server sends, and a directory of files sends none.
    """
    if address.local or not address.text.lower().startswith(("http://", "https://", "ftp://", "ftps://")):
        return False
    with tempfile.TemporaryDirectory() as room:
        packets = Path(room, "packets")
        try:
            git(
                ["ls-remote", "--quiet", "--end-of-options", address.text, "HEAD"],
                variables={"GIT_TRACE_PACKET": str(packets)},
                patience=PATIENCE,
            )
        except GitFailedError:
            return False  # what is wrong with it, a fetch says
        return not packets.exists() or not packets.read_bytes().strip()
