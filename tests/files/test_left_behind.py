"""What `pins set` says of what it leaves: a build with the new value would stumble over it."""

from pathlib import Path

import pytest

from pins.errors import UsageError
from pins.files.setting import SetRequest, set_pins

HASH = "0123456789abcdef" * 4


def remarks(tmp_path: Path, name: str, text: str, assignment: str) -> tuple[str, ...]:
    file = tmp_path / name
    file.write_text(text)
    return set_pins(SetRequest(file, (assignment,))).remarks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"foo==1.4 --hash=sha256:{HASH}\n", ("foo: a checksum beside it (line 1) is not changed",)),
        (
            f"bar==1\nfoo==1.4 \\\n    --hash=sha256:{HASH} \\\n    --hash=sha256:{HASH}\nbaz==2\n",
            ("foo: a checksum beside it (line 3, 4) is not changed",),
        ),
        (f"foo==1.4\nbaz==2 --hash=sha256:{HASH}\n", ()),
    ],
)
def test_hashes_of_a_requirement(text: str, said: tuple[str, ...], tmp_path: Path) -> None:
    assert remarks(tmp_path, "requirements.txt", text, "foo=1.5") == said


def test_what_unpacks_a_download_by_its_old_name(tmp_path: Path) -> None:
    text = (
        "FROM a:1\nRUN curl -LO https://x.org/v1.2.3/tool-1.2.3.tgz && \\\n"
        f'    echo "{HASH}  tool-1.2.3.tgz" | sha256sum -c && \\\n    tar xf tool-1.2.3.tgz\nRUN echo 1.2.3\n'
    )
    assert remarks(tmp_path, "Dockerfile", text, "tool=1.2.4") == (
        "tool: a checksum beside it (line 3) is not changed",
        "tool: 1.2.3 still stands on line 3, 4",
    )


def test_nothing_is_left_of_a_version_in_an_argument(tmp_path: Path) -> None:
    text = "FROM a:1\nARG V=1.2.3\nRUN curl -LO https://x.org/v$V/tool-$V.tgz && tar xf tool-$V.tgz\n"
    assert remarks(tmp_path, "Dockerfile", text, "V=1.2.4") == ()


def test_two_of_one_line_are_not_offered_by_their_line(tmp_path: Path) -> None:
    text = "FROM a:1\nRUN if [ -d /x ]; then pip install foo==1.0; else pip install foo==2.0; fi\n"
    with pytest.raises(UsageError, match="all on one line: give --all, or edit one of them by hand"):
        remarks(tmp_path, "Dockerfile", text, "foo=3")
