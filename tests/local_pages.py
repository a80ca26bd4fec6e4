"""Project pages of the simple API, JSON and HTML: what `tests.local_index` answers."""

import hashlib
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
HTML_TYPE = "text/html"


@dataclass(frozen=True)
class ServedFile:
    """One file of a project, as the index lists it."""

    project: str
    filename: str
    content: bytes
    metadata: bytes | None = None
    requires_python: str | None = None
    yanked: str | None = None
    upload_time: datetime | None = None


def page_json(files: Sequence[ServedFile], *, upload_times: bool, metadata_files: bool) -> str:
    """The page of one project as JSON."""
    listed = []
    for file in files:
        entry: dict[str, object] = {
            "filename": file.filename,
            "url": f"/files/{quote(file.filename)}",
            "hashes": {"sha256": sha256(file.content)},
            "size": len(file.content),
            "yanked": False if file.yanked is None else file.yanked or True,
        }
        if file.requires_python is not None:
            entry["requires-python"] = file.requires_python
        if file.metadata is not None and metadata_files:
            entry["core-metadata"] = {"sha256": sha256(file.metadata)}
        if file.upload_time is not None and upload_times:
            entry["upload-time"] = file.upload_time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        listed.append(entry)
    return json.dumps({"meta": {"api-version": "1.1"}, "name": files[0].project, "versions": [], "files": listed})


def page_html(files: Sequence[ServedFile], *, metadata_files: bool) -> str:
    """The page of one project as HTML, which knows no upload times."""
    links = []
    for file in files:
        attributes = [f'href="/files/{quote(file.filename)}#sha256={sha256(file.content)}"']
        if file.requires_python is not None:
            attributes.append(f'data-requires-python="{html.escape(file.requires_python)}"')
        if file.yanked is not None:
            attributes.append(f'data-yanked="{html.escape(file.yanked)}"')
        if file.metadata is not None and metadata_files:
            attributes.append(f'data-core-metadata="sha256={sha256(file.metadata)}"')
        links.append(f"<a {' '.join(attributes)}>{html.escape(file.filename)}</a><br>")
    return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>"


def sha256(content: bytes) -> str:
    """The hex digest that pages advertise."""
    return hashlib.sha256(content).hexdigest()
