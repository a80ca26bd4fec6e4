"""Releases that move under open requirements, that caps keep out, that are yanked or replaced."""

from datetime import timedelta
from pathlib import Path

import pytest

from pins.drift.rules.asset_replaced import ASSET_REPLACED
from pins.drift.rules.capped import CAPPED
from pins.drift.rules.floating_moved import FLOATING_MOVED
from pins.drift.rules.yanked import YANKED
from pins.hazards.model import Severity
from tests.drift.watched import START, Watched, days, only
from tests.local_index import LocalIndex


@pytest.fixture
def watched(tmp_path: Path, local_index: LocalIndex) -> Watched:
    return Watched(tmp_path / "project", local_index.url)


DOCKERFILE = """\
ARG OTHER=1
FROM ubuntu:22.04 AS base
RUN pip install -U {requirement}
FROM base AS later
RUN echo hello
"""


# -- open requirements -------------------------------------------------------------------------------------------------


def test_an_open_requirement_that_comes_to_another_release_than_when_its_layer_was_built(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "3.0.4", upload_time=days(-30))
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam")}, when=days(-10))
    assert watched.findings(FLOATING_MOVED) == []
    local_index.add("spam", "3.1.0", upload_time=days(1))
    moved = only(watched.findings(FLOATING_MOVED))
    assert (moved.pin, moved.bucket, moved.line) == ("spam", "3.1", 3)
    assert "spam came to 3.0.4" in moved.summary
    assert "the next edit of this file changes it silently" in moved.summary
    assert "spam<3.1.0" in moved.suggestion


def test_another_release_of_the_same_line_is_the_same_news_and_a_newer_line_takes_its_place(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "3.0.4", upload_time=days(-30))
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam")}, when=days(-10))
    local_index.add("spam", "3.1.0", upload_time=days(-2))
    first = only(watched.findings(FLOATING_MOVED))
    local_index.add("spam", "3.1.1", upload_time=days(-1))
    assert only(watched.findings(FLOATING_MOVED)).id == first.id
    local_index.add("spam", "3.2.0", upload_time=days(0))
    later = only(watched.findings(FLOATING_MOVED))
    assert later.id != first.id
    assert later.series == first.series


