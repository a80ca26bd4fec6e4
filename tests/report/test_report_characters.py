import pytest
from hypothesis import given
from hypothesis import strategies as st

from pins.report.characters import clip, cut_lines, last_bytes, one_line, visible, width, wrap

mixed = st.text(st.sampled_from("ab 한é\u0301\tx/\n"), max_size=60)


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("\x1b[1;31mError\x1b[0m: no", "Error: no"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x1b\\ after", "link after"),
        ("\x1b]0;title never closed\nnext", "\nnext"),
        (" 10%\r 55%\r100%\r\nImportError: x\r\n", "100%\nImportError: x\n"),
        ("a\x00b\x08c\x7f", "a\\x00b\\x08c\\x7f"),
        ("evil \u202efdp.exe\u2066", "evil \\u202efdp.exe\\u2066"),
        ("tag\U000e0041 lone\udcff", "tag\\U000e0041 lone\\udcff"),
        ("tab\tstays, ümlaut and 한국어 too", "tab\tstays, ümlaut and 한국어 too"),
    ],
)
def test_output_reads_as_it_would_look_without_its_tricks(printed: str, read: str) -> None:
    assert visible(printed) == read


def test_a_value_stays_on_one_line() -> None:
    assert one_line("1.0\n2.0\r\t\x1b[2J") == "1.0\\x0a2.0\\x0d\\x09\\x1b[2J"


@given(mixed, st.integers(1, 30))
def test_clipped_text_fits_and_keeps_both_ends(text: str, columns: int) -> None:
    clipped = clip(text, columns)
    assert width(clipped) <= columns
    assert clipped == text or "…" in clipped


@given(mixed, st.integers(4, 30))
def test_wrapping_loses_nothing(text: str, columns: int) -> None:
    assert " ".join(wrap(text, columns)).split() == text.split()
    assert "".join(wrap(text, columns, break_words=True)).replace(" ", "") == text.replace(" ", "")
    assert all(width(line) <= columns for line in wrap(text, columns, break_words=True))


@given(mixed, st.integers(4, 30))
def test_cut_lines_fit_and_lose_nothing(text: str, columns: int) -> None:
    lines = cut_lines(text, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join(lines) == text.expandtabs(8).replace("\n", "")


@given(st.text(st.sampled_from("ab한\n"), max_size=50), st.integers(1, 40))
def test_last_bytes_keeps_the_end(text: str, limit: int) -> None:
    kept, cut = last_bytes(text, limit)
    assert text.endswith(kept)
    assert len(kept.encode()) <= limit
    assert cut == len(text.encode()) - len(kept.encode())
