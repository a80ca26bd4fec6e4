"""Package indexes and lists of files that lie on this machine (`file:` and paths)."""

from html import escape
from pathlib import Path
from urllib.parse import quote

from packaging.utils import canonicalize_name

from pins.errors import SourceError
from pins.sources.index_location import IndexLocation
from pins.sources.index_page import NotAPageError, parse_page
from pins.sources.listing import Listing


def read_local(location: IndexLocation, project: str, *, largest: int) -> Listing | None:
    """The files of a project, None where the location does not have it.

    An index holds a directory per project with an `index.html` or the files themselves; a flat location is a directory
    of files, or one page of links.

    Args:
        location: one whose URL is of scheme file.
        project: in any spelling.
        largest: how many bytes a page may have.

    Raises:
        SourceError: it does not exist, or could not be read.
    """
    root = location.path
    if not root.exists():
        raise SourceError(f"{location.public} could not be read: there is no such file or directory")
    place = root if location.flat else root / canonicalize_name(project)
    if not place.exists():
        return None
    if not location.flat and (place / "index.html").is_file():
        place = place / "index.html"
    try:
        page = _links(place) if place.is_dir() else place.read_bytes()
        if len(page) > largest:
            raise SourceError(f"{place} is larger than {largest // 2**20} MiB: no page of a package index is")
        return parse_page(page, "text/html", place.as_uri() + ("/" if place.is_dir() else ""), project)
    except (OSError, NotAPageError) as error:
        raise SourceError(f"{place} could not be read: {error}") from error


def local_projects(location: IndexLocation) -> tuple[str, ...]:
    """The names of the projects of an index on this machine, cheap enough to suggest one."""
    try:
        return tuple(sorted(entry.name for entry in location.path.iterdir() if entry.is_dir()))
    except OSError:
        return ()


def _links(directory: Path) -> bytes:
    """A directory as a page of links to what lies in it."""
    names = sorted(entry.name for entry in directory.iterdir())
    links = "".join(f'<a href="{quote(name)}">{escape(name)}</a>\n' for name in names)
    return f"<html><body>Links for this directory\n{links}</body></html>".encode()
