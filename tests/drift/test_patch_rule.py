"""Patches that a Dockerfile applies to a checkout, while the checkout's source and the pin move."""

from pathlib import Path

import pytest

from pins.drift.rules.patch_context import PATCH_CONTEXT
from pins.hazards.model import Severity
from tests.drift.test_patch_fit import BASE, edited, patch_of
from tests.drift.watched import Upstream, Watched, days, only
from tests.local_index import LocalIndex

DOCKERFILE = """\
FROM ubuntu:22.04
ARG WIDGET_COMMIT={revision}
COPY patches /patches
RUN git clone {url} /src/widget && cd /src/widget{inside} && git checkout ${{WIDGET_COMMIT}} && {apply} /patches/w.patch
"""


@pytest.fixture
def watched(tmp_path: Path, local_index: LocalIndex) -> Watched:
    return Watched(tmp_path / "project", local_index.url)


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return Upstream(tmp_path / "upstream" / "widget")


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def project(
    upstream: Upstream, revision: str, patch: bytes, apply: str = "git apply", inside: str = ""
) -> dict[str, str]:
    dockerfile = DOCKERFILE.format(url=upstream.url, revision=revision, apply=apply, inside=inside)
    return {"Dockerfile": dockerfile, "patches/w.patch": patch.decode()}


