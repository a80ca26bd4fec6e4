"""Tags as registries list them, page by page, and images for several platforms."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import httpx

from pins.sources.http_reader import HttpReader
from pins.sources.image_registry import ImageReference, ImageRegistry
from pins.sources.image_tags import list_tags, published, read_time
from pins.sources.index_configuration import read_index_configuration

IMAGE = ImageReference("registry.invalid", "team/engine")
DIGESTS = {name: f"sha256:{number:064x}" for number, name in enumerate(("index", "amd64", "arm64", "config"), 1)}


def registry(answers: dict[str, httpx.Response]) -> ImageRegistry:
    def answer(request: httpx.Request) -> httpx.Response:
        return answers.get(request.url.raw_path.decode().removeprefix("/v2/team/engine/"), httpx.Response(404))

    configuration = read_index_configuration("", (), environment=os.environ, directory=Path.cwd())
    reader = HttpReader(configuration, transport=httpx.MockTransport(answer))
    return ImageRegistry(reader, credentials=lambda host: None)


def test_tags_are_read_page_by_page() -> None:
    link = {"Link": '</v2/team/engine/tags/list?last=b&n=2>; rel="next"'}
    found = list_tags(
        registry(
            {
                "tags/list?n=1000": httpx.Response(200, json={"tags": ["a", "b"]}, headers=link),
                "tags/list?last=b&n=2": httpx.Response(200, json={"tags": ["c", "b"]}),
            }
        ),
        IMAGE,
    )
    assert found == ["a", "b", "c"]


def test_a_repository_that_is_not_there_has_no_tags_at_all() -> None:
    assert list_tags(registry({}), IMAGE) is None


def test_of_an_image_for_several_platforms_that_of_the_engine_counts() -> None:
    manifests = [
        {"digest": DIGESTS[name], "platform": {"os": "linux", "architecture": name}} for name in ("arm64", "amd64")
    ]
    manifest = {"config": {"digest": DIGESTS["config"]}}
    answers = {
        "manifests/1": httpx.Response(
            200, content=json.dumps({"manifests": manifests}), headers={"Docker-Content-Digest": DIGESTS["index"]}
        ),
        f"manifests/{DIGESTS['amd64']}": httpx.Response(200, content=json.dumps(manifest)),
        f"blobs/{DIGESTS['config']}": httpx.Response(200, json={"created": "2026-08-01T03:00:00.123456789Z"}),
    }
    [found] = published(registry(answers), IMAGE, ["1"], "linux/amd64")
    assert found.digest == DIGESTS["index"]
    assert found.created == datetime(2026, 8, 1, 3, 0, 0, 123456, tzinfo=UTC)
    [lacking] = published(registry(answers), IMAGE, ["1"], "linux/s390x")
    assert lacking.lacking == "there is no image for linux/s390x"
    assert published(registry(answers), IMAGE, ["2"], "linux/amd64") == []


def test_a_time_without_an_offset_or_of_another_form_is_none() -> None:
    assert read_time("2026-08-01T03:00:00") is None
    assert read_time(None) is None
    assert read_time("0001-01-01T00:00:00Z") == datetime(1, 1, 1, tzinfo=UTC)
