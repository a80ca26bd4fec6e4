"""The log of a process: bounded, in order, and honest about what it leaves out."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisector.processes.bounded_log import BoundedLog, Stream

NOTE = re.compile(rb"\n\[\.\.\. +(\d+) bytes left out here \.\.\.\]\n")


def written(path: Path, chunks: list[bytes], limit: int) -> bytes:
    log = BoundedLog(path, limit)
    for chunk in chunks:
        log.write(chunk)
    log.close()
    return path.read_bytes()


@given(st.lists(st.binary(max_size=700), max_size=40), st.integers(min_value=400, max_value=2000))
def test_head_and_tail_are_kept_and_the_count_of_what_is_gone_is_exact(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], limit: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    everything = b"".join(chunks)
    content = written(path, chunks, limit)
    assert len(content) <= limit
    if len(everything) <= limit:
        assert content == everything
        return
    head = limit // 4
    assert content[:head] == everything[:head]
    note = NOTE.match(content, head)
    assert note is not None
    tail = content[note.end() :]
    assert everything.endswith(tail)
    assert tail
    assert head + int(note[1]) + len(tail) == len(everything)


def test_a_log_that_exists_is_continued_and_its_text_kept(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"first\n")
    assert written(path, [b"x" * 5000], 1000).startswith(b"first\nxxx")
    assert path.stat().st_size <= 1006


def test_a_credential_cut_in_two_by_a_write_is_masked(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "log")
    stream = Stream(log, lambda text: text.replace("s3cret", "****"), 1000)
    for chunk in (b"token s3", b"cret and ", b"more\nlast s3cr", b"et"):
        stream.take(chunk)
    stream.finish()
    log.close()
    assert (tmp_path / "log").read_text() == "token **** and more\nlast ****"
    assert stream.text == "token **** and more\nlast ****"


@given(st.integers(min_value=0, max_value=300_000), st.integers(min_value=50, max_value=70_000))
def test_a_credential_anywhere_in_an_endless_line_is_masked(
    tmp_path_factory: pytest.TempPathFactory, at: int, size: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    log = BoundedLog(path)
    stream = Stream(log, lambda text: text.replace("s3cret", "****"), 1000)
    data = b"x" * at + b"s3cret" + b"y" * (300_000 - at)
    for start in range(0, len(data), size):
        stream.take(data[start : start + size])
    stream.finish()
    log.close()
    assert path.read_bytes() == data.replace(b"s3cret", b"****")


def test_bytes_that_are_no_text_pass_through_redaction_unchanged(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "log")
    stream = Stream(log, lambda text: text, 1000)
    stream.take(bytes(range(256)))
    stream.finish()
    log.close()
    assert (tmp_path / "log").read_bytes() == bytes(range(256))


def test_the_kept_end_begins_with_a_whole_character(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "log")
    stream = Stream(log, None, 7)
    stream.take("€€€€".encode())
    log.close()
    assert stream.text == "€€"


@given(st.lists(st.binary(max_size=40), max_size=60))
def test_the_kept_end_is_the_end_however_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]
) -> None:
    log = BoundedLog(tmp_path_factory.mktemp("log") / "log")
    stream = Stream(log, None, 10)
    for part in parts:
        stream.take(part)
    log.close()
    whole = b"".join(parts)
    end = whole if len(whole) < 10 else whole[-10:].lstrip(bytes(range(0x80, 0xC0)))
    assert stream.text == end.decode("utf-8", "replace")
