"""A listing says of releases what its files say, as it was read and as it was kept."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pins.sources.index_file import IndexFile
from pins.sources.index_page import parse_page
from pins.sources.listing import Listing, from_lines
from pins.sources.target import Installer, described_target
from pins.sources.usable_files import releases_of

JSON = "application/vnd.pypi.simple.v1+json"
ENDINGS = st.sampled_from(
    [
        *["-py3-none-any.whl", "-cp312-cp312-manylinux_2_17_x86_64.whl", "-cp313-cp313-win_amd64.whl", "-odd-x-y.whl"],
        *[".tar.gz", ".tar.bz2", ".zip"],
    ]
)
VERSIONS = st.sampled_from(["1.0", "1.0.0", "1.1", "2.0rc1", "2.0", "2.0+cpu", "1!0.1", "no-version"])
TIMES = st.sampled_from(
    ["2024-01-01T00:00:00Z", "2024-06-01T00:00:00.5Z", "2025-01-01T02:00:00+02:00", "2025-03-01T00:00:00", "odd", None]
)
ENTRY = st.builds(
    lambda version, ending, python, yanked, uploaded, hashes, metadata, size: {
        "filename": f"spam-{version}{ending}",
        "url": f"../files/spam-{version}{ending}",
        "requires-python": python,
        "yanked": yanked,
        "upload-time": uploaded,
        "hashes": hashes,
        "core-metadata": metadata,
        "size": size,
    },
    VERSIONS,
    ENDINGS,
    st.sampled_from([None, "", ">=3.8", ">=3.13", "<3.12", "nonsense"]),
    st.sampled_from([False, False, True, "", "broken"]),
    TIMES,
    st.sampled_from([{"sha256": "ab"}, {}, {"md5": "cd"}, {"sha256": "ab", "md5": "cd"}, {"sha256": ""}, None]),
    st.sampled_from([False, True, {"sha256": "EF"}, {}, None]),
    st.sampled_from([None, 0, 17]),
)
PAGES = st.lists(ENTRY, max_size=12)
TARGETS = [
    None,
    *(described_target("3.12", installer=installer) for installer in Installer),
]


def read(entries: list[dict[str, object]]) -> Listing:
    body = json.dumps({"meta": {"api-version": "1.1"}, "files": entries}).encode()
    return parse_page(body, JSON, "https://index.test/simple/spam/", "spam")


def shown(files: tuple[IndexFile, ...]) -> list[str]:
    """Everything, spellings too: equal versions may be spelled differently."""
    return [repr(file) for file in files]


@given(PAGES, st.sampled_from(TARGETS), st.sampled_from([None, datetime(2024, 5, 1, tzinfo=UTC)]))
def test_releases_are_those_that_its_files_make_up(entries: list[dict[str, object]], target, before) -> None:  # type: ignore[no-untyped-def]
    listing = read(entries)
    assert repr(listing.releases(target, before)) == repr(releases_of(listing.files, target, before))
    only = tuple(file for file in listing.files if file.requires_python != ">=3.8")
    found = listing.releases(target, before, lambda python: python != ">=3.8")
    assert repr(found) == repr(releases_of(only, target, before))


@given(PAGES)
def test_a_listing_that_was_kept_is_the_same(entries: list[dict[str, object]]) -> None:
    listing = read(entries)
    again = from_lines(*listing.lines())
    assert again.lines() == listing.lines()
    assert repr(again.releases()) == repr(listing.releases())
    assert shown(again.files) == shown(listing.files)
    assert len(again) == len(listing.files)
    assert [file.version for n in range(len(again.versions)) for file in again.release_files(n)] == sorted(
        file.version for file in listing.files
    )


@given(PAGES)
def test_files_are_in_the_order_of_the_page_each_once(entries: list[dict[str, object]]) -> None:
    names = [file.filename for file in read(entries).files]
    wanted = list(dict.fromkeys(str(entry["filename"]) for entry in entries))
    assert names == [name for name in wanted if name in names]
