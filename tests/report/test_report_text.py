import re
from dataclasses import replace

import pytest
from hypothesis import given

from bisector.model import Outcome
from bisector.report import render, short_summary
from bisector.report.model import Result
from pins.report.characters import width
from tests.example_results import CULPRIT, EXAMPLES, PARTNERS, RANGE, one_pin, probe
from tests.generated_results import few, results

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
@pytest.mark.parametrize("name", EXAMPLES)
def test_lines_fit_the_terminal_unless_one_word_is_longer(name: str, columns: int) -> None:
    for line in render(EXAMPLES[name], "text", width=columns).splitlines():
        assert width(line) <= columns or " " not in line.strip(), line


@few
@given(results)
def test_colours_change_nothing_but_colours(result: Result) -> None:
    plain = render(result, "text", width=72)
    coloured = render(result, "text", width=72, color=True)
    assert "\x1b" not in plain
    stripped = "\n".join(line.rstrip() for line in ANSI.sub("", coloured).split("\n"))
    assert stripped == plain


@few
@given(results)
def test_foreign_text_cannot_repaint_the_terminal(result: Result) -> None:
    shown = render(result, "text")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f]", shown)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_line_is_the_verdict_and_the_summary_is_one_line(name: str) -> None:
    first = render(EXAMPLES[name], "text").splitlines()[0]
    assert first
    assert first == first.strip()
    assert "\n" not in short_summary(EXAMPLES[name])


def test_culprit_and_predecessor_are_named_with_their_evidence_and_certainty() -> None:
    shown = render(CULPRIT, "text")
    head = shown.split("Failing output")[0]
    assert "pybind11 3.0.4 -> 3.1.0" in head
    assert "uploaded 2026-08-12" in head
    assert "FAIL in all 4 runs" in head
    assert "PASS in all 4 runs" in head
    assert "99.98 %; if this script is flaky at all: 99.14 %" in head
    assert "caused" not in shown


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("bisector run --dockerfile 'my images/Dockerfile' --good v1 --bad HEAD", "'my images/Dockerfile'"),
        ("bisector run --requirements base.txt --pin numpy=1.26.4..2.2.0", "base.txt"),
        ("bisector run --pin numpy=1.26.4..2.2.0", ""),
        ("bisector run --requirements a.txt --requirements b.txt", ""),
    ],
)
def test_after_a_culprit_the_command_that_says_what_to_pin_is_named(command: str, file: str) -> None:
    result = replace(CULPRIT, reproduce=command)
    shown = " ".join(render(result, "text").partition("What to do next")[2].partition("The chain")[0].split())
    assert (f"pins suggest {file} --run {result.run_id}" in shown) is bool(file)
    assert file or "pins suggest" not in shown


@pytest.mark.parametrize("environment", ["docker", "image"])
def test_what_to_do_next_names_no_option_that_images_do_not_have(environment: str) -> None:
    failing = EXAMPLES["good-end-fails"]
    unbuildable = replace(failing.probes[0], outcome=Outcome.UNBUILDABLE)
    for result in (replace(failing, probes=(unbuildable, *failing.probes[1:])), RANGE):
        assert "--with" in (shown := render(result, "text"))
        assert "--python" in shown
        next_steps = render(replace(result, environment=environment), "text").partition("What to do next")[2]
        next_steps = next_steps.partition("The chain")[0]
        assert not re.search(r"--with\b|--python|--build-constraint", next_steps)
        assert "log" in next_steps or "output" in next_steps


def test_probability_is_never_said_to_be_certain() -> None:
    shown = render(replace(CULPRIT, confidence=1.0, confidence_if_flaky=1.0), "text")
    assert "100 %" not in shown
    assert "over 99.99 %" in shown


def test_contradicting_runs_of_a_witness_are_shown() -> None:
    flaky = probe(4, 4, one_pin("3.0.4"), Outcome.PASS, runs=3)
    flaky = replace(flaky, runs=(*flaky.runs, replace(flaky.runs[0], outcome=Outcome.FAIL)))
    shown = render(replace(CULPRIT, probes=(*CULPRIT.probes[:3], flaky)), "text")
    assert "Last good: pybind11 3.0.4: 3 PASS, 1 FAIL of 4 runs" in shown


def test_a_culprit_without_recorded_witnesses_says_so() -> None:
    assert render(replace(CULPRIT, probes=()), "text").count("no run recorded") == 2


def test_witness_that_shares_a_build_says_whose() -> None:
    twin = replace(probe(9, 4, one_pin("3.0.4"), Outcome.PASS, runs=0), reason="the same build as p3")
    shown = render(replace(CULPRIT, probes=(*CULPRIT.probes[:3], twin)), "text")
    assert "Last good: pybind11 3.0.4: PASS, the same build as p3" in shown


def test_a_pin_that_the_resolver_moves_along_does_not_hide_the_witnesses() -> None:
    shown = render(PARTNERS, "text")
    assert "First bad:          triton a71f3d2 (committed 2026-08-02): FAIL in all 4 runs" in shown


def test_a_probe_under_way_is_neither_tried_nor_a_failure() -> None:
    under_way = replace(probe(9, 7, one_pin("6.0", "pyyaml"), Outcome.INFRA, runs=0), reason="")
    shown = render(replace(RANGE, probes=(*RANGE.probes[:3], under_way)), "text")
    assert "not finished" in shown
    assert "INFRA" not in shown


def test_long_stretches_and_long_outputs_are_drawn_together() -> None:
    probes = (*(probe(n, n * 100, one_pin(f"1.{n}"), Outcome.PASS) for n in range(3)),)
    long = replace(CULPRIT, chain_length=10_000, probes=probes, failing_output="line\n" * 500 + "the end\n")
    shown = render(long, "text")
    assert "99 candidates not tried" in shown
    assert "9799 candidates not tried" in shown
    assert "| the end" in shown
    assert len(shown.splitlines()) < 130


def test_a_long_command_is_broken_so_that_a_shell_still_takes_it() -> None:
    import shlex

    command = "bisector run " + " ".join(f"--with 'package-{n} >= {n}.0'" for n in range(20)) + " --smoke ./it"
    shown = render(replace(CULPRIT, reproduce=command, reproduce_in=""), "text", width=80)
    section = shown.split("Reproduce\n")[1].split("\n\n")[0]
    assert shlex.split(section.replace("\\\n", " ")) == shlex.split(command)
    assert max(map(len, section.splitlines())) <= 80


def test_wide_and_narrow_characters_are_measured_as_the_terminal_does() -> None:
    wide = replace(CULPRIT, notes=("한국어로 된 긴 설명 " * 12,))
    assert all(width(line) <= 80 for line in render(wide, "text", width=80).splitlines() if "/" not in line)
