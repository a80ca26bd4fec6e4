"""What varies between two runs of one failure is masked, and nothing else."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bisector.signature import mask

MASKED = [
    ("module 'numpy' has no attribute 'float'. Did you mean: 'float16'?", "module 'numpy' has no attribute 'float'"),
    ("module 'x' has no attribute 'gone'. Did you mean 'gone_2'?", "module 'x' has no attribute 'gone'"),
    ("see https://errors.site.dev/2.12/u/moved-base for more", "see <url> for more"),
    ("git+ssh://user@site/x.git@3fa29b1 failed", "<url> failed"),
    ("<Foo object at 0x7f3c1d2e>", "<Foo object at <address>>"),
    (
        "cannot import name 'Log' from 'd.log' (/a/b/site-packages/d/log.py)",
        "cannot import name 'Log' from 'd.log' (<path> log.py)",
    ),
    ("No such file: '/tmp/tmpk3j2x/q81.bin'", "No such file: '<path>'"),
    ("~/.cache/model/x.bin and ../up/there.py", "<path> and <path> there.py"),
    (
        "requires setuptools>=61.0.0,<81 but 82.0.1 is there",
        "requires setuptools>=<version>,<<n> but <version> is there",
    ),
    ("numpy 2.1.0rc1 v3.0 3.7.1+rocm6.4 1.2.post1", "numpy <version> <version> <version> <version>"),
    ("waited 12.5 s, 300ms and 4 minutes", "waited <time>, <time> and <time>"),
    ("at 2026-08-20T11:02:03.123Z or 11:02:03", "at <time> or <time>"),
    ("expected 3 arguments, got 4", "expected <n> arguments, got <n>"),
    ("unit.pyx:14:20: no", "unit.pyx:<n>: no"),
    ("x.cpp:7: error", "x.cpp:<n>: error"),
    ("line 12 of commit 3fa29b1c77d0", "line <n> of commit <hash>"),
    ("id 123e4567-e89b-12d3-a456-426614174000 gone", "id <id> gone"),
    ("sha256:0011aa is not sha256:ffee22", "<hash> is not <hash>"),
    (
        "mod.cpython-311-x86_64-linux-gnu.so needs libamdhip64.so.6",
        "mod.cpython-<n>-x86_64-linux-gnu.so needs libamdhip64.so.<n>",
    ),
    ("\x1b[1;31mred\x1b[0m and \x1b]8;;file:///x\x07link\x1b]8;;\x07", "red and link"),
    ("tabs\tand   blanks", "tabs and blanks"),
]
KEPT = [
    "module 'numpy' has no attribute 'float64'",
    "use_2to3 is invalid.",
    "gfx942 has no fp8e4m3fnuz",
    "Client.__init__() got an unexpected keyword argument 'proxies'",
    "dtype('int32') and/or bool",
    "deadbeef facade",
    "a.b.c",
    "read/write",
]


@pytest.mark.parametrize(("text", "masked"), MASKED)
def test_what_varies_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize("text", KEPT)
def test_what_says_something_stays(text: str) -> None:
    assert mask(text) == text


PIECES = st.sampled_from(
    ["1", "1.2", "v3", "/a/b", "x.py", ":", " ", "<n>", "<", ">", "0x1f", "http://a", "Did you mean: ", "ms", "-", "+",
     "'", "~", "\\", "é", "\x1b[1m", "\r", "deadbee1", "so.1", "(", ")", "12:13", "2026-01-02", "a", "s", ".", ","]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
@example("1.<n>2/a/b.py:3:4 0x")
def test_masking_again_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


@given(st.binary())
def test_any_bytes_can_be_masked(data: bytes) -> None:
    masked = mask(data.decode("utf-8", "replace"))
    assert "\n" not in masked
    assert masked == masked.strip()


def test_a_line_of_a_megabyte_is_masked_at_once() -> None:
    for text in (
        "1." * 500_000,
        "/a" * 500_000,
        "a:" * 500_000,
        "http://" * 140_000,
        "Did you mean: " * 70_000,
        "-" * 1_000_000,
    ):
        assert len(mask(text)) <= 2000 + 20
