"""What a run looks like in each form."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from pins.drift.acks import Ack
from pins.drift.model import About, Unknown, finding
from pins.drift.report import DriftReport
from pins.drift.table import RULES
from pins.hazards.model import Severity
from pins.report.drift_document import drift_document
from pins.report.drift_json import drift_json, drift_sarif
from pins.report.drift_text import drift_annotations, drift_text
from pins.report.html import render_html
from pins.report.markdown import LIMIT, render_markdown
from tests.drift.settled import PYBIND11, TRITON, Days, ahead, checked

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/pins.drift-1.schema.json").read_text())
NASTY = "a|b *c* <script>alert(1)</script> `d` @somebody #12 \x1b[31m\nnext\u202e"


@pytest.fixture
def report() -> DriftReport:
    """One of everything: new, open and changed, acknowledged, resolved, unknown."""
    days = Days()
    gone = finding("yanked", PYBIND11, "3.0.4", "pybind11 3.0.4 was yanked")
    known = finding("capped", PYBIND11, "1 release", "one release is kept out", severity=Severity.NOTE)
    acks = [Ack(known.id, "it waits for AITER", None)]
    rules = ["branch-ahead", "yanked", "capped", "skew"]
    days.run(
        checked(ahead(3)),
        checked(gone, about=PYBIND11, rule="yanked"),
        checked(known, about=PYBIND11, rule="capped"),
        acks=acks,
        rules=rules,
    )
    new = finding(
        "skew",
        PYBIND11,
        "3.0 and 3.1",
        "pybind11 differs between stages",
        evidence=["stage build: 3.0.4", "stage final: 3.1.0"],
        suggestion="give all stages the same",
        severity=Severity.ERROR,
    )
    return days.run(
        checked(ahead(5)),
        checked(about=PYBIND11, rule="yanked"),
        checked(known, about=PYBIND11, rule="capped"),
        checked(new, about=PYBIND11, rule="skew"),
        checked(about=TRITON, rule="yanked", why_not="the index is down"),
        acks=acks,
        rules=rules,
    )


def nasty() -> DriftReport:
    about = About(NASTY, "docker/Dockerfile", f"docker/{NASTY}", 3)
    one = finding("skew", about, "x", NASTY, evidence=[NASTY], suggestion=NASTY)
    unread = Unknown(NASTY, "read", NASTY, NASTY, NASTY)
    return Days().run(checked(one, about=about, rule="skew"), unread=[unread], rules=["skew"])


def test_the_text_says_what_is_new_in_full_and_the_rest_in_short(report: DriftReport) -> None:
    assert (
        drift_text(report, width=100, color=False)
        == f"""\
{report.findings[0].finding.id}  new  error  [skew]  docker/Dockerfile:9: pybind11
    pybind11 differs between stages
    - stage build: 3.0.4
    - stage final: 3.1.0
    do: give all stages the same

{ahead(5).id}  open, changed  warning  [branch-ahead]  docker/Dockerfile:7: triton
    main is 5 commits ahead
    first seen 2026-11-01
    before: main is 3 commits ahead

{report.findings[2].finding.id}  acknowledged  note  [capped]  docker/Dockerfile:9: pybind11
    one release is kept out
    first seen 2026-11-01
    acknowledged: it waits for AITER

{report.findings[3].finding.id}  resolved  warning  [yanked]  docker/Dockerfile:9: pybind11
    pybind11 3.0.4 was yanked
    first seen 2026-11-01

could not be told
    - docker/Dockerfile: triton, yanked: the index is down

