"""Setting an image: a tag, a digest or a reference in the place of the one that is there."""

from pathlib import Path

import pytest

from pins.errors import UsageError
from pins.files.setting import SetRequest, set_pins

OLD, NEW = f"sha256:{1:064d}", f"sha256:{2:064d}"


def _set(tmp_path: Path, text: str, assignment: str) -> str:
    file = tmp_path / "Dockerfile"
    file.write_text(text)
    return set_pins(SetRequest(file, (assignment,))).after.decode()


@pytest.mark.parametrize(
    ("line", "assignment", "expected"),
    [
        ("FROM ubuntu:22.04 AS base", "ubuntu=24.04", "FROM ubuntu:24.04 AS base"),
        ("FROM ubuntu:22.04", "ubuntu=:24.04", "FROM ubuntu:24.04"),
        ("FROM ubuntu", "ubuntu=24.04", "FROM ubuntu:24.04"),
        ("FROM ubuntu:22.04", "ubuntu=ubuntu", "FROM ubuntu"),
        ("FROM ubuntu:22.04", "ubuntu=library/debian:12", "FROM library/debian:12"),
        ("FROM h.example:5000/rocm/dev:6.4", "dev=7.0", "FROM h.example:5000/rocm/dev:7.0"),
        ("FROM h.example:5000/rocm/dev:6.4", "h.example:5000/rocm/dev=7.0", "FROM h.example:5000/rocm/dev:7.0"),
        (f"FROM ubuntu:22.04@{OLD}", f"ubuntu={NEW}", f"FROM ubuntu:22.04@{NEW}"),
        (f"FROM ubuntu@{OLD}", "ubuntu=24.04", "FROM ubuntu:24.04"),
        (f"FROM ubuntu@{OLD}", f"ubuntu=@{NEW}", f"FROM ubuntu@{NEW}"),
    ],
)
def test_a_tag_or_a_digest_keeps_the_rest_of_the_reference(
    tmp_path: Path, line: str, assignment: str, expected: str
) -> None:
    assert _set(tmp_path, f"{line}\n", assignment) == f"{expected}\n"


@pytest.mark.parametrize(
    ("held", "assignment", "expected"),
    [
        ("TAG=:22.04", "TAG=24.04", "TAG=:24.04"),
        ("TAG=:22.04", "TAG=:24.04", "TAG=:24.04"),
        (f"TAG=@{OLD}", f"TAG={NEW}", f"TAG=@{NEW}"),
        (f"TAG=@{OLD}", f"TAG=@{NEW}", f"TAG=@{NEW}"),
    ],
)
def test_a_variable_keeps_the_sign_that_it_holds(tmp_path: Path, held: str, assignment: str, expected: str) -> None:
    assert _set(tmp_path, f"ARG {held}\nFROM ubuntu${{TAG}}\n", assignment) == f"ARG {expected}\nFROM ubuntu${{TAG}}\n"


def test_a_place_for_a_digest_takes_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds a digest"):
        _set(tmp_path, f"ARG TAG=@{OLD}\nFROM ubuntu${{TAG}}\n", "TAG=24.04")
