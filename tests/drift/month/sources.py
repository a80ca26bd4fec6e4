"""Sources that move: repositories, an image registry and a server of files; each can be out for a while."""

import os
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self


@dataclass
class Repository:
    """A git repository whose commits are made at simulated times.

    Attributes:
        path: where it is.
    """

    path: Path

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    @property
    def url(self) -> str:
        """How a Dockerfile names it."""
        return f"file://{self.path}"

    def git(self, *arguments: str, when: datetime | None = None) -> str:
        """Call git; commits are made at `when`."""
        stamp = f"{when.timestamp():.0f} +0000" if when else ""
        dated = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp} if stamp else {}
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *who, "-C", str(self.path), *arguments],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **dated},
        )
        return done.stdout.strip()

    def commit(self, when: datetime, message: str, files: Mapping[str, str] | None = None) -> str:
        """Commit files, or nothing but a message; gives the full hash."""
        for name, text in (files or {}).items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)
            self.git("add", "--", name)
        self.git("commit", "-q", "--allow-empty", "-m", message, when=when)
        return self.git("rev-parse", "HEAD")

    def out(self, *, is_out: bool) -> None:
        """Take it away, or put it back."""
        aside = self.path.with_name(f"{self.path.name}.out")
        if is_out and self.path.exists():
            self.path.rename(aside)
        elif not is_out and aside.exists():
            aside.rename(self.path)


@dataclass
class Served:
    """A file of a server.

    Attributes:
        content: its bytes.
        modified: when it was put there.
    """

    content: bytes
    modified: datetime


@dataclass
class FileServer:
    """A registry of images (`/v2/...`) and a server of files in one; a context manager.

    Attributes:
        files: by path.
        images: digest by "repository:tag".
        is_out: whether every answer is 503.
    """

    files: dict[str, Served] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    is_out: bool = False

    def push(self, image: str, content: str) -> None:
        """Put an image under a tag."""
        self.images[image] = f"sha256:{sha256(content.encode()).hexdigest()}"

    def __enter__(self) -> Self:
        source = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                status, headers, _ = source.answer(self.path)
                self._send(status, headers)

            def do_GET(self) -> None:
                status, headers, body = source.answer(self.path)
                self._send(status, headers)
                self.wfile.write(body)

            def _send(self, status: int, headers: Mapping[str, str]) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def host(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of a path."""
        if self.is_out:
            return 503, {"Content-Length": "0"}, b""
        repository, manifests, tag = path.removeprefix("/v2/").partition("/manifests/")
        digest = self.images.get(f"{repository}:{tag}") if manifests else None
        if digest is not None:
            kind = "application/vnd.oci.image.index.v1+json"
            return 200, {"Docker-Content-Digest": digest, "Content-Type": kind, "Content-Length": "0"}, b""
        served = self.files.get(path)
        if served is None:
            return 404, {"Content-Length": "0"}, b""
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(len(served.content)),
            "Last-Modified": format_datetime(served.modified, usegmt=True),
        }
        return 200, headers, served.content
