"""Questions that are asked directly get the answers that httpx gets, and what is not plain is left to it."""

import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pins.errors import SourceError
from pins.sources.http_reader import HttpReader, Patience, Question, TryAgainError
from pins.sources.index_configuration import read_index_configuration
from tests.local_index import LocalIndex

QUICK = Patience(tries=1, connect=2, read=0.3, page=1, largest=200_000)


class Scripted:
    """A server that sends each answer of a script as it stands; an answer of None ends its connection."""

    def __init__(self, *answers: bytes | None, ends: bool = False, keys: Path | None = None) -> None:
        self.connections = 0
        self._tls = None
        if keys is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(keys)
        self.asked: list[bytes] = []
        self._answers = list(answers)
        self._ends = ends
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self._listening.getsockname()[1]}/a/page"

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, plain: socket.socket) -> None:
        try:
            connection = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
        except OSError:  # the other end does not trust us
            return
        with connection, connection.makefile("rb") as stream:
            while self._answers:
                request = b""
                while not request.endswith(b"\r\n\r\n"):
                    try:
                        line = stream.readline()
                    except OSError:
                        return
                    if not line:
                        return
                    request += line
                self.asked.append(request)
                answer = self._answers.pop(0)
                if answer is None:
                    return
                connection.sendall(answer)
                if self._ends:
                    return
            threading.Event().wait(1)


@contextmanager
def serving(*answers: bytes | None, ends: bool = False, keys: Path | None = None) -> Iterator[Scripted]:
    server = Scripted(*answers, ends=ends, keys=keys)
    try:
        yield server
    finally:
        server.close()


def reader(*, direct: bool = True, **environment: str) -> HttpReader:
    configuration = read_index_configuration(
        "http://127.0.0.1:1/", (), environment={"HOME": "/nowhere", **environment}, directory=Path("/")
    )
    made = HttpReader(configuration, patience=QUICK, sleep=lambda _: None)
    if not direct:
        made._direct = None
    return made


def answer(body: bytes = b"", *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers]
    if length != -1:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(*chunks: bytes) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    return answer(body, "Transfer-Encoding: chunked", length=-1)


def squeezed(body: bytes) -> bytes:
    return gzip.compress(body)


def said(direct: bool, question: Question, *answers: bytes | None, ends: bool = False) -> str:
    """What comes of a question, in words that both ways have in common."""
    with serving(*answers, ends=ends) as server:
        asked = Question(server.url, question.headers, answers=question.answers, absences=question.absences)
        try:
            got = reader(direct=direct).once(asked)
        except TryAgainError:
            return "try again"
        except SourceError as error:
            return error.message.replace(server.url, "URL")
        headers = {name: value for name, value in got.headers.items() if name != "date"}
        return f"{got.url.replace(server.url, 'URL')} {got.status} {got.body!r} {headers}"


