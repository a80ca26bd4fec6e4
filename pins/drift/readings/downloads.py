"""What a server says of a file that is downloaded, without downloading it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pins.drift.model import Tools
from pins.errors import SourceError
from pins.sources.http_reader import Answer, HttpReader, Question

_RELEASE = re.compile(r"/repos/[^/]+/[^/]+/releases/(?:tags/[^/]+|\d+)\Z")
_ABSENT = (404, 410)
_NO_HEAD = (400, 403, 405, 501)
_LARGEST = 4 * 2**20
_ADVICE = "Try again later."


@dataclass(frozen=True)
class Download:
    """A file as its server describes it.

    Attributes:
        there: whether there is such a thing.
        size: in bytes, None where the server does not say.
        modified: as the server says it, "" where it does not.
        etag: strong ones only, "" for none.
        page: whether it is a page, which is made anew for whoever asks, and no file.
        assets: of a release that is listed, what each file is: name -> digest, or size and time of upload.
    """

    there: bool
    size: int | None = None
    modified: str = ""
    etag: str = ""
    page: bool = False
    assets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DownloadHead:
    """Asks for a file's description.

    Attributes:
        url: of the file, or of a release of a forge whose files are all taken.
    """

    url: str

    @property
    def host(self) -> str:
        """Its server."""
        return (urlsplit(self.url).hostname or "").lower()

    def read(self, tools: Tools) -> Download:
        """Ask.

        Raises:
            SourceError: the server cannot be asked, or not as of a time that has passed.
        """
        shown = tools.http.public(self.url)
        if tools.offline:
            raise SourceError(f"{shown} is not asked for: --offline forbids it")
        if tools.as_of is not None:
            raise SourceError(
                f"what {shown} was on {tools.as_of:%Y-%m-%d} cannot be asked: a server knows only its file"
            )
        if _RELEASE.search(urlsplit(self.url).path):
            return _release(_asked(tools.http, self.url, "GET"))
        answer = _asked(tools.http, self.url, "HEAD")
        if answer.status in _NO_HEAD:
            answer = _asked(tools.http, self.url, "GET", {"Range": "bytes=0-0"})
        return _described(answer, shown)


def _asked(http: HttpReader, url: str, method: str, headers: Mapping[str, str] | None = None) -> Answer:
    question = Question(
        url,
        headers={"Accept-Encoding": "identity", **(headers or {})},
        method=method,
        answers=(206,),
        absences=(*_ABSENT, *(_NO_HEAD if method == "HEAD" else (416,))),
        largest=_LARGEST,
        what="a file to download",
        enough=(lambda _: True) if headers else None,
    )
    return http.retried(url, lambda: http.once(question), advice=_ADVICE)


def _described(answer: Answer, shown: str) -> Download:
    if answer.status in _ABSENT:
        return Download(there=False)
    if answer.status not in (200, 206):
        raise SourceError(f"{shown} answered {answer.status}, which says nothing of the file")
    headers = answer.headers
    total = (
        headers.get("content-range", "").rpartition("/")[2]
        if answer.status == 206
        else headers.get("content-length", "")
    )
    etag = headers.get("etag", "")
    return Download(
        there=True,
        size=int(total) if total.isdigit() and not headers.get("content-encoding") else None,
        modified=headers.get("last-modified", ""),
        etag="" if etag.startswith("W/") else etag.strip('"'),
        page=headers.get("content-type", "").lower().startswith(("text/html", "application/json")),
    )


def _release(answer: Answer) -> Download:
    """A release as a forge's API lists it. The page itself changes with every download; what counts is its files."""
    if answer.status in _ABSENT:
        return Download(there=False)
    try:
        assets = json.loads(answer.body)["assets"]
        found = {
            str(one["name"]): str(one.get("digest") or f"{one.get('size')} bytes, {one.get('updated_at')}")
            for one in assets
        }
    except (ValueError, KeyError, TypeError) as error:
        raise SourceError(f"{answer.url} is no release as a forge's API gives it") from error
    return Download(there=True, assets=found)
