"""What a page lists of one project: its files by release, as columns that are read again in no time.

A page has up to 15,000 files, and a question looks at few of them: at releases, most of which have files of the same
shapes, or at the files of one. So no file is made into an `IndexFile` before somebody asks for it, and what a page was
read into can be kept beside it (`pins.sources.page_cache`).
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypedDict

from packaging.version import Version

from pins.release import Release
from pins.sources.index_file import FileKind, IndexFile, moment_of, tags_of, version_of
from pins.sources.target import Target
from pins.sources.usable_files import names_its_file, release_of

FORMAT = 1
"""Raised whenever the columns mean something else: what was kept before is then read from its page anew."""


@dataclass(frozen=True)
class ListedFile:
    """A file as a page has it.

    Attributes:
        file: all but its tags and its upload time.
        form: of a wheel its tags, as its name has them ("cp312-cp312-manylinux_2_28_x86_64"); of a source distribution
            the ending (".tar.gz").
        uploaded: the time as the page has it, one that can be read; "" for none.
    """

    file: IndexFile
    form: str
    uploaded: str = ""


class ReleaseColumns(TypedDict):
    """What releases are made of. Files are known by their number on the page.

    Attributes:
        versions: of every release, ascending; of several spellings, the one that comes first on the page.
        groups: for every release its files.
        spelled: by file (a number as text) its version, where it is spelled differently.
        shapes: (kind, form, Requires-Python), which many files have in common.
        shape: of every file, a number of `shapes`.
        uploaded: of every file, "" where the page does not say.
        yanked: by file (a number as text) the reason, of those that were withdrawn.
    """

    versions: list[str]
    groups: list[list[int]]
    spelled: dict[str, str]
    shapes: list[list[str]]
    shape: list[int]
    uploaded: list[str]
    yanked: dict[str, str]


class FileColumns(TypedDict):
    """The rest of what is known of each file, as `IndexFile` has it.

    Attributes:
        sha256: "" for none.
        hashes: of those that have others, or more, by number (as text): all of them.
        metadata: the hash, or whether there is a metadata file.
    """

    filename: list[str]
    url: list[str]
    sha256: list[str]
    hashes: dict[str, list[list[str]]]
    metadata: list[str | bool]
    size: list[int | None]


@dataclass(frozen=True)
class _Alike:
    """What releases whose files have the same shapes have in common.

    Attributes:
        shown: positions of the files that count.
        release: one of them.
    """

    shown: tuple[int, ...]
    release: Release


class Listing:
    """The files of one project.

    Args:
        of_releases: what releases are made of.
        of_files: the rest, or its JSON, which is read when a file is asked for.
    """

    def __init__(self, of_releases: ReleaseColumns, of_files: FileColumns | bytes) -> None:
        self._of_releases = of_releases
        self._rest = of_files
        self._made: dict[int, tuple[IndexFile, ...]] = {}

    def __len__(self) -> int:
        return len(self._of_releases["shape"])

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """Of every release, ascending."""
        return tuple([version_of(text) or Version(text) for text in self._of_releases["versions"]])

    @property
    def yanked_files(self) -> int:
        """How many files were withdrawn."""
        return len(self._of_releases["yanked"])

    @property
    def last_filename(self) -> str:
        """Of the file that the page has last, "" without any."""
        names = self._of_files["filename"]
        return names[-1] if names else ""

    @property
    def has_upload_times(self) -> bool:
        """Whether the page tells when any file was uploaded."""
        return any(self._of_releases["uploaded"])

    @property
    def has_all_upload_times(self) -> bool:
        """Whether it tells that of every file."""
        return all(self._of_releases["uploaded"])

    @cached_property
    def files(self) -> tuple[IndexFile, ...]:
        """Every file, in the order of the page."""
        groups = self._of_releases["groups"]
        made = {
            number: file
            for release, group in enumerate(groups)
            for number, file in zip(group, self.release_files(release), strict=True)
        }
        return tuple(made[number] for number in range(len(self)))

    def release_files(self, release: int) -> tuple[IndexFile, ...]:
        """The files of a release, given by its place among `versions`, in the order of the page."""
        if release not in self._made:
            group = self._of_releases["groups"][release]
            self._made[release] = tuple(self._file(number, release) for number in group)
        return self._made[release]

    def releases(
        self,
        target: Target | None = None,
        before: datetime | None = None,
        takes_python: Callable[[str], bool] | None = None,
    ) -> tuple[Release, ...]:
        """What `pins.sources.usable_files.releases_of` makes of the files.

        Args:
            target: what wheels and Requires-Python must fit; None takes every file.
            before: files uploaded later are not usable. Where an upload time is unknown, the file is.
            takes_python: says of a Requires-Python whether files with it count at all; None for all.
        """
        columns = self._of_releases
        shape_of, uploaded = columns["shape"], columns["uploaded"]
        odd = {*map(int, columns["yanked"]), *map(int, columns["spelled"])}
        left_out = {n for n, (*_, python) in enumerate(columns["shapes"]) if takes_python and not takes_python(python)}
        known: dict[tuple[int, ...], _Alike] = {}
        found = []
        for place, (version, numbers) in enumerate(zip(self.versions, columns["groups"], strict=True)):
            shapes = tuple([shape_of[number] for number in numbers])
            is_plain = odd.isdisjoint(numbers)
            if is_plain and before is not None:
                times = (moment_of(uploaded[number]) for number in numbers)
                is_plain = all(time is None or time < before for time in times)
            alike = known.get(shapes) if is_plain else None
            if alike is not None:
                like = alike.release
                found.append(
                    Release(
                        version,
                        _earliest([uploaded[numbers[position]] for position in alike.shown]),
                        has_wheel=like.has_wheel,
                        has_sdist=like.has_sdist,
                        unusable=like.unusable,
                    )
                )
                continue
            kept = [n for n, shape in enumerate(shapes) if shape not in left_out]
            if not kept:
                continue
            files = self.release_files(place)
            release, counting = release_of([files[n] for n in kept], target, before)
            found.append(release)
            if is_plain and not names_its_file(release):
                known[shapes] = _Alike(tuple(kept[n] for n in counting), release)
        return tuple(found)

    def listed(self) -> Iterator[ListedFile]:
        """Every file as the page has it, in its order."""
        columns = self._of_releases
        for number, file in enumerate(self.files):
            yield ListedFile(file, columns["shapes"][columns["shape"][number]][1], columns["uploaded"][number])

    def lines(self) -> tuple[bytes, bytes]:
        """Both kinds of columns, each as a line of JSON; `from_lines` makes the same of them again."""
        rest = self._rest if isinstance(self._rest, bytes) else _line(self._rest)
        return _line(self._of_releases), rest

    @property
    def _of_files(self) -> FileColumns:
        if isinstance(self._rest, bytes):
            self._rest = json.loads(self._rest)
        assert not isinstance(self._rest, bytes), "it was just read"
        return self._rest

    def _file(self, number: int, release: int) -> IndexFile:
        columns, rest, key = self._of_releases, self._of_files, str(number)
        kind, form, python = columns["shapes"][columns["shape"][number]]
        spelled = columns["spelled"].get(key)
        metadata = rest["metadata"][number]
        digest = rest["sha256"][number]
        hashes = rest["hashes"].get(key)
        return IndexFile(
            filename=rest["filename"][number],
            url=rest["url"][number],
            version=self.versions[release] if spelled is None else Version(spelled),
            kind=FileKind(kind),
            tags=tags_of(form) if kind == FileKind.WHEEL else frozenset(),
            requires_python=python,
            yanked=key in columns["yanked"],
            yanked_reason=columns["yanked"].get(key, ""),
            upload_time=moment_of(columns["uploaded"][number]),
            hashes=tuple((name, value) for name, value in hashes)
            if hashes is not None
            else ((("sha256", digest),) if digest else ()),
            metadata=bool(metadata),
            metadata_hash=metadata if isinstance(metadata, str) else "",
            size=rest["size"][number],
        )


def listing_of(listed: Iterable[ListedFile]) -> Listing:
    """A listing of these files, in the order of the page; of several of one name, the first counts."""
    by_name: dict[str, ListedFile] = {}
    for one in listed:
        by_name.setdefault(one.file.filename, one)
    files = list(by_name.values())
    by_version: dict[Version, list[int]] = {}
    for number, one in enumerate(files):
        by_version.setdefault(one.file.version, []).append(number)
    versions = sorted(by_version)
    groups = [by_version[version] for version in versions]
    texts = [str(files[group[0]].file.version) for group in groups]
    spelled = {
        str(number): text
        for first, group in zip(texts, groups, strict=True)
        for number in group[1:]
        if (text := str(files[number].file.version)) != first
    }
    shapes: dict[tuple[str, str, str], int] = {}
    shape = [shapes.setdefault((one.file.kind.value, one.form, one.file.requires_python), len(shapes)) for one in files]
    only = [_only_sha256(one.file) for one in files]
    return Listing(
        {
            "versions": texts,
            "groups": groups,
            "spelled": spelled,
            "shapes": [list(one) for one in shapes],
            "shape": shape,
            "uploaded": [one.uploaded for one in files],
            "yanked": {str(n): one.file.yanked_reason for n, one in enumerate(files) if one.file.yanked},
        },
        {
            "filename": [one.file.filename for one in files],
            "url": [one.file.url for one in files],
            "sha256": [digest or "" for digest in only],
            "hashes": {
                str(n): [list(pair) for pair in one.file.hashes]
                for n, (one, digest) in enumerate(zip(files, only, strict=True))
                if digest is None
            },
            "metadata": [one.file.metadata_hash or one.file.metadata for one in files],
            "size": [one.file.size for one in files],
        },
    )


def from_lines(of_releases: bytes, of_files: bytes) -> Listing:
    """The listing that `Listing.lines` was asked of; whoever kept them sees to it that they are the same."""
    return Listing(json.loads(of_releases), of_files)


def _earliest(uploaded: list[str]) -> datetime | None:
    """The first of some times, None where none is known."""
    texts = set(uploaded)
    if len(texts) == 1 or (len(set(map(len, texts))) == 1 and all(text.endswith("Z") for text in texts)):
        return moment_of(min(texts))  # of one form, so that they are in the order of their texts
    return min((time for text in texts if (time := moment_of(text)) is not None), default=None)


def _only_sha256(file: IndexFile) -> str | None:
    """The SHA-256 of a file where that is all there is, "" where there is none, None where there is something else."""
    if not file.hashes:
        return ""
    [(name, digest), *more] = file.hashes
    return digest if name == "sha256" and digest and not more else None


def _line(columns: ReleaseColumns | FileColumns) -> bytes:
    return json.dumps(columns, separators=(",", ":")).encode("ascii")