def test_a_patch_that_fits_until_the_source_moves_and_again_when_it_is_made_anew(
    watched: Watched, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.commit("begin", days(-30), {"f": text(BASE)})
    patch = patch_of(BASE, edited(BASE, [("change", 14)], "patched"), tmp_path)
    watched.write(project(upstream, "main", patch))
    assert watched.findings(PATCH_CONTEXT) == []
    moved = ["new"] * 7 + BASE
    upstream.commit("lines above", days(-20), {"f": text(moved)})
    off = only(watched.findings(PATCH_CONTEXT))
    assert (off.pin, off.bucket, off.severity) == ("widget", "w.patch: offset", Severity.NOTE)
    assert "only +7 lines off" in off.summary
    upstream.commit("other lines", days(-10), {"f": text(edited(moved, [("change", 20)], "else"))})
    fails = only(watched.findings(PATCH_CONTEXT))
    assert (fails.bucket, fails.severity) == ("w.patch: fails", Severity.ERROR)
    assert fails.series == off.series
    assert fails.line == 4
    with upstream.out():
        assert len(watched.unknown(PATCH_CONTEXT)) == 1
    source = edited(moved, [("change", 20)], "else")
    again = patch_of(source, edited(source, [("change", 21)], "patched"), tmp_path)
    watched.write({"patches/w.patch": again.decode()})
    assert watched.findings(PATCH_CONTEXT) == []


def test_a_patch_whose_change_is_in_the_source_can_go(watched: Watched, upstream: Upstream, tmp_path: Path) -> None:
    after = edited(BASE, [("change", 14)], "patched")
    upstream.commit("begin", days(-30), {"f": text(BASE)})
    watched.write(project(upstream, "main", patch_of(BASE, after, tmp_path)))
    assert watched.findings(PATCH_CONTEXT) == []
    upstream.commit("take it over", days(-10), {"f": text(after)})
    applied = only(watched.findings(PATCH_CONTEXT))
    assert applied.bucket == "w.patch: applied"
    assert "the patch can go" in applied.summary


def test_the_pinned_commit_counts_and_not_the_branch(watched: Watched, upstream: Upstream, tmp_path: Path) -> None:
    pinned = upstream.commit("begin", days(-30), {"f": text(BASE)})
    upstream.commit("rewrite", days(-20), {"f": "all new\n"})
    watched.write(project(upstream, pinned, patch_of(BASE, edited(BASE, [("change", 14)], "patched"), tmp_path)))
    assert watched.findings(PATCH_CONTEXT) == []


def test_git_steps_over_files_outside_of_where_it_runs(watched: Watched, upstream: Upstream, tmp_path: Path) -> None:
    upstream.commit("begin", days(-30), {"f": text(BASE), "deep/down/x": "x\n"})
    patch = patch_of(BASE, edited(BASE, [("change", 14)], "patched"), tmp_path)
    watched.write(project(upstream, "main", patch, inside="/deep/down"))
    skipped = only(watched.findings(PATCH_CONTEXT))
    assert (skipped.bucket, skipped.severity) == ("w.patch: skipped", Severity.ERROR)
    assert "git steps over 1 hunk of w.patch without an error" in skipped.summary


def test_a_patch_that_is_not_in_the_build_context_cannot_be_told(watched: Watched, upstream: Upstream) -> None:
    upstream.commit("begin", days(-30), {"f": text(BASE)})
    watched.write(project(upstream, "main", b"") | {"patches/w.patch": "", "patches/other": ""})
    (watched.root / "patches" / "w.patch").unlink()
    watched.write({})
    (reason,) = watched.unknown(PATCH_CONTEXT)
    assert "w.patch is not in the build context" in reason


# -- hunks without context ---------------------------------------------------------------------------------------------

METHODS = [*(f"    setting_{number} = {number}" for number in range(20)), "", "def first():", "    return 1", ""]
METHODS += ["def second():", "    old = 1", "    return old", ""]


def without_context(room: Path, *, naming: str = "") -> bytes:
    """A patch like one that went wrong: a function put between two others by its line number, and a changed line."""
    after = list(METHODS)
    after[25] = "    old = 2"
    after[24:24] = ["def between():", "    return 1.5", ""]
    patch = patch_of(METHODS, after, room, context=0)
    if naming:
        return patch
    kept = [line for line in patch.split(b"\n") if not line.startswith(b"index ")]
    return b"\n".join(kept)


@pytest.mark.parametrize("naming", ["the file it was made for", ""])
def test_the_commit_since_which_hunks_without_context_land_elsewhere_is_named(
    watched: Watched, upstream: Upstream, tmp_path: Path, naming: str
) -> None:
    upstream.commit("begin", days(-40), {"f": text(METHODS)})
    patch = without_context(tmp_path, naming=naming)
    files = project(upstream, "main", patch, apply="git apply --unidiff-zero")
    watched.write(files, when=days(-35))
    fits = only(watched.findings(PATCH_CONTEXT))
    assert (fits.bucket, fits.severity) == ("w.patch: without context", Severity.WARNING)
    assert "2 hunks without a line of context" in fits.summary
    upstream.commit("below", days(-30), {"f": text([*METHODS, "def third():", "    return 3"])})
    assert only(watched.findings(PATCH_CONTEXT)).id == fits.id
    guilty = upstream.commit("above", days(-20), {"f": text(["import os", *METHODS, "def third():"])})
    upstream.commit("more above", days(-10), {"f": text(["import os", "import re", *METHODS, "def third():"])})
    wrong = only(watched.findings(PATCH_CONTEXT))
    assert (wrong.bucket, wrong.severity) == ("w.patch: lands elsewhere", Severity.ERROR)
    assert wrong.series == fits.series
    assert f"since {guilty[:10]} (2026-07-12)" in wrong.summary
    assert any("@@ -24,0 +25,3 @@ inserts 3 lines after line 24" in line for line in wrong.evidence)
    after = ["import os", "import re", *METHODS, "def third():"]
    remade = patch_of(after, edited(after, [("change", 27)], "patched"), tmp_path)
    watched.write({"patches/w.patch": remade.decode()})
    assert watched.findings(PATCH_CONTEXT) == []


def test_a_patch_that_is_newer_than_what_moved_the_lines_landed_wrong_from_its_first_day(
    watched: Watched, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.commit("begin", days(-40), {"f": text(METHODS)})
    upstream.commit("above", days(-30), {"f": text(["import os", *METHODS])})
    upstream.commit("end", days(-20), {"f": text(["import os", *METHODS, "end"])})
    upstream.commit("elsewhere", days(-5), {"g": "x\n"})
    patch = without_context(tmp_path, naming="yes")
    watched.write(project(upstream, "main", patch, apply="git apply --unidiff-zero"), when=days(-10))
    assert "made for, from its first day (2026-07-22) on" in only(watched.findings(PATCH_CONTEXT)).summary


def test_three_way_merges_where_the_clone_has_the_file_that_the_patch_was_made_for(
    watched: Watched, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.commit("begin", days(-40), {"f": text(METHODS)})
    upstream.commit("above", days(-20), {"f": text(["import os", *METHODS])})
    patch = without_context(tmp_path, naming="yes")
    watched.write(project(upstream, "main", patch, apply="git apply --3way --unidiff-zero"), when=days(-35))
    assert only(watched.findings(PATCH_CONTEXT)).bucket == "w.patch: without context"


def test_git_that_is_not_told_puts_hunks_without_context_at_the_end_or_refuses(
    watched: Watched, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.commit("begin", days(-40), {"f": text(METHODS)})
    patch = without_context(tmp_path, naming="yes")
    watched.write(project(upstream, "main", patch))
    by_bucket = {one.bucket: one for one in watched.findings(PATCH_CONTEXT)}
    assert set(by_bucket) == {"w.patch: lands elsewhere", "w.patch: fails"}
    assert "goes to the end of the file" in by_bucket["w.patch: lands elsewhere"].evidence[0]
