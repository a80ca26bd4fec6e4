import email
import email.policy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from pins.metadata.core_metadata import NotMetadataError, check_identity, parse_core_metadata

REAL = b"""\
Metadata-Version: 2.1
Name: torch
Version: 2.9.1
Summary: Tensors and Dynamic neural networks
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.10
License-File: LICENSE
Requires-Dist: filelock
Requires-Dist: nvidia-cublas-cu12==12.8.4.1; platform_system == "Linux" and
 platform_machine == "x86_64"
Requires-Dist: optree>=0.13.0; extra == "optree"
Provides-Extra: optree
Dynamic: Requires-Dist

Requires-Dist: this is a description
"""


def test_the_fields_of_the_header_are_read_and_the_description_is_not() -> None:
    found = parse_core_metadata(REAL)
    assert (found.name, found.version, found.requires_python) == ("torch", "2.9.1", ">=3.10")
    assert found.requires == (
        "filelock",
        'nvidia-cublas-cu12==12.8.4.1; platform_system == "Linux" and platform_machine == "x86_64"',
        'optree>=0.13.0; extra == "optree"',
    )
    assert found.extras == ("optree",)
    assert found.dynamic == {"requires-dist"}
    assert found.metadata_version == (2, 1)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "Metadata-Version"),
        (b"<!DOCTYPE html><html>log in first</html>", "Metadata-Version"),
        (b"Metadata-Version: 2.1\nName: x\n", "Version"),
        (b"Metadata-Version: 2.1\nVersion: 1\n", "Name"),
        (b"Metadata-Version: x\nName: a\nVersion: 1\n", "Metadata-Version"),
        (b"\n\nMetadata-Version: 2.1\nName: a\nVersion: 1\n", "Metadata-Version"),
        (b"\0\xff\xfe", "Metadata-Version"),
    ],
)
def test_what_is_no_metadata_says_what_it_lacks(content: bytes, what: str) -> None:
    with pytest.raises(NotMetadataError, match=what):
        parse_core_metadata(content)


def test_a_line_that_belongs_to_no_field_ends_the_header() -> None:
    found = parse_core_metadata(REAL.replace(b"License-File: LICENSE", b"torn off"))
    assert found.requires == ()
    assert found.requires_python == ">=3.10"


LINES = st.lists(
    st.one_of(
        st.builds(
            lambda name, blank, value: f"{name}:{blank}{value}",
            st.sampled_from(["Requires-Dist", "requires-dist", "Requires-Python", "Provides-Extra", "Keywords", "X y"]),
            st.sampled_from(["", " ", "\t "]),
            st.text("ab >=1.;'\"=()[]", max_size=12),
        ),
        st.builds(lambda text: f"   {text}", st.text("ab: ", max_size=8)),
        st.sampled_from(["", "no field"]),
    ),
    max_size=12,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_fields_are_those_that_a_mail_parser_finds(lines: list[str], end: str) -> None:
    content = end.join(["Metadata-Version: 2.1", "Name: spam", "Version: 1.0", *lines, ""]).encode()
    mail = email.message_from_bytes(content, policy=email.policy.compat32)
    found = parse_core_metadata(content)
    theirs = [" ".join(str(value).split()) for value in mail.get_all("Requires-Dist", [])]
    assert [" ".join(value.split()) for value in found.requires] == theirs
    assert " ".join(found.requires_python.split()) == " ".join((mail["Requires-Python"] or "").split())


def test_metadata_must_speak_of_the_file_that_it_belongs_to() -> None:
    found = parse_core_metadata(b"Metadata-Version: 2.1\nName: Foo.Bar\nVersion: 1.0\n")
    check_identity(found, "foo-bar", Version("1.0.0"))
    check_identity(found, "foo-bar", Version("1.0+cu126"))
    with pytest.raises(NotMetadataError, match="another project"):
        check_identity(found, "foo", Version("1.0"))
    with pytest.raises(NotMetadataError, match="another version"):
        check_identity(found, "foo_bar", Version("1.1"))