def test_an_edit_of_another_stage_builds_the_layer_no_newer_and_an_edit_before_it_does(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    text = DOCKERFILE.format(requirement="spam")
    watched.write({"Dockerfile": text}, when=days(-10))
    local_index.add("spam", "2.0", upload_time=days(-5))
    watched.write({"Dockerfile": text.replace("hello", "goodbye").replace("OTHER=1", "OTHER=2")}, when=days(-1))
    assert only(watched.findings(FLOATING_MOVED)).bucket == "2.0"
    watched.write({"Dockerfile": text.replace("FROM ubuntu:22.04", "FROM ubuntu:24.04")})
    assert watched.findings(FLOATING_MOVED) == []


def test_a_change_of_a_file_that_is_copied_before_builds_the_layer_anew(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    text = DOCKERFILE.format(requirement="spam").replace("RUN pip", "COPY patches/ /p\nRUN pip")
    watched.write({"docker/Dockerfile": text, "patches/a": "1", "other": "1"}, when=days(-10))
    local_index.add("spam", "2.0", upload_time=days(-5))
    watched.write({"other": "2"}, when=days(-3))
    assert only(watched.findings(FLOATING_MOVED)).bucket == "2.0"
    watched.write({"patches/a": "2"}, when=days(-2))
    assert watched.findings(FLOATING_MOVED) == []


def test_a_requirement_of_an_included_file_is_in_the_layer_that_installs_it(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    text = "FROM ubuntu:22.04\nCOPY requirements.txt /r.txt\nRUN true\nRUN pip install -r /r.txt\nRUN echo hello\n"
    watched.write({"Dockerfile": text, "requirements.txt": "# none\n# none\n# none\nspam\n"}, when=days(-10))
    local_index.add("spam", "2.0", upload_time=days(-5))
    watched.only = "Dockerfile"
    watched.write({"Dockerfile": text.replace("hello", "goodbye")}, when=days(-3))
    assert only(watched.findings(FLOATING_MOVED)).file.endswith("requirements.txt")
    watched.write({"Dockerfile": text.replace("true", "false")}, when=days(-2))
    assert watched.findings(FLOATING_MOVED) == []


def test_a_requirement_that_the_build_as_written_leaves_out_is_not_in_the_image(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    local_index.add("spam", "2.0", upload_time=days(-5))
    text = 'FROM ubuntu:22.04\nARG FROM_SOURCE=0\nRUN if [ "$FROM_SOURCE" = "1" ]; then pip install spam; fi\n'
    watched.write({"Dockerfile": text}, when=days(-10))
    assert watched.check(FLOATING_MOVED) == []
    watched.write({"Dockerfile": text.replace("=0", "=1")}, when=days(-9))
    assert only(watched.findings(FLOATING_MOVED)).pin == "spam"


def test_a_cap_ends_what_is_said_of_an_open_requirement(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "3.0.4", upload_time=days(-30))
    local_index.add("spam", "3.1.0", upload_time=days(-5))
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam")}, when=days(-10))
    assert only(watched.findings(FLOATING_MOVED)).pin == "spam"
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="'spam<3.1.0'")}, when=days(-9))
    assert watched.findings(FLOATING_MOVED) == []


def test_when_images_were_built_counts_before_what_the_files_tell(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    local_index.add("spam", "2.0", upload_time=days(-5))
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam")}, when=days(-10))
    watched.built = days(-1)
    assert watched.findings(FLOATING_MOVED) == []
    watched.built = days(-20)
    assert only(watched.findings(FLOATING_MOVED)).bucket == "2.0"


def test_pre_releases_yanked_ones_and_those_for_a_newer_python_do_not_move_it(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    local_index.add("spam", "2.0rc1", upload_time=days(-2))
    local_index.add("spam", "2.0", yanked="broken", upload_time=days(-2))
    local_index.add("spam", "3.0", requires_python=">=3.13", upload_time=days(-2))
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam")}, when=days(-10))
    assert watched.findings(FLOATING_MOVED) == []  # Ubuntu 22.04 has Python 3.10


def test_an_index_without_upload_times_is_compared_with_what_it_had_at_first(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.upload_times = False
    local_index.add("spam", "1.0")
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam")}, when=days(-10))
    assert watched.findings(FLOATING_MOVED) == []
    local_index.add("spam", "2.0")
    assert "when it was first looked at" in only(watched.findings(FLOATING_MOVED)).summary
    assert only(watched.findings(FLOATING_MOVED)).bucket == "2.0"  # the next day as well
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam").replace("22.04", "24.04")})
    assert watched.findings(FLOATING_MOVED) == []


def test_an_index_that_is_down_leaves_it_open(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    watched.write({"Dockerfile": DOCKERFILE.format(requirement="spam")}, when=days(-10))
    local_index.fail_with(503)
    (reason,) = watched.unknown(FLOATING_MOVED)
    assert "could not be read" in reason
    local_index.recover()
    assert watched.findings(FLOATING_MOVED) == []


# -- caps --------------------------------------------------------------------------------------------------------------


def test_releases_that_a_cap_keeps_out_are_counted_from_the_first_of_them(
    watched: Watched, local_index: LocalIndex
) -> None:
    for number, version in enumerate(("79.0", "80.0", "80.1", "81.0rc1")):
        local_index.add("spam", version, upload_time=days(-20 + number))
    watched.write({"requirements.txt": "spam<80\n"})
    capped = only(watched.findings(CAPPED))
    assert "spam<80 keeps out 2 releases of spam, up to 80.1" in capped.summary
    assert "since 2026-07-13" in capped.summary
    assert (capped.bucket, capped.severity) == ("1 releases", Severity.NOTE)


def test_a_cap_is_news_again_only_at_the_next_threshold(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-20))
    local_index.add("spam", "2.0", upload_time=days(-1))
    watched.write({"requirements.txt": "spam<2\n"})
    first = only(watched.findings(CAPPED)).id
    for number in range(1, 4):
        local_index.add("spam", f"2.{number}", upload_time=days(0))
    assert only(watched.findings(CAPPED)).id == first
    local_index.add("spam", "2.5", upload_time=days(0))
    assert only(watched.findings(CAPPED)).id != first
    watched.now += timedelta(days=400)
    assert only(watched.findings(CAPPED)).bucket == "20 releases"


def test_a_cap_above_everything_keeps_nothing_out(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0")
    local_index.add("spam", "0.9", yanked="no")
    watched.write({"requirements.txt": "spam<2\n"})
    assert watched.findings(CAPPED) == []


# -- yanked ------------------------------------------------------------------------------------------------------------


def test_a_pinned_release_that_is_yanked_until_another_is_pinned(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=START)
    local_index.add("spam", "1.1", upload_time=START)
    watched.write({"requirements.txt": "spam==1.1\n"})
    assert watched.findings(YANKED) == []
    local_index.add("spam", "1.1", yanked="loses data", upload_time=START)
    yanked = only(watched.findings(YANKED))
    assert "spam 1.1, which is pinned, was yanked: loses data" in yanked.summary
    assert yanked.evidence == ("the newest release that is not is 1.0",)
    watched.write({"requirements.txt": "spam==1.0\n"})
    assert watched.findings(YANKED) == []


def test_a_release_that_was_there_and_is_gone_is_told_from_one_that_never_was(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0")
    watched.write({"requirements.txt": "spam==1.1\n"})
    (reason,) = watched.unknown(YANKED)  # another index may have it
    assert "has spam 1.1" in reason
    local_index.add("spam", "1.1")
    assert watched.findings(YANKED) == []
    local_index.remove("spam")
    local_index.add("spam", "1.0")
    gone = only(watched.findings(YANKED))
    assert (gone.bucket, gone.severity) == ("1.1 gone", Severity.ERROR)


def test_a_build_with_a_local_version_stands_for_the_version_that_is_pinned(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.1+rocm7")
    watched.write({"requirements.txt": "spam==1.1\n"})
    assert watched.findings(YANKED) == []


# -- files that are replaced -------------------------------------------------------------------------------------------


def test_a_wheel_that_is_replaced_in_place(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=START)
    watched.write({"requirements.txt": "spam==1.0\n"})
    assert watched.findings(ASSET_REPLACED) == []
    local_index.add("spam", "1.0", files={"spam.py": "other = 1\n"}, upload_time=START)
    replaced = only(watched.findings(ASSET_REPLACED))
    assert (replaced.severity, replaced.bucket) == (Severity.ERROR, "replaced")
    assert "spam-1.0-py3-none-any.whl" in replaced.evidence[0]
    assert only(watched.findings(ASSET_REPLACED)).id == replaced.id  # it stays one the next day
    watched.write({"requirements.txt": "spam==1.1\n"})
    local_index.add("spam", "1.1", upload_time=START)
    assert watched.findings(ASSET_REPLACED) == []


def test_a_file_that_is_added_to_a_release_replaces_none_and_may_not_be_replaced_from_then_on(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0", upload_time=START)
    watched.write({"requirements.txt": "spam==1.0\n"})
    assert watched.findings(ASSET_REPLACED) == []
    local_index.add("spam", "1.0", tag="cp312-cp312-linux_x86_64", upload_time=START)
    assert watched.findings(ASSET_REPLACED) == []
    local_index.add("spam", "1.0", tag="cp312-cp312-linux_x86_64", files={"spam.py": "y = 2"}, upload_time=START)
    assert "cp312" in only(watched.findings(ASSET_REPLACED)).evidence[0]
