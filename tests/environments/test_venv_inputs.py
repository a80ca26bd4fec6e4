"""What the user hands over: hostile values, credentials, requirement files."""

import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from bisector.environments.base import BuildFailedError, InfeasibleError
from bisector.environments.venv.requirements import giving_way, read_requirements
from bisector.model import Candidate
from bisector.request import RequirementsRequest
from pins.errors import EnvironmentFailureError, PinsError, UsageError
from tests.environments.venv_setting import Setting, candidate, setting
from tests.local_archives import make_sdist, make_wheel
from tests.local_index import LocalIndex

PASSWORD = "s3cret-tokenvalue"

HOSTILE_VERSIONS = [
    "",
    " ",
    "1.0 --index-url=http://127.0.0.1:9/",
    "1.0\n--index-url http://127.0.0.1:9/",
    "1.0\r",
    "1.0 # comment",
    "1.0; python_version > '2'",
    "1.0,<2",
    "1.*",
    "=1.0",
    "$(touch owned)",
    "`touch owned`",
    "'1.0'",
    '"',
    "-1.0",
    "--help",
    "1.0 @ http://127.0.0.1:9/x.whl",
    "1.0\0",
    "2013-06-05",
]


@pytest.mark.parametrize("version", HOSTILE_VERSIONS)
def test_a_value_that_is_no_version_is_refused_before_anything_is_started(
    local_index: LocalIndex, tmp_path: Path, version: str
) -> None:
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)

    with pytest.raises(UsageError):
        here.environment.resolve(candidate(spam=version))

    assert not local_index.requests
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "name",
    ["-spam", "--help", "spam eggs", "spam;x", "spam\n-r x", "$(id)", "spam @ http://x/", "spam>1", "../spam", ""],
)
def test_a_name_that_is_no_package_is_refused(local_index: LocalIndex, tmp_path: Path, name: str) -> None:
    here = setting(tmp_path, local_index.url)

    with pytest.raises(UsageError):
        here.environment.resolve(Candidate(((name, "1.0"),)))

    assert not local_index.requests


def test_two_pins_of_one_package_are_refused(local_index: LocalIndex, tmp_path: Path) -> None:
    here = setting(tmp_path, local_index.url)

    with pytest.raises(UsageError, match="same package"):
        here.environment.resolve(Candidate((("spam-x", "1.0"), ("Spam_X", "1.0"))))


@pytest.mark.parametrize(
    "text", ["-r /etc/passwd", "--index-url=x", "spam\n-e .", "spam >", "$(id)", "", "http//x", "spam==1 --pre"]
)
def test_a_further_requirement_that_is_none_is_refused_before_the_first_build(
    local_index: LocalIndex, tmp_path: Path, text: str
) -> None:
    for option in ("requirements", "build_constraints"):
        here = setting(tmp_path, local_index.url, **cast("Any", {option: (text,)}))
        with pytest.raises(UsageError):
            here.environment.check()


