"""What is fuzzed: one function for each reader, which takes bytes and raises where a promise is broken.

Not only that nothing unforeseen is raised: places lie in the file, a change touches only its own bytes, what is set is
read back and set back, every report can be written, one state read from a document is written as it was read.
"""

import io
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bisector.cli import arguments
from bisector.cli.configuration import read_configuration
from bisector.environments.docker.ignore import parse_ignore_rules
from bisector.environments.venv.lock import read_lock
from bisector.model import Ended
from bisector.report import render
from bisector.report.json_reader import read_result
from bisector.results import load_result
from bisector.runs import JOURNAL
from bisector.signature.comparing import Comparison, compare
from bisector.signature.reading import read_build_signature, read_signature
from pins.drift.acks import read_acks, with_ack
from pins.drift.state import document
from pins.errors import PinsError, UsageError
from pins.files.dockerfile.read import ReadOptions, read_closely
from pins.files.edit import Edit, apply, edits_for
from pins.files.patch import unified_diff
from pins.files.patterns import pattern_pins, read_patterns
from pins.files.read import read_pins
from pins.files.shell.syntax import parse_shell
from pins.hazards.check import check
from pins.hazards.fixing import fix
from pins.hazards.gather import subject
from pins.hazards.hunks import landing, moved_by, read_hunks
from pins.hazards.ignoring import ignores_in, read_baseline
from pins.hazards.table import RULES
from pins.metadata.core_metadata import NotMetadataError, parse_core_metadata
from pins.metadata.inferred.imports import needed_imports, setup_arguments
from pins.metadata.pyproject import read_pyproject, setuptools_dynamic
from pins.metadata.sdist import files_of_sdist, metadata_of_sdist
from pins.metadata.setup_cfg import read_setup_cfg, requirement_lines
from pins.metadata.setup_py.read import read_setup_py
from pins.metadata.wheel import metadata_in_wheel
from pins.model import Pin, PinKind, PinSet
from pins.report.hazards_json import check_json, check_sarif
from pins.report.hazards_text import annotations, check_text
from pins.report.html import render_html
from pins.report.markdown import render_markdown
from pins.report.pins_json import show_document
from pins.sources.git.address import parse_address
from pins.sources.image_registry import parse_image
from pins.sources.index_page import NotAPageError, parse_page, read_file_name
from pins.suggest.bisection import read_bisection
from pins.suggest.holds import read_holds, with_hold

VALUES = {
    PinKind.GIT: "f0b55c0",
    PinKind.PACKAGE: "7.7.7",
    PinKind.IMAGE: "acme/os:9.1-devel",
    PinKind.URL: "7.7.7",
    PinKind.APT: "2:7.7+dfsg-1",
    PinKind.TEXT: "7.7.7",
}
PLACE = Path("/nowhere")
_scratch = Path(tempfile.mkdtemp(prefix="fuzz-"))


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes:
        name: what it is called.
        run: gives it bytes; raises where something is wrong.
        seeds: the names of files, as globs, that make good first inputs.
        tokens: what stands in such files, for mutations.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()


def same_outside(before: bytes, after: bytes, edits: list[Edit]) -> bool:
    """Whether only the bytes of the edits have changed."""
    position = moved = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if after[position + moved : edit.start + moved] != before[position : edit.start]:
            return False
        moved += len(edit.text) - (edit.end - edit.start)
        position = edit.end
    return after[position + moved :] == before[position:]


def well_placed(data: bytes, found: PinSet) -> None:
    """Every pin stands where it says."""
    count = data.count(b"\n") + 1
    for pin in found.pins:
        assert pin.name, "a pin without a name"
        assert "\n" not in pin.name, "a name of several lines"
        if pin.file == found.file:
            assert 1 <= pin.line <= count, f"line {pin.line} of {count}"
            for place in pin.places:
                assert 0 <= place.start <= place.end <= len(data), f"{place} outside"
    for problem in found.problems:
        assert problem.line >= 1, f"{problem} nowhere"
        assert problem.message.strip(), "a problem without words"
    json.loads(show_document([found]))