1 new, 1 open, 1 acknowledged, 1 resolved, 1 that could not be told; 0 pins in 0 files
Last complete check: 2026-11-01 06:00 UTC.
`pins ack ID --why TEXT` acknowledges a finding
"""
    )


def test_many_that_one_source_keeps_from_being_told_are_one_line() -> None:
    about = [About(f"pin{number}", "Dockerfile", "Dockerfile", number) for number in range(50)]
    text = drift_text(Days().run(*(checked(about=one, why_not="it is down") for one in about)), width=200, color=False)
    assert "- 50 checks (Dockerfile: pin0, Dockerfile: pin1, Dockerfile: pin2 and 47 more): it is down" in text
    assert "Last complete check: never." in text


def test_of_many_reasons_the_commonest_are_listed() -> None:
    about = [About(f"pin{number}", "Dockerfile", "Dockerfile", number) for number in range(20)]
    report = Days().run(*(checked(about=one, why_not=f"reason {max(n - 4, 0)}") for n, one in enumerate(about)))
    short, long = (drift_text(report, width=200, color=False, verbose=verbose) for verbose in (False, True))
    assert "- 5 checks (Dockerfile: pin0, Dockerfile: pin1, Dockerfile: pin2 and 2 more): reason 0\n" in short
    assert "- 11 more, for 11 other reasons; -v lists them\n" in short
    assert all(f"reason {n}\n" in long for n in range(16))


def test_nothing_is_said_so() -> None:
    text = drift_text(Days().run(checked()), width=100, color=False)
    assert text == "nothing has moved; 0 pins in 0 files\nLast complete check: this one.\n"


@pytest.mark.parametrize("given", ["report", "nasty"])
def test_json_follows_its_schema(given: str, report: DriftReport) -> None:
    document = json.loads(drift_json(report if given == "report" else nasty()))
    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)
    assert list(document)[:3] == ["schema", "tool", "created"]
    if given == "report":
        assert [found["state"] for found in document["findings"]] == ["new", "open", "acked", "resolved"]
        assert document["complete"] is False


def test_sarif_says_what_is_new_and_suppresses_what_is_acknowledged(report: DriftReport) -> None:
    document = json.loads(drift_sarif(report, RULES))
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    results = {result["ruleId"]: result for result in run["results"]}
    assert set(results) == {"skew", "branch-ahead", "capped"}
    assert {name: result["baselineState"] for name, result in results.items()} == {
        "skew": "new",
        "branch-ahead": "updated",
        "capped": "unchanged",
    }
    assert results["skew"]["level"] == "error"
    assert results["skew"]["partialFingerprints"] == {"pinsDrift/v1": report.findings[0].finding.id}
    assert results["capped"]["suppressions"] == [{"kind": "external", "justification": "it waits for AITER"}]
    assert all(rules[result["ruleIndex"]]["id"] == name for name, result in results.items())
    [notification] = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == "triton, yanked: the index is down"


def test_sarif_names_files_whose_names_are_no_text_or_stand_in_no_repository() -> None:
    for file, uri in (("docker/a b\udcff.txt", "docker/a%20b%FF.txt"), ("/room/a.txt", "file:///room/a.txt")):
        about = About("numpy", file, file, 3)
        report = Days().run(checked(finding("skew", about, "x", "x"), about=about, rule="skew"), rules=["skew"])
        [result] = json.loads(drift_sarif(report, RULES))["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_annotations_are_of_what_is_new_the_worst_first_and_at_most_ten() -> None:
    about = [About(f"pin{number}", "Dockerfile", "Dockerfile", number + 1) for number in range(12)]
    severities = [Severity.NOTE, Severity.WARNING, Severity.ERROR] * 4
    report = Days().run(
        *(
            checked(finding("r", one, "x", "it: moved, 100%", severity=severity), about=one, rule="r")
            for one, severity in zip(about, severities, strict=True)
        ),
        rules=["r"],
    )
    lines = drift_annotations(report).splitlines()
    commands = [line.split()[0].removeprefix("::") for line in lines if line.startswith("::")]
    assert commands == ["error"] * 4 + ["warning"] * 4 + ["notice"] * 2
    assert lines[0] == "::error file=Dockerfile,line=3,title=r%3A pin2::it: moved, 100%25."
    assert lines[10].startswith("new: Dockerfile:")


def test_foreign_text_formats_nothing_and_calls_nobody() -> None:
    report = nasty()
    document = drift_document(report)
    markdown, page = render_markdown(document), render_html(document)
    for text in (drift_text(report, width=100, color=False), markdown, page, drift_annotations(report)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>alert" not in page
    running_text = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown)
    for calling in ("@somebody", "#12", "*c*", "|b"):
        assert not re.search(rf"(?<!\\){re.escape(calling)}", running_text)
    for line in drift_annotations(report).splitlines():
        assert line.count("::") in {0, 2}


def test_a_thousand_findings_fit_into_a_comment_and_a_step_summary() -> None:
    about = [About(f"pin{number}", "Dockerfile", "Dockerfile", number + 1) for number in range(1000)]
    report = Days().run(
        *(checked(finding("r", one, "x", "y" * 400, evidence=["z" * 300] * 4), about=one, rule="r") for one in about),
        rules=["r"],
    )
    markdown = render_markdown(drift_document(report))
    assert len(markdown.encode()) <= LIMIT < 2**20
    assert "left out" in markdown
    assert "1000 new" in markdown


def test_markdown_says_what_is_new_first(report: DriftReport) -> None:
    markdown = render_markdown(drift_document(report))
    assert markdown.startswith("### Drift: 1 new, 1 open, 1 acknowledged, 1 resolved, 1 that could not be told")
    places = [markdown.index(part) for part in ("Last complete check", "#### New", "#### Resolved", "Could not be")]
    assert places == sorted(places)


def test_commands_in_what_is_said_are_literals() -> None:
    one = finding("skew", PYBIND11, "x", "it differs", suggestion="see `pins why 'a_b==1' x_y`, and a_b")
    markdown = render_markdown(drift_document(Days().run(checked(one, about=PYBIND11, rule="skew"), rules=["skew"])))
    assert "- **do:** see `pins why 'a_b==1' x_y`, and a\\_b" in markdown
