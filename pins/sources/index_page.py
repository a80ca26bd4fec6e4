"""What an index says of one project: its page, JSON or HTML, read into files. No I/O."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from packaging.tags import Tag
from packaging.utils import canonicalize_name
from packaging.version import Version

from pins.sources.index_file import FileKind, IndexFile, moment_of, tags_of, version_of
from pins.sources.listing import ListedFile, Listing, listing_of

JSON_TYPES = ("application/vnd.pypi.simple.v1+json", "application/vnd.pypi.simple.latest+json")
HTML_TYPES = ("application/vnd.pypi.simple.v1+html", "application/vnd.pypi.simple.latest+html", "text/html")
ACCEPT = f"{JSON_TYPES[0]}, {HTML_TYPES[0]};q=0.2, {HTML_TYPES[2]};q=0.01"

SDIST_ENDINGS = (".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz", ".tbz", ".tar")
"""Archives that have held source distributions; today only the first, and of old the second, are made."""


_NO_FILE_NAME = re.compile(r"[\x00-\x1f\x7f/\\]")


class NotAPageError(ValueError):
    """What was read is no page of a package index; the message says what it looks like instead."""


def parse_page(body: bytes, content_type: str, url: str, project: str) -> Listing:
    """What a page lists for a project; what is not installable, or has no PEP 440 version, is left out.

    Args:
        body: of the answer.
        content_type: of the answer; parameters are ignored.
        url: of the page, after redirects: links are relative to it.
        project: whose files are wanted, in any spelling. A flat page lists those of others as well.

    Raises:
        NotAPageError: it is not what its type says, or no index page at all.
    """
    name = canonicalize_name(project)
    kind = content_type.partition(";")[0].strip().lower()
    text = body.decode("utf-8", errors="replace")
    if kind in JSON_TYPES:
        kind = JSON_TYPES[0]
    elif kind in HTML_TYPES:
        _check_html(text)
        # A link to a place on the page itself has a fragment that is no hash, which the parser takes for a broken one.
        text = re.sub(r"""(href\s*=\s*["'][^"'#]*)#[^"'=]*(?=["'])""", r"\1", text)
    else:
        raise NotAPageError(f"it is of type {kind[:80] or 'unknown'!r}, not a page of a package index")
    try:
        page = json.loads(text) if kind == JSON_TYPES[0] else _of_html(text, name)
    except Exception as error:  # whatever a parser makes of bytes from elsewhere
        what = "JSON" if kind == JSON_TYPES[0] else "HTML"
        raise NotAPageError(f"it is not {what} of the simple API: {str(error)[:100]}") from error
    return listing_of(_files(page, url, name))


def _of_html(text: str, name: str) -> object:
    import warnings

    from mousebender.simple import from_project_details_html

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a newer minor version of the format is no concern of the user's
        return from_project_details_html(text, name)


def _check_html(text: str) -> None:
    links = re.findall(r"<a\s[^>]*href", text, flags=re.IGNORECASE)
    endings = "|".join(map(re.escape, (*SDIST_ENDINGS, ".whl", ".egg", ".exe", ".rpm", ".msi", ".dmg", ".deb")))
    if links and re.search(rf"<a\s[^>]*href[^>]*(?:{endings})", text, flags=re.IGNORECASE):
        return
    if "pypi:repository-version" not in text and not re.search(r"\blinks for\b", text, flags=re.IGNORECASE):
        what = "whose links lead to no package file" if links else "without links"
        raise NotAPageError(f"it is an HTML page {what}, such as a proxy or a log-in form gives")


def _files(page: object, url: str, name: str) -> Iterator[ListedFile]:
    if not isinstance(page, dict) or not isinstance(page.get("files"), list):
        raise NotAPageError("it is JSON without a list of files")
    meta = page.get("meta")
    version = str(meta.get("api-version", "1.0")) if isinstance(meta, dict) else "1.0"
    if not version.startswith("1."):
        raise NotAPageError(f"it follows version {version[:20]} of the simple API, and only 1 is understood")
    for entry in page["files"]:
        if isinstance(entry, dict):
            file = _file(entry, url, name)
            if file is not None:
                yield file


def _file(entry: dict[str, object], page_url: str, name: str) -> ListedFile | None:
    filename, link = entry.get("filename"), entry.get("url")
    if not isinstance(filename, str) or not isinstance(link, str):
        return None
    named = _named(filename, name)
    url = _absolute(link, page_url)
    if named is None or not url:
        return None
    version, kind, form = named
    yanked, uploaded = entry.get("yanked", False), entry.get("upload-time")
    metadata = entry.get("core-metadata") or entry.get("dist-info-metadata")
    requires_python, hashes, size = entry.get("requires-python"), entry.get("hashes"), entry.get("size")
    file = IndexFile(
        filename=filename,
        url=url,
        version=version,
        kind=kind,
        requires_python=requires_python if isinstance(requires_python, str) else "",
        yanked=bool(yanked),
        yanked_reason=yanked if isinstance(yanked, str) else "",
        hashes=tuple((str(name), str(digest)) for name, digest in hashes.items()) if isinstance(hashes, dict) else (),
        metadata=bool(metadata),
        metadata_hash=str(metadata.get("sha256", "")).lower() if isinstance(metadata, dict) else "",
        size=size if isinstance(size, int) else None,
    )
    return ListedFile(file, form, uploaded if isinstance(uploaded, str) and moment_of(uploaded) is not None else "")


def _absolute(link: str, page_url: str) -> str:
    """Where a link leads, "" where it must not be followed: a page of the network leads to no file of this machine."""
    # Most links, and quickly: pages have up to 15,000, and joining that many takes a second.
    if link.startswith(("https://", "http://")) and "[" not in link:
        return link
    if link.startswith("/") and not link.startswith("//") and "/." not in link and "[" not in link:
        page = urlsplit(page_url)  # which remembers the last it was asked
        return f"{page.scheme}://{page.netloc}{link}"
    try:
        url = urljoin(page_url, link)
        scheme = urlsplit(url).scheme
    except ValueError:
        return ""
    return url if scheme in ("http", "https") or scheme == urlsplit(page_url).scheme else ""


def read_file_name(filename: str, project: str) -> tuple[Version, FileKind, frozenset[Tag]] | None:
    """The version, kind and tags that a file name tells; None for a file of another project, or of no use.

    Source distributions of old have names that today's rules refuse: `Name-with-hyphens-1.0.tar.gz`. As the name of
    the project is known, what follows it is the version.
    """
    named = _named(filename, _canonical(project))
    if named is None:
        return None
    version, kind, form = named
    return version, kind, tags_of(form) if kind is FileKind.WHEEL else frozenset()


def _named(filename: str, name: str) -> tuple[Version, FileKind, str] | None:
    """Version, kind and form (`ListedFile.form`)."""
    if _NO_FILE_NAME.search(filename):
        return None
    if filename.endswith(".whl"):
        return _wheel_name(filename, name)
    for ending in SDIST_ENDINGS:
        if filename.endswith(ending):
            stem = filename.removesuffix(ending)
            for match in re.finditer("-", stem):
                if _canonical(stem[: match.start()]) == name:
                    version = version_of(stem[match.end() :])
                    if version is not None:
                        return version, FileKind.SDIST, ending
            return None
    return None


def _wheel_name(filename: str, name: str) -> tuple[Version, FileKind, str] | None:
    fields = filename.removesuffix(".whl").split("-")
    if len(fields) not in (5, 6) or _canonical(fields[0]) != name:
        return None
    version = version_of(fields[1])
    if version is None:
        return None
    if len(fields) == 6 and not fields[2][:1].isdigit():
        return None
    return version, FileKind.WHEEL, "-".join(fields[-3:])


@lru_cache(maxsize=256)
def _canonical(name: str) -> str:
    return canonicalize_name(name)
