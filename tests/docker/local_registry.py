"""A registry of images on this machine (Debian's docker-registry), and small images in it."""

import gzip
import hashlib
import io
import json
import shutil
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import httpx

from tests.docker.docker_setting import tiny_archive

USER, PASSWORD = "reader", "registry-password-8c1f"
HASHED = "$2b$04$77b4hRQcqceSShQhopEqbeAQZ8qOCNgzuxCD8RUOPd5Nnd3gIMJAy"
"""The password, as the registry wants it (bcrypt)."""


@dataclass
class LocalRegistry:
    """One that answers at `host`.

    Attributes:
        host: with its port.
        authentication: user and password, None where everyone is let in.
    """

    host: str
    authentication: tuple[str, str] | None = None
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=f"http://{self.host}/v2/", auth=self.authentication)

    def publish(
        self, repository: str, tag: str, files: Mapping[str, str], created: str = "", labels: Mapping[str, str] = {}
    ) -> str:
        """Put an image with a shell and these files under a tag; its digest."""
        layers = [_shell(), gzip.compress(_archive(files), mtime=0)]
        configuration = {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Env": ["PATH=/bin"], "Labels": dict(labels)},
            "rootfs": {"type": "layers", "diff_ids": [_digest(gzip.decompress(layer)) for layer in layers]},
            **({"created": created} if created else {}),
        }
        written = json.dumps(configuration).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": self._blob(repository, written, "application/vnd.docker.container.image.v1+json"),
            "layers": [
                self._blob(repository, layer, "application/vnd.docker.image.rootfs.diff.tar.gzip") for layer in layers
            ],
        }
        answer = self.client.put(
            f"{repository}/manifests/{tag}",
            content=json.dumps(manifest),
            headers={"Content-Type": str(manifest["mediaType"])},
        )
        answer.raise_for_status()
        return str(answer.headers["docker-content-digest"])

    def _blob(self, repository: str, content: bytes, kind: str) -> dict[str, object]:
        digest = _digest(content)
        if self.client.head(f"{repository}/blobs/{digest}").status_code != 200:
            place = self.client.post(f"{repository}/blobs/uploads/").headers["location"]
            self.client.put(httpx.URL(place).copy_merge_params({"digest": digest}), content=content).raise_for_status()
        return {"mediaType": kind, "size": len(content), "digest": digest}


@contextmanager
def serving_images(directory: Path, *, closed: bool = False, address: str = "127.0.0.1") -> Iterator[LocalRegistry]:
    """Serve a registry at an address of this machine; `closed` to all but `USER` with `PASSWORD`."""
    program = shutil.which("docker-registry")
    assert program is not None
    directory.mkdir()
    with socket.create_server((address, 0)) as free:
        port = free.getsockname()[1]
    authentication = ""
    if closed:
        (directory / "users").write_text(f"{USER}:{HASHED}\n")
        authentication = f"auth: {{htpasswd: {{realm: here, path: {directory / 'users'}}}}}\n"
    (directory / "registry.yml").write_text(
        f"version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {directory / 'images'}}}}}\n"
        f"http: {{addr: '{address}:{port}'}}\n{authentication}"
    )
    with (directory / "log").open("wb") as log:
        server = subprocess.Popen([program, "serve", str(directory / "registry.yml")], stdout=log, stderr=log)
        try:
            registry = LocalRegistry(f"{address}:{port}", (USER, PASSWORD) if closed else None)
            until = time.monotonic() + 30
            while not _answers(registry):
                assert time.monotonic() < until, (directory / "log").read_text()
                time.sleep(0.05)
            yield registry
            registry.client.close()
        finally:
            server.terminate()
            server.wait()


def _answers(registry: LocalRegistry) -> bool:
    try:
        return registry.client.get("").status_code in (200, 401)
    except httpx.TransportError:
        return False


@cache
def _shell() -> bytes:
    return gzip.compress(tiny_archive(), mtime=0)


def _archive(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
