"""Where a Ray cluster is said to be: told apart from where none is, at once. Needs no Ray."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bisector.executors.ray.address import check_answers, check_joined, parse_address
from bisector.executors.ray.head import Head
from pins.errors import EnvironmentFailureError, UsageError


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Something that takes one connection, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    "text", ["auto", "local", "10.0.0.1:6379", "head.example.org:6379", "[fd00::2]:6379", "head_1:1"]
)
def test_addresses(text: str) -> None:
    assert parse_address(f" {text} ") == text
    assert parse_address(None) == "auto"


@pytest.mark.parametrize(
    "text",
    [
        "--head",
        "head",
        "10.0.0.1",
        "a b:1",
        "head:0",
        "head:99999",
        "http://head:8265",
        "head:6379/x",
        "fd00::2:6379",
        "Auto",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no address: give auto, local or HOST:PORT"):
        parse_address(text)


def test_the_address_of_ray_client_is_refused_with_the_one_to_give() -> None:
    with pytest.raises(UsageError, match="give the address of the head itself"):
        parse_address("ray://head:10001")


def test_an_address_where_nothing_listens_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(EnvironmentFailureError, match=f"no Ray cluster answers at {address}: Connection refused"):
        check_answers(address)
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(EnvironmentFailureError, match=rf"{address} \(RAY_ADDRESS\): Connection refused"):
        check_answers("auto")
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    with pytest.raises(UsageError, match=r"RAY_ADDRESS: ray://head:10001: Ray Client"):
        check_answers("auto")
    with pytest.raises(EnvironmentFailureError, match=r"no Ray cluster answers at no\.\.where:6379: .*label"):
        check_answers("no..where:6379")


def test_something_else_that_listens_is_told_from_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        listening(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as address,
        pytest.raises(EnvironmentFailureError, match="is not the head of a Ray cluster"),
    ):
        check_answers(address)
    monkeypatch.setattr("bisector.executors.ray.address.PATIENCE", 0.2)
    with (
        listening(lambda connection: [None for _ in iter(lambda: connection.recv(99), b"")]) as address,  # type: ignore[arg-type]
        pytest.raises(EnvironmentFailureError, match=f"nothing answers at {address} within"),
    ):
        check_answers(address)


def test_a_server_of_http_2_passes() -> None:
    with listening(lambda connection: connection.sendall(bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))) as address:
        check_answers(address)


def test_a_machine_that_is_part_of_no_cluster_is_told_how_to_join(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil.process_iter", lambda attributes: iter(()))
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    with pytest.raises(EnvironmentFailureError, match=r"ray start --address=head:6379 --num-cpus=0"):
        check_joined("head:6379")
    check_joined("local")
    (tmp_path / "ray" / "session_1" / "sockets").mkdir(parents=True)
    (tmp_path / "ray" / "session_1" / "sockets" / "raylet").touch()
    check_joined("head:6379")


def test_a_head_that_is_silent_for_a_heartbeat_is_gone_for_good() -> None:
    answers = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
    with listening(lambda connection: connection.sendall(answers)) as address:
        head = Head(address, heartbeat=0.0)
        patient = Head(address, heartbeat=600.0)
        assert head.why_silent() == ""
    assert head.why_silent() == head.gone == f"the head of the cluster, {address}, does not answer any more"
    assert patient.why_silent() == head.gone
    assert not patient.gone
