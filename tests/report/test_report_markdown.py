import re
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from bisector.model import Outcome
from bisector.report import render
from bisector.report.model import Culprit, Move, Result
from pins.report.markdown import LIMIT, code_span, fenced
from tests.example_results import CULPRIT, OUTPUT, PARTNERS, one_pin, probe
from tests.generated_results import HOSTILE, few, results


def outside_code(markdown: str) -> str:
    """The document without its fenced blocks and code spans, read as CommonMark does."""
    lines, fence = [], ""
    for line in markdown.split("\n"):
        opening = re.match("`{3,}", line)
        if fence:
            if re.fullmatch(f"`{{{len(fence)},}} *", line):
                fence = ""
            continue
        if opening and "`" not in line[opening.end() :]:
            fence = opening.group()
            continue
        lines.append(line)
    assert not fence, "a fence is left open"
    text = "\n".join(lines)
    return re.sub(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text)


@few
@given(results)
@example(replace(CULPRIT, notes=HOSTILE, failing_output="\n".join(HOSTILE)))
def test_foreign_text_formats_nothing_and_calls_nobody(result: Result) -> None:
    outside = outside_code(render(result, "md"))
    assert set(re.findall(r"(?<!\\)<[^\s<>]*>?", outside)) <= {
        "<details>",
        "<summary>",
        "</summary>",
        "</details>",
        "<sub>",
        "</sub>",
    }
    assert not re.search(r"(?<![\w/\\])@[a-zA-Z0-9]", outside)
    assert not re.search(r"(?<![\w/\\&])#\d", outside)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", outside)


@given(st.text(st.sampled_from("`~ab\n"), max_size=40))
def test_fence_is_longer_than_any_in_the_output(output: str) -> None:
    first, body, last = fenced(output, "")
    assert first == last
    assert body == output.rstrip("\n")
    assert not any(line.strip().startswith(first) for line in body.split("\n"))


@given(st.text(st.sampled_from("` a|"), min_size=1, max_size=20))
def test_code_span_reads_back_as_commonmark_says(text: str) -> None:
    shown = code_span(text)
    ticks = re.match("`+", shown)
    assert ticks
    inner = shown[len(ticks.group()) : -len(ticks.group())]
    assert ticks.group() not in re.findall("`+", inner)
    if inner[0] == inner[-1] == " " and inner.strip():
        inner = inner[1:-1]
    assert inner == text or not text.strip()


@few
@given(results)
def test_every_row_of_a_table_has_the_cells_of_its_header(result: Result) -> None:
    cells = 0
    for line in render(result, "md").split("\n"):
        if line.startswith("| "):
            found = len(re.findall(r"(?<!\\)\|", line)) - 1
            cells = cells or found
            assert found == cells, line
        elif not line.startswith("|"):
            cells = 0


def test_five_hundred_probes_fit_into_an_issue_and_keep_the_culprit() -> None:
    probes = tuple(
        probe(n, n, one_pin(f"1.{n}.0"), Outcome.FAIL if n >= 300 else Outcome.PASS, reason="x" * 500)
        for n in range(500)
    )
    culprit = Culprit((Move("pybind11", "1.299.0", "1.300.0"),), "package")
    result = replace(CULPRIT, culprit=culprit, probes=probes, chain_length=500, failing_output=OUTPUT * 2000)
    shown = render(result, "md")
    assert len(shown.encode()) <= LIMIT
    assert "`pybind11 1.300.0`" in shown
    table = [line for line in shown.split("\n") if line.startswith("| 300 |")]
    assert len(table) == 1
    assert "more are left out" in shown
    assert "bytes are left out" in shown
    assert shown.rstrip().endswith("</sub>")


def test_even_absurdly_long_values_stay_under_the_limit() -> None:
    long = "`|" * 50_000
    result = replace(
        CULPRIT,
        axes=tuple(replace(CULPRIT.axes[0], pin=long, good=long) for _ in range(300)),
        held_fixed=tuple((f"{n}{long}", long) for n in range(300)),
        notes=(long,) * 300,
        failing_output=long,
        reproduce=long,
        environment=long,
        facts={f"{n}{long}": long for n in range(100)},
    )
    assert len(render(result, "md").encode()) <= LIMIT


def test_long_parts_are_folded() -> None:
    shown = render(PARTNERS, "md")
    assert "<details><summary>Every probe (7)</summary>\n\n| step |" in shown
    assert shown.count("<details>") == shown.count("</details>")
