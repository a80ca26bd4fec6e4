from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisector.environments.docker.instructions import (
    arguments,
    base_images,
    read_dockerfile,
    stage_names,
)
from bisector.environments.docker.stamp import original_line, stamp_values, stamped, with_original_lines

ADDED = ["ARG UV_EXCLUDE_NEWER", "ARG PIP_UPLOADED_PRIOR_TO"]


def lines_after_stamping(text: str) -> list[str]:
    return stamped(read_dockerfile(text)).splitlines()


def test_each_stage_gets_the_variables_right_after_its_from() -> None:
    text = "# syntax=a/b:1\n# escape=\\\nARG X=1\nFROM a AS one\nRUN true\nFROM one\nRUN false\n"
    assert lines_after_stamping(text) == [
        "# syntax=a/b:1",
        "# escape=\\",
        "ARG X=1",
        "FROM a AS one",
        *ADDED,
        "RUN true",
        "FROM one",
        *ADDED,
        "RUN false",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "FROM a\nRUN cat <<EOF\nFROM b\nEOF\nRUN true\n",
        "FROM a\nRUN cat <<-'EOF' && \\\n  true\n\tFROM b\n\tEOF\n",
        'FROM a\nRUN cat <<"ONE" <<TWO\nFROM b\nONE\nFROM c\nTWO\n',
        "FROM a\nRUN echo \\\nFROM b\n",
        "FROM a\nRUN echo \\  \n# comment\n\nFROM b\n",
        "FROM a\n# FROM b\nRUN true\n",
        "FROM a\nCOPY <<FROM /x\nFROM b\nFROM\nRUN true\n",
        "# escape=`\nFROM a\nRUN echo `\nFROM b\n",
    ],
)
def test_a_from_inside_a_heredoc_comment_or_continuation_is_none(text: str) -> None:
    written = lines_after_stamping(text)
    assert written.count(ADDED[0]) == 1
    assert written[written.index("FROM a") + 1] == ADDED[0]


def test_a_here_string_and_a_shift_are_no_heredocs() -> None:
    text = "FROM a\nRUN cat <<<word && echo $((1<<2)) && cat << EOF\nFROM b\n"
    assert lines_after_stamping(text).count(ADDED[0]) == 2


def test_a_from_continued_over_lines_is_stamped_after_its_last_line() -> None:
    assert lines_after_stamping("FROM \\\n  # why\n  a \\\n  AS b\nRUN true") == [
        *["FROM \\", "  # why", "  a \\", "  AS b"],
        *ADDED,
        "RUN true",
    ]


def test_line_ends_and_a_missing_last_one_are_kept() -> None:
    assert stamped(read_dockerfile("FROM a\r\nRUN true\r\n")) == (
        "FROM a\r\nARG UV_EXCLUDE_NEWER\r\nARG PIP_UPLOADED_PRIOR_TO\r\nRUN true\r\n"
    )
    assert stamped(read_dockerfile("FROM a")) == "FROM a\nARG UV_EXCLUDE_NEWER\nARG PIP_UPLOADED_PRIOR_TO\n"


@pytest.mark.parametrize(
    "own", ["ARG UV_EXCLUDE_NEWER=2026-01-01", "ENV A=1 UV_EXCLUDE_NEWER=x", "ENV UV_EXCLUDE_NEWER x"]
)
def test_a_variable_that_the_file_sets_itself_is_left_to_it(own: str) -> None:
    dockerfile = read_dockerfile(f"FROM a\n{own}\nRUN true\n")
    assert stamped(dockerfile).count("UV_EXCLUDE_NEWER") == 1
    assert set(stamp_values(dockerfile, datetime(2026, 1, 2, tzinfo=UTC))) == {"PIP_UPLOADED_PRIOR_TO"}


def test_the_time_is_written_in_utc() -> None:
    time = datetime(2026, 8, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert set(stamp_values(read_dockerfile("FROM a"), time).values()) == {"2026-07-31T23:30:00Z"}


def test_messages_speak_of_the_lines_of_the_users_file() -> None:
    text = "FROM a\nRUN one\nFROM b\nRUN two\nRUM three\n"
    dockerfile = read_dockerfile(text)
    assert with_original_lines(dockerfile, "dockerfile parse error line 9: unknown instruction: RUM") == (
        "dockerfile parse error line 5: unknown instruction: RUM"
    )
    assert with_original_lines(dockerfile, "Dockerfile:8") == "Dockerfile:4"
    assert with_original_lines(dockerfile, "Dockerfile.rocm:1") == "Dockerfile.rocm:1"


PIECES = st.sampled_from(
    ["FROM a", "FROM b AS c", "RUN x \\", "# note", "", "RUN cat <<EOF", "EOF", "ARG A=1", "  COPY a b", "\tRUN y\\ "]
)


@given(st.lists(PIECES, max_size=14), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_stamping_adds_lines_and_changes_none(lines: list[str], newline: str, ended: bool) -> None:
    text = newline.join(lines) + (newline if ended and lines else "")
    dockerfile = read_dockerfile(text)
    written = stamped(dockerfile)
    assert [line for line in written.splitlines() if line not in ADDED] == text.splitlines()
    again = read_dockerfile(written)
    kept = [entry for entry in again.instructions if f"ARG {entry.text}" not in ADDED]
    assert [(entry.keyword, entry.text) for entry in kept] == [
        (entry.keyword, entry.text) for entry in dockerfile.instructions
    ]
    assert [original_line(dockerfile, entry.line) for entry in kept] == [
        entry.line for entry in dockerfile.instructions
    ]


def test_every_word_of_an_arg_line_declares_one() -> None:
    found = arguments(read_dockerfile('ARG A=1 B C="x y" # tip\nFROM a\nARG \\\n  # why\n  D=2\n'))
    assert [(argument.name, argument.default, argument.stage) for argument in found] == [
        ("A", "1", -1),
        ("B", None, -1),
        ("C", "x y", -1),
        ("tip", None, -1),
        ("D", "2", 0),
    ]


def test_base_images_are_read_with_their_arguments() -> None:
    text = (
        "ARG TAG=1\nARG BASE=acme/os:${TAG}\nARG EMPTY\nFROM ${BASE} AS one\nFROM one\nFROM --platform=x acme/y:$TAG\n"
        "FROM scratch\nFROM ${EMPTY:-acme/z}\nFROM ${EMPTY}\n"
    )
    dockerfile = read_dockerfile(text)
    assert base_images(dockerfile, {}) == ("acme/os:1", "acme/y:1", "acme/z")
    assert base_images(dockerfile, {"TAG": "2", "EMPTY": "e"}) == ("acme/os:2", "acme/y:2", "e")
    assert stage_names(dockerfile) == ("one", "1", "2", "3", "4", "5")


def test_directives_end_at_the_first_other_line() -> None:
    assert read_dockerfile("# Syntax = a/b:1\n#escape=`\n").directives == {"syntax": "a/b:1", "escape": "`"}
    assert read_dockerfile("\n# syntax=a/b:1\n").directives == {}
    assert read_dockerfile("# hello\n# syntax=a/b:1\n").directives == {}
