"""Base images whose tag is given to another image, in a real registry; and how a registry is asked."""

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from pins.drift.rules.image_digest import IMAGE_DIGEST
from pins.errors import SourceError
from pins.hazards.model import Severity
from pins.sources.http_reader import HttpReader
from pins.sources.image_registry import (
    ImageReference,
    ImageRegistry,
    RegistryCredentials,
    docker_credentials,
    parse_image,
)
from pins.sources.index_configuration import read_index_configuration
from tests.docker.local_registry import PASSWORD, USER, LocalRegistry, serving_images
from tests.drift.month.sources import FileServer
from tests.drift.watched import QUICK, Watched, days, only
from tests.local_index import LocalIndex

needs_registry = pytest.mark.skipif(shutil.which("docker-registry") is None, reason="docker-registry is not installed")


@pytest.fixture
def watched(tmp_path: Path, local_index: LocalIndex) -> Watched:
    return Watched(tmp_path / "project", local_index.url)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[LocalRegistry]:
    with serving_images(tmp_path / "registry") as serving:
        yield serving


@pytest.fixture
def http(tmp_path: Path) -> Iterator[HttpReader]:
    reader = HttpReader(read_index_configuration(environment={}, directory=tmp_path), patience=QUICK)
    yield reader
    reader.close()


def dockerfile(image: str) -> dict[str, str]:
    return {"Dockerfile": f"ARG BASE_IMAGE={image}\nFROM ${{BASE_IMAGE}}\nRUN echo hello\n"}


# -- the rule ----------------------------------------------------------------------------------------------------------


@needs_registry
def test_a_tag_that_is_given_to_another_image_until_the_file_is_built_anew(
    watched: Watched, registry: LocalRegistry
) -> None:
    first = registry.publish("rocm/dev", "7.2", {"a": "1"})
    image = f"{registry.host}/rocm/dev:7.2"
    watched.write(dockerfile(image))
    assert watched.findings(IMAGE_DIGEST) == []
    assert watched.findings(IMAGE_DIGEST) == []
    second = registry.publish("rocm/dev", "7.2", {"a": "2"})
    moved = only(watched.findings(IMAGE_DIGEST))
    assert (moved.pin, moved.bucket) == ("base-image", "another digest")
    assert first in moved.evidence[0]
    assert second in moved.evidence[1]
    registry.publish("rocm/dev", "7.2", {"a": "3"})
    assert only(watched.findings(IMAGE_DIGEST)).id == moved.id
    watched.write({"Dockerfile": dockerfile(image)["Dockerfile"].replace("hello", "goodbye")}, when=days(5))
    assert only(watched.findings(IMAGE_DIGEST)).id == moved.id  # nothing that the image is built from has changed
    watched.write(dockerfile(f"{image}@{second}"), when=days(6))
    (on,) = watched.findings(IMAGE_DIGEST)
    assert (on.bucket, on.severity) == ("tag moved on", Severity.NOTE)
    registry.publish("rocm/dev", "7.2", {"a": "2"})
    assert watched.findings(IMAGE_DIGEST) == []


@needs_registry
def test_a_tag_that_its_registry_does_not_have(watched: Watched, registry: LocalRegistry) -> None:
    watched.write(dockerfile(f"{registry.host}/rocm/dev:1"))
    gone = only(watched.findings(IMAGE_DIGEST))
    assert (gone.bucket, gone.severity) == ("gone", Severity.ERROR)
    assert f"--ignore {IMAGE_DIGEST.id}" in gone.suggestion


def test_a_registry_that_is_down_leaves_it_open(watched: Watched) -> None:
    with FileServer() as server:
        server.push("rocm/dev:7.2", "one")
        watched.write(dockerfile(f"{server.host}/rocm/dev:7.2"))
        assert watched.findings(IMAGE_DIGEST) == []
        server.push("rocm/dev:7.2", "two")
        server.is_out = True
        (reason,) = watched.unknown(IMAGE_DIGEST)
        assert "rocm/dev:7.2" in reason
        assert f"only on this machine, leave the rule out, for all images, with `--ignore {IMAGE_DIGEST.id}`" in reason
        server.is_out = False
        assert only(watched.findings(IMAGE_DIGEST)).bucket == "another digest"


# -- references --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ubuntu", ImageReference("", "library/ubuntu", "latest")),
        ("rocm/dev-ubuntu-22.04:7.2.3-complete", ImageReference("", "rocm/dev-ubuntu-22.04", "7.2.3-complete")),
        ("localhost:5000/a/b:1", ImageReference("localhost:5000", "a/b", "1")),
        ("registry.example.org/team/image", ImageReference("registry.example.org", "team/image", "latest")),
        (f"a/b@sha256:{'0' * 64}", ImageReference("", "a/b", "", f"sha256:{'0' * 64}")),
        (f"a/b:1@sha256:{'0' * 64}", ImageReference("", "a/b", "1", f"sha256:{'0' * 64}")),
        ("scratch", None),
        ("not an image", None),
        ("../../etc:1", None),
        ("${BASE}:1", None),
    ],
)
def test_references_are_read_as_docker_reads_them(text: str, expected: ImageReference | None) -> None:
    assert parse_image(text) == expected


