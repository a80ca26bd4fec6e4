"""What the user demands beside the pins: hashes, exact versions, versions held still; and what cannot be."""

import hashlib
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from bisector.environments.base import InfeasibleError
from bisector.environments.command import CommandEnvironment
from bisector.environments.fixed_pins import FixedPins
from bisector.environments.venv.requirements import read_requirements
from bisector.model import SmokeRun, SmokeScript
from bisector.request import RequirementsRequest
from pins.errors import EnvironmentFailureError, UsageError
from tests.environments.venv_setting import candidate, setting
from tests.local_index import LocalIndex


@pytest.fixture
def index(local_index: LocalIndex) -> LocalIndex:
    """spam 1.0 and 2.0, eggs 1.0 and 2.0."""
    for name in ("spam", "eggs"):
        for version in ("1.0", "2.0"):
            local_index.add(name, version)
    return local_index


def hash_of(index: LocalIndex, name: str, version: str) -> str:
    page = index.page(f"/files/{name}-{version}-py3-none-any.whl", "")
    assert page is not None
    return f"sha256:{hashlib.sha256(page[1]).hexdigest()}"


def file(directory: Path, text: str, name: str = "base.txt") -> Path:
    path = directory / name
    path.write_text(text)
    return path


def test_what_a_file_gives_the_right_hash_for_is_installed_with_it(index: LocalIndex, tmp_path: Path) -> None:
    right = hash_of(index, "eggs", "1.0")
    base = file(tmp_path, f"eggs==1.0 ; python_version > '3' --hash=sha256:{'0' * 64} \\\n    --hash={right}\n")
    here = setting(tmp_path, index.url, requirement_files=(base,))

    recipe = here.environment.resolve(candidate(spam="1.0"))

    assert f"eggs==1.0 --hash={right}" in str(recipe.instructions)
    assert here.build(recipe).installed == (("eggs", "1.0"), ("spam", "1.0"))


@pytest.mark.parametrize("option", ["requirement_files", "constraint_files"])
def test_a_hash_that_the_index_contradicts_is_refused(index: LocalIndex, tmp_path: Path, option: str) -> None:
    base = file(tmp_path, f"eggs==1.0 --hash=sha256:{'0' * 64}\n")
    request: dict[str, Any] = {"requirements": ("eggs",), option: (base,)}
    here = setting(tmp_path, index.url, **request)

    with pytest.raises(UsageError, match=r"base\.txt:1 gives hashes for eggs 1\.0"):
        here.environment.resolve(candidate(spam="1.0"))


@pytest.mark.parametrize("kind", ["sha256", "sha512"])
def test_a_hash_that_the_index_does_not_know_is_compared_with_the_file(
    index: LocalIndex, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "flat").mkdir()
    index.write_flat(tmp_path / "flat")
    wheel = tmp_path / "flat" / "eggs-1.0-py3-none-any.whl"
    digest = hashlib.new(kind, wheel.read_bytes()).hexdigest()
    for number, (value, fits) in enumerate([(digest, True), ("0" * len(digest), False)]):
        directory = tmp_path / str(number)
        directory.mkdir()
        base = file(directory, f"--no-index\n--find-links {tmp_path / 'flat'}\neggs==1.0 --hash={kind}:{value}\n")
        here = setting(directory, index.url, requirement_files=(base,))
        if fits:
            assert here.make(spam="1.0").installed == (("eggs", "1.0"), ("spam", "1.0"))
        else:
            with pytest.raises((EnvironmentFailureError, UsageError), match=r"[Hh]ash"):
                here.make(spam="1.0")


def test_a_hash_of_what_gives_way_to_a_pin_is_no_demand(index: LocalIndex, tmp_path: Path) -> None:
    base = file(tmp_path, f"spam==1.0 --hash=sha256:{'0' * 64}\n")
    here = setting(tmp_path, index.url, requirement_files=(base,), pins=("spam",))

    assert here.environment.resolve(candidate(spam="2.0")).resolved == (("spam", "2.0"),)
    [note] = here.environment.notes
    assert note == "base.txt:1 says spam==1.0, which gives way to --pin spam"


@pytest.mark.parametrize(
    "text", ["eggs>=1", "./wheel.whl", "git+https://x.invalid/eggs", "eggs @ git+https://x.invalid/"]
)
def test_hashes_of_what_is_no_one_file_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "wheel.whl").touch()
    base = file(tmp_path, f"{text} --hash=sha256:{'0' * 64}\n")

    with pytest.raises(UsageError, match=r"base\.txt:1: hashes"):
        read_requirements(RequirementsRequest(requirement_files=(base,)), {})


def test_demanding_hashes_of_everything_is_answered_with_what_is_done(index: LocalIndex, tmp_path: Path) -> None:
    here = setting(tmp_path, index.url, requirement_files=(file(tmp_path, "--require-hashes\n"),), pins=("spam",))

    here.environment.check()

    assert "--require-hashes" in here.environment.notes[0]


