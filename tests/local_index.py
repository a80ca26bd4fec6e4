"""A small real package index on localhost, for tests of every area: uv, pip and our own client read it alike.

    with LocalIndex() as index:
        index.add("spam", "1.0", files={"spam.py": "x = 1"})
        index.add("spam", "2.0", requires=["eggs>=1"], yanked="broken")
        uv pip install --default-index index.url spam

It speaks the JSON and the HTML form of the simple API, advertises and serves metadata files, upload times, hashes,
yanks and `Requires-Python`, answers `If-None-Match` and ranges, and can be made to fail in many ways.
"""

import base64
import hashlib
import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import EllipsisType, TracebackType
from typing import Self
from urllib.parse import quote, unquote, urlsplit

from packaging.utils import canonicalize_name

from tests.local_archives import core_metadata, make_sdist, make_wheel
from tests.local_pages import HTML_TYPE, JSON_TYPE, ServedFile, page_html, page_json

FIRST_UPLOAD = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class SeenRequest:
    """One request that reached the index."""

    method: str
    path: str
    headers: Message
    status: int


@dataclass(frozen=True)
class Answer:
    """What the index says instead of the truth, to the next `times` requests (None: to all)."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int | None = None
    hang_up: bool = False


class LocalIndex:
    """A package index; a context manager that serves while it is open.

    Attributes:
        requests: what was asked, in order.
        html_only: answer with HTML whatever the client prefers.
        upload_times: whether pages carry upload times.
        metadata_files: whether metadata files are advertised and served.
        validators: whether pages carry an ETag.
        cache_control: what pages say of how long they hold.
        ranges: whether parts of files are served.
        delayed: set once a request has come that has to wait.
    """

    def __init__(self, *, html_only: bool = False, upload_times: bool = True, metadata_files: bool = True) -> None:
        self.html_only = html_only
        self.upload_times = upload_times
        self.metadata_files = metadata_files
        self.validators = True
        self.cache_control = "max-age=0"
        self.ranges = True
        self.requests: list[SeenRequest] = []
        self._files: dict[str, ServedFile] = {}
        self._answer: Answer | None = None
        self._delay = 0.0
        self._credentials: tuple[str, str] | None = None
        self._closing = threading.Event()
        self.delayed = threading.Event()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        index = self

        class Handler(_Handler):
            @property
            def local_index(self) -> LocalIndex:
                return index

        self._server = _Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        assert self._server is not None, "the index serves only inside `with`"
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The index URL, without credentials."""
        return f"http://127.0.0.1:{self.port}/simple/"

    def url_with(self, user: str, password: str) -> str:
        """The index URL with credentials in it."""
        return f"http://{quote(user, safe='')}:{quote(password, safe='')}@127.0.0.1:{self.port}/simple/"

    def add(
        self,
        name: str,
        version: str,
        *,
        requires: Sequence[str] = (),
        files: Mapping[str, str] | None = None,
        sdist: bool = False,
        wheel: bool = True,
        yanked: str | None = None,
        upload_time: datetime | EllipsisType | None = ...,
        requires_python: str | None = None,
        tag: str = "py3-none-any",
        setup_py: str | None = None,
        build_requires: Sequence[str] = (),
    ) -> None:
        """Publish one release (or more files of it).

        Args:
            name, version: as the author wrote them.
            requires: Requires-Dist lines.
            files: path -> text of what is installed; without them one module that knows its version.
            sdist, wheel: which files are offered; `setup_py` alone implies an sdist and no wheel.
            yanked: the reason; "" is yanked without a reason, None is not yanked.
            upload_time: None is unknown; left out, each call is a day after the one before, from 2020-01-01.
            requires_python: the specifier, in the metadata and on the page.
            tag: the wheel's tag, such as `cp312-cp312-manylinux_2_17_x86_64`.
            setup_py: a script that the sdist's build runs first; raise in it, and the sdist does not build.
            build_requires: what building the sdist requires.
        """
        when = self._next_upload_time() if isinstance(upload_time, EllipsisType) else upload_time
        made: list[tuple[str, bytes, bytes | None]] = []
        if wheel and setup_py is None:
            filename, content = make_wheel(
                name, version, requires=requires, requires_python=requires_python, tag=tag, files=files
            )
            made.append((filename, content, core_metadata(name, version, requires, requires_python)))
        if sdist or setup_py is not None:
            filename, content = make_sdist(
                name,
                version,
                requires=requires,
                requires_python=requires_python,
                files=files,
                setup_py=setup_py,
                build_requires=build_requires,
            )
            made.append((filename, content, None))
        for filename, content, metadata in made:
            self.add_file(
                ServedFile(canonicalize_name(name), filename, content, metadata, requires_python, yanked, when)
            )

    def add_file(self, file: ServedFile) -> None:
        """Publish any file, also one that is neither a wheel nor a source distribution."""
        self._files[file.filename] = file

    def yank(self, name: str, version: str, reason: str | None) -> None:
        """Withdraw a release; None puts it back."""
        for filename, file in self._files.items():
            if file.project == canonicalize_name(name) and f"-{version}-" in filename:
                self._files[filename] = replace(file, yanked=reason)

    def remove(self, name: str) -> None:
        """Unpublish a project."""
        project = canonicalize_name(name)
        self._files = {filename: file for filename, file in self._files.items() if file.project != project}

    def fail_with(self, status: int, *, times: int | None = None, headers: Mapping[str, str] | None = None) -> None:
        """Answer with this status, to the next `times` requests or until `recover`."""
        self._answer = Answer(status, b"it went wrong here\n", {"Content-Type": "text/plain", **(headers or {})}, times)

    def garbage(self, body: bytes = b'{"files": [', content_type: str = JSON_TYPE, *, times: int | None = None) -> None:
        """Answer 200 with something that is not an index page."""
        self._answer = Answer(200, body, {"Content-Type": content_type}, times)

    def hang_up(self, *, times: int | None = None) -> None:
        """Close the connection without an answer."""
        self._answer = Answer(0, times=times, hang_up=True)

    def delay(self, seconds: float) -> None:
        """Wait before every answer."""
        self._delay = seconds

    def credentials(self, user: str, password: str) -> None:
        """Answer 401 to whoever does not send these (HTTP basic)."""
        self._credentials = (user, password)

    def recover(self) -> None:
        """End every failure mode (credentials stay asked for)."""
        self._answer = None
        self._delay = 0.0

    def write_flat(self, directory: Path) -> None:
        """Write every file into a directory, as `--find-links` takes it."""
        for file in self._files.values():
            (directory / file.filename).write_bytes(file.content)

    def write_tree(self, directory: Path) -> None:
        """Write a `file:` index: `simple/NAME/index.html` beside `files/`."""
        (directory / "files").mkdir()
        self.write_flat(directory / "files")
        for project in {file.project for file in self._files.values()}:
            page = directory / "simple" / project
            page.mkdir(parents=True)
            (page / "index.html").write_text(
                page_html(self._of(project), metadata_files=self.metadata_files).replace('href="/', 'href="../../')
            )

    def _next_upload_time(self) -> datetime:
        latest = max((file.upload_time for file in self._files.values() if file.upload_time), default=None)
        return FIRST_UPLOAD if latest is None else max(latest, FIRST_UPLOAD) + timedelta(days=1)

    def _of(self, project: str) -> list[ServedFile]:
        return [file for file in self._files.values() if file.project == project]

    def _answer_now(self) -> Answer | None:
        answer = self._answer
        if answer is not None and answer.times is not None:
            left = answer.times - 1
            self._answer = Answer(answer.status, answer.body, answer.headers, left, answer.hang_up) if left else None
        return answer

    def _wait(self) -> None:
        if self._delay:
            self.delayed.set()
            self._closing.wait(self._delay)

    def page(self, path: str, accept: str) -> tuple[str, bytes] | None:
        """Content type and body of what lies at a path; None where nothing does."""
        as_json = not self.html_only and JSON_TYPE in accept
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if parts[0] == "simple" and len(parts) == 1:
            names = sorted({file.project for file in self._files.values()})
            if as_json:
                listed = [{"name": name} for name in names]
                return JSON_TYPE, json.dumps({"meta": {"api-version": "1.1"}, "projects": listed}).encode()
            return HTML_TYPE, "".join(f'<a href="{name}/">{name}</a>' for name in names).encode()
        if parts[0] == "simple" and len(parts) == 2 and self._of(parts[1]):
            if as_json:
                return JSON_TYPE, page_json(
                    self._of(parts[1]), upload_times=self.upload_times, metadata_files=self.metadata_files
                ).encode()
            return HTML_TYPE, page_html(self._of(parts[1]), metadata_files=self.metadata_files).encode()
        if parts[0] == "files" and len(parts) == 2:
            file = self._files.get(parts[1])
            if file is not None:
                return "application/octet-stream", file.content
            described = self._files.get(parts[1].removesuffix(".metadata"))
            if described is not None and described.metadata is not None and self.metadata_files:
                return "application/octet-stream", described.metadata
        return None

    def admits(self, authorization: str | None) -> bool:
        """Whether this Authorization header is good enough."""
        if self._credentials is None:
            return True
        expected = base64.b64encode(":".join(self._credentials).encode()).decode()
        return authorization == f"Basic {expected}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up: some tests kill them on purpose."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer goes out at once, as from any server: head and body sent apart wait 40 ms for each other.
    wbufsize = -1
    disable_nagle_algorithm = True

    @property
    def local_index(self) -> LocalIndex:
        raise NotImplementedError

    def do_GET(self) -> None:
        index = self.local_index
        index._wait()
        answer = index._answer_now()
        if answer is not None and answer.hang_up:
            self._note(0)
            self.close_connection = True
        elif answer is not None:
            self._send(answer.status, answer.body, answer.headers)
        elif not index.admits(self.headers.get("Authorization")):
            self._send(
                401, b"who are you?\n", {"WWW-Authenticate": 'Basic realm="local"', "Content-Type": "text/plain"}
            )
        else:
            self._send_page()

    do_HEAD = do_GET  # noqa: N815

    def _send_page(self) -> None:
        index = self.local_index
        path = urlsplit(self.path).path
        page = index.page(path, self.headers.get("Accept", ""))
        if page is None:
            self._send(404, b"not here\n", {"Content-Type": "text/plain"})
        elif path.startswith("/simple") and not path.endswith("/"):
            self._send(301, b"", {"Location": path + "/"})
        else:
            content_type, body = page
            headers = {"Content-Type": content_type}
            if path.startswith("/simple"):
                headers["Cache-Control"] = index.cache_control
                if index.validators:
                    headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
                    if self.headers.get("If-None-Match") == headers["ETag"]:
                        self._send(304, b"", headers)
                        return
            else:
                headers["Accept-Ranges"] = "bytes"
                wanted = self.headers.get("Range", "")
                if index.ranges and wanted.startswith("bytes=") and "," not in wanted:
                    first, last = _range(wanted.removeprefix("bytes="), len(body))
                    headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
                    self._send(206, body[first : last + 1], headers)
                    return
            self._send(200, body, headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._note(status)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            try:
                self.wfile.write(body)
            except OSError:  # the client has seen enough
                self.close_connection = True

    def _note(self, status: int) -> None:
        self.local_index.requests.append(SeenRequest(self.command, self.path, self.headers, status))

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing: the request log is what tests read."""


def _range(wanted: str, size: int) -> tuple[int, int]:
    first, _, last = wanted.partition("-")
    if not first:
        return max(size - int(last), 0), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1
