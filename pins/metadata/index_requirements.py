"""What there is, and what it requires, as package indexes tell: a `RequirementSource`."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TypeVar

from pins.metadata.file_metadata import FileMetadata, from_text, read_file_metadata
from pins.release import Release
from pins.resolve.problem import Choice, Choices, Requires
from pins.sources.file_reader import FileReader
from pins.sources.index_file import FileKind, IndexFile
from pins.sources.listing import Listing
from pins.sources.metadata_cache import MetadataCache
from pins.sources.package_index import PackageIndex
from pins.sources.page_reader import NotKeptError
from pins.sources.usable_files import why_unusable

Asked = TypeVar("Asked")
Told = TypeVar("Told")
THREADS = 16
"""How many questions are asked at once: more was no faster on one machine (`scripts/bench/metadata.py`)."""
FAR_THREADS = 48
"""The same where answers take their time, so that most of it is waiting; uv asks 50 at once."""
_FAR = 0.005
"""Seconds after which even the quickest answer begins there."""
_NEITHER_KEPT_NOR_ASKED = "its metadata is not in the cache, and --offline forbids asking for it"


class IndexRequirements:
    """Answers for packages of indexes; keeps its answers. Safe for several threads.

    Args:
        index: what is asked; its target says which files count.
        before: the indexes are read as of this time (aware); None: as of now.
        cache: where answers are kept between calls; None keeps none.
        threads: how many questions are asked at once; None for what fits the server's distance.
    """

    def __init__(
        self,
        index: PackageIndex,
        *,
        before: datetime | None = None,
        cache: MetadataCache | None = None,
        threads: int | None = None,
    ) -> None:
        self._index = index
        self._before = before
        self._cache = cache
        self._threads = threads
        self._files = FileReader(index.reader.http)
        self._lock = threading.Lock()
        self._choices: dict[str, Choices] = {}
        self._listings: dict[str, tuple[Listing, dict[str, int]]] = {}  # with the place of each release, by its label
        self._requires: dict[tuple[str, str], Requires] = {}

    def choices(self, names: Collection[str]) -> Mapping[str, Choices]:
        """Every release of each project, ascending; raises SourceError as the contract says."""
        new = [name for name in dict.fromkeys(names) if name not in self._choices]
        found = self._at_once(self._read_choices, new)
        with self._lock:
            for name, choices in zip(new, found, strict=True):
                self._choices.setdefault(name, choices)
        return {name: self._choices[name] for name in names}

    def _read_choices(self, name: str) -> Choices:
        try:
            listing = self._index.find_listing(name, before=self._before)
        except NotKeptError as error:
            return Choices(unknown=str(error))
        if not listing:
            return Choices(missing=f"no index has a project {name}: asked {self._index.asked}")
        choices = tuple(map(_choice, listing.releases(self._index.target, self._before)))
        with self._lock:
            self._listings[name] = listing, {choice.label: place for place, choice in enumerate(choices)}
        return Choices(choices)

    def requires(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Requires]:
        """What each release requires; raises SourceError as the contract says."""
        new = [one for one in dict.fromkeys(wanted) if one not in self._requires]
        self.choices({name for name, _ in new})
        usable = {one: self._usable(*one) for one in new}
        asked = {one: (files[0], *_rivals(files)) for one, files in usable.items() if files}
        read = self._read([(one[0], file) for one, files in asked.items() for file in files])
        answers = {
            one: Requires(unknown=self._why_none(*one))
            if one not in asked
            else _answer(asked[one], [read[_key(file)] for file in asked[one]])
            for one in new
        }
        with self._lock:
            for one, answer in answers.items():
                self._requires.setdefault(one, answer)
        return {one: self._requires[one] for one in wanted}

    def _read(self, files: Sequence[tuple[str, IndexFile]]) -> dict[str, FileMetadata]:
        """What files say, by their keys: from the cache, else from their servers.

        Args:
            files: each with the project that it belongs to.
        """
        found = self._kept([file for _, file in files])
        missing: dict[str, tuple[str, IndexFile]] = {}
        for project, file in files:
            if _key(file) in found:
                continue
            if self._index.reader.offline and not file.url.startswith("file:"):
                found[_key(file)] = FileMetadata(unknown=_NEITHER_KEPT_NOR_ASKED, lasting=False)
            else:
                missing[_key(file)] = (project, file)
        asked = list(missing.values())
        read = self._at_once(lambda pair: read_file_metadata(pair[1], pair[0], self._files), asked)
        self._keep([(file, answer) for (_, file), answer in zip(asked, read, strict=True)])
        found.update(zip(missing, read, strict=True))
        return found

    def _usable(self, name: str, label: str) -> list[IndexFile]:
        """The files that an installer could take for a release, best first: wheels by their tags, then the sdist."""
        target = self._index.target
        order = target.tag_ranks if target else {}

        def rank(file: IndexFile) -> tuple[bool, int, bool, str]:
            tag = min((order.get(tag, 10**6) for tag in file.tags), default=10**6)
            return file.kind is FileKind.SDIST, tag, not file.filename.endswith((".whl", ".tar.gz")), file.filename

        if name not in self._listings or label not in self._listings[name][1]:
            return []
        listing, places = self._listings[name]
        files = listing.release_files(places[label])
        return sorted((file for file in files if not why_unusable(file, target, self._before)), key=rank)

    def _why_none(self, name: str, label: str) -> str:
        choices = self._choices[name]
        reason = next((choice.unusable for choice in choices.choices if choice.label == label), "")
        return f"it {reason}" if reason else choices.unknown or choices.missing or f"{name} has no release {label}"

    def _kept(self, files: Sequence[IndexFile]) -> dict[str, FileMetadata]:
        if self._cache is None:
            return {}
        bound = self._index.reader.http.now() - timedelta(seconds=self._index.reader.http.patience.unvalidated)
        keys = [_key(file) for file in files if not self._files.needs_credentials(file.url)]
        lasting = [key for key in keys if key.startswith("sha256:")]
        others = [key for key in keys if not key.startswith("sha256:")]
        texts = self._cache.get(lasting)
        if others:
            texts |= self._cache.get(others, since=None if self._index.reader.offline else bound)
        read = {key: from_text(text) for key, text in texts.items()}
        return {key: answer for key, answer in read.items() if answer is not None}

    def _keep(self, answers: Iterable[tuple[IndexFile, FileMetadata]]) -> None:
        if self._cache is None:
            return
        entries = {
            _key(file): answer.to_text()
            for file, answer in answers
            if answer.lasting and not file.url.startswith("file:") and not self._files.needs_credentials(file.url)
        }
        self._cache.put(entries, self._index.reader.http.now())

    def _at_once(self, ask: Callable[[Asked], Told], questions: Sequence[Asked]) -> list[Told]:
        if len(questions) < 2:
            return [ask(question) for question in questions]
        is_far = _FAR < self._index.reader.http.quickest < float("inf")
        threads = self._threads or (FAR_THREADS if is_far else THREADS)
        with ThreadPoolExecutor(min(threads, len(questions))) as pool:
            futures = [pool.submit(ask, question) for question in questions]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _rivals(files: Sequence[IndexFile]) -> list[IndexFile]:
    """A wheel that says something else than the best one, as the index's hashes of their metadata tell; at most one."""
    best = files[0]
    return [file for file in files[1:] if best.metadata_hash and file.metadata_hash not in ("", best.metadata_hash)][:1]


def _answer(files: Sequence[IndexFile], told: Sequence[FileMetadata]) -> Requires:
    best, *others = told
    differ = any(set(other.requires) != set(best.requires) for other in others if not other.unknown)
    note = (
        f"{files[0].filename} and {files[1].filename} differ in what they require; the first counts" if differ else ""
    )
    return Requires(best.requires, unknown=best.unknown, note=note)


def _choice(release: Release) -> Choice:
    return Choice(
        label=str(release.version),
        version=release.version,
        yanked=release.yanked,
        unusable=release.unusable,
        date=release.upload_time,
    )


def _key(file: IndexFile) -> str:
    digest = dict(file.hashes).get("sha256", "").lower()
    return f"sha256:{digest}" if len(digest) == 64 else file.url
