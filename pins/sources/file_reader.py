"""Reading parts of the files that an index lists: over HTTP, or from this machine."""

import re
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pins.errors import SourceError
from pins.sources.http_reader import Answer, HttpReader, Question, TryAgainError

_PLAIN_PLACE = re.compile(r"(https?://[A-Za-z0-9.:-]+)/")
_ADVICE = "Try again later."
_NO_MORE_TRIES = 4
"""How many metadata files in a row may be missing on a host before none is asked for that is not advertised."""
_GIVING_UP = 3
"""How many files in a row may fail on a host, each after all its tries, before the host counts as broken."""


class UnreadableFileError(Exception):
    """One file could not be read, others may be; the message says why, as a phrase."""


class FileReader:
    """Reads whole small files, and ranges of large ones; safe for several threads.

    Args:
        http: asks the servers.
    """

    def __init__(self, http: HttpReader) -> None:
        self._http = http
        self._lock = threading.Lock()
        self._missing: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._credentials = {
            _place(location.url): location.authentication
            for location in http.configuration.locations
            if location.authentication is not None
        }

    def needs_credentials(self, url: str) -> bool:
        """Whether credentials are sent for this file, so that it must not be kept."""
        return bool(self._credentials) and _place(url) in self._credentials

    def expects_metadata(self, url: str) -> bool:
        """Whether it is worth asking for a metadata file that is not advertised."""
        with self._lock:
            return self._missing.get(_place(url), 0) < _NO_MORE_TRIES

    def beside(self, url: str, *, advertised: bool, largest: int) -> bytes | None:
        """The metadata file beside a file, None where there is none.

        Raises:
            UnreadableFileError: it could not be read.
            SourceError: its server seems broken.
        """
        target = url + ".metadata"
        if _is_local(url):
            path = _path(target)
            return path.read_bytes() if path.is_file() and path.stat().st_size <= largest else None
        # What stores of files answer for something that is not there, where it may not be listed either.
        absences = (404, 410) if advertised else (400, 401, 403, 404, 405, 406, 410)
        answer = self._ask(
            Question(
                target,
                authentication=self._credentials.get(_place(url)),
                absences=absences,
                largest=largest,
                what="the metadata of a wheel",
            )
        )
        if not advertised:
            with self._lock:
                place = _place(url)
                self._missing[place] = self._missing.get(place, 0) + 1 if answer.status in absences else 0
        return None if answer.status in absences else answer.body

    def tail(self, url: str, count: int) -> tuple[int, bytes]:
        """The size of a file and its last bytes.

        Raises:
            UnreadableFileError: it could not be read, or its server gives no parts of files.
            SourceError: its server seems broken.
        """
        if _is_local(url):
            size = _path(url).stat().st_size
            return size, self.part(url, max(0, size - count), size)
        answer = self._range(url, f"bytes=-{count}", count)
        first, last, size = _content_range(answer)
        if last != size - 1 or len(answer.body) != last - first + 1:
            raise UnreadableFileError("its server gives other parts of it than were asked for")
        return size, answer.body

    def part(self, url: str, start: int, end: int) -> bytes:
        """The bytes of a file from one offset up to, and not including, another; raises as `tail` does."""
        if _is_local(url):
            try:
                with _path(url).open("rb") as file:
                    file.seek(start)
                    return file.read(end - start)
            except OSError as error:
                raise UnreadableFileError(str(error)) from error
        answer = self._range(url, f"bytes={start}-{end - 1}", end - start)
        first, last, _ = _content_range(answer)
        if (first, last) != (start, end - 1) or len(answer.body) != end - start:
            raise UnreadableFileError("its server gives other parts of it than were asked for")
        return answer.body

    def whole(self, url: str, *, largest: int, enough: Callable[[bytes], bool] | None = None) -> bytes:
        """A file that is small enough, or its beginning up to where `enough` says so; raises as `tail` does."""
        if _is_local(url):
            try:
                with _path(url).open("rb") as file:
                    content = file.read(largest + 1)
            except OSError as error:
                raise UnreadableFileError(str(error)) from error
            if len(content) > largest:
                raise UnreadableFileError(f"it is larger than {largest // 2**20} MiB")
            return content
        return self._ask(
            Question(
                url,
                authentication=self._credentials.get(_place(url)),
                absences=(),
                largest=largest,
                what="a source distribution",
                enough=enough,
            )
        ).body

    def _range(self, url: str, value: str, largest: int) -> Answer:
        question = Question(
            url,
            # Compressed on the way, a part could not be told from another.
            {"Range": value, "Accept-Encoding": "identity"},
            self._credentials.get(_place(url)),
            answers=(206,),
            absences=(200, 416),
            largest=largest + 1,
            what="a part of a wheel",
        )
        answer = self._ask(question)
        if answer.status != 206:
            raise UnreadableFileError("its server gives whole files only, and a wheel is not read whole")
        return answer

    def _ask(self, question: Question) -> Answer:
        place = _place(question.url)
        with self._lock:
            if self._failed.get(place, 0) >= _GIVING_UP:
                raise SourceError(
                    f"{self._http.public(question.url)} was not asked for: the last {_GIVING_UP} files could not be "
                    f"read from there. {_ADVICE}"
                )
        try:
            answer = self._http.retried(question.url, lambda: self._http.once(question), advice=_ADVICE)
        except SourceError as error:
            if isinstance(error.__cause__, TryAgainError):
                with self._lock:
                    self._failed[place] = self._failed.get(place, 0) + 1
                    broken = self._failed[place] >= _GIVING_UP
                if broken:
                    raise
            raise UnreadableFileError(str(error)) from error
        with self._lock:
            self._failed[place] = 0
        return answer


def _content_range(answer: Answer) -> tuple[int, int, int]:
    unit, _, rest = answer.headers.get("content-range", "").partition(" ")
    bounds, _, size = rest.partition("/")
    first, _, last = bounds.partition("-")
    if unit.lower() != "bytes" or not (first.isdigit() and last.isdigit() and size.isdigit()):
        raise UnreadableFileError("its server does not say which part of it was sent")
    return int(first), int(last), int(size)


def _place(url: str) -> str:
    plain = _PLAIN_PLACE.match(url)  # nearly all, and there are thousands
    if plain:
        return plain[1].lower()
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def _is_local(url: str) -> bool:
    return url.startswith("file:")


def _path(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))
