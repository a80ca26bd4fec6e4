"""Where hunks go: held against `git apply` and `patch`, and by hand for what those cannot tell."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pins.drift.patching.fit import Fit, Placed, as_it_was_made_for, place_at_end, place_hunks
from pins.hazards.hunks import read_hunks
from tests.drift.watched import START, call_git

BASE = [f"line {number}" for number in range(1, 31)]


def patch_of(before: Sequence[str], after: Sequence[str], room: Path, context: int = 3) -> bytes:
    """What `git diff` says of a change of the file `f`."""
    for name, lines in (("before", before), ("after", after)):
        (room / name).write_text("".join(f"{line}\n" for line in lines))
    done = subprocess.run(
        ["git", "diff", "--no-index", f"-U{context}", "--src-prefix=a/", "--dst-prefix=b/", "--", "before", "after"],
        cwd=room,
        capture_output=True,
        check=False,
    )
    return done.stdout.replace(b"a/before", b"a/f").replace(b"b/after", b"b/f")


def placed(patch: bytes, lines: Sequence[str]) -> tuple[list[Placed], list[str]]:
    found, content = place_hunks(list(read_hunks(patch)), "".join(f"{line}\n" for line in lines).encode())
    return found, content.decode().splitlines()


def git_applies(patch: bytes, lines: Sequence[str], room: Path, *options: str) -> list[str] | None:
    """The file after `git apply`, None where it refuses."""
    where = room / "tree"
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    call_git(where, "init", "--quiet", when=START)
    (where / "f").write_text("".join(f"{line}\n" for line in lines))
    (room / "patch").write_bytes(patch)
    done = subprocess.run(
        ["git", "-C", str(where), "apply", *options, str(room / "patch")], capture_output=True, check=False
    )
    return (where / "f").read_text().splitlines() if done.returncode == 0 else None


edits = st.lists(
    st.tuples(st.sampled_from(["remove", "insert", "change"]), st.integers(0, 29)), min_size=1, max_size=4, unique=True
)


def edited(lines: Sequence[str], what: Sequence[tuple[str, int]], word: str) -> list[str]:
    result = list(lines)
    for kind, at in sorted(what, key=lambda one: -one[1]):
        if at >= len(result):
            continue
        if kind == "remove":
            del result[at]
        elif kind == "insert":
            result.insert(at, f"{word} {at}")
        else:
            result[at] = f"{word} {at}"
    return result


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(change=edits, drift=edits)
def test_hunks_go_where_git_apply_puts_them_or_nowhere_where_it_refuses(
    change: list[tuple[str, int]], drift: list[tuple[str, int]], tmp_path: Path
) -> None:
    patch = patch_of(BASE, edited(BASE, change, "patched"), tmp_path)
    source = edited(BASE, drift, "moved")
    there = git_applies(patch, source, tmp_path) if patch else None
    found, content = placed(patch, source)
    fits = {one.fit for one in found}
    if there is not None and fits <= {Fit.EXACT, Fit.OFFSET}:
        assert content == there
    elif there is not None:
        # git knows no place that we do not
        pytest.fail(f"git applies what is held to be {fits}")
    elif patch:
        bound = any(hunk.old <= 1 or _at_end(hunk.header) for hunk in read_hunks(patch))
        assert fits - {Fit.EXACT, Fit.OFFSET} or bound


def _at_end(header: str) -> bool:
    start, _, count = header.split(" ")[0].lstrip("-").partition(",")
    return int(start) + int(count or 1) - 1 >= len(BASE)


def test_a_hunk_whose_lines_have_moved_is_off_by_so_many_lines(tmp_path: Path) -> None:
    patch = patch_of(BASE, edited(BASE, [("change", 14)], "patched"), tmp_path)
    (one,), _ = placed(patch, ["new"] * 7 + BASE)
    assert (one.fit, one.moved, one.places) == (Fit.OFFSET, 7, 1)


def test_a_hunk_whose_lines_stand_in_several_places_says_so(tmp_path: Path) -> None:
    patch = patch_of(BASE, edited(BASE, [("change", 14)], "patched"), tmp_path)
    (one,), _ = placed(patch, ["new", *BASE, *BASE])
    assert (one.fit, one.moved, one.places) == (Fit.OFFSET, 1, 2)


def test_what_a_patch_makes_may_be_there_already(tmp_path: Path) -> None:
    after = edited(BASE, [("change", 14), ("insert", 25)], "patched")
    found, content = placed(patch_of(BASE, after, tmp_path), after)
    assert [one.fit for one in found] == [Fit.APPLIED, Fit.APPLIED]
    assert content == after


def test_an_insertion_between_lines_that_still_follow_each_other_is_not_there_already(tmp_path: Path) -> None:
    patch = patch_of(BASE, edited(BASE, [("remove", 14)], ""), tmp_path)
    (one,), _ = placed(patch, BASE)
    assert one.fit is Fit.EXACT


def test_patch_leaves_lines_of_context_out_where_git_does_not(tmp_path: Path) -> None:
    patch = patch_of(BASE, edited(BASE, [("change", 14)], "patched"), tmp_path)
    source = edited(BASE, [("change", 11)], "moved")  # the first line of context
    (one,), content = placed(patch, source)
    assert one.fit is Fit.FUZZ
    assert git_applies(patch, source, tmp_path) is None
    (tmp_path / "tree" / "f").write_text("".join(f"{line}\n" for line in source))
    command = ["patch", "-p1", "-d", str(tmp_path / "tree"), "-i", str(tmp_path / "patch")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert content == (tmp_path / "tree" / "f").read_text().splitlines()


def test_a_new_file_fits_where_there_is_none() -> None:
    patch = (
        b"diff --git a/n b/n\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    )
    assert [one.fit for one in place_hunks(list(read_hunks(patch)), b"")[0]] == [Fit.EXACT]
    assert [one.fit for one in place_hunks(list(read_hunks(patch)), b"a\nb\n")[0]] == [Fit.APPLIED]
    assert [one.fit for one in place_hunks(list(read_hunks(patch)), b"else\n")[0]] == [Fit.NOWHERE]


def test_an_insertion_by_number_is_right_only_between_the_lines_that_it_was_made_for(tmp_path: Path) -> None:
    after = edited(BASE, [("insert", 15)], "patched")
    patch = patch_of(BASE, after, tmp_path, context=0)
    (hunk,) = read_hunks(patch)
    assert hunk.without_context
    made_for = "".join(f"{line}\n" for line in BASE).encode()
    moved_below = "".join(f"{line}\n" for line in [*BASE, "more"]).encode()
    moved_above = b"more\n" + made_for
    assert as_it_was_made_for(hunk, made_for, made_for)
    assert as_it_was_made_for(hunk, moved_below, made_for)
    assert not as_it_was_made_for(hunk, moved_above, made_for)


def test_git_puts_what_has_no_context_where_its_number_says_or_at_the_end_where_it_is_not_told(tmp_path: Path) -> None:
    inserted = patch_of(BASE, edited(BASE, [("insert", 15)], "patched"), tmp_path, context=0)
    changed = patch_of(BASE, edited(BASE, [("change", 15)], "patched"), tmp_path, context=0)
    source = ["more", *BASE]
    told = git_applies(inserted, source, tmp_path, "--unidiff-zero")
    assert told is not None
    assert placed(inserted, source)[1] == told
    untold = git_applies(inserted, source, tmp_path)
    assert untold is not None
    content = "".join(f"{line}\n" for line in source).encode()
    (hunk,) = read_hunks(inserted)
    assert untold[place_at_end(hunk, content).line - 1] == "patched 15"
    assert git_applies(changed, source, tmp_path) is None
    (hunk,) = read_hunks(changed)
    assert place_at_end(hunk, content).fit is Fit.NOWHERE
