"""Tags of a repository of images, and when the images were made.

Source: the OCI distribution specification (listing tags, manifests, blobs) and the OCI image specification (index,
manifest, configuration).
"""

import json
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from pins.errors import SourceError
from pins.sources.image_registry import ImageReference, ImageRegistry

MOST_PAGES = 200
"""Pages of tags that are read; a registry gives at least some hundred tags on each."""
AT_ONCE = 8
_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')
_INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")


@dataclass(frozen=True)
class PublishedImage:
    """What a registry has under a tag.

    Attributes:
        tag: the tag.
        digest: of the index, or of the manifest where there is no index: what `docker pull` prints.
        created: when the image for the asked-for platform was made (aware), None where it does not say.
        lacking: why it cannot be run on that platform, "" where it can.
    """

    tag: str
    digest: str
    created: datetime | None = None
    lacking: str = ""


def list_tags(registry: ImageRegistry, image: ImageReference) -> list[str] | None:
    """The tags of a repository, as the registry orders them; None where it has no such repository.

    Raises:
        SourceError: it could not be asked.
    """
    found: list[str] = []
    path = "tags/list?n=1000"
    for _ in range(MOST_PAGES):
        answer = registry.read(image, path)
        if answer.status == 404:
            return None
        found += [tag for tag in _object(answer.body, image).get("tags") or () if isinstance(tag, str)]
        link = _NEXT.search(answer.headers.get("link", ""))
        if link is None:
            return list(dict.fromkeys(found))
        # Of the link, which may be relative or name another host, what follows the repository counts alone.
        _, _, query = urljoin(answer.url, link[1]).partition("?")
        if not query or path == f"tags/list?{query}":
            break
        path = f"tags/list?{query}"
    return list(dict.fromkeys(found))


def published(
    registry: ImageRegistry, image: ImageReference, tags: Iterable[str], platform: str
) -> list[PublishedImage]:
    """What the registry has under these tags now, without those that are gone.

    Args:
        registry: is asked.
        image: the repository.
        tags: of it.
        platform: `linux/amd64`, say: that whose creation time counts; "" for the first there is.

    Raises:
        SourceError: it could not be asked.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(lambda tag: _published(registry, replace(image, tag=tag, digest=""), platform), tags)
        return [each for each in found if each is not None]


def _published(registry: ImageRegistry, image: ImageReference, platform: str) -> PublishedImage | None:
    answer = registry.read(image, f"manifests/{image.tag}")
    if answer.status == 404:
        return None
    digest = answer.headers.get("docker-content-digest", "") or registry.digest(image)
    manifest = _object(answer.body, image)
    if _is_index(manifest):
        chosen = _for_platform(manifest, platform)
        if chosen is None:
            return PublishedImage(image.tag, digest, lacking=f"there is no image for {platform}")
        inner = registry.read(image, f"manifests/{chosen}")
        manifest = _object(inner.body, image) if inner.status != 404 else {}
    configuration = manifest.get("config")
    blob = configuration.get("digest") if isinstance(configuration, dict) else None
    if not isinstance(blob, str) or not re.fullmatch(r"[a-z0-9]+:[0-9a-f]{32,}", blob):
        return PublishedImage(image.tag, digest)
    answer = registry.read(image, f"blobs/{blob}")
    return PublishedImage(image.tag, digest, _created(_object(answer.body, image)) if answer.status != 404 else None)


def _is_index(manifest: dict[str, Any]) -> bool:
    return manifest.get("mediaType") in _INDEXES or isinstance(manifest.get("manifests"), list)


def _for_platform(index: dict[str, Any], platform: str) -> str | None:
    """The digest of the manifest for a platform."""
    for entry in index.get("manifests") or ():
        said = entry.get("platform") if isinstance(entry, dict) else None
        said = said if isinstance(said, dict) else {}
        digest = entry.get("digest") if isinstance(entry, dict) else None
        if not isinstance(digest, str) or not re.fullmatch(r"[a-z0-9]+:[0-9a-f]{32,}", digest):
            continue
        if not platform or f"{said.get('os')}/{said.get('architecture')}" == platform:
            return digest
    return None


def _created(configuration: dict[str, Any]) -> datetime | None:
    return read_time(configuration.get("created"))


def read_time(text: object) -> datetime | None:
    """An RFC 3339 time with as many digits after the second as there may be; None for none, or one without offset."""
    try:
        time = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", str(text)))
    except ValueError:
        return None
    return time if time.tzinfo is not None else None


def _object(body: bytes, image: ImageReference) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SourceError(f"the registry's answer about {image} cannot be read: it is no JSON object")
    return found