# -- credentials -------------------------------------------------------------------------------------------------------


@needs_registry
def test_credentials_of_the_docker_configuration_open_a_registry(
    tmp_path: Path, http: HttpReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_images(tmp_path / "closed", closed=True) as registry:
        digest = registry.publish("team/image", "1", {"a": "1"})
        image = ImageReference(registry.host, "team/image", "1")
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
        with pytest.raises(SourceError, match="wants credentials, and none were given") as refused:
            ImageRegistry(http).digest(image)
        assert f"`docker login {registry.host}`" in str(refused.value)
        given = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        (tmp_path / "config.json").write_text(json.dumps({"auths": {registry.host: {"auth": given}}}))
        assert docker_credentials(registry.host) == RegistryCredentials(USER, PASSWORD)
        assert ImageRegistry(http).digest(image) == digest
        wrong = base64.b64encode(f"{USER}:another-password".encode()).decode()
        (tmp_path / "config.json").write_text(json.dumps({"auths": {registry.host: {"auth": wrong}}}))
        with pytest.raises(SourceError, match="are refused") as refused:
            ImageRegistry(http).digest(image)
        assert "another-password" not in str(refused.value)


class TokenServer(FileServer):
    """A registry that wants a token, and gives one to whoever has the password (or to anybody)."""

    user = ""
    elsewhere = ""
    asked: list[str]

    def reply(self, path: str, authorization: str) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(path)
        if parts.path == "/token":
            self.asked.append(path)
            if self.user and authorization != "Basic " + base64.b64encode(self.user.encode()).decode():
                return 401, {"Content-Length": "0"}, b""
            body = json.dumps({"token": f"for-{parse_qs(parts.query)['scope'][0]}"}).encode()
            return 200, {"Content-Length": str(len(body)), "Content-Type": "application/json"}, body
        if authorization == "Bearer for-repository:team/image:pull":
            return self.answer(path)
        realm = self.elsewhere or f"http://{self.host}/token"
        challenge = f'Bearer realm="{realm}",service="here",scope="repository:team/image:pull"'
        return 401, {"WWW-Authenticate": challenge, "Content-Length": "0"}, b""


@pytest.fixture
def tokens() -> Iterator[TokenServer]:
    server = TokenServer()
    server.asked = []
    with server:
        handler = server._server.RequestHandlerClass

        def respond(self: object, *, body: bool) -> None:
            status, headers, content = server.reply(self.path, self.headers.get("Authorization", ""))  # type: ignore[attr-defined]
            self._send(status, headers)  # type: ignore[attr-defined]
            if body:
                self.wfile.write(content)  # type: ignore[attr-defined]

        handler.do_HEAD = lambda self: respond(self, body=False)  # type: ignore[attr-defined]
        handler.do_GET = lambda self: respond(self, body=True)  # type: ignore[attr-defined]
        yield server


def test_a_token_is_asked_for_once_for_a_repository_and_given_to_anybody(tokens: TokenServer, http: HttpReader) -> None:
    tokens.push("team/image:1", "one")
    registry = ImageRegistry(http, lambda _: None)
    image = ImageReference(tokens.host, "team/image", "1")
    assert registry.digest(image) == registry.digest(image) == tokens.images["team/image:1"]
    assert len(tokens.asked) == 1


def test_a_token_is_given_for_a_password(tokens: TokenServer, http: HttpReader) -> None:
    tokens.push("team/image:1", "one")
    tokens.user = "me:secret-8d21"
    image = ImageReference(tokens.host, "team/image", "1")
    with pytest.raises(SourceError, match="none were given"):
        ImageRegistry(http, lambda _: None).digest(image)
    found = ImageRegistry(http, lambda _: RegistryCredentials("me", "secret-8d21")).digest(image)
    assert found == tokens.images["team/image:1"]


def test_an_identity_token_is_exchanged(tokens: TokenServer, http: HttpReader) -> None:
    tokens.push("team/image:1", "one")
    tokens.user = "nobody:has-this"
    handler = tokens._server.RequestHandlerClass

    def exchange(self: object) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())  # type: ignore[attr-defined]
        good = form["refresh_token"] == ["identity-5c1d"] and form["grant_type"] == ["refresh_token"]
        body = json.dumps({"access_token": f"for-{form['scope'][0]}"} if good else {}).encode()
        self._send(200 if good else 401, {"Content-Length": str(len(body))})  # type: ignore[attr-defined]
        self.wfile.write(body)  # type: ignore[attr-defined]

    handler.do_POST = exchange  # type: ignore[attr-defined]
    image = ImageReference(tokens.host, "team/image", "1")
    found = ImageRegistry(http, lambda _: RegistryCredentials(identity_token="identity-5c1d")).digest(image)
    assert found == tokens.images["team/image:1"]


def test_credentials_go_to_no_less_safe_a_place_than_the_registry(http: HttpReader) -> None:
    registry = ImageRegistry(http, lambda _: RegistryCredentials("me", "secret-8d21"))
    image = ImageReference("registry.example.org", "team/image", "1")
    challenge = 'Bearer realm="http://elsewhere.example.org/token",service="here"'
    assert registry._authorization(image, challenge) == ""