ANSWERS = {
    "plain": (answer(b"some text", "Content-Type: text/plain", 'ETag: "1"'),),
    "empty": (answer(),),
    "chunked": (chunked(b"some", b" text"),),
    "gzip": (answer(squeezed(b"some text"), "Content-Encoding: gzip"),),
    "gzip in many parts": (answer(squeezed(bytes(150_000)), "Content-Encoding: gzip"),),
    "more than is taken": (answer(squeezed(bytes(50_000_000)), "Content-Encoding: gzip"),),
    "deflate": (answer(zlib.compress(b"some text"), "Content-Encoding: deflate"),) * 2,
    "an encoding of its own": (answer(b"some text", "Content-Encoding: odd"),) * 2,
    "no gzip": (answer(b"some text", "Content-Encoding: gzip"),),
    "to the end of the connection": (answer(b"some text", length=-1),),
    "shorter than it says": (answer(b"some", length=9),),
    "not there": (answer(b"no such page", status="404 Not Found"),),
    "unchanged": (b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n',),
    "a failure that passes": (answer(b"later", status="503 Service Unavailable"),),
    "a failure that lasts": (answer(b"no", status="400 Bad Request"),),
    "a password is wanted": (answer(b"no", status="401 Unauthorized"),),
    "no HTTP": (b"220 mail.example ESMTP\r\n\r\n",) * 2,
    "a redirect without a place": (answer(status="302 Found"),) * 2,
    "nothing": (None,) * 2,
    "a header in two lines": (b"HTTP/1.1 200 OK\r\nX-Odd: a\r\n b\r\nContent-Length: 1\r\n\r\nx",) * 2,
    "a header without a name": (b"HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 1\r\n\r\nx",) * 2,
    "two lengths": (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",) * 2,
    "a length that is none": (answer(b"x", "Content-Length: one", length=-1),) * 2,
    "chunks and headers behind them": (
        answer(b"4;a=b\r\nsome\r\n0\r\nX-Sum: 1\r\n\r\n", "Transfer-Encoding: chunked", length=-1),
    ),
    "a chunk that breaks off": (answer(b"9\r\nsome", "Transfer-Encoding: chunked", length=-1),),
    "no last chunk": (answer(b"4\r\nsome\r\n", "Transfer-Encoding: chunked", length=-1),),
    "a chunk that is longer than it says": (
        answer(b"3\r\nsome\r\n0\r\n\r\n", "Transfer-Encoding: chunked", length=-1),
    ),
    "go on first": (b"HTTP/1.1 100 Continue\r\n\r\n" + answer(b"x"),),
    "of an older HTTP": (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",),
    "two headers of a name": (answer(b"x", "Link: a", "Link: b"),),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_those_that_httpx_gets(name: str) -> None:
    ends = name in ("to the end of the connection", "shorter than it says", "a chunk that breaks off", "no last chunk")
    question = Question("", {"Accept": "text/plain"}, absences=(404, 410, 304))
    assert said(True, question, *ANSWERS[name], ends=ends) == said(False, question, *ANSWERS[name], ends=ends)


def test_a_compressed_answer_without_its_end_is_tried_again() -> None:  # which httpx would take as it is
    cut = answer(squeezed(bytes(range(256)) * 100)[:-30], "Content-Encoding: gzip")
    with serving(cut) as server, pytest.raises(TryAgainError, match="broke off"):
        reader().once(Question(server.url))


def test_a_connection_is_kept_for_the_next_question() -> None:
    with serving(
        answer(b"1"), chunked(b"2"), answer(status="404 Not Found"), answer(b"4", "Connection: close"), answer(b"5")
    ) as server:
        asks = reader()
        bodies = [asks.once(Question(server.url)).body for _ in range(5)]
        assert bodies == [b"1", b"2", b"", b"4", b"5"]
        assert server.connections == 2
        asks.close()


def test_a_kept_connection_that_the_server_has_closed_is_replaced_unseen() -> None:
    with serving(answer(b"1"), None, answer(b"2")) as server:
        asks = reader()
        assert asks.once(Question(server.url)).body == b"1"
        assert asks.once(Question(server.url)).body == b"2"
        assert server.connections == 2


def test_what_is_enough_ends_the_reading_and_the_connection() -> None:
    with serving(answer(b"x" * 150_000), answer(b"2")) as server:
        asks = reader()
        begun = asks.once(Question(server.url, enough=lambda _: True)).body
        assert begun == b"x" * len(begun) != b"x" * 150_000
        assert asks.once(Question(server.url)).body == b"2"
        assert server.connections == 2


def test_a_redirect_is_left_to_httpx_and_so_is_all_that_follows(local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    asks = reader()
    without_slash = Question(f"{local_index.url}spam")
    assert b"spam" in asks.once(without_slash).body
    assert [seen.status for seen in local_index.requests] == [301, 301, 200]
    asks.once(without_slash)
    assert [seen.status for seen in local_index.requests[3:]] == [301, 200]


def test_where_a_proxy_is_named_httpx_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answer(b"from the proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert reader().once(Question("http://index.example/simple/spam/")).body == b"from the proxy"
        assert proxy.asked[0].startswith(b"GET http://index.example/simple/spam/")


def test_credentials_are_sent_and_only_where_they_are_given() -> None:
    with serving(answer(b"1"), answer(b"2")) as server:
        asks = reader()
        asks.once(Question(server.url, authentication=("someone", "pässword")))
        asks.once(Question(server.url))
        assert b"Authorization: Basic c29tZW9uZTpww6Rzc3dvcmQ=" in server.asked[0]
        assert b"Authorization" not in server.asked[1]


@pytest.mark.parametrize("odd", ["/with space", "/ünusual", "/x\r\nInjected: 1", "/<b>"])
def test_an_odd_address_reaches_no_server_as_it_stands(odd: str) -> None:
    with serving(answer(b"1")) as server:
        try:
            reader().once(Question(server.url + odd))
        except SourceError as error:
            assert "could not be read" in error.message  # noqa: PT017
        assert all(b"Injected: 1" not in request.splitlines() for request in server.asked)
        assert all(request.split(b"\r\n")[0].count(b" ") == 2 for request in server.asked)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for 127.0.0.1 that nobody knows."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    file = tmp_path_factory.mktemp("keys") / "both.pem"
    named = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made = [openssl, "req", *kind, *named, "-keyout", str(file), "-out", f"{file}.crt"]
    subprocess.run(made, check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


def test_certificates_are_checked_against_those_that_are_named(keys: Path) -> None:
    with serving(answer(b"1"), answer(b"2"), keys=keys) as server:
        named = reader(SSL_CERT_FILE=f"{keys}.crt")
        assert [named.once(Question(server.url)).body for _ in range(2)] == [b"1", b"2"]
        assert server.connections == 1
    with serving(answer(b"1"), keys=keys) as server:
        with pytest.raises(SourceError, match="certificate is not trusted here"):
            reader().once(Question(server.url))
        assert not server.asked


def test_a_host_that_is_trusted_as_it_is_needs_no_certificate(keys: Path) -> None:
    with serving(answer(b"1"), keys=keys) as server:
        trusting = reader(PIP_TRUSTED_HOST="127.0.0.1", PIP_CONFIG_FILE="/dev/null", UV_NO_CONFIG="1")
        assert trusting.configuration.insecure_hosts == ("127.0.0.1",)
        assert trusting.once(Question(server.url)).body == b"1"
