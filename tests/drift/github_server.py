"""A small server on localhost that speaks the calls of GitHub's API that issues and their comments need."""

import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

_ROUTE = re.compile(r"/repos/(?P<repository>[^/]+/[^/]+)/issues(?P<rest>/.*)?")


@dataclass(frozen=True)
class Asked:
    """One request that arrived."""

    method: str
    path: str
    content: Any


@dataclass
class Failure:
    """What is answered instead of the truth, to so many requests of a method."""

    method: str
    status: int
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    after: bool = False


class GitHubServer:
    """One repository, o/r; a context manager that serves while it is open.

    Attributes:
        issues: by number; pull requests among them have a key of that name.
        comments: by number of the issue.
        asked: what was asked, in order.
        failures: still to come.
        labels_allowed: whether labels of a new issue are kept, as for who may write to the repository.
    """

    token = "t0ken-of-a-test"

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.asked: list[Asked] = []
        self.failures: list[Failure] = []
        self.labels_allowed = True
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server._serve(self, "GET")

            def do_POST(self) -> None:
                server._serve(self, "POST")

            def do_PATCH(self) -> None:
                server._serve(self, "PATCH")

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """What stands in GITHUB_API_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a workflow."""
        return {"GITHUB_API_URL": self.url, "GITHUB_TOKEN": self.token}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, body: str, *, state: str = "open", labels: tuple[str, ...] = (), pull_request: bool = False) -> int:
        """An issue that somebody else has made."""
        number = len(self.issues) + 1
        self.issues[number] = {
            "number": number,
            "title": "x",
            "body": body,
            "state": state,
            "labels": [{"name": label} for label in labels],
            **({"pull_request": {"url": "x"}} if pull_request else {}),
        }
        return number

    def _serve(self, handler: BaseHTTPRequestHandler, method: str) -> None:
        length = int(handler.headers.get("content-length") or 0)
        content = json.loads(handler.rfile.read(length)) if length else None
        with self._lock:
            self.asked.append(Asked(method, handler.path, content))
            failure = next((one for one in self.failures if one.method == method and one.times), None)
            if failure is not None:
                failure.times -= 1
                if failure.after:
                    self._answer(handler, method, content)
                if failure.hang_up:
                    handler.close_connection = True
                    handler.connection.close()
                    return
                status, answer, headers = failure.status, {"message": f"failed with {self.token}"}, failure.headers
            else:
                status, answer, headers = *self._answer(handler, method, content), {}
        body = json.dumps(answer).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def _answer(self, handler: BaseHTTPRequestHandler, method: str, content: Any) -> tuple[int, Any]:
        if handler.headers.get("authorization") != f"Bearer {self.token}":
            return 401, {"message": "Bad credentials"}
        if handler.headers.get("accept") != "application/vnd.github+json" or not handler.headers.get("user-agent"):
            return 400, {"message": "wrong headers"}
        parts = urlsplit(handler.path)
        found = _ROUTE.fullmatch(parts.path)
        if found is None or found["repository"] != "o/r":
            return 404, {"message": "Not Found"}
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if content is not None and len(content.get("body", "")) > 65536:
            return 422, {"message": "body is too long"}
        rest = found["rest"] or ""
        if rest == "":
            return (200, self._listed(asked)) if method == "GET" else self._created(content)
        if comments := re.fullmatch(r"/(\d+)/comments", rest):
            return self._comments(method, int(comments[1]), asked, content)
        if comment := re.fullmatch(r"/comments/(\d+)", rest):
            return self._edited_comment(int(comment[1]), content)
        if issue := re.fullmatch(r"/(\d+)", rest):
            number = int(issue[1])
            if number not in self.issues:
                return 404, {"message": "Not Found"}
            self.issues[number].update(content)
            return 200, self.issues[number]
        return 404, {"message": "Not Found"}

    def _listed(self, asked: dict[str, str]) -> list[dict[str, Any]]:
        wanted = [
            one
            for one in sorted(self.issues.values(), key=lambda one: -int(one["number"]))
            if asked.get("state") == "all" or one["state"] == "open"
        ]
        if label := asked.get("labels"):
            wanted = [one for one in wanted if label in [given["name"] for given in one["labels"]]]
        return _page(wanted, asked)

    def _created(self, content: Any) -> tuple[int, Any]:
        number = len(self.issues) + 1
        labels = [{"name": label} for label in content.get("labels", ())] if self.labels_allowed else []
        self.issues[number] = {**content, "number": number, "state": "open", "labels": labels}
        return 201, self.issues[number]

    def _comments(self, method: str, number: int, asked: dict[str, str], content: Any) -> tuple[int, Any]:
        if number not in self.issues:
            return 404, {"message": "Not Found"}
        there = self.comments.setdefault(number, [])
        if method == "GET":
            return 200, _page(there, asked)
        there.append({"id": 1000 + sum(map(len, self.comments.values())), "body": content["body"]})
        return 201, there[-1]

    def _edited_comment(self, name: int, content: Any) -> tuple[int, Any]:
        for one in (one for there in self.comments.values() for one in there):
            if one["id"] == name:
                one.update(content)
                return 200, one
        return 404, {"message": "Not Found"}


def _page(entries: list[dict[str, Any]], asked: dict[str, str]) -> list[dict[str, Any]]:
    size, page = int(asked.get("per_page", 30)), int(asked.get("page", 1))
    return entries[(page - 1) * size : page * size]
