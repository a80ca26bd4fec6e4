"""Files of one version from several places: what they tell of when it came."""

from dataclasses import replace
from datetime import UTC, datetime

from pins.sources.index_page import parse_page
from pins.sources.usable_files import is_too_new, releases_of

BEFORE = datetime(2026, 8, 1, tzinfo=UTC)
PAGE = b"""{"meta": {"api-version": "1.1"}, "name": "spam", "files": [
    {"filename": "spam-1.0-py3-none-any.whl", "url": "spam-1.0-py3-none-any.whl", "hashes": {}}
]}"""


def test_a_copy_without_a_date_is_no_older_than_the_dated_original() -> None:
    [copy] = parse_page(PAGE, "application/vnd.pypi.simple.v1+json", "https://index.test/spam/", "spam").files
    late = replace(copy, upload_time=datetime(2026, 8, 6, tzinfo=UTC))
    early = replace(copy, upload_time=datetime(2026, 7, 6, tzinfo=UTC))
    assert releases_of([copy], before=BEFORE)[0].is_usable
    assert releases_of([copy, early, late], before=BEFORE)[0].is_usable
    for files in ([copy, late], [late, copy]):
        [release] = releases_of(files, before=BEFORE)
        assert is_too_new(release)
        assert not release.is_usable
    assert releases_of([copy, late])[0].is_usable
