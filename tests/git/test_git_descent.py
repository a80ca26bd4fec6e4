"""Pins within the tree of a commit: found where a blamed commit moves them, and searched on request."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bisector.nested_pins import moved_within
from pins.errors import UsageError
from pins.sources.git.contents import read_blob, submodules
from pins.sources.git.replaced import pinned_alone, replaced_pin, with_replaced
from tests.git.conftest import clone_of
from tests.git.repository_builder import RepositoryBuilder


@pytest.fixture
def inner(tmp_path: Path) -> RepositoryBuilder:
    made = RepositoryBuilder(tmp_path / "inner.git")
    made.line("i", 9)
    for number, commit in enumerate(made.commits):
        commit.files = {"state": "bad\n" if number >= 6 else "good\n"}
    made.write()
    return made


def modules(inner: RepositoryBuilder) -> str:
    return f'[submodule "s"]\n\tpath = deps/lib\n\turl = {inner.directory}\n'


def outer_history(builder: RepositoryBuilder, inner: RepositoryBuilder) -> RepositoryBuilder:
    for number in range(6):
        at = "i8" if number >= 3 else "i1"
        files = {
            ".gitmodules": modules(inner),
            "cmake/lib-hash.txt": f"# the library\n{inner.ids[at][:10]}\n",
            "requirements.txt": f"widget=={'2.0' if number >= 3 else '1.0'}\nother\n",
            "other.txt": str(number),
        }
        builder.add(
            f"o{number}", *([f"o{number - 1}"] if number else []), files=files, links={"deps/lib": inner.ids[at]}
        )
    builder.write()
    return builder


def test_the_pins_are_found_that_a_commit_moves_within_its_tree(
    builder: RepositoryBuilder, inner: RepositoryBuilder, cache: Path
) -> None:
    outer_history(builder, inner)
    clone = clone_of(builder, cache)
    assert moved_within(clone, builder.ids["o1"], builder.ids["o2"]) == ()
    found = {move.path: move for move in moved_within(clone, builder.ids["o2"], builder.ids["o3"])}
    assert set(found) == {"cmake/lib-hash.txt", "deps/lib", "requirements.txt"}
    module = found["deps/lib"]
    assert (module.name, module.kind, module.old, module.new) == ("lib", "git", inner.ids["i1"], inner.ids["i8"])
    assert module.repository == str(inner.directory)
    hashed = found["cmake/lib-hash.txt"]
    assert (hashed.name, hashed.kind, hashed.new) == ("lib", "git", inner.ids["i8"][:10])
    required = found["requirements.txt"]
    assert (required.name, required.kind, required.old, required.new) == ("widget", "package", "1.0", "2.0")


def test_a_commit_with_other_pins_is_the_same_but_for_them(
    builder: RepositoryBuilder, inner: RepositoryBuilder, cache: Path
) -> None:
    outer_history(builder, inner)
    clone = clone_of(builder, cache)
    at = builder.ids["o4"]
    values = {
        "deps/lib": ("lib", inner.ids["i3"]),
        "cmake/lib-hash.txt": ("lib", inner.ids["i3"]),
        "requirements.txt": ("widget", "1.5"),
    }
    made = with_replaced(clone, at, values)
    assert made == with_replaced(clone, at, values)
    assert [each.commit for each in submodules(clone, made)] == [inner.ids["i3"]]
    assert read_blob(clone, made, "cmake/lib-hash.txt") == f"# the library\n{inner.ids['i3']}\n".encode()
    assert read_blob(clone, made, "requirements.txt") == b"widget==1.5\nother\n"
    assert read_blob(clone, made, "other.txt") == b"4"
    assert with_replaced(clone, at, {}) == at
    with pytest.raises(UsageError, match="has no nothing"):
        with_replaced(clone, at, {"nothing": ("lib", "x")})
    with pytest.raises(UsageError, match="holds no pin of gadget"):
        with_replaced(clone, at, {"requirements.txt": ("gadget", "1")})


@pytest.mark.parametrize(
    ("content", "alone"),
    [(b"f0b55c0\n", "f0b55c0"), (b"# x\n\n3.11.4", "3.11.4"), (b"two words\n", None), (b"", None), (b"text\n", None)],
)
def test_a_file_pins_what_it_says_alone(content: bytes, alone: str | None) -> None:
    assert pinned_alone(content) == alone
    if alone:
        assert replaced_pin(content, "x-version", "x", "new1") == content.replace(alone.encode(), b"new1")


def run_bisector(tmp_path: Path, *words: str, script: str) -> dict[str, Any]:
    smoke = tmp_path / "smoke.sh"
    smoke.write_text(f"#!/bin/sh\n{script}\n")
    smoke.chmod(0o755)
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "bisector", "run", "--build-command", "true", "--smoke", str(smoke), *words,
         "--repeat", "1", "--format", "json", "-q"],
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_search_goes_on_inside_a_submodule_and_the_report_says_what_it_found(
    builder: RepositoryBuilder, inner: RepositoryBuilder, tmp_path: Path
) -> None:
    outer_history(builder, inner)
    words = ("--pin", "thing=main~5..main", "--repo", f"thing={builder.directory}")
    script = 'grep -q good "$CHECKOUT_THING/deps/lib/state"'
    result = run_bisector(tmp_path, *words, script=script)
    assert result["culprit"]["subject"] == "change o3"
    assert {move["path"]: move["run"] for move in result["culprit"]["nested"]}["deps/lib"] == ""
    result = run_bisector(tmp_path, *words, "--descend", script=script)
    assert result["culprit"]["subject"] == "change o3"
    found = {move["path"]: move for move in result["culprit"]["nested"]}
    assert found["deps/lib"]["first_bad"] == inner.ids["i6"]
    assert "change i6" in found["deps/lib"]["said"]
    # A file that says a hash does not say whose; it was passed over.
    assert "--repo lib=URL" in found["cmake/lib-hash.txt"]["said"]


def test_a_search_inside_that_was_interrupted_goes_on_where_it_was(
    builder: RepositoryBuilder, inner: RepositoryBuilder, tmp_path: Path
) -> None:
    outer_history(builder, inner)
    counted = tmp_path / "count"
    script = f'''
    echo "$PIN_THING $PIN_LIB" >> {counted}
    case "$PIN_LIB" in ?*) [ -e {tmp_path}/go ] || {{ kill -INT $PPID; sleep 5; }};; esac
    grep -q good "$CHECKOUT_THING/deps/lib/state"'''
    smoke = tmp_path / "smoke.sh"
    smoke.write_text(f"#!/bin/sh\n{script}\n")
    smoke.chmod(0o755)
    words = ("--pin", "thing=main~5..main", "--repo", f"thing={builder.directory}", "--build-command", "true")
    options = ("--smoke", str(smoke), "--descend", "--repeat", "1")
    stopped = bisector(tmp_path, "run", *words, *options)
    assert stopped.returncode == 130, stopped.stderr
    outer = stopped.stderr.rsplit("bisector resume ", 1)[1].split()[0]
    (tmp_path / "go").touch()
    before = counted.read_text().splitlines()
    done = bisector(tmp_path, "resume", outer, "--format", "json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["culprit"]["subject"] == "change o3"
    found = {move["path"]: move for move in result["culprit"]["nested"]}
    assert found["deps/lib"]["first_bad"] == inner.ids["i6"]
    after = counted.read_text().splitlines()[len(before) :]
    assert all(line.split()[1:] for line in after), "the run around it is not run again"
    assert len(list((tmp_path / "state" / "bisector" / "runs").iterdir())) == 2
    again = bisector(tmp_path, "resume", outer, "--format", "json")
    assert json.loads(again.stdout)["culprit"] == result["culprit"]
    assert counted.read_text().splitlines() == before + after


def bisector(tmp_path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "bisector", *words]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | variables, check=False)


def test_a_pin_within_a_tree_may_be_searched_by_name(
    builder: RepositoryBuilder, inner: RepositoryBuilder, tmp_path: Path
) -> None:
    outer_history(builder, inner)
    bad = "|".join(inner.ids[f"i{number}"] for number in (5, 6, 7, 8))
    result = run_bisector(
        tmp_path,
        *("--fix", "thing=main", "--repo", f"thing={builder.directory}", "--repo", f"lib={inner.directory}"),
        *("--pin", f"lib={inner.ids['i1']}..{inner.ids['i8']}", "--within", "lib=thing:cmake/lib-hash.txt"),
        script=f'case "$(tail -1 "$CHECKOUT/cmake/lib-hash.txt")" in {bad}) exit 1;; esac',
    )
    assert (result["culprit"]["pin"], result["culprit"]["subject"]) == ("lib", "change i5")
    assert result["held_fixed"]["thing"]
