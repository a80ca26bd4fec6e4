import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pins.drift.telling.webhook import webhook
from pins.errors import EnvironmentFailureError, UsageError
from tests.drift.settled import Days, ahead, checked

SCHEMA = Path(__file__).parents[2] / "docs/schemas/pins.drift-1.schema.json"


class Hook(ThreadingHTTPServer):
    """What a webhook receives; answers with the statuses that it was given, then with 204."""

    def __init__(self) -> None:
        self.posted: list[tuple[dict[str, Any], str]] = []
        self.statuses: list[int] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["content-length"])))
                hook.posted.append((content, self.headers.get("authorization", "")))
                status = hook.statuses.pop(0) if hook.statuses else 204
                self.send_response(status)
                if status in {301, 302, 307}:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/services/s3cret/path"


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    monkeypatch.setattr("pins.drift.telling.service.time.sleep", lambda _: None)
    with Hook() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


def test_what_is_new_or_resolved_is_posted(hook: Hook) -> None:
    days, tell = Days(), webhook(hook.url, {"PINS_WEBHOOK_TOKEN": "t0ken"})
    for day in ([ahead(3)], [ahead(4)], [ahead(4)], []):
        tell(days.run(checked(*day)))
    assert [[(found["state"], found["summary"]) for found in content["findings"]] for content, _ in hook.posted] == [
        [("new", "main is 3 commits ahead")],
        [("resolved", "main is 4 commits ahead")],
    ]
    content, authorization = hook.posted[0]
    assert authorization == "Bearer t0ken"
    assert content["text"].startswith("pins drift: 1 new")
    jsonschema.validate(content, json.loads(SCHEMA.read_text()))


def test_no_token_is_sent_where_there_is_none(hook: Hook) -> None:
    webhook(hook.url, {})(Days().run(checked(ahead(3))))
    assert hook.posted[0][1] == ""


def test_a_passing_failure_is_tried_again(hook: Hook) -> None:
    hook.statuses = [503, 429]
    webhook(hook.url, {})(Days().run(checked(ahead(3))))
    assert len(hook.posted) == 3


@pytest.mark.parametrize("status", [400, 404, 302, 301])
def test_a_refusal_is_said_without_any_secret(hook: Hook, status: int) -> None:
    hook.statuses = [status]
    with pytest.raises(EnvironmentFailureError) as caught:
        webhook(hook.url, {"PINS_WEBHOOK_TOKEN": "t0ken"})(Days().run(checked(ahead(3))))
    assert f"the webhook at 127.0.0.1 could not be told: it answered {status}" in caught.value.message
    assert "s3cret" not in caught.value.message
    assert "t0ken" not in caught.value.message


def test_a_webhook_that_is_not_there_is_said_without_any_secret() -> None:
    with pytest.raises(EnvironmentFailureError, match=r"could not be told: no connection") as caught:
        webhook("http://user:pa55@127.0.0.1:1/s3cret?k=v4lue", {})(Days().run(checked(ahead(3))))
    for secret in ("pa55", "s3cret", "v4lue"):
        assert secret not in caught.value.message


@pytest.mark.parametrize(
    "url", ["", "example.org/x", "ftp://example.org/x", "file:///etc/passwd", "https://", "http://["]
)
def test_what_is_no_address_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        webhook(url, {})
    assert not url.partition("//")[2] or url not in caught.value.message
