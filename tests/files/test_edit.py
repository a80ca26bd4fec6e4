"""Setting a pin: the value is there, all other bytes are as they were, and setting it back gives the file."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pins.errors import UsageError
from pins.files.dated_comment import date_edit
from pins.files.edit import apply, edits_for
from pins.files.patch import unified_diff
from pins.files.read import read_pins
from pins.files.setting import SetRequest, set_pins
from pins.model import Form, Pin, PinKind

DOCKERFILE = b"""\xef\xbb\xbf# syntax=docker/dockerfile:1\r
ARG BASE=acme/os:9.1-devel\r
ARG W_REF="r7.2"   # tip as of 02/03\r
ARG  Q_REF='r1'
arg FOO_VER=1.4
FROM ${BASE} as b
ENV BAR_VERSION 3.1
ENV BAZ_VERSION="4.0" \\
    # comment
\t QUX_VERSION=5.0
RUN pip install foo==${FOO_VER} 'bar<4' "baz>=1,<2" qux==1.4 q2"<3" q3=="1.5" plain "quoted" \\
    # why
    spaced==2.0   \\\n
    git+https://git.example/a/w.git@ab12cd3#egg=w git+https://git.example/a/v.git
RUN git clone -b ${W_REF} https://git.example/a/widget.git && cd widget && git checkout "v1" && git checkout 'v2'
RUN git clone -b ${Q_REF} https://git.example/a/q.git; git clone --branch=r9 https://git.example/a/z.git
RUN wget https://h/v1.4/foo-1.4.tar.gz && apt-get install -y libfoo=1.4-1+x libbar="2:1.0" && curl https://h/${BAZ_VERSION}/x
RUN <<'EOF'
pip install heredoc==1.0
EOF
RUN <<EOF
pip install "second<2"
EOF
RUN bash -c 'pip install inner==1.0' && V=1.7 && pip install shell==$V
RUN ["pip", "install", "exec==1.0"]
COPY --from=acme/tool:0.5.1 /t /bin/
RUN echo "caf\xc3\xa9" && pip install last==1.0\t """

REQUIREMENTS = b"""# pinned\r
foo==1.4 ; python_version < "3.13"  # why\r
bar[x]>=2,<3 \\
    --hash=sha256:abc
git+https://git.example/a/w.git@v1#egg=w
baz @ https://h/baz-1.4-cp312-cp312-linux_x86_64.whl
plain"""

PYPROJECT = b"""[build-system]
requires = ["hatchling>=1.27", 'pybind11==3.0.4']
[project]
name = "x"
dependencies = [
    "torch==2.9.0",  # as of 2026-08-01
    "plain",
    'numpy<2 ; python_version < "3.13"',
]
[project.optional-dependencies]
gpu = ["triton @ git+https://git.example/a/triton.git@f0b55c0"]
[dependency-groups]
dev = ["pytest>=8", {include-group = "lint"}]
lint = ["ruff~=0.12"]
[tool.uv.sources]
vllm = { git = "https://git.example/a/vllm.git", rev = "v0.11.0" }
"""

BAKE = b"""variable "TAG" { default = "9.1" }
target "rocm" {
  args = {
    TRITON_BRANCH = "f0b55c0" # why
    COMPUTED = "${TAG}-x"
  }
}
"""

WORKFLOW = b"""jobs:
  build:
    steps:
      - uses: a
        with:
          build-args: |
            TRITON_BRANCH=f0b55c0
            OTHER=${{ x }}
      - run: docker build --build-arg FOO_VERSION=1.4 .
