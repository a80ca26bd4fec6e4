"""Whole runs over commits, in the command environment."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bisector import Outcome, Result, Verdict, bisect, resume
from bisector.model import SmokeScript
from bisector.report import render
from bisector.request import PinRange, RepositoryRequest, RunRequest
from pins.errors import UsageError
from tests.git.repository_builder import RepositoryBuilder, run_git

Ask = Callable[..., RunRequest]


@pytest.fixture
def ask(tmp_path: Path, builder: RepositoryBuilder, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Makes a request for the commits of `builder`'s repository."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def make(
        script: str, ends: str, *, build: str = "true", repository: dict[str, Any] | None = None, **options: Any
    ) -> RunRequest:
        path = tmp_path / "smoke.sh"
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)
        good, bad = ends.split("..")
        options = {"repeat": 1, **options}
        return RunRequest(
            (PinRange("thing", good, bad),),
            SmokeScript(path),
            environment="command",
            build_command=(build,),
            repositories=(RepositoryRequest("thing", str(builder.directory), **(repository or {})),),
            **options,
        )

    return make


def with_culprit(builder: RepositoryBuilder, culprit: str) -> None:
    """Every commit's tree says in the file `state` whether its history holds the culprit."""
    bad: set[str] = set()
    for made in builder.commits:
        if made.name == culprit or bad & set(made.parents):
            bad.add(made.name)
        made.files = {**made.files, "state": "bad\n" if made.name in bad else "good\n"}


def test_a_commit_within_a_merge_is_named_with_its_subject_and_dates(builder: RepositoryBuilder, ask: Ask) -> None:
    builder.line("main", 4)
    builder.line("side", 6, "main1")
    builder.add("merge", "main3", "side5")
    builder.line("later", 5, "merge")
    with_culprit(builder, "side2")
    builder.write()
    result = bisect(ask('grep -q good "$CHECKOUT/state"', f"{builder.ids['main0']}..main", repeat=None))
    assert result.verdict is Verdict.CULPRIT
    culprit = result.culprit
    assert culprit is not None
    assert (builder.name_of(culprit.moves[0].new), culprit.subject) == ("side2", "change side2")
    assert builder.name_of(culprit.moves[0].old) == "side1"
    assert culprit.commit == builder.ids["side2"]
    assert culprit.date is not None
    assert culprit.authored is not None
    assert (culprit.date - culprit.authored).total_seconds() == 3600
    witnesses = {builder.name_of(probe.candidate["thing"]): probe for probe in result.probes}
    assert {run.outcome for run in witnesses["side1"].runs} == {Outcome.PASS}
    assert {run.outcome for run in witnesses["side2"].runs} == {Outcome.FAIL}
    text = render(result, "text")
    assert f"thing {builder.ids['side2'][:12]}" in text
    assert "change side2 (written 2023-11-14)" in text
    assert text.count(builder.ids["side2"]) == 1  # in full where it is named to be copied
    assert json.loads(render(result, "json"))["culprit"]["new"] == builder.ids["side2"]


def test_dates_that_run_backwards_change_nothing(builder: RepositoryBuilder, ask: Ask) -> None:
    previous = None
    for number in range(12):
        previous = builder.add(f"c{number}", *([previous] if previous else []), date=1_600_000_000 - 86_400 * number)
    with_culprit(builder, "c7")
    builder.write()
    result = bisect(ask('grep -q good "$CHECKOUT_THING/state"', "main~11..main"))
    assert result.culprit is not None
    assert result.culprit.subject == "change c7"
    assert result.builds <= 6


def test_commits_without_a_required_path_are_never_tried(builder: RepositoryBuilder, ask: Ask) -> None:
    for number in range(9):
        files = {} if number in (3, 4) else {"pkg/__init__.py": ""}
        builder.add(f"c{number}", *([f"c{number - 1}"] if number else []), files=files)
    with_culprit(builder, "c5")
    builder.write()
    request = ask('grep -q good "$CHECKOUT/state"', "main~8..main", repository={"required_paths": ("pkg/__init__.py",)})
    result = bisect(request)
    assert result.culprit is not None
    assert (builder.name_of(result.culprit.moves[0].old), result.culprit.subject) == ("c2", "change c5")
    tried = {builder.name_of(probe.candidate["thing"]): probe for probe in result.probes}
    assert {tried[name].built for name in ("c3", "c4") if name in tried} <= {False}


def test_a_build_finds_its_checkout_clean_and_keeps_what_it_makes_in_it(
    builder: RepositoryBuilder, ask: Ask, tmp_path: Path
) -> None:
    builder.line("c", 5)
    with_culprit(builder, "c3")
    builder.write()
    build = (
        'test -z "$(git status --porcelain)" && cp state built && echo more >> state && touch "$CHECKOUT/$PIN_THING"'
    )
    script = 'cd "$BUILD_DIRECTORY" && test -e "$PIN_THING" && grep -q good built && ! grep -q x built'
    result = bisect(ask(script, "main~4..main", build=build))
    assert result.culprit is not None
    assert result.culprit.subject == "change c3"
    assert run_git("for-each-ref", "--format=%(refname)", directory=builder.directory) == "refs/heads/main"


