"""`pins check` as a person or a workflow runs it."""

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from pins.cli import app

TOP = Path(__file__).resolve().parents[2]
BAD = 'FROM ubuntu:22.04\nARG REF="f0b55c0" # as of 08/18\nRUN pip install foo>=4\n'


def run(*arguments: str, code: int | None = None) -> Result:
    done = CliRunner(env={"NO_COLOR": "1"}).invoke(app, ["check", *arguments])
    if code is not None:
        assert done.exit_code == code, done.stderr + done.stdout
    return done


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Dockerfile").write_text(BAD)
    return tmp_path


def test_findings_exit_one_and_a_clean_file_exits_zero(place: Path) -> None:
    done = run("Dockerfile", code=1)
    assert "Dockerfile:3:17: error [unquoted-specifier]" in done.stdout
    assert "2 hazards in 1 file (1 error, 1 warning)" in done.stdout
    (place / "Dockerfile").write_text("FROM ubuntu:22.04\nRUN ls\n")
    assert run("Dockerfile", code=0).stdout == "no hazards in 1 file\n"


def test_every_line_fits_a_hundred_columns(place: Path) -> None:
    assert max(map(len, run("Dockerfile").stdout.splitlines())) <= 100


def test_json_follows_its_schema(place: Path) -> None:
    (place / "Dockerfile").write_text(BAD.replace("RUN", "# pins: ignore[unquoted-specifier] to be seen\nRUN"))
    document = json.loads(run("Dockerfile", "--format", "json", code=1).stdout)
    schema = json.loads((TOP / "docs/schemas/pins.check-1.schema.json").read_text())
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    assert [h["rule"] for h in document["hazards"]] == ["junk-arguments"]
    assert [h["reason"] for h in document["ignored"]] == ["to be seen"]


def test_sarif_names_rules_places_and_stable_fingerprints(place: Path) -> None:
    first = json.loads(run("Dockerfile", "--format", "sarif", code=1).stdout)
    (run_,) = first["runs"]
    for result in run_["results"]:
        assert run_["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        region = result["locations"][0]["physicalLocation"]["region"]
        assert 1 <= region["startLine"] <= region["endLine"]
    (place / "Dockerfile").write_text(BAD.replace("ARG", "RUN ls\nARG"))
    second = json.loads(run("Dockerfile", "--format", "sarif", code=1).stdout)
    prints = [[r["partialFingerprints"] for r in d["runs"][0]["results"]] for d in (first, second)]
    assert prints[0] == prints[1]


def test_annotations_are_escaped_and_at_most_ten(place: Path) -> None:
    (place / "Dockerfile").write_text("FROM ubuntu:22.04\n" + "".join(f"RUN pip install f{i}>=4\n" for i in range(14)))
    done = run("Dockerfile", "--format", "github", code=1)
    commands = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert len(commands) == 10
    assert commands[0].startswith("::error file=Dockerfile,line=2,endLine=2,col=17,title=unquoted-specifier%3A ")
    assert sum("f13" in line for line in done.stdout.splitlines()) == 1


@pytest.mark.parametrize("form", ["md", "html"])
def test_pages_escape_what_the_file_says(place: Path, form: str) -> None:
    (place / "Dockerfile").write_text("FROM ubuntu:22.04\nRUN git clone -b main https://h.example/<script>x.git\n")
    text = run("Dockerfile", "--format", form, code=1).stdout
    assert "<script>" not in text


def test_edits_are_shown_first_and_made_with_write(place: Path) -> None:
    done = run("Dockerfile", "--fix", code=1)
    assert "+RUN pip install 'foo>=4'" in done.stdout
    assert (place / "Dockerfile").read_text() == BAD
    run("Dockerfile", "--fix", "--write", code=0)
    run("Dockerfile", code=0)


def test_a_baseline_ends_what_is_known(place: Path) -> None:
    run("Dockerfile", "--write-baseline", "known.json", code=0)
    run("Dockerfile", "--baseline", "known.json", code=0)
    with (place / "Dockerfile").open("a") as file:
        file.write("RUN pip install bar>=4\n")
    done = run("Dockerfile", "--baseline", "known.json", code=1)
    assert "1 hazard in 1 file (1 error); 2 ignored" in done.stdout


def test_rules_are_chosen_by_name_or_its_beginning(place: Path) -> None:
    assert "junk-arguments" not in run("Dockerfile", "--select", "unquoted", code=1).stdout
    assert "junk-arguments" not in run("Dockerfile", "--ignore", "junk-arguments", code=1).stdout
    assert "there is no such rule" in run("Dockerfile", "--select", "nonsense", code=2).stderr


def test_ignores_that_say_nothing_or_do_nothing_are_told(place: Path) -> None:
    (place / "Dockerfile").write_text("FROM ubuntu:22.04\n# pins: ignore[short-commit]\nRUN ls\n# pins: ignore[x] y\n")
    done = run("Dockerfile", code=0)
    assert "say behind ignore[short-commit] why" in done.stderr
    assert "nothing is found there" in done.stderr
    assert "there is no rule 'x'" in done.stderr


def test_a_directory_is_searched_with_its_documents(place: Path) -> None:
    (place / "README.md").write_text("docker build --build-arg RFE=1 .\n")
    done = run(".", "--select", "undeclared-build-argument", code=1)
    assert "README.md:1:26: warning [undeclared-build-argument]" in done.stdout


def test_usage_errors_say_what_to_do(place: Path) -> None:
    assert "give a FILE" in run(code=2).stderr
    assert "does not exist" in run("nowhere", code=2).stderr
    assert "goes with --fix" in run("Dockerfile", "--write", code=2).stderr


def test_rules_can_be_listed_and_explained(place: Path) -> None:
    assert "unquoted-specifier" in run("--rules", code=0).stdout
    assert "Why it matters" in run("--explain", "junk-arguments", code=0).stdout


def test_pages_of_the_rules_are_up_to_date() -> None:
    from pins.hazards.table import RULES
    from pins.report.hazards_pages import pages

    directory = TOP / "docs/hazards"
    written = {path.name: path.read_text(encoding="utf-8") for path in directory.glob("*.md")}
    assert written == pages(RULES), "run scripts/hazard-pages"


def test_templates_of_a_directory_are_left_alone_but_read_where_they_are_named(place: Path) -> None:
    (place / "Dockerfile").write_text("FROM ubuntu:22.04\n")
    (place / "Dockerfile.jinja").write_text("FROM acme/os:{{ TAG }}\n{% if x %}\nRUN ls\n{% endif %}\n")
    assert "no hazards in 1 file" in run(".", code=0).stdout
    assert "not-read" in run("Dockerfile.jinja", code=1).stdout


def test_all_files_are_mended_or_none(place: Path) -> None:
    (place / "other").mkdir()
    (place / "other" / "Dockerfile").write_text(BAD)
    (place / "other" / "Dockerfile").chmod(0o444)
    done = run(".", "--fix", "--write", code=2)
    assert "other/Dockerfile may not be written: it is read-only" in done.stderr
    assert (place / "Dockerfile").read_text() == BAD