"""

FILES = {
    "Dockerfile": DOCKERFILE,
    "requirements.txt": REQUIREMENTS,
    "pyproject.toml": PYPROJECT,
    "docker-bake.hcl": BAKE,
    ".github/workflows/x.yml": WORKFLOW,
    "triton-hash.txt": b"# pinned\nf0b55c0a\n",
    "docker-bake.json": b'{"variable": {"TAG": {"default": "9.1"}}, "target": {"t": {"args": {"W_REF": "r7"}}}}',
}


def pins_of(path: str, data: bytes) -> tuple[Pin, ...]:
    found = read_pins(data, path)
    assert found.complete, found.problems
    return found.pins


PLACES = [(path, index) for path, data in FILES.items() for index, pin in enumerate(pins_of(path, data)) if pin.places]


def test_the_examples_hold_all_sorts_of_pins() -> None:
    found = [pins_of(path, FILES[path])[index] for path, index in PLACES]
    assert {pin.kind for pin in found} >= {
        PinKind.GIT,
        PinKind.PACKAGE,
        PinKind.IMAGE,
        PinKind.URL,
        PinKind.APT,
        PinKind.TEXT,
    }
    assert {pin.form for pin in found} == set(Form)
    assert len(found) > 50


NUMBER = st.integers(0, 99).map(str)
VERSIONS = st.builds(
    lambda epoch, parts, local: f"{epoch}{'.'.join(parts)}{local}",
    st.sampled_from(["", "1!"]),
    st.lists(NUMBER, min_size=2, max_size=4),
    st.sampled_from(["", ".post1", "rc1", "+cu128", "+rocm7.2.lib", ".dev20260801"]),
)
SPECIFIERS = st.lists(
    st.builds(
        lambda op, v: f"{op}{v}", st.sampled_from(["<", ">=", "!=", "<=", ">"]), VERSIONS.filter(lambda v: "+" not in v)
    ),
    min_size=1,
    max_size=3,
).map(",".join)
REVISIONS = st.text("abcXYZ0189-_./+!@$&'\"();<>|{}#=%,é", min_size=1, max_size=14).filter(
    lambda t: (
        not t.startswith(("-", ".", "/", "@"))
        and not t.endswith((".", "/", ".lock"))
        and ".." not in t
        and "//" not in t
        and "@{" not in t
        and "/." not in t
    )
)
PLAIN_REVISIONS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_+!/-]{0,12}[A-Za-z0-9]", fullmatch=True).filter(
    lambda t: "//" not in t
)


@settings(max_examples=8, deadline=None)
@pytest.mark.parametrize(("path", "index"), PLACES)
@given(data=st.data())
def test_a_pin_can_be_set_read_back_and_set_back(path: str, index: int, data: st.DataObject) -> None:
    before = FILES[path]
    pin = pins_of(path, before)[index]
    match pin.kind, pin.form:
        case PinKind.PACKAGE, Form.SPECIFIER:
            value = data.draw(SPECIFIERS)
        case PinKind.PACKAGE, Form.OPEN:
            value = data.draw(st.one_of(VERSIONS, SPECIFIERS))
        case PinKind.PACKAGE, _:
            value = data.draw(VERSIONS)
        case PinKind.GIT, _:
            value = data.draw(PLAIN_REVISIONS)
        case PinKind.IMAGE, _:
            value = data.draw(st.from_regex(r"[a-z]{1,5}/[a-z]{1,5}:[a-z0-9]\.[0-9]{1,3}-?[a-z]", fullmatch=True))
        case PinKind.URL, _:
            value = data.draw(st.lists(NUMBER, min_size=3, max_size=3)).__str__().replace("', '", ".").strip("[]'")
        case _:
            value = data.draw(st.from_regex(r"[1-9]\.[0-9]{1,2}-[0-9]", fullmatch=True))
    try:
        edits = edits_for(before, pin, value)
    except UsageError as error:
        pytest.fail(f"{value!r}: {error.message}")
    after = apply(before, edits)
    _outside_is_as_it_was(before, after, [(e.start, e.end, e.text) for e in edits])
    found = _same_pin(path, after, pin)
    exact = pin.form is Form.OPEN and pin.kind is PinKind.PACKAGE and value[0] not in "<>!="
    assert found.value == value, (value, exact, after)
    back = apply(after, edits_for(after, found, None if pin.form is Form.OPEN else pin.value))
    assert back == before


def _same_pin(path: str, after: bytes, pin: Pin) -> Pin:
    start = pin.places[0].start
    found = [
        p for p in pins_of(path, after) if p.places and p.kind is pin.kind and start <= p.places[0].start <= start + 2
    ]
    named = [p for p in found if p.name == pin.name] or found
    assert named, after[max(0, start - 40) : start + 60]
    return named[0]


def _outside_is_as_it_was(before: bytes, after: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    position = moved = 0
    for start, end, text in sorted(edits):
        assert after[position + moved : start + moved] == before[position:start]
        moved += len(text) - (end - start)
        position = end
    assert after[position + moved :] == before[position:]


@settings(max_examples=30, deadline=None)
@pytest.mark.parametrize("name", ["w-ref", "q-ref", "widget", "z", "w"])
@given(value=REVISIONS)
def test_a_revision_with_any_character_is_written_so_that_it_reads_back_or_is_refused(name: str, value: str) -> None:
    for pin in pins_of("Dockerfile", DOCKERFILE):
        if (
            pin.kind is not PinKind.GIT
            or not pin.places
            or name not in (pin.name, *(a.lower().replace("_", "-") for a in pin.aliases))
        ):
            continue
        if pin.variable == "" and pin.repo.endswith("w.git") and set(value) & set("#@"):
            continue  # they end the revision of an address
        try:
            after = apply(DOCKERFILE, edits_for(DOCKERFILE, pin, value))
        except UsageError:
            assert "'" in value
            continue
        assert _same_pin("Dockerfile", after, pin).value == value, after[
            pin.places[0].start - 20 : pin.places[0].start + 40
        ]


def write(tmp_path: Path, text: str, name: str = "Dockerfile") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_quoting_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nRUN pip install 'cmake<4' \"x>=1\" y==1 z\n")
    done = set_pins(SetRequest(path, ("cmake=<5", "x=<3", "y=<2", "z==4")))
    assert done.after == b'FROM a\nRUN pip install \'cmake<5\' "x<3" y"<2" z==4\n'


def test_a_requirement_is_opened_again_by_an_empty_value(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nRUN pip install 'cmake<4' y==1\n")
    assert set_pins(SetRequest(path, ("cmake=", "y="))).after == b"FROM a\nRUN pip install 'cmake' y\n"


def test_a_pin_in_several_places_is_refused_with_the_list_or_changed_as_told(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a AS x\nRUN pip install foo==1\nFROM b AS y\nRUN pip install foo==1\n")
    with pytest.raises(UsageError, match=r"several places[\s\S]*:2 .*\n.*:4 "):
        set_pins(SetRequest(path, ("foo=2",)))
    assert set_pins(SetRequest(path, ("foo=2",), all_places=True)).after.count(b"foo==2") == 2
    assert set_pins(SetRequest(path, ("foo=2",), line=4)).after.endswith(b"foo==2\n")
    assert set_pins(SetRequest(path, ("foo=2",), stage="x")).after.count(b"foo==2") == 1
    assert set_pins(SetRequest(path, ("foo=2",), stage="Y")).after.endswith(b"foo==2\n")


def test_a_version_repeated_in_one_address_is_changed_in_all_of_it(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nRUN wget https://h/v1.4/foo-1.4.tar.gz\n")
    assert set_pins(SetRequest(path, ("foo=2.0",))).after == b"FROM a\nRUN wget https://h/v2.0/foo-2.0.tar.gz\n"


def test_an_arg_that_several_pins_share_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nARG V=1\nRUN pip install foo==$V bar==$V\n")
    done = set_pins(SetRequest(path, ("foo=2",)))
    assert done.after == b"FROM a\nARG V=2\nRUN pip install foo==$V bar==$V\n"
    assert any("bar takes the same value" in remark for remark in done.remarks)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("nothing=1", "no pin 'nothing'"),
        ("fooo=1", "did you mean foo"),
        ("foo=not a version", "not a version"),
        ("foo=<<2", "not a specifier"),
        ("w=a..b", "not a branch"),
        ("w=--upload-pack=x", "not a branch"),
        ("w=a\nb", "control"),
        ("foo", "NAME=VALUE"),
        ("bar=<2", "version alone"),
        ("a=x y", "not an image"),
        ("gone=2", "base image or empty"),
    ],
)
def test_what_cannot_be_set_is_refused_with_a_reason(tmp_path: Path, assignment: str, message: str) -> None:
    path = write(
        tmp_path,
        "FROM a:1\nARG BAR_V=1\nRUN pip install foo==1 bar==$BAR_V gone==$GONE && git clone -b r https://git.example/a/w.git\n",
    )
    with pytest.raises(UsageError, match=message):
        set_pins(SetRequest(path, (assignment,)))


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# tip as of 08/18", "# tip as of 11/05"),
        ("# 2026-08-18: pinned", "# 2026-11-05: pinned"),
        ("# 8/1/2026", "# 11/5/2026"),
        ("# snapshot 2026/01/05", "# snapshot 2026/11/05"),
        ("# 20260105", "# 20261105"),
        ("# see PR 1/2/3", None),
        ("# no date", None),
    ],
)
def test_the_date_beside_a_pin_is_changed_in_its_own_form(comment: str, expected: str | None) -> None:
    data = (
        f'ARG W_REF="r7" {comment}\nFROM a\nARG W_REF\nRUN git clone -b $W_REF https://git.example/a/w.git\n'.encode()
    )
    pin = next(p for p in pins_of("Dockerfile", data) if p.name == "w")
    edit = date_edit(data, pin, date(2026, 11, 5))
    if expected is None:
        assert edit is None
    else:
        assert edit
        assert expected.encode() in apply(data, [edit])


def test_the_date_in_a_comment_above_is_found() -> None:
    data = b"FROM a\n# bump on 2026-01-02\n# because\nRUN pip install foo==1\n"
    edit = date_edit(data, pins_of("Dockerfile", data)[1], date(2026, 11, 5))
    assert edit
    assert b"bump on 2026-11-05" in apply(data, [edit])


def test_the_patch_applies(tmp_path: Path) -> None:
    import subprocess

    before = b"a\r\nfoo==1\nlast"
    after = b"a\r\nfoo==2\nLAST"
    (tmp_path / "f").write_bytes(before)
    patch = unified_diff(before, after, "f")
    subprocess.run(["git", "apply", "--unsafe-paths", "-"], cwd=tmp_path, input=patch, check=True)
    assert (tmp_path / "f").read_bytes() == after


def test_writing_keeps_permissions_and_refuses_a_file_that_changed_meanwhile(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nRUN pip install foo==1\n")
    path.chmod(0o640)
    done = set_pins(SetRequest(path, ("foo=2",)))
    done.write()
    assert path.read_bytes().endswith(b"foo==2\n")
    assert path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(UsageError, match="changed while"):
        done.write()


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("libcurl=8.20", b'"libcurl==8.20"'),
        ("libcurl=>=8.20,<9", b'"libcurl>=8.20,<9"'),
        ("libcurl=", b'"libcurl"'),
        ("openssl=1.1.1w", b"openssl=1.1.1w "),
        ("openssl=<3", b'openssl"<3" '),
        ("openssl=", b"openssl "),
        ("numpy=1.26.4", b"numpy==1.26.4 "),
        ("built=1.3", b"built=1.3=py38"),
    ],
)
def test_packages_of_conda_take_versions_and_specifiers(tmp_path: Path, assignment: str, expected: bytes) -> None:
    path = write(
        tmp_path, 'FROM a\nRUN conda install -y "libcurl>=8.19.0" openssl=3.6.3.40 numpy built=1.2.3=py38 -c forge\n'
    )
    assert expected in set_pins(SetRequest(path, (assignment,))).after


def test_a_build_of_conda_keeps_its_version_exact(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nRUN conda install built=1.2.3=py38\n")
    with pytest.raises(UsageError, match="only the version"):
        set_pins(SetRequest(path, ("built=<2",)))


def test_a_long_version_is_taken_away_as_well_as_a_short_one(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nRUN pip install foo==2026.8.18.post1+cu128\n")
    assert set_pins(SetRequest(path, ("foo=",))).after == b"FROM a\nRUN pip install foo\n"


def test_an_asterisk_of_an_apt_version_stays_bare(tmp_path: Path) -> None:
    path = write(tmp_path, "FROM a\nRUN apt-get install -y s3cmd=1.1.0*\n")
    assert set_pins(SetRequest(path, ("s3cmd=1.2.0*",))).after == b"FROM a\nRUN apt-get install -y s3cmd=1.2.0*\n"


def test_a_word_in_an_address_may_become_a_version(tmp_path: Path) -> None:
    path = write(tmp_path, 'FROM a\nENV W_VERSION="develop"\nRUN wget https://h/v2/w.${W_VERSION}.tar.gz\n')
    assert b'ENV W_VERSION="3.0.1"' in set_pins(SetRequest(path, ("w=3.0.1",))).after


@pytest.mark.parametrize(
    "text",
    ['ARG P=">=1.0"\nFROM a\nARG P\nRUN pip install "timm$P"\n', "FROM a\nRUN P='timm>=1.0' && pip install $P\n"],
)
@pytest.mark.parametrize(("value", "expected"), [("3.0rc1", b"==3.0rc1"), ("<3", b"<3"), ("==2.0", b"==2.0")])
def test_an_operator_that_stands_in_the_variable_is_set_with_the_version(
    tmp_path: Path, text: str, value: str, expected: bytes
) -> None:
    before = text.encode()
    path = write(tmp_path, text)
    after = set_pins(SetRequest(path, (f"timm={value}",))).after
    assert after == before.replace(b">=1.0", expected)
    path.write_bytes(after)
    assert set_pins(SetRequest(path, ("timm=>=1.0",))).after == before