def test_an_exact_requirement_of_the_command_line_that_contradicts_a_pin_is_refused(
    index: LocalIndex, tmp_path: Path
) -> None:
    limits = file(tmp_path, "spam==1.0\n", "limits.txt")
    contradicting: list[dict[str, Any]] = [{"requirements": ("Spam==1.0",)}, {"constraint_files": (limits,)}]
    for request in contradicting:
        here = setting(tmp_path, index.url, pins=("spam",), **request)
        with pytest.raises(UsageError, match=r"(?i)spam==1\.0 contradicts --pin spam"):
            here.environment.check()
    setting(tmp_path, index.url, pins=("spam",), requirements=("spam<3",)).environment.check()


def test_a_pin_held_still_contradicts_other_versions_only(index: LocalIndex, tmp_path: Path) -> None:
    setting(tmp_path, index.url, held={"Eggs": "1.0"}, requirements=("eggs==1.0.0",)).environment.check()
    with pytest.raises(UsageError, match=r"eggs==2\.0 contradicts --fix eggs"):
        setting(tmp_path, index.url, held={"eggs": "1.0"}, requirements=("eggs==2.0",)).environment.check()


def test_a_version_that_does_not_exist_is_refused_before_the_first_build(index: LocalIndex, tmp_path: Path) -> None:
    mistakes: list[dict[str, Any]] = [
        {"requirements": ("eggs==99.9",)},
        {"held": {"eggs": "99.9"}},
        {"requirement_files": (file(tmp_path, "eggs==99.9\n"),)},
    ]
    for wrong in mistakes:
        with pytest.raises(UsageError, match=r"asks for eggs==99\.9, and eggs has no such version.*2\.0"):
            setting(tmp_path, index.url, pins=("spam",), **wrong).environment.check()
    with pytest.raises(UsageError, match="nothing-like-it"):
        setting(tmp_path, index.url, requirements=("nothing-like-it==1",)).environment.check()
    setting(tmp_path, index.url, requirements=("eggs==1", "eggs>=99", "eggs==9;python_version<'3'")).environment.check()


@pytest.mark.parametrize("text", ["six @ file:///no/such/six.whl", "file:///no/such/six.whl", "file:no/such.whl"])
def test_a_file_that_does_not_exist_is_a_usage_error(index: LocalIndex, tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="there is no /"):
        setting(tmp_path, index.url, requirements=(text,)).environment.check()


def test_a_pin_held_still_is_installed_with_every_candidate_and_told_to_the_script(
    index: LocalIndex, tmp_path: Path
) -> None:
    here = setting(tmp_path, index.url, pins=("spam",), held={"eggs": "1.0"})
    environment = FixedPins(here.environment, (("eggs", "1.0"),))
    script = tmp_path / "smoke.py"
    script.write_text("import eggs, os; print(eggs.__version__, os.environ['PIN_EGGS'], os.environ['PIN_SPAM'])")
    for version in ("1.0", "2.0"):
        recipe = environment.resolve(candidate(spam=version))
        build = environment.build(recipe, tmp_path / version, here.log, Event())
        scratch = tmp_path / f"scratch {version}"
        scratch.mkdir()
        run = SmokeRun(SmokeScript(script), recipe.candidate, "test.p1", scratch, tmp_path / "out", tmp_path / "log")

        assert recipe.candidate == candidate(spam=version)
        assert build.installed == (("eggs", "1.0"), ("spam", version))
        assert environment.run(build, run, Event()).output.split() == ["1.0", "1.0", version]
    assert environment.interpreter == here.environment.interpreter


def test_a_pin_held_still_that_excludes_a_candidate_makes_it_infeasible(index: LocalIndex, tmp_path: Path) -> None:
    index.add("spam", "3.0", requires=["eggs>=2"])
    environment = FixedPins(setting(tmp_path, index.url).environment, (("eggs", "1.0"),))

    with pytest.raises(InfeasibleError, match="eggs"):
        environment.resolve(candidate(spam="3.0"))


def test_a_build_command_is_told_pins_held_still(tmp_path: Path) -> None:
    environment = FixedPins(
        CommandEnvironment(["echo $PIN_EGGS $PIN_SPAM > told"], directory=tmp_path), (("eggs", "1.0"),)
    )
    build = environment.build(
        environment.resolve(candidate(spam="2.0")), tmp_path / "b", tmp_path / "build.log", Event()
    )

    assert (Path(build.location) / "build" / "told").read_text() == "1.0 2.0\n"


@pytest.mark.parametrize("status", [404, 401, 410])
def test_an_index_that_finds_nothing_any_more_is_no_evidence(index: LocalIndex, tmp_path: Path, status: int) -> None:
    index.add("spam", "3.0", requires=["ham"])
    index.add("ham", "1.0")
    here = setting(tmp_path, index.url)
    here.environment.resolve(candidate(spam="1.0"))
    index.fail_with(status)

    with pytest.raises(EnvironmentFailureError):
        here.environment.resolve(candidate(spam="3.0"))
    with pytest.raises(EnvironmentFailureError):
        here.environment.resolve(candidate(eggs="1.0"))
