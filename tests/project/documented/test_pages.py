"""What README.md and docs say is so: commands run and print what is shown, files parse, links lead somewhere."""

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from bisector.cli.configuration import read_configuration
from pins.errors import PinsError
from pins.files.patterns import read_patterns
from pins.files.read import read_pins
from pins.metadata.known_facts import read_known_facts
from tests.local_index import LocalIndex
from tests.project.documented.command_lines import calls, read
from tests.project.documented.comparing import difference
from tests.project.documented.exceptions import EXCEPTIONS, How, how_checked
from tests.project.documented.pages import GENERATED, ROOT, Block, Shown, blocks, commands, pages
from tests.project.documented.sandbox import Sandbox, make_sandbox, publish

BLOCKS = blocks()
SHOWN = [shown for block in BLOCKS if block.language == "console" for shown in commands(block)]


def _chosen(*how: How) -> list[Shown]:
    return [shown for shown in SHOWN if (found := how_checked(shown)) and found.how in how]


def _run(block: Block) -> list[Shown]:
    """The commands of a block that are run."""
    return [shown for shown in commands(block) if how_checked(shown) is None] if block.language == "console" else []


def _name(found: Shown | Block) -> str:
    return f"{found.page}:{found.line}"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    with LocalIndex() as index:
        publish(index)
        yield make_sandbox(tmp_path_factory.mktemp("pages"), index.url)


@pytest.mark.parametrize("block", [each for each in BLOCKS if _run(each)], ids=_name)
def test_commands_print_what_their_page_shows(block: Block, sandbox: Sandbox) -> None:
    sandbox.reset()
    for shown in _run(block):
        command = shown.command
        if "--run RUN" in command:
            command = command.replace("--run RUN", f"--run '{sandbox.recorded}'")
        done = sandbox.run(command)
        assert "Traceback" not in done.stderr
        assert done.returncode in {0, 1, 5}, done.stderr
        if shown.printed:
            differs = difference(shown.printed, done.stdout)
            assert not differs or not difference(shown.printed, done.stderr + done.stdout), differs


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("shown", _chosen(How.NETWORK), ids=_name)
def test_a_command_prints_what_its_page_shows_with_the_real_index(shown: Shown, sandbox: Sandbox) -> None:
    sandbox.reset()
    done = Sandbox(sandbox.directory, _with_real_index(sandbox.variables)).run(shown.command)
    assert done.returncode in {0, 1, 5}, done.stderr
    assert not shown.printed or not difference(shown.printed, done.stdout), difference(shown.printed, done.stdout)


def _with_real_index(variables: Mapping[str, str]) -> dict[str, str]:
    """The index that the environment names, or the public one; no directories of wheels, which have no dates."""
    own = {name: value for name, value in variables.items() if name not in {"UV_DEFAULT_INDEX", "PIP_INDEX_URL"}}
    outer = {name: value for name, value in os.environ.items() if re.match("UV_|PIP_|SSL_|https?_proxy", name)}
    return {**own, **{name: value for name, value in outer.items() if not name.endswith(("_FIND_LINKS", "_FILE"))}}


@pytest.mark.parametrize("shown", _chosen(How.PARSED, How.DOCKER, How.NETWORK), ids=_name)
def test_a_command_that_cannot_run_here_is_one_that_the_command_line_takes(
    shown: Shown, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(sandbox.directory)
    options = sandbox.directory / "bisect.toml"  # read unasked where it lies, so that it does not stay
    options.write_text('smoke = "smoke.py"\n\n[pin]\npybind11 = "3.0.0..3.1.0"\n')
    request.addfinalizer(options.unlink)
    found = list(calls(shown.command))
    assert found, "a command of ours"
    for words in found:
        read(words, sandbox.directory)


def test_every_exception_is_needed() -> None:
    unused = [one for one in EXCEPTIONS if not any(how_checked(shown) is one for shown in SHOWN)]
    assert unused == []


def test_a_command_of_ours_stands_in_a_console_block() -> None:
    hidden = [
        _name(block)
        for block in BLOCKS
        if block.language in {"", "sh", "bash", "shell", "text"}
        and re.search(r"^(?:\$ )?(?:scripts/)?(?:bisector|pins) [a-z]", block.text, re.MULTILINE)
    ]
    assert hidden == []


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language == "toml"], ids=_name)
def test_a_file_of_options_is_read_as_the_page_says(block: Block, tmp_path: Path) -> None:
    table = tomllib.loads(block.text)
    if {"hold", "known-bad", "inferred"} & set(table):
        facts = read_known_facts(block.text.encode(), "pins.toml")
        assert len(facts.bounds) == sum(len(table.get(name, ())) for name in ("hold", "known-bad"))
    elif "pattern" in table.get("tool", {}).get("pins", {}):
        (pattern,) = read_patterns(block.text.encode(), "pyproject.toml")
        found = read_pins(b"env:\n  TRITON_REF: f0b55c0\n", "ci/build.yaml", patterns=(pattern,))
        assert [(pin.name, pin.value) for pin in found.pins] == [("triton", "f0b55c0")]
    else:
        (tmp_path / "bisect.toml").write_text(block.text)
        assert read_configuration(tmp_path / "bisect.toml").pin


def test_a_key_that_no_option_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bisect.toml").write_text('smok = "x"\n')
    with pytest.raises(PinsError, match="did you mean 'smoke'"):
        read_configuration(tmp_path / "bisect.toml")


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language == "yaml"], ids=_name)
def test_a_step_of_a_workflow_gives_the_action_what_it_takes(block: Block) -> None:
    known = set(yaml.safe_load((ROOT / "action.yml").read_text())["inputs"])
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    document = yaml.safe_load(block.text)
    steps = document["steps"] if isinstance(document, dict) else document
    for step in steps:
        if str(step.get("uses", "")).startswith("OWNER/"):
            assert set(step["with"]) <= known
        assert {hook["id"] for hook in step.get("hooks", ())} <= hooks


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language == "python"], ids=_name)
def test_a_program_runs_and_prints_what_its_comments_say(block: Block, sandbox: Sandbox) -> None:
    (sandbox.directory / "example.py").write_text(block.text)
    done = sandbox.run(f"'{sys.executable}' example.py")
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"print\(.*\)  # (.+)$", block.text, re.MULTILINE)
    printed = done.stdout.splitlines()
    assert [line for line in promised if line not in printed] == []


@pytest.mark.parametrize("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_link_leads_to_a_page_and_to_a_heading_on_it(page: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (heading and heading not in _headings(file)):
            broken.append(target)
    assert broken == []


def _headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)
    return set(plain)


def test_every_page_is_listed_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    own = [path for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert [path.name for path in own if f"({path.name})" not in index] == []
    assert GENERATED.is_dir()


def test_the_picture_on_the_first_page_shows_the_run_that_stands_below_it() -> None:
    picture = (ROOT / "docs" / "terminal.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    for words in ("--good-date", "docs/examples/august/requirements.txt", "First bad: pybind11 3.0.4 -&gt; 3.1.0"):
        assert words in picture
    assert not re.search(r"url\((?!#)|@import|<script|href=", picture)


def test_json_documents_that_pages_name_have_a_schema_or_a_section() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    for schema in (ROOT / "docs" / "schemas").glob("*.schema.json"):
        name = json.loads(schema.read_text())["properties"]["schema"]
        assert str(name.get("const", "")) in page
