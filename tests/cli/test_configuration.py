"""Options from bisect.toml and [tool.bisector], and what becomes of them together with the command line's."""

from dataclasses import fields
from pathlib import Path

import pytest

from bisector.cli.configuration import combined, find_configuration, read_configuration
from bisector.cli.options import RunOptions, key_of, kind_of
from pins.errors import UsageError


def written(directory: Path, text: str, name: str = "bisect.toml") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_kind_of_value_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        pin = ["setuptools=80.9.0..82.0.1"]
        with = ["wheel", "numpy<2"]
        workers = 2
        confidence = 0.95
        exclude-newer = 2026-08-01
        keep = true
        any-failure = false
        timeout = "20m"
        smoke-args = ["--fast", "--", "x y"]
        """,
    )
    assert read_configuration(path) == RunOptions(
        pin=("setuptools=80.9.0..82.0.1",),
        with_=("wheel", "numpy<2"),
        workers="2",
        confidence="0.95",
        exclude_newer="2026-08-01",
        keep=True,
        any_failure=False,
        timeout="20m",
        smoke_args=("--fast", "--", "x y"),
    )


def test_what_goes_by_name_may_be_a_table(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [pin]
        setuptools = "80.9.0..82.0.1"
        pybind11 = "3.0.0..3.1.0"
        [fix]
        numpy = "1.26.4"
        [smoke-env]
        RETRIES = 3
        """,
    )
    options = read_configuration(path)
    assert options.pin == ("setuptools=80.9.0..82.0.1", "pybind11=3.0.0..3.1.0")
    assert options.fix == ("numpy=1.26.4",)
    assert options.smoke_env == ("RETRIES=3",)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        smoke = "ci/smoke.py"
        requirements = ["base.txt", "/etc/more.txt"]
        dockerfile = "../Dockerfile"
        mount = ["models:/models:ro"]
        python = "3.12"
        """,
    )
    options = read_configuration(path)
    assert options.smoke == str(tmp_path / "ci" / "smoke.py")
    assert options.requirements == (str(tmp_path / "base.txt"), "/etc/more.txt")
    assert options.dockerfile == str(tmp_path / "../Dockerfile")
    assert options.mount == (f"{tmp_path / 'models'}:/models:ro",)
    assert options.python == "3.12"
    assert read_configuration(written(tmp_path, 'python = "env/bin/python"')).python == str(tmp_path / "env/bin/python")


def test_one_value_may_stand_for_a_list_of_one(tmp_path: Path) -> None:
    assert read_configuration(written(tmp_path, 'with = "wheel"')).with_ == ("wheel",)


def test_the_table_of_a_project_file_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, '[project]\nname = "x"\n[tool.bisector]\nworkers = 3\n', "pyproject.toml")
    assert read_configuration(path).workers == "3"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("worker = 2", "did you mean 'workers'"),
        ("smoke_env = 2", "written 'smoke-env'"),
        ('"--pin" = "a=1..2"', "written 'pin'"),
        ("zzz = 1", "known are all, any-failure"),
        ("keep = 1", "true or false"),
        ("workers = [2]", "a string"),
        ("timeout = true", "a string"),
        ("with = 3", "a list of strings"),
        ('with = ["a", ["b"]]', "a list of strings"),
        ('with = {a = "b"}', "a list of strings"),
        ("pin = [", "is not TOML"),
        ('[pin]\nnumpy = {good = "1", bad = "2"}', "pin.numpy = {'good': '1', 'bad': '2'} is not of its kind"),
        ('[pin]\nnumpy = {good = "1", bad = "2"}', 'a string, for example numpy = "1.26.4..2.2.0"'),
        ("[tool.bisector]\nworkers = 2", "belongs in a pyproject.toml"),
    ],
)
def test_what_no_option_has_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read_configuration(written(tmp_path, text))
    assert said in refusal.value.message
    assert "bisect.toml" in refusal.value.message


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_configuration(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'smoke = "\xe9"')
    with pytest.raises(UsageError, match="not UTF-8"):
        read_configuration(tmp_path / "latin.toml")
    with pytest.raises(UsageError, match=r"no table \[tool\.bisector\]"):
        read_configuration(written(tmp_path, "[tool.other]\n", "pyproject.toml"))
    with pytest.raises(UsageError, match="not a table"):
        read_configuration(written(tmp_path, "tool.bisector = 3\n", "pyproject.toml"))


def test_its_own_file_comes_before_the_project_file(tmp_path: Path) -> None:
    assert find_configuration(tmp_path) is None
    project = written(tmp_path, "[tool.ruff]\n", "pyproject.toml")
    assert find_configuration(tmp_path) is None
    project.write_text("[tool.bisector]\n")
    assert find_configuration(tmp_path) == project
    own = written(tmp_path, "")
    assert find_configuration(tmp_path) == own


def test_a_project_file_of_others_that_is_broken_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path, "[tool.ruff\n", "pyproject.toml")
    assert find_configuration(tmp_path) is None


def test_what_was_typed_replaces_what_the_file_says_option_by_option() -> None:
    typed = RunOptions(pin=("a=1..2",), timeout="5m")
    configured = RunOptions(pin=("b=1..2", "c=1..2"), timeout="20m", workers="2", keep=True)
    assert combined(typed, configured) == RunOptions(pin=("a=1..2",), timeout="5m", workers="2", keep=True)


def test_every_option_can_stand_in_a_file(tmp_path: Path) -> None:
    samples = {"text": '"x"', "texts": '["x=y"]', "flag": "true"}
    lines = [f"{key_of(each.name)} = {samples[kind_of(each.name)]}" for each in fields(RunOptions)]
    options = read_configuration(written(tmp_path, "\n".join(lines)))
    assert all(getattr(options, each.name) for each in fields(RunOptions))


def test_a_byte_order_mark_is_no_part_of_the_options(tmp_path: Path) -> None:
    (tmp_path / "bisect.toml").write_bytes(b'\xef\xbb\xbfworkers = "3"')
    assert read_configuration(tmp_path / "bisect.toml").workers == "3"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("jinja2=3.0.3..3.1.2", "--pin jinja2=3.0.3..3.1.2"),
        ("smoke.py", "--smoke smoke.py"),
        ("Dockerfile.rocm", "--dockerfile Dockerfile.rocm"),
        ("bisct.toml", "did you mean bisect.toml?"),
    ],
)
def test_a_word_that_is_no_configuration_is_answered_with_what_it_was_meant_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bisect.toml").touch()
    Path("smoke.py").write_text("import jinja2\n")
    with pytest.raises(UsageError) as error:
        read_configuration(Path(word))
    assert meant in error.value.message
