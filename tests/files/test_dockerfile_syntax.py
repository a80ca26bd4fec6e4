"""Splitting a Dockerfile, held to an independent parser (the one of Go, which BuildKit's grew from)."""

import dockerfile
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pins.files.dockerfile.syntax import KEYWORDS, split_dockerfile


def boundaries(data: bytes) -> list[tuple[str, int, int, int]]:
    """(keyword, first line, last line, number of flags) of each instruction."""
    return [(i.keyword, i.line, i.end_line, len(i.flags)) for i in split_dockerfile(data).instructions]


def oracle(data: bytes) -> list[tuple[str, int, int, int]]:
    commands = dockerfile.parse_string(data.decode())
    return [(c.cmd.upper(), c.start_line, c.end_line, len(c.flags or ())) for c in commands]


CASES = {
    "continued with a comment inside": b"FROM a\nRUN x && \\\n  # why\n  y\nRUN z\n",
    "blank line inside a continuation": b"FROM a\nRUN x && \\\n\n  y\n",
    "backslash followed by blanks": b"FROM a\nRUN x && \\  \n  y\n",
    "two backslashes do not continue": b"FROM a\nRUN x \\\\\nRUN y\n",
    "swallowed instruction": b"FROM a\nRUN x && \\\n\nRUN y\n",
    "heredoc": b"FROM a\nRUN <<EOF\npip install x\nEOF\nRUN y\n",
    "two heredocs": b"FROM a\nCOPY <<A <<B /x/\none\nA\ntwo\nB\nRUN y\n",
    "heredoc with tabs": b"FROM a\nRUN <<-EOF\n\tx\n\tEOF\nRUN y\n",
    "quoted heredoc with a shell": b'FROM a\nRUN <<"EOF" bash -e\nx\nEOF\nRUN y\n',
    "blank before the delimiter is no heredoc": b"FROM a\nRUN cat << 'EOF' > f\nRUN y\n",
    "here string": b'FROM a\nRUN cat <<<"x"\nRUN y\n',
    "heredoc behind a test": b'FROM a\nRUN [ -n "$A" ] && tee /f <<EOF\n{\nEOF\nRUN y\n',
    "onbuild heredoc": b"FROM a\nONBUILD RUN <<EOF\nx\nEOF\nRUN y\n",
    "exec form with angle brackets": b'FROM a\nRUN ["cat", "<<EOF"]\nRUN y\n',
    "crlf": b"FROM a\r\nRUN x && \\\r\n  y\r\n",
    "byte order mark": b"\xef\xbb\xbfFROM a\nRUN x\n",
    "backtick escape": b"# escape=`\nFROM a\nRUN x `\n  y\nRUN c:\\\nRUN z\n",
    "syntax line, then escape": b"# syntax=docker/dockerfile:1\n# escape=`\nFROM a\nRUN x `\n y\n",
    "a comment ends the directives": b"# hello\n# escape=`\nFROM a\nRUN x \\\n  y\n",
    "flags": b'FROM --platform=linux/amd64 a\nRUN --mount=type=cache,target=/c --network="none" x --not-a-flag\nCOPY --from=a --chown=1:1 x y\n',  # noqa: E501
    "lower case and no newline at the end": b"from a as b\nrun x",
    "no-break space before an instruction": b"FROM a\n\xc2\xa0RUN x\n",
    "continuation at the end of the file": b"FROM a\nRUN x \\\n",
    "comment directly behind the last line": b"FROM a\nRUN x \\\n# end",
}


@pytest.mark.parametrize("name", CASES)
def test_instructions_begin_and_end_where_an_independent_parser_says(name: str) -> None:
    assert boundaries(CASES[name]) == oracle(CASES[name])


LINES = st.sampled_from(
    [
        "RUN x",
        "RUN x \\",
        "  y && \\",
        "# c",
        "",
        "  ",
        "\t# c",
        "ARG A=1",
        "ENV A=1 \\",
        "  B=2",
        "RUN <<EOF",
        "EOF",
        "\tEOF",
        "RUN <<-E1 <<'E2'",
        "E1",
        "E2",
        "COPY a b",
        "COPY --from=x a b",
        "RUN --mount=type=cache x",
        "FROM b AS c",
        "x \\  ",
        'RUN echo "<<EOF"',
        "RUN a\\\\",
        "ONBUILD RUN y",
        "# escape=`",
        'RUN ["a", "<<E"]',
        "ADD <<EOF /f",
        "RUN é \\",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(LINES, max_size=14), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_file_splits_as_the_independent_parser_does(lines: list[str], line_end: str, ends: bool) -> None:
    data = (line_end.join(["FROM a", *lines]) + (line_end if ends else "")).encode()
    ours = split_dockerfile(data)
    try:
        expected = oracle(data)
    except dockerfile.GoParseError:
        return  # values are checked later than boundaries here
    known = [entry for entry in expected if entry[0] in KEYWORDS]
    if ours.problem is None:
        assert boundaries(data) == expected
    else:
        assert boundaries(data) == expected[: len(boundaries(data))]
        assert len(known) < len(expected) or ours.problem.message.startswith("a quote")


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    split_dockerfile(data)


def test_every_byte_of_the_body_keeps_its_place() -> None:
    data = b"FROM a\nRUN one \\\n  # comment\n\n  two \\\n three\n"
    run = split_dockerfile(data).instructions[1]
    body = run.body
    assert body.text == b"one   two  three"
    assert all(data[body.source(i)] == body.text[i] for i in range(len(body.text)))


def test_reading_stops_at_an_unknown_instruction_and_names_its_line() -> None:
    found = split_dockerfile(b"FROM a\nRUN x\n<<<<<<< HEAD\nRUN y\n")
    assert [i.keyword for i in found.instructions] == ["FROM", "RUN"]
    assert found.problem
    assert found.problem.line == 3


def test_reading_stops_at_a_heredoc_that_is_not_terminated() -> None:
    found = split_dockerfile(b"FROM a\nRUN <<EOF\nx\n")
    assert [i.keyword for i in found.instructions] == ["FROM"]
    assert found.problem
    assert found.problem.line == 2
