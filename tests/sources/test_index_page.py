import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from pins.sources.index_file import FileKind
from pins.sources.index_page import NotAPageError, parse_page, read_file_name

JSON = "application/vnd.pypi.simple.v1+json"


def page(*files: dict[str, object], **more: object) -> bytes:
    return json.dumps({"meta": {"api-version": "1.1"}, "name": "spam", "files": list(files), **more}).encode()


@pytest.mark.parametrize(
    ("filename", "project", "version"),
    [
        ("spam-1.0.tar.gz", "spam", "1.0"),
        ("Spam-Eggs-1.0.tar.gz", "spam-eggs", "1.0"),
        ("spam.eggs-1.0.zip", "spam-eggs", "1.0"),
        ("spam_eggs-1.0-2.tar.gz", "spam.eggs", "1.0.post2"),
        ("PyYAML-5.4.1.tar.gz", "pyyaml", "5.4.1"),
        ("python-dateutil-1.5.tar.bz2", "python_dateutil", "1.5"),
        ("pytz-2013b.tar.gz", "pytz", "2013b0"),
        ("spam-v1.0.tgz", "spam", "1.0"),
        ("torch-2.13.0+rocm7.2-cp312-cp312-linux_x86_64.whl", "torch", "2.13.0+rocm7.2"),
        ("spam-1!2.0-3b-py2.py3-none-any.whl", "spam", "1!2.0"),
    ],
)
def test_a_file_name_tells_the_version(filename: str, project: str, version: str) -> None:
    found = read_file_name(filename, project)
    assert found is not None
    assert found[0] == Version(version)
    assert found[1] is (FileKind.WHEEL if filename.endswith(".whl") else FileKind.SDIST)


@pytest.mark.parametrize(
    "filename",
    [
        "spam-2013-06-05.tar.gz",
        "spam-1.0-py3.8.egg",
        "spam-1.0.win32.exe",
        "spam-1.0.win-amd64.zip",
        "spam-1.0.tar.gz.asc",
        "spam-eggs-1.0.tar.gz",
        "spam-latest-py3-none-any.whl",
        "spam-1.0-none-any.whl",
        "../spam-1.0.tar.gz",
        "spam-1.0\n.tar.gz",
        "-1.0.tar.gz",
        "",
    ],
)
def test_a_file_of_no_use_is_left_out(filename: str) -> None:
    assert read_file_name(filename, "spam") is None


@given(filename=st.text() | st.from_regex(r"spam-[0-9a-z.+!_-]{0,8}(-[a-z0-9._]{0,6}){0,5}\.(whl|zip|tar\.gz)"))
def test_no_file_name_is_a_crash(filename: str) -> None:
    read_file_name(filename, "spam")


def test_json_tells_all_that_is_known_of_a_file() -> None:
    [file] = parse_page(
        page(
            {
                "filename": "spam-1.0-py3-none-any.whl",
                "url": "../files/spam-1.0-py3-none-any.whl",
                "hashes": {"sha256": "ab"},
                "requires-python": ">=3.8",
                "yanked": "broken",
                "upload-time": "2024-02-03T04:05:06.789Z",
                "core-metadata": {"sha256": "cd"},
                "size": 17,
            }
        ),
        f"{JSON}; charset=utf-8",
        "https://index.test/simple/spam/",
        "Spam",
    ).files
    assert file.url == "https://index.test/simple/files/spam-1.0-py3-none-any.whl"
    assert (file.requires_python, file.yanked, file.yanked_reason, file.size) == (">=3.8", True, "broken", 17)
    assert file.upload_time == datetime(2024, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
    assert file.metadata
    assert file.hashes == (("sha256", "ab"),)


def test_entries_that_make_no_sense_are_left_out() -> None:
    found = parse_page(
        page(
            {"filename": 1, "url": "x"},
            {"filename": "spam-1.0.tar.gz"},
            {"filename": "spam-1.0.tar.gz", "url": "file:///etc/passwd"},
            {"filename": "spam-1.1.tar.gz", "url": "http://[broken"},
            {"filename": "spam-2.0.tar.gz", "url": "x", "upload-time": "yesterday", "hashes": [], "yanked": None},
        ),
        JSON,
        "https://index.test/simple/spam/",
        "spam",
    ).files
    assert [str(file.version) for file in found] == ["2.0"]
    assert found[0].upload_time is None


def test_html_with_links_to_places_on_itself_is_read() -> None:
    text = b"""<html><a href="#top">top</a><a href="spam-1.0.tar.gz#sha256=ab" data-requires-python="&gt;=3.9"
        data-yanked="">x</a></html>"""
    [file] = parse_page(text, "text/html", "https://index.test/simple/spam/", "spam").files
    assert (file.requires_python, file.yanked, file.hashes) == (">=3.9", True, (("sha256", "ab"),))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", JSON),
        (b'{"files": [', JSON),
        (b'{"files": 3}', JSON),
        (b"[]", JSON),
        (b'{"meta": {"api-version": "2.0"}, "files": []}', JSON),
        (b"<html><form>log in</form></html>", "text/html"),
        (b'<html><a href="/login">log in</a></html>', "text/html"),
        (b"", "text/html"),
        (b"\x89PNG", "image/png"),
        (b"hello", ""),
    ],
)
def test_what_is_no_index_page_is_noticed(body: bytes, content_type: str) -> None:
    with pytest.raises(NotAPageError):
        parse_page(body, content_type, "https://index.test/simple/spam/", "spam")


def test_an_empty_project_is_a_page_all_the_same() -> None:
    assert parse_page(page(), JSON, "https://index.test/simple/spam/", "spam").files == ()
    links = b"<html><h1>Links for spam</h1></html>"
    assert parse_page(links, "text/html", "https://index.test/spam/", "spam").files == ()


@given(body=st.binary(max_size=200), content_type=st.sampled_from([JSON, "text/html"]))
def test_no_body_is_a_crash(body: bytes, content_type: str) -> None:
    try:
        parse_page(body, content_type, "https://index.test/simple/spam/", "spam")
    except NotAPageError:
        return