def test_paths_with_blanks_and_signs_are_no_danger(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    local_index.add("eggs", "1.0")
    directory = tmp_path / "a b '$(id)' --help"
    directory.mkdir()
    (directory / "-r x.txt").write_text("eggs\n")
    here = setting(directory, local_index.url, requirement_files=(directory / "-r x.txt",))

    build = here.make(spam="1.0")

    assert [name for name, _ in build.installed] == ["eggs", "spam"]
    assert here.run(build, "import eggs").exit_status == 0


def everything_written(directory: Path) -> str:
    """The content of every file below a directory, names included, but for what a build installs."""
    found = []
    for path in directory.rglob("*"):
        found.append(str(path))
        if path.is_file() and not path.is_symlink():
            found.append(path.read_bytes().decode(errors="replace"))
    return "\n".join(found)


def test_credentials_of_an_index_are_used_and_written_nowhere(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.credentials("me", PASSWORD)
    local_index.add("spam", "1.0")
    local_index.add("eggs", "1.0", setup_py="raise SystemExit('boom')")
    here = setting(tmp_path, local_index.url_with("me", PASSWORD))

    recipe = here.environment.resolve(candidate(spam="1.0"))
    build = here.build(recipe)
    with pytest.raises(BuildFailedError) as failure:
        here.make(eggs="1.0")

    assert PASSWORD not in json.dumps([recipe.instructions, recipe.resolved, build.location])
    assert PASSWORD not in repr(recipe) + repr(failure.value) + repr(here.environment.index)
    assert PASSWORD not in everything_written(tmp_path)


def test_wrong_credentials_are_an_error_that_does_not_show_them(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.credentials("me", "another")
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url_with("me", PASSWORD))

    with pytest.raises(EnvironmentFailureError, match="401") as failure:
        here.environment.resolve(candidate(spam="1.0"))

    assert PASSWORD not in str(failure.value)
    assert PASSWORD not in everything_written(tmp_path)


def test_a_build_that_prints_the_credentials_of_its_index_prints_stars(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.credentials("me", PASSWORD)
    local_index.add("spam", "1.0", setup_py="import os\nraise SystemExit(f'env: {dict(os.environ)}')")
    here = setting(tmp_path, local_index.url_with("me", PASSWORD))

    with pytest.raises(BuildFailedError) as failure:
        here.make(spam="1.0")

    assert "env: " in failure.value.ended.errors
    assert PASSWORD not in str(failure.value) + failure.value.ended.errors + failure.value.ended.output


def test_a_requirement_with_credentials_is_installed_and_not_recorded(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.credentials("me", PASSWORD)
    local_index.add("spam", "1.0")
    local_index.add("eggs", "1.0")
    url = local_index.url_with("me", PASSWORD).replace("/simple/", "/files/eggs-1.0-py3-none-any.whl")
    found = [name for name in ("/files/", "/packages/") if _exists(local_index, name)]
    url = url.replace("/files/", found[0])
    here = setting(tmp_path, local_index.url_with("me", PASSWORD), requirements=(f"eggs @ {url}",))

    recipe = here.environment.resolve(candidate(spam="1.0"))
    build = here.build(recipe)

    assert build.installed == (("eggs", "1.0"), ("spam", "1.0"))
    assert PASSWORD not in repr(recipe)


def _exists(index: LocalIndex, prefix: str) -> bool:
    import base64
    import urllib.error
    import urllib.request

    request = urllib.request.Request(index.url.replace("/simple/", f"{prefix}eggs-1.0-py3-none-any.whl"))
    request.add_header("Authorization", "Basic " + base64.b64encode(f"me:{PASSWORD}".encode()).decode())
    try:
        with urllib.request.urlopen(request) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False


def read(directory: Path, text: str, **files: str) -> Any:
    for name, content in files.items():
        (directory / f"{name}.txt").write_text(content)
    (directory / "base.txt").write_text(text)
    return read_requirements(RequirementsRequest(requirement_files=(directory / "base.txt",)), {"TOKEN": "abc"})


def test_requirement_files_are_read_as_pip_reads_them(tmp_path: Path) -> None:
    (tmp_path / "local").mkdir()
    base = read(
        tmp_path,
        "\ufeff# a comment\n"
        "Spam_X [a,b] >= 1 , \\\n  < 2 ; python_version >= '3'  # why\n"
        "eggs==1.0 --hash=sha256:00 \\\n --hash=sha256:11\n"
        "-r nested.txt\n--constraint=limits.txt\n-e ./local\n./local\n"
        "ham @ https://x.invalid/${TOKEN}/ham.whl#sha256=00\n"
        "--extra-index-url https://x.invalid/simple\n--no-binary=a,b\n--pre\n--prefer-binary\n",
        nested="toast\n-r base.txt\n",
        limits="toast<3\n",
    )

    assert [line.text for line in base.requirements] == [
        'Spam_X[a,b]<2,>=1; python_version >= "3"',
        "eggs==1.0",
        "toast",
        f"{tmp_path / 'local'}",
        f"{tmp_path / 'local'}",
        "ham @ https://x.invalid/abc/ham.whl#sha256=00",
    ]
    assert [line.text for line in base.constraints] == ["toast<3"]
    assert base.requirements[0].origin == "base.txt:2"
    assert [(place.kind, place.url) for place in base.locations] == [("extra", "https://x.invalid/simple")]
    assert base.options == ("--no-binary=a", "--no-binary=b", "--prerelease=allow")
    assert sorted(Path(label).name for label in base.digests) == ["base.txt", "limits.txt", "nested.txt"]


def test_exact_pins_and_urls_of_pinned_packages_give_way_and_ranges_stay(tmp_path: Path) -> None:
    base = read(tmp_path, "spam==1.0\nspam<3\neggs==1.0\nspam @ https://x.invalid/spam.whl\nspam==1.*\n")

    kept = giving_way(base.requirements, frozenset({"spam"}))

    assert [line.text for line in kept] == ["spam<3", "eggs==1.0", "spam==1.*"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("spam\neggs = 1\n", r"base\.txt:2"),
        ("-r missing.txt\n", r"missing\.txt .*base\.txt:1.* cannot be read"),
        ("--frobnicate\n", r"base\.txt:1.*--frobnicate"),
        ("./not-there\n", "there is no"),
        ("-r https://x.invalid/r.txt\n", "download it"),
        ("spam @ https://me:hunter22@x.invalid/spam .whl\n", "is not a requirement"),
    ],
)
def test_a_file_that_cannot_be_understood_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as failure:
        read(tmp_path, text)

    assert "hunter22" not in str(failure.value)


def test_missing_and_unreadable_files_are_usage_errors(local_index: LocalIndex, tmp_path: Path) -> None:
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    for name in ("none.txt", "binary.txt", "."):
        here = setting(tmp_path, local_index.url, requirement_files=(tmp_path / name,))
        with pytest.raises(UsageError):
            here.environment.check()


def test_a_changed_nested_file_changes_the_fingerprint(local_index: LocalIndex, tmp_path: Path) -> None:
    (tmp_path / "base.txt").write_text("-r nested.txt\n")
    (tmp_path / "nested.txt").write_text("eggs\n")

    def fingerprint() -> dict[str, str]:
        return setting(tmp_path, local_index.url, requirement_files=(tmp_path / "base.txt",)).environment.fingerprint()

    before = fingerprint()
    (tmp_path / "nested.txt").write_text("eggs<2\n")
    changed = {label for label, digest in fingerprint().items() if before[label] != digest}

    assert changed == {f"requirement file {tmp_path / 'nested.txt'}"}


def test_an_index_that_a_requirement_file_names_is_used(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    with LocalIndex() as other:
        other.add("eggs", "3.0")
        (tmp_path / "base.txt").write_text(f"--extra-index-url {other.url}\n")
        here = setting(tmp_path, local_index.url, requirement_files=(tmp_path / "base.txt",))

        assert here.make(spam="1.0").installed == (("eggs", "3.0"), ("spam", "1.0"))
        assert here.environment.index.public() == (local_index.url, other.url)


def test_one_of_several_indexes_gives_no_upload_times_and_still_counts(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0", requires=["eggs"])
    local_index.add("eggs", "1.0")
    with LocalIndex(upload_times=False) as other:
        other.add("eggs", "3.0+local")
        (tmp_path / "base.txt").write_text(f"--extra-index-url {other.url}\n")
        here = setting(tmp_path, local_index.url, requirement_files=(tmp_path / "base.txt",))

        assert here.make(spam="1.0").installed == (("eggs", "3.0+local"), ("spam", "1.0"))


def project(directory: Path, text: str = "x = 1\n", setup_py: str = "") -> Path:
    """A project that builds without anything else."""
    import gzip
    import io
    import tarfile

    _, content = make_sdist("eggs", "1.0", files={"eggs.py": text}, setup_py=setup_py)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(content))) as archive:
        archive.extractall(directory, filter="data")
    return directory / "eggs-1.0"


def installed_text(here: Setting, build: Any) -> str:
    return here.run(build, "import eggs, inspect; print(inspect.getsource(eggs))").output.strip()


def test_a_local_project_is_built_anew_when_it_has_changed(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    path = project(tmp_path / "source", setup_py="open('left-by-the-build', 'w').close()")
    project_files = list(path.rglob("*"))
    first = setting(tmp_path, local_index.url, requirements=(f"eggs @ {path.as_uri()}",))
    recipe = first.environment.resolve(candidate(spam="1.0"))
    assert installed_text(first, first.build(recipe)) == "x = 1"

    untouched = sorted(path.rglob("*"))
    [old] = (path / "payload").iterdir()
    old.write_bytes(make_wheel("eggs", "1.0", files={"eggs.py": "x = 2\n"})[1])
    second = setting(tmp_path, local_index.url, requirements=(f"eggs @ {path.as_uri()}",))
    second.number = 10
    again = second.environment.resolve(candidate(spam="1.0"))

    assert untouched == sorted(project_files)
    assert again.input_hash != recipe.input_hash
    assert installed_text(second, second.build(again)) == "x = 2"


def test_a_local_wheel_and_a_repository_can_be_installed(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    filename, content = make_wheel("ham", "2.0")
    (tmp_path / filename).write_bytes(content)
    path = project(tmp_path / "source")
    identity = ["-c", "user.name=x", "-c", "user.email=x@x.invalid"]
    for arguments in (["init", "-q", "."], ["add", "-A"], [*identity, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", *arguments], cwd=path, check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
    (tmp_path / "base.txt").write_text(f"./{filename}\neggs @ git+{path.as_uri()}\n")
    here = setting(tmp_path, local_index.url, requirement_files=(tmp_path / "base.txt",))

    assert here.make(spam="1.0").installed == (("eggs", "1.0"), ("ham", "2.0"), ("spam", "1.0"))


TOOL_BUILD = """
import importlib.util, pathlib, zipfile
if importlib.util.find_spec("tool") is None:
    raise SystemExit("tool is not here")
import tool
[wheel] = pathlib.Path("payload").iterdir()
with zipfile.ZipFile(wheel, "a") as archive:
    archive.writestr("built_with.py", f"version = {tool.__version__!r}")
"""


def test_without_isolation_a_pinned_tool_builds_what_is_built(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("tool", "1.0")
    local_index.add("tool", "2.0")
    local_index.add("spam", "1.0", setup_py=TOOL_BUILD)
    here = setting(tmp_path, local_index.url, requirements=("spam==1.0",), build_isolation=False)

    for version in ("1.0", "2.0", "1.0"):
        build = here.make(tool=version)
        assert here.run(build, "import built_with; print(built_with.version)").output.strip() == version


def test_with_isolation_the_same_package_does_not_find_the_tool(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("tool", "1.0")
    local_index.add("spam", "1.0", setup_py=TOOL_BUILD)
    here = setting(tmp_path, local_index.url, requirements=("spam==1.0",))

    with pytest.raises(BuildFailedError, match="tool is not here"):
        here.make(tool="1.0")


def test_without_isolation_a_pinned_package_finds_the_tools_that_were_asked_for(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("tool", "1.0")
    local_index.add("spam", "1.0", setup_py=TOOL_BUILD)
    here = setting(tmp_path, local_index.url, requirements=("tool",), build_isolation=False)

    assert here.make(spam="1.0").installed == (("spam", "1.0"), ("tool", "1.0"))


def test_build_constraints_hold_in_isolated_builds(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("tool", "1.0")
    local_index.add("tool", "2.0")
    local_index.add("spam", "1.0", setup_py=TOOL_BUILD, build_requires=["tool"])

    def built_with(number: int, **request: Any) -> str:
        here = setting(tmp_path, local_index.url, **request)
        here.number = number
        return here.run(here.make(spam="1.0"), "import built_with; print(built_with.version)").output.strip()

    assert built_with(0) == "2.0"
    assert built_with(10, build_constraints=("tool<2",)) == "1.0"  # not the wheel that is in the cache by now
    assert built_with(20) == "2.0"


def test_constraints_that_no_build_requirement_meets_make_a_version_unbuildable(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    local_index.add("tool", "2.0")
    local_index.add("spam", "1.0", setup_py=TOOL_BUILD, build_requires=["tool"])
    here = setting(tmp_path, local_index.url, build_constraints=("tool<2",))

    with pytest.raises(BuildFailedError, match="tool"):
        here.make(spam="1.0")


def test_a_candidates_own_pin_is_not_infeasible_for_a_reason_of_the_date_without_saying_so(
    local_index: LocalIndex, tmp_path: Path
) -> None:
    from datetime import UTC, datetime

    local_index.add("spam", "1.0", upload_time=datetime(2025, 1, 1, tzinfo=UTC))
    here = setting(tmp_path, local_index.url, when=datetime(2024, 1, 1, tzinfo=UTC))

    with pytest.raises(InfeasibleError, match=r"exclude-newer.*2024-01-01"):
        here.environment.resolve(candidate(spam="1.0"))


def test_a_cancelled_build_before_it_began_starts_nothing(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    here = setting(tmp_path, local_index.url)
    recipe = here.environment.resolve(candidate(spam="1.0"))
    cancel = Event()
    cancel.set()

    with pytest.raises(BuildFailedError) as failure:
        here.build(recipe, cancel)

    assert failure.value.ended.cancelled


def test_all_errors_are_of_the_kind_that_a_command_can_print(local_index: LocalIndex, tmp_path: Path) -> None:
    here = setting(tmp_path, local_index.url, cache=Path("/proc/nowhere"))

    with pytest.raises(PinsError):
        here.environment.check()


def test_a_recipe_can_be_recorded(local_index: LocalIndex, tmp_path: Path) -> None:
    local_index.add("spam", "1.0")
    recipe = setting(tmp_path, local_index.url).environment.resolve(candidate(spam="1.0"))

    assert json.loads(json.dumps(recipe.instructions)) == recipe.instructions
    assert asdict(recipe)["input_hash"] == recipe.input_hash