def test_the_side_is_said_that_was_searched_where_the_ends_diverge(builder: RepositoryBuilder, ask: Ask) -> None:
    builder.line("base", 2)
    builder.line("release", 3, "base1")
    builder.line("main", 4, "base1")
    builder.ref("refs/heads/release", "release2")
    builder.ref("refs/heads/main", "main3")
    for made in builder.commits:
        made.files = {**made.files, "state": "good\n" if made.name in ("release1", "release2") else "bad\n"}
    builder.write()
    result = bisect(ask('grep -q good "$CHECKOUT/state"', "release..main"))
    assert result.culprit is not None
    assert result.culprit.subject == "change release1"
    assert any("lacks this change" in note for note in result.notes)
    assert any("on different branches, which part at" in note for note in result.notes)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("main~9..main", "there is no main~9"),
        ("main..main~0", "the same commit"),
        ("main..main~2", "wrong order"),
        ("nothing..main", "has no branch, tag or commit 'nothing'"),
    ],
)
def test_ends_that_cannot_be_searched_between_are_refused(
    builder: RepositoryBuilder, ask: Ask, ends: str, said: str
) -> None:
    builder.line("c", 4)
    builder.write()
    with pytest.raises(UsageError, match=said):
        bisect(ask("true", ends))


def test_the_command_line_takes_repositories(builder: RepositoryBuilder, tmp_path: Path) -> None:
    builder.line("c", 6)
    with_culprit(builder, "c4")
    builder.ref("refs/heads/-main", "c5")
    builder.ref("refs/tags/v0", "c0")
    builder.write()
    smoke = tmp_path / "smoke.sh"
    smoke.write_text('#!/bin/sh\ngrep -q good "$CHECKOUT/state"\n')
    smoke.chmod(0o755)
    command = [
        *(sys.executable, "-m", "bisector", "run", "--repo", f"Thing={builder.directory}", "--pin", "thing=v0..-main"),
        *("--checkout-only", "thing", "--require-path", "state", "--build-command", "true", "--smoke", str(smoke)),
        *("--format", "json", "-q"),
    ]
    variables = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["culprit"]["subject"] == "change c4"


def test_a_run_goes_on_with_the_same_commits(builder: RepositoryBuilder, ask: Ask) -> None:
    builder.line("main", 3)
    builder.line("side", 8, "main1")
    builder.add("merge", "main2", "side7")
    builder.add("end", "merge")
    with_culprit(builder, "side5")
    builder.write()
    request = ask('grep -q good "$CHECKOUT/state"', "main~3..main", max_runs=5)
    first: Result = bisect(request)
    assert first.verdict is Verdict.UNDETERMINED
    result = resume(first.run_id, max_runs=100)
    assert result.culprit is not None
    assert result.culprit.subject == "change side5"
    again = [probe.candidate for probe in result.probes]
    assert len(set(again)) == len(again)


@pytest.mark.parametrize("fix", ["side2", "merge", "later1"])
def test_a_fix_is_found_behind_a_merge_too(builder: RepositoryBuilder, ask: Ask, fix: str) -> None:
    builder.line("main", 3)
    builder.line("side", 4, "main1")
    builder.add("merge", "main2", "side3")
    builder.line("later", 3, "merge")
    with_culprit(builder, fix)
    builder.write()
    result = bisect(ask('grep -q bad "$CHECKOUT/state"', f"{builder.ids['main0']}..main", first_good=True))
    assert result.culprit is not None
    assert result.culprit.subject == f"change {fix}"
    assert not any("lacks this change" in note for note in result.notes)


def test_a_pin_held_at_a_branch_stays_where_that_was_when_the_run_began(
    builder: RepositoryBuilder, ask: Ask, tmp_path: Path
) -> None:
    builder.line("c", 4)
    builder.write()
    other = RepositoryBuilder(tmp_path / "other")
    other.line("o", 3)
    other.write()
    request = ask('test "$PIN_OTHER" = ' + other.ids["o2"] + " || exit 125", "main~3..main", max_runs=2)
    request = replace(
        request,
        fixed=(("other", "main"),),
        repositories=(*request.repositories, RepositoryRequest("other", str(other.directory))),
    )
    first = bisect(request)
    run_git("update-ref", "refs/heads/main", other.ids["o0"], directory=other.directory)
    result = resume(first.run_id, max_runs=8)
    assert result.held_fixed == (("other", other.ids["o2"]),)
    assert {probe.outcome for probe in result.probes} == {Outcome.PASS}


def test_with_several_pins_a_merge_is_searched_into_and_the_swap_test_is_run(
    builder: RepositoryBuilder, ask: Ask, tmp_path: Path
) -> None:
    builder.line("main", 3)
    builder.line("side", 4, "main1")
    builder.add("merge", "main2", "side3")
    builder.add("end", "merge")
    with_culprit(builder, "side1")
    builder.write()
    other = RepositoryBuilder(tmp_path / "other")
    other.line("o", 4)
    other.write()
    request = ask('grep -q good "$CHECKOUT_THING/state" && test -d "$CHECKOUT_OTHER/.git"', "main~3..main")
    request = replace(
        request,
        pins=(*request.pins, PinRange("other", "main~3", "main")),
        repositories=(*request.repositories, RepositoryRequest("other", str(other.directory))),
    )
    result = bisect(request)
    assert result.culprit is not None
    assert (result.culprit.moves[0].pin, result.culprit.subject) == ("thing", "change side1")
    assert (result.culprit.alone_on_good, result.culprit.removed_from_bad) == ("fail", "pass")