def round_trips(path: str, data: bytes, found: PinSet, most: int = 3) -> None:
    """Some of the pins take another value and their own; the rest of the file stays."""
    own = [pin for pin in found.pins if pin.file == found.file and pin.places]
    for pin in own[: most // 2 + 1] + own[-(most // 2) :]:
        with suppress(UsageError):
            if pin.value is not None:
                same = edits_for(data, pin, pin.value)
                again = read_pins(apply(data, same), path)
                held = [p.value for p in again.pins if p.name == pin.name and p.kind == pin.kind]
                assert pin.value in held, f"{pin.name} set to its own {pin.value!r} reads as {held}"
        with suppress(UsageError):
            edits = edits_for(data, pin, VALUES[pin.kind])
            try:
                after = apply(data, edits)
            except ValueError as error:
                raise AssertionError("edits of one pin overlap") from error
            assert same_outside(data, after, edits), "other bytes changed"
            unified_diff(data, after, path)
            if _held(path, after, pin, edits):
                _sets_back(path, data, after, pin)


def _held(path: str, after: bytes, pin: Pin, edits: list[Edit]) -> Pin | None:
    wanted = VALUES[pin.kind]
    start = edits[0].start
    for one in read_pins(after, path).pins:
        near = one.places and abs(one.places[0].start - start) <= 4
        if near and one.name == pin.name and one.value in {wanted, f"=={wanted}"}:
            return one
    return None


def _sets_back(path: str, data: bytes, after: bytes, pin: Pin) -> None:
    edits = edits_for(data, pin, VALUES[pin.kind])
    holding = _held(path, after, pin, edits)
    assert holding is not None
    if pin.value is None or not pin.places:
        return
    with suppress(UsageError):
        back = apply(after, edits_for(after, holding, pin.value))
        if back != data:
            again = {p.value for p in read_pins(back, path).pins if p.name == pin.name}
            assert pin.value in again, f"{pin.value!r} set back reads as {sorted(map(str, again))}"


def _file(path: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        found = read_pins(data, path)
        well_placed(data, found)
        round_trips(path, data, found)

    return run


def dockerfile(data: bytes) -> None:
    """The reader of Dockerfiles and everything that stands behind it."""
    if 0 in data:
        return
    closely = read_closely(data, "Dockerfile", ReadOptions())
    assert read_pins(data, "Dockerfile").pins == closely.pin_set.pins, "close reading finds other pins"
    well_placed(data, closely.pin_set)
    round_trips("Dockerfile", data, closely.pin_set)


def hazards(data: bytes) -> None:
    """The rules over a Dockerfile, what reports make of them, and the edits that mend."""
    if 0 in data:
        return
    one = subject(data, "Dockerfile")
    found = check([one], RULES)
    count = data.count(b"\n") + 1
    for hazard in found:
        assert 1 <= hazard.line <= hazard.end_line <= count, f"{hazard.rule.name}: line {hazard.line} of {count}"
        assert hazard.column >= 1
    assert len({h.fingerprint for h in found}) == len(found), "a fingerprint twice"
    ignores_in(one)
    json.loads(check_json(found, ["Dockerfile"]))
    json.loads(check_sarif(found, RULES))
    check_text(found, 1, width=100, color=False)
    for line in annotations(found, 1).splitlines():
        assert line.startswith(("::error", "::warning", "::notice")) or "::" not in line[:2], line
    from pins.report.hazards_document import check_document

    drawn = check_document(found, 1)
    render_html(drawn)
    render_markdown(drawn)
    done = fix(one, found)
    assert bool(done.fixed) or done.after == done.before


def shell(data: bytes) -> None:
    """The shell syntax, and the same text as a RUN."""
    script = parse_shell(data)
    assert script is not None
    if 0 not in data:
        text = b"FROM acme/os:1\nRUN <<'XEOFX'\n" + data + b"\nXEOFX\n"
        found = read_pins(text, "Dockerfile")
        well_placed(text, found)


def hunks(data: bytes) -> None:
    """Patches, and where their hunks would land in what they were cut from."""
    head, _, content = data.partition(b"\n====\n")
    for hunk in read_hunks(head):
        moved_by(hunk, content)
        landing(hunk, content, "HEAD")
        assert hunk.effect


def index_page(data: bytes) -> None:
    """Pages of a package index, JSON and HTML."""
    for kind in ("application/vnd.pypi.simple.v1+json", "text/html", "application/vnd.pypi.simple.v1+html; x=y"):
        with suppress(NotAPageError):
            for file in parse_page(data, kind, "https://index.example/simple/foo/", "foo").files:
                assert file.filename
                assert "\n" not in file.url


def file_name(data: bytes) -> None:
    """Names of wheels and source distributions."""
    text = data.decode("utf-8", "replace")
    found = read_file_name(text, text.partition("-")[0])
    assert found is None or found[0] is not None


def metadata(data: bytes) -> None:
    """METADATA and PKG-INFO."""
    with suppress(NotMetadataError):
        found = parse_core_metadata(data)
        assert found.name


def archive(data: bytes) -> None:
    """Wheels and source distributions."""
    with suppress(NotMetadataError):
        metadata_in_wheel(io.BytesIO(data), "foo-1.0-py3-none-any.whl")  # type: ignore[arg-type]
    for name in ("foo-1.0.tar.gz", "foo-1.0.zip"):
        with suppress(NotMetadataError):
            metadata_of_sdist(files_of_sdist(data, name))


def pyproject(data: bytes) -> None:
    """pyproject.toml, as a file of pins and as what a project requires."""
    _file("pyproject.toml")(data)
    read_pyproject(data)
    setuptools_dynamic(data)
    with suppress(UsageError):
        pattern_pins(data, "x", read_patterns(data, "pyproject.toml"))


def setup_cfg(data: bytes) -> None:
    """setup.cfg."""
    read_setup_cfg(data)
    requirement_lines(data, "requirements.txt")


def setup_py(data: bytes) -> None:
    """setup.py, which is never run."""
    read_setup_py(data)
    needed_imports(data)
    setup_arguments(data)


def options(data: bytes) -> None:
    """What is typed behind options of bisector."""
    text = data.decode("utf-8", "surrogateescape")
    for parse in (
        lambda: arguments.parse_pin(text),
        lambda: arguments.parse_pin(text, ["triton"]),
        lambda: arguments.parse_repository(text, PLACE),
        lambda: arguments.parse_choice_of_version(text),
        lambda: arguments.parse_duration(text, "--timeout"),
        lambda: arguments.parse_size(text, "--disk"),
        lambda: arguments.parse_date(text, "--good-date"),
        lambda: arguments.parse_variable(text, "--build-arg"),
        lambda: arguments.parse_confidence(text),
        lambda: arguments.parse_count(text, "--workers", 2),
        lambda: arguments.parse_requirement(text, "--with"),
        lambda: arguments.parse_pattern(text, "--expect"),
        lambda: arguments.parse_mount(text, PLACE),
        lambda: parse_address(text, PLACE),
        lambda: parse_image(text),
    ):
        with suppress(PinsError, NotAPageError):
            parse()


def configuration(data: bytes) -> None:
    """bisect.toml and [tool.bisector]."""
    for name in ("bisect.toml", "pyproject.toml"):
        path = _scratch / name
        path.write_bytes(data)
        with suppress(UsageError):
            read_configuration(path)


def remembered(data: bytes) -> None:
    """What drift remembers: read, written, and read again."""
    with suppress(document.DamagedError):
        found = document.read(data)
        assert document.read(document.written(found)) == found, "not the same when written and read again"


def pins_toml(data: bytes) -> None:
    """pins.toml: patterns, holds and acknowledgements, and adding to them."""
    for read in (read_patterns, read_holds, read_acks):
        with suppress(UsageError):
            read(data, "pins.toml")
    with suppress(UsageError):
        held = read_holds(data)
        for hold in held[:2]:
            assert hold in read_holds(with_hold(data, hold)), "a hold that is added is not read back"
    with suppress(UsageError):
        for ack in read_acks(data)[:2]:
            assert ack in read_acks(with_ack(data, ack)), "an acknowledgement that is added is not read back"


def documents(data: bytes) -> None:
    """Results, baselines, and lock files, which other programs write."""
    text = data.decode("utf-8", "surrogateescape")
    with suppress(PinsError):
        read_bisection(text, "result.json")
    with suppress(PinsError, ValueError):
        read_result(text)
    with suppress(PinsError):
        read_baseline(text, "baseline.json")
    with suppress(PinsError):
        read_lock(text, PLACE)
    rules = parse_ignore_rules(text.splitlines())
    assert rules is not None


def signature(data: bytes) -> None:
    """What a script's output says of its end."""
    text = data.decode("utf-8", "replace")
    head, _, tail = text.partition("====")
    ended = Ended(1, output=head, errors=tail)
    one = read_signature(ended, head, "smoke.py")
    other = read_build_signature(ended)
    assert compare(one, one) is Comparison.SAME, "not the same as itself"
    compare(one, other)


def journal(data: bytes) -> None:
    """The journal of a run, and what is told from it."""
    directory = _scratch / "run"
    directory.mkdir(exist_ok=True)
    for left in directory.iterdir():
        left.unlink(missing_ok=True)
    (directory / JOURNAL).write_bytes(data)
    with suppress(PinsError):
        result = load_result(directory)
        for form in ("text", "md", "html", "json"):
            render(result, form)


_DOCKER = ("*Dockerfile*", "*Containerfile*")
_DOCKER_WORDS = (
    *("FROM ", "RUN ", "ARG ", "ENV ", "COPY ", "ADD ", "WORKDIR ", "SHELL ", "ONBUILD ", "LABEL ", "USER "),
    *(
        "--mount=type=cache ",
        "--from=",
        " AS ",
        " \\\n",
        "<<EOF\n",
        "EOF\n",
        "${",
        "}",
        "$(",
        ")",
        " && ",
        " || ",
        "; ",
    ),
    *(
        "if ",
        "then ",
        "else ",
        "fi ",
        "for ",
        "do ",
        "done ",
        "case ",
        "esac ",
        " in ",
        "pip install ",
        "git clone -b ",
    ),
    *(
        "git checkout ",
        "curl ",
        "apt-get install ",
        "==",
        ">=",
        "# ",
        "# escape=`\n",
        "# syntax=",
        " -r ",
        "git+https://",
    ),
    *("@", ":-", ":+", "##", "%%", "//", "'", '"', "`", "\\", "\r\n", "[", "]", "=("),
)

TARGETS: tuple[Target, ...] = (
    Target("dockerfile", dockerfile, _DOCKER, _DOCKER_WORDS),
    Target("hazards", hazards, _DOCKER, _DOCKER_WORDS),
    Target("shell", shell, ("*.sh",), _DOCKER_WORDS),
    Target(
        "requirements", _file("requirements.txt"), ("*requirements*.txt",), ("-r ", "--hash=", ";", "==", "\\\n", " #")
    ),
    Target(
        "pyproject", pyproject, ("*pyproject.toml",), ("[project]", "dependencies", '"""', "'''", "[[", "]]", " = ")
    ),
    Target(
        "bake",
        _file("docker-bake.hcl"),
        ("*docker-bake*.hcl",),
        ("variable", "target", "args", "{", "}", '"', "default"),
    ),
    Target("bake-json", _file("docker-bake.json"), ("*docker-bake*.json",), ('"args"', '"target"', "{", "}", ":")),
    Target(
        "workflow",
        _file(".github/workflows/a.yml"),
        ("*.yml", "*.yaml"),
        ("build-args: |", "--build-arg ", "\n    ", "run: |"),
    ),
    Target("lock", _file("uv.lock"), ("*uv.lock", "*pylock*.toml"), ("[[package]]", "name =", "version =")),
    Target("pin-file", _file("triton-commit.txt"), ("*commit*.txt", "*version*.txt"), ("\n", "#")),
    Target(
        "setup-cfg", setup_cfg, ("*setup.cfg",), ("[options]", "install_requires =", "\n    ", "%(", "file:", "attr:")
    ),
    Target(
        "setup-py",
        setup_py,
        ("*setup.py",),
        ("setup(", "install_requires=", "open(", "+=", "if ", "for ", "def ", "f'{"),
    ),
    Target(
        "hunks",
        hunks,
        ("*.patch", "*.diff"),
        ("@@ -1,2 +1,2 @@", "--- a/", "+++ b/", "diff --git", "\n====\n", "\\ No newline"),
    ),
    Target(
        "index-page",
        index_page,
        ("*.json", "*.html"),
        ('"files"', '"url"', '"hashes"', "<a href=", "data-requires-python=", "#sha256="),
    ),
    Target(
        "file-name", file_name, (), ("-py3-none-any.whl", ".tar.gz", ".zip", "-cp311-", "manylinux", ".post1", "1!")
    ),
    Target(
        "metadata",
        metadata,
        ("*METADATA", "*PKG-INFO"),
        ("Metadata-Version: 2.1\n", "Name: ", "Version: ", "Requires-Dist: ", "\n "),
    ),
    Target("archive", archive, ("*.whl", "*.zip", "*.tar.gz"), ("PK\x03\x04", "PK\x01\x02", "PK\x05\x06")),
    Target(
        "options",
        options,
        (),
        ("=", "..", "...", "git+", "https://", "@", ":", "--", "1.0", "20m", "GB", "2026-08-01", "~", "^"),
    ),
    Target(
        "configuration",
        configuration,
        ("*bisect.toml",),
        ("pin = ", "[pin]", "smoke = ", "[tool.bisector]", "timeout = "),
    ),
    Target(
        "remembered",
        remembered,
        ("*drift*.json",),
        ('"schema"', '"pins.drift-state/1"', '"findings"', '"memory"', "null"),
    ),
    Target("pins-toml", pins_toml, ("*pins.toml",), ("[[hold]]", "[[pattern]]", "[[ack]]", "regex = ", "until = ")),
    Target(
        "documents",
        documents,
        ("*.json", "*.lock", "*.dockerignore"),
        ('"schema"', '"bisector.result/1"', '"culprit"', "!", "**"),
    ),
    Target("journal", journal, ("*journal.sqlite",), ("SQLite format 3\0", '"', "null", "PASS", "FAIL", "[[")),
    Target(
        "signature",
        signature,
        ("*.log",),
        ("Traceback (most recent call last):\n", '  File "', "Error: ", "====", "error: "),
    ),
)
BY_NAME = {target.name: target for target in TARGETS}
