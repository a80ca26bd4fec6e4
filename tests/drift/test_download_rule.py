"""Files on servers that are replaced in place."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from pins.drift.rules.asset_replaced import ASSET_REPLACED
from pins.hazards.model import Severity
from tests.drift.month.sources import FileServer, Served
from tests.drift.watched import Watched, days, only
from tests.local_index import LocalIndex

FILE = "/owner/tool/releases/download/v1.0/tool-v1.0.tar.gz"
LISTED = "/repos/owner/wheels/releases/tags/v1.0"


@pytest.fixture
def watched(tmp_path: Path, local_index: LocalIndex) -> Watched:
    return Watched(tmp_path / "project", local_index.url)


class Server(FileServer):
    """A server of files that says what a test wants it to say of them.

    Attributes:
        said: headers besides, or in place of, those of a file; "" takes one away.
    """

    said: dict[str, str]

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        status, headers, body = super().answer(path)
        if status != 200:
            return status, headers, body
        return status, {name: value for name, value in (headers | self.said).items() if value}, body


@pytest.fixture
def server() -> Iterator[Server]:
    serving = Server()
    serving.said = {}
    with serving:
        yield serving


def dockerfile(server: Server, path: str = FILE, version: str = "v1.0") -> dict[str, str]:
    url = f"http://{server.host}{path.replace(version, '${TOOL_VERSION}')}"
    return {"Dockerfile": f"FROM ubuntu:22.04\nARG TOOL_VERSION={version}\nRUN curl -fsSL -o /tmp/t.tar.gz {url}\n"}


def put(server: Server, content: bytes, when: datetime, path: str = FILE) -> None:
    server.files[path] = Served(content, when)


def test_a_file_with_another_size_or_time_was_replaced_until_another_is_pinned(
    watched: Watched, server: Server
) -> None:
    put(server, b"one", days(-30))
    watched.write(dockerfile(server))
    assert watched.findings(ASSET_REPLACED) == []
    assert watched.findings(ASSET_REPLACED) == []
    put(server, b"other", days(1))
    replaced = only(watched.findings(ASSET_REPLACED))
    assert (replaced.bucket, replaced.severity) == ("replaced", Severity.ERROR)
    assert replaced.evidence[0] == "size: 3 when it was first seen, 5 now"
    assert only(watched.findings(ASSET_REPLACED)).id == replaced.id
    put(server, b"two", days(2), FILE.replace("v1.0", "v1.1"))
    watched.write(dockerfile(server, FILE.replace("v1.0", "v1.1"), "v1.1"))
    assert watched.findings(ASSET_REPLACED) == []


def test_an_etag_of_an_unchanged_file_may_change_and_counts_where_nothing_else_is_said(
    watched: Watched, server: Server
) -> None:
    put(server, b"one", days(-30))
    server.said = {"ETag": '"first"'}
    watched.write(dockerfile(server))
    assert watched.findings(ASSET_REPLACED) == []
    server.said = {"ETag": '"second"'}
    assert watched.findings(ASSET_REPLACED) == []
    watched.memory.clear()
    server.said = {"ETag": '"first"', "Last-Modified": "", "Content-Length": ""}
    assert watched.findings(ASSET_REPLACED) == []
    server.said = {"ETag": '"second"', "Last-Modified": "", "Content-Length": ""}
    assert only(watched.findings(ASSET_REPLACED)).evidence == ("ETag: first when it was first seen, second now",)


def test_a_file_that_is_gone(watched: Watched, server: Server) -> None:
    put(server, b"one", days(-30))
    watched.write(dockerfile(server))
    assert watched.findings(ASSET_REPLACED) == []
    del server.files[FILE]
    gone = only(watched.findings(ASSET_REPLACED))
    assert gone.bucket == "gone"
    assert "is not there any more" in gone.summary
    put(server, b"one", days(-30))
    assert watched.findings(ASSET_REPLACED) == []


def test_a_server_that_is_down_leaves_it_open(watched: Watched, server: Server) -> None:
    put(server, b"one", days(-30))
    watched.write(dockerfile(server))
    assert watched.findings(ASSET_REPLACED) == []
    put(server, b"other", days(1))
    server.is_out = True
    assert len(watched.unknown(ASSET_REPLACED)) == 1
    server.is_out = False
    assert only(watched.findings(ASSET_REPLACED)).bucket == "replaced"


def test_a_page_is_no_file(watched: Watched, server: Server) -> None:
    put(server, b"<html>", days(-30))
    server.said = {"Content-Type": "text/html"}
    watched.write(dockerfile(server))
    assert watched.findings(ASSET_REPLACED) == []
    put(server, b"<html><body>", days(1))
    assert watched.findings(ASSET_REPLACED) == []


def test_of_a_listed_release_its_files_count_and_not_how_often_they_were_fetched(
    watched: Watched, server: Server
) -> None:
    def list_assets(digest: str, fetched: int) -> None:
        assets = [{"name": "a.whl", "digest": f"sha256:{digest}", "size": 3, "download_count": fetched}]
        put(server, json.dumps({"assets": assets}).encode(), days(fetched), LISTED)

    list_assets("aa", 1)
    watched.write(dockerfile(server, LISTED))
    assert watched.findings(ASSET_REPLACED) == []
    list_assets("aa", 200)
    assert watched.findings(ASSET_REPLACED) == []
    list_assets("bb", 201)
    replaced = only(watched.findings(ASSET_REPLACED))
    assert replaced.evidence == ("a.whl: sha256:aa when it was first seen, sha256:bb now",)


def test_what_a_file_was_on_a_day_that_has_passed_is_not_known(watched: Watched, server: Server) -> None:
    put(server, b"one", days(-30))
    watched.write(dockerfile(server))
    watched.as_of = days(-1)
    (reason,) = watched.unknown(ASSET_REPLACED)
    assert "cannot be asked" in reason


def test_a_server_that_refuses_to_describe_a_file_is_asked_for_its_beginning(watched: Watched, server: Server) -> None:
    handler = server._server.RequestHandlerClass
    handler.do_HEAD = lambda self: self._send(405, {"Content-Length": "0"})  # type: ignore[attr-defined]
    put(server, b"one", days(-30))
    watched.write(dockerfile(server))
    assert watched.findings(ASSET_REPLACED) == []
    put(server, b"other", days(1))
    assert "size: 3" in only(watched.findings(ASSET_REPLACED)).evidence[0]
