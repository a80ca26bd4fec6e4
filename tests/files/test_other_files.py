"""Requirements files, pyproject.toml, lock files, bake files, workflows, pin files and patterns."""

import json

import hcl2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pins.errors import UsageError
from pins.files.build_arguments import bake_hcl
from pins.files.patterns import pattern_pins, read_patterns
from pins.files.read import kind_of, read_pins
from pins.files.requirements import read_requirements
from pins.files.toml_strings import toml_strings


def shown(path: str, text: str) -> list[tuple[int, str, str, str | None]]:
    """(line, kind, name, value)."""
    return [(p.line, p.kind.value, p.name, p.value) for p in read_pins(text.encode(), path).pins]


def test_requirements_nest_and_keep_their_comments() -> None:
    files = {"r/other.txt": b"numpy<2\n", "r/c.txt": b"scipy==1.9\n"}
    text = b"# the build\nfoo==1.4\nbar  # why\n-r other.txt\n-cc.txt\n--index-url https://h/\n-e git+https://git.example/a/w.git@v1#egg=w\n"
    found = read_requirements(text, "r/x.txt", files.get)
    assert [(m.file, m.name, m.effective, m.comment) for m in found.mentions] == [
        ("r/x.txt", "foo", "==1.4", "the build"),
        ("r/x.txt", "bar", "", "why"),
        ("r/other.txt", "numpy", "<2", ""),
        ("r/c.txt", "scipy", "==1.9", ""),
        ("r/x.txt", "w", "v1", ""),
    ]
    assert [line.role for line in found.lines] == [
        "requirement",
        "requirement",
        "requirement",
        "constraint",
        "requirement",
    ]


def test_requirements_that_name_each_other_end() -> None:
    files = {"a.txt": b"-r b.txt\nfoo\n", "b.txt": b"-r a.txt\nbar\n"}
    assert [m.name for m in read_requirements(files["a.txt"], "a.txt", files.get).mentions] == ["bar", "foo"]


def test_a_missing_file_and_a_line_that_is_no_requirement_are_said_with_their_line() -> None:
    found = read_pins(b"foo\n-r gone.txt\n???\n", "requirements.txt")
    assert [(p.line, p.fatal) for p in found.problems] == [(2, False), (3, False)]


def test_pyproject() -> None:
    text = (
        '[project]\ndependencies = [\n  "torch==2.9.0", # why\n  "plain",\n]\n[project.optional-dependencies]\ngpu = ["x<2"]\n'  # noqa: E501
        '[build-system]\nrequires = ["hatchling>=1"]\n[dependency-groups]\ndev = ["pytest", {include-group = "y"}]\n'
        '[tool.other]\nversion = "1.2"\n[[tool.uv.index]]\nurl = "https://h"\n'
    )
    assert shown("pyproject.toml", text) == [
        (3, "package", "torch", "2.9.0"),
        (4, "package", "plain", None),
        (7, "package", "x", "<2"),
        (9, "package", "hatchling", ">=1"),
        (11, "package", "pytest", None),
    ]


def test_a_file_that_is_not_toml_says_where() -> None:
    problem = read_pins(b"[project]\nx = \n", "pyproject.toml").problems[0]
    assert problem.fatal
    assert problem.line == 2


TOML_VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text("abc-_", min_size=1, max_size=4), TOML_VALUES, max_size=4))
def test_toml_strings_are_those_that_a_parser_finds(table: dict[str, object]) -> None:
    import tomllib

    text = "[t]\n" + "".join(
        f"{json.dumps(key, ensure_ascii=False)} = {_toml(value)} # c\n" for key, value in table.items()
    )
    data = text.encode()
    expected = list(_strings(("t",), tomllib.loads(text)["t"]))
    found = [(s.path, s.text) for s in toml_strings(data)]
    assert found == expected


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ",\n ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return json.dumps(value)


