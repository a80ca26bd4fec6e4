"""What is asked of a server, what it answers, and how long it is waited for."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Patience:
    """How long an index is waited for; seconds and bytes.

    Attributes:
        tries: how often one page is asked for before giving up.
        connect, read: how long one connection, and one wait for bytes, may take.
        page: how long one answer may take in all.
        total: no further try is begun after this long.
        largest: how big a page may be.
        unvalidated: how old a kept page may be that the index gave no validator for.
    """

    tries: int = 5
    connect: float = 10
    read: float = 30
    page: float = 120
    total: float = 120
    largest: int = 64 * 2**20
    unvalidated: float = 600


@dataclass(frozen=True)
class Question:
    """One request.

    Attributes:
        url: what is asked for, without credentials.
        headers: to send besides those of every request.
        authentication: user name and password for HTTP basic authentication, None for none.
        method: of the request.
        answers: statuses whose body is wanted, besides 200.
        absences: statuses that say that there is no such thing; with them the body is left unread.
        largest: how many bytes the body may have; 0 for as many as a page may have.
        what: of what kind the thing is, for messages: "a page of a package index".
        enough: is given each part of the body as it comes, and says whether the rest is not needed.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    authentication: tuple[str, str] | None = None
    method: str = "GET"
    answers: Collection[int] = ()
    absences: Collection[int] = (404, 410)
    largest: int = 0
    what: str = "a page of a package index"
    enough: Callable[[bytes], bool] | None = None


@dataclass(frozen=True)
class Answer:
    """What a server said.

    Attributes:
        url: where it came from, after redirects, without credentials and query.
        status: of HTTP.
        headers: with names in lower case.
        body: decompressed; "" where it was not read.
        asked: when the question was sent (aware).
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    asked: datetime


class TryAgainError(Exception):
    """One try failed in a way that may pass; the message says how.

    Attributes:
        wait: seconds that the server asks to wait.
    """

    def __init__(self, message: str, wait: float = 0) -> None:
        super().__init__(message)
        self.wait = wait