def _strings(path: tuple[object, ...], value: object) -> "list[tuple[tuple[object, ...], str]]":
    if isinstance(value, str):
        return [(path, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in _strings((*path, key), item)]


def test_lock_files_are_read_and_cannot_be_set() -> None:
    uv = (
        'version = 1\n[[package]]\nname = "torch"\nversion = "2.9.0"\nsource = { registry = "https://h" }\n'
        '[[package]]\nname = "w"\nversion = "1"\nsource = { git = "https://git.example/a/w.git?rev=x#ab12cd3" }\n'
    )
    assert shown("uv.lock", uv) == [(2, "package", "torch", "2.9.0"), (6, "git", "w", "ab12cd3")]
    pylock = '[[packages]]\nname = "a"\nversion = "1"\n[[packages]]\nname = "b"\nvcs = { type = "git", url = "https://h", commit-id = "ff" }\n'  # noqa: E501
    assert shown("pylock.toml", pylock) == [(1, "package", "a", "1"), (4, "git", "b", "ff")]
    assert all(not pin.places for pin in read_pins(uv.encode(), "uv.lock").pins)


HCL = """
# comment
variable "TAG" { default = "9.1" }
variable "NONE" {}
group "default" { targets = ["a", "b"] }
target "a" {
  inherits = ["b"]
  args = {
    W_REF = "r7" // why
    "QUOTED" = "x"
    N = 3
    COMPUTED_REF = "${TAG}-x"
    OTHER_TAG = TAG
    TAG = "${TAG}"
    MAX_JOBS = "16"
    USE_X_VERSION_CHECK = "true"
    HF_TOKEN = "hf_1.2.3"
  }
  tags = ["x:${TAG}"]
}
"""


def test_bake_files() -> None:
    found = read_pins(HCL.encode(), "docker-bake.hcl").pins
    assert [(p.line, p.variable, p.value) for p in found] == [
        (3, "TAG", "9.1"),
        (3, "OTHER_TAG", "9.1"),  # a variable's default, where it is written
        (9, "W_REF", "r7"),
        (12, "COMPUTED_REF", None),
    ]
    text = (
        '{"variable": {"T_VERSION": {"default": "1"}}, "target": {"a": {"args": {"W_REF": "r\\u0037"}, "tags": ["x"]}}}'
    )
    assert [(p.variable, p.value) for p in read_pins(text.encode(), "docker-bake.json").pins] == [
        ("T_VERSION", "1"),
        ("W_REF", "r7"),
    ]


def test_bake_arguments_are_those_of_an_independent_parser() -> None:
    document = hcl2.loads(HCL)
    target = document["target"][0]
    arguments = next(iter(target.values()))["args"]
    expected = {key.strip('"'): str(value).strip('"') for key, value in arguments.items() if "TAG" not in str(value)}
    found = {g.name: g.value for g in bake_hcl(HCL.encode()) if not g.said.startswith("variable")}
    assert {name: value for name, value in found.items() if name in expected} == expected
    assert (found["OTHER_TAG"], found["TAG"]) == ("9.1", "9.1")


def test_workflows_and_scripts() -> None:
    text = (
        "      - with:\n          build-args: |\n            W_REF=r7\n            X_REF=${{ y }}\n"
        "            TOKEN=1.2.3\n            NVCC_THREADS=8\n          tags: z\n"
        "      - run: docker build --build-arg FOO=1.4 --build-arg 'BAR=2' .\n"
    )
    found = read_pins(text.encode(), ".github/workflows/x.yml").pins
    assert [(p.line, p.variable, p.value) for p in found] == [
        (3, "W_REF", "r7"),
        (4, "X_REF", None),
        (8, "FOO", "1.4"),
    ]


def test_a_file_with_one_value_is_a_pin_named_for_the_file() -> None:
    assert shown("ci/ci_commit_pins/triton.txt", "f0b55c0a1b\n") == [(1, "git", "triton", "f0b55c0a1b")]
    assert shown(".python-version", "# c\n3.12\n") == [(2, "text", "python", "3.12")]
    assert not read_pins(b"two\nlines\n", "x-hash.txt").complete


def test_patterns_find_pins_in_any_text() -> None:
    configuration = b"""[[tool.pins.pattern]]
file = "ci/*.yaml"
regex = 'TRITON_REF: (?P<value>\\S+)'
kind = "git"
name = "triton"
repo = "https://git.example/a/triton.git"
"""
    patterns = read_patterns(configuration, "pyproject.toml")
    data = b"a: 1\nTRITON_REF: f0b55c0 # x\n"
    found = pattern_pins(data, "ci/a.yaml", patterns)
    assert [(p.line, p.kind.value, p.name, p.value) for p in found] == [(2, "git", "triton", "f0b55c0")]
    assert data[found[0].places[0].start : found[0].places[0].end] == b"f0b55c0"
    assert read_pins(data, "other/a.yaml", None, patterns).pins == ()
    assert read_pins(data, "a.yaml", None, patterns, within="ci/a.yaml").pins[0].value == "f0b55c0"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('regex = "x(y)"', "file and regex"),
        ('file = "a"\nregex = "(x"\nname = "n"', "not valid"),
        ('file = "a"\nregex = "x"\nname = "n"', "group"),
        ('file = "a"\nregex = "(x)"', "name is needed"),
        ('file = "a"\nregex = "(x)"\nname = "n"\nkind = "zzz"', "not one of"),
    ],
)
def test_a_wrong_pattern_is_refused(entry: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_patterns(f"[[pattern]]\n{entry}\n".encode(), "pins.toml")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("docker/Dockerfile.rocm_base", "dockerfile"),
        ("Dockerfile", "dockerfile"),
        ("a/x.dockerfile", "dockerfile"),
        ("Dockerfile_amd", "dockerfile"),
        ("docker/Dockerfile.md", ""),
        ("requirements/rocm.txt", "requirements"),
        ("requirements-dev.txt", "requirements"),
        ("constraints.txt", "requirements"),
        ("pyproject.toml", "pyproject"),
        ("uv.lock", "lock"),
        ("pylock.dev.toml", "lock"),
        ("docker-bake.hcl", "bake"),
        (".github/workflows/a.yml", "workflow"),
        ("ci/triton-hash.txt", "pin"),
        ("README.md", ""),
        ("src/x.py", ""),
    ],
)
def test_files_are_known_by_their_names(path: str, kind: str) -> None:
    assert kind_of(path) == kind


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=120),
    st.sampled_from(
        [
            "Dockerfile",
            "requirements.txt",
            "pyproject.toml",
            "uv.lock",
            "docker-bake.hcl",
            "docker-bake.json",
            ".github/workflows/a.yml",
            "x-hash.txt",
            "any",
        ]
    ),
)
def test_no_bytes_make_any_reader_fail(data: bytes, path: str) -> None:
    read_pins(data, path)


@pytest.mark.parametrize(
    "secret", ["://user:s3cret@h/x-1.4.tgz", "://h/x-1.4.tgz?token=s3cret", "://h/x-1.4?a=b&sig=s3cret"]
)
def test_a_credential_in_an_address_is_masked(secret: str) -> None:
    found = read_pins(f"FROM a\nRUN curl -L 'https{secret}' && pip install 'https{secret}'\n".encode(), "Dockerfile")
    assert "s3cret" not in repr(found)
    assert "1.4" in {pin.value for pin in found.pins}
