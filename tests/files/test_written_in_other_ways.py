"""Pins that real container files write in ways that are easily lost, each as a person found it missing or wrong."""

from pathlib import Path

import pytest

from pins.errors import UsageError
from pins.files.dockerfile.read import read_dockerfile
from pins.files.edit import apply, edits_for
from pins.files.image_reference import with_value
from pins.files.reading import ReadRequest, read_all
from pins.files.setting import SetRequest, set_pins
from pins.model import Pin, PinKind, PinSet


def read(*lines: str) -> PinSet:
    return read_dockerfile("\n".join(("FROM acme/os:9", *lines, "")).encode(), "Dockerfile")


def values(found: PinSet, kind: PinKind | None = None) -> list[tuple[str, str | None]]:
    return [(p.name, p.value) for p in found.pins if p.kind is not PinKind.IMAGE and kind in {None, p.kind}]


def one(found: PinSet, name: str) -> Pin:
    return next(pin for pin in found.pins if pin.name == name)


# -- arrays of the shell ----------------------------------------------------------------------------------------------


def test_elements_of_an_array_over_several_lines_are_requirements() -> None:
    found = read(
        "RUN <<EOF", "PKGS=(", "  'foo==1.4.*'  # why", '  "bar>=2"', "  baz", ")", 'pip install "${PKGS[@]}"', "EOF"
    )
    assert values(found) == [("foo", "==1.4.*"), ("bar", ">=2"), ("baz", None)]
    assert [pin.line for pin in found.pins[1:3]] == [4, 5]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ('P=(foo==1 "bar==${V}") && pip install "${P[@]}"', [("bar", "3.5"), ("foo", "==1")]),
        ("P=(foo==1) && P+=(bar==2) && pip install ${P[*]}", [("foo", "==1"), ("bar", "==2")]),
        ('P=(foo==1 bar==2) && pip install "${P[1]}"', [("bar", "==2")]),
        ('P=(a b) && for p in "${P[@]}"; do pip install "x-$p==1"; done', [("x-a", "1"), ("x-b", "1")]),
        ("P=(foo==1); if [ -d /x ]; then P=(bar==2); fi; pip install ${P[@]}", [("foo", "==1"), ("bar", "==2")]),
    ],
)
def test_arrays_are_followed(script: str, expected: list[tuple[str, str]]) -> None:
    found = read("ARG V=3.5", "RUN " + script)
    assert values(found, PinKind.PACKAGE) == expected


def test_an_element_of_an_array_is_set_in_its_place() -> None:
    data = b"FROM a\nRUN P=(foo 'bar==1.4') && pip install \"${P[@]}\"\n"
    pin = one(read_dockerfile(data, "Dockerfile"), "bar")
    assert apply(data, edits_for(data, pin, "1.5")) == data.replace(b"1.4", b"1.5")


# -- addresses --------------------------------------------------------------------------------------------------------


def test_an_address_with_a_command_in_it_is_still_one() -> None:
    found = read("ARG FOO_VERSION=1.4", "RUN curl -L https://h.example/v${FOO_VERSION}/foo-$(uname -m | tr a b).tgz")
    assert [(p.name, p.value, p.kind) for p in found.pins[1:]] == [("foo", "1.4", PinKind.URL)]
    assert found.pins[1].uses


def test_what_a_command_adds_to_a_file_name_is_no_part_of_what_is_downloaded() -> None:
    found = read("RUN V=$(lsb_release -rs) && curl -LO https://a.example/d/drivers-ubuntu${V}-0.6.0_arm64.deb")
    assert values(found) == [("drivers-ubuntu", "0.6.0")]


def test_a_version_that_goes_through_two_variables_into_an_address_is_found() -> None:
    found = read(
        "RUN V=4.0.3 && A=$(uname -m) && N=foo-${V}-$A && curl -o x https://h.example/v${V}/$N.tar.gz",
    )
    assert [(pin.value, pin.variable) for pin in found.pins[1:]] == [("4.0.3", "V")]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://h.example/v2.6.3/foo-2.6.3+${CU}torch2.3-cp310-cp310-linux_x86_64.whl", ("foo", "2.6.3", 2)),
        ("https://h.example/ubuntu${OS_VERSION}/foo-keyring_1.1-1_all.deb", ("foo-keyring", "1.1-1", 1)),
        ("https://h.example/foo/0.6.0/foo-ubuntu${OS_VERSION}-0.6.0_0.6.0-1_arm64.deb", None),
        ("https://h.example/dl/foo1.22.3.linux-amd64.tar.gz", ("foo", "1.22.3", 1)),
        ("https://github.com/acme/foo/archive/refs/tags/v3.1.tar.gz", ("foo", "3.1", 1)),
        ("https://h.example/foo/apt/6.3.1/x.deb", ("foo", "6.3.1", 1)),
    ],
)
def test_the_literal_version_of_an_address_is_found_beside_variables(
    address: str, expected: tuple[str, str, int] | None
) -> None:
    found = read("ARG OS_VERSION=22.04", "ARG CU", f"RUN wget {address}")
    urls = [(p.name, p.value, len(p.places)) for p in found.pins if p.kind is PinKind.URL]
    if expected is None:
        assert any(value and value.startswith("0.6.0") for _, value, _ in urls)
    else:
        assert expected in urls


def test_a_glibc_behind_a_variable_is_no_version_of_the_file() -> None:
    found = read("ARG V=1.4", "RUN wget https://h.example/foo-${V}-glibc-2.28.tgz")
    assert values(found, PinKind.URL) == [("v", "1.4")]


def test_a_second_spelling_of_a_version_is_told() -> None:
    found = read("RUN wget https://h.example/foo/1.80.0/foo_1_80_0.tar.gz")
    assert "1_80_0" in one(found, "foo").note


@pytest.mark.parametrize(
    "line",
    [
        'echo "deb [arch=amd64] https://h.example/rocm/apt/6.3.1 jammy main" > /etc/apt/sources.list.d/x.list',
        "echo deb https://h.example/rocm/apt/6.3.1 jammy main | tee /etc/apt/sources.list.d/x.list",
        'add-apt-repository -y "deb https://h.example/rocm/apt/6.3.1 jammy main"',
        "printf 'Types: deb\\nURIs: https://h.example/rocm/apt/6.3.1\\n' > /etc/apt/sources.list.d/x.sources",
        "printf '[rocm]\\nbaseurl=https://h.example/rocm/yum/6.3.1/main\\n' > /etc/yum.repos.d/x.repo",
        "dnf config-manager --add-repo https://h.example/rocm/6.3.1/x.repo",
    ],
)
def test_a_source_of_packages_is_pinned_by_the_version_in_its_address(line: str) -> None:
    assert values(read("RUN " + line)) == [("rocm", "6.3.1")]


def test_a_source_of_packages_in_a_heredoc_is_read() -> None:
    found = read("RUN cat <<X > /etc/apt/sources.list.d/r.list", "deb https://h.example/rocm/apt/6.3 jammy main", "X")
    assert values(found) == [("rocm", "6.3")]


# -- requirements that commands write ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ("RUN cat <<X >> reqs.txt", "foo==1.4", "bar", "X"),
        ("RUN tee -a reqs.txt <<X", "foo==1.4", "bar", "X"),
        ("RUN printf 'foo==1.4\\nbar\\n' > reqs.txt",),
        ("RUN printf '%s\\n' foo==1.4 bar > reqs.txt",),
        ("RUN echo 'foo==1.4' > reqs.txt && echo bar >> reqs.txt",),
        ("COPY <<X reqs.txt", "foo==1.4", "bar", "X"),
    ],
)
def test_requirements_that_a_command_writes_are_read_where_pip_is_given_them(lines: tuple[str, ...]) -> None:
    found = read(*lines, "RUN pip install -r reqs.txt")
    assert values(found) == [("foo", "1.4"), ("bar", None)]
    assert not found.problems
    assert [i.name for i in found.stages[0].installs] == ["foo", "bar"]


def test_a_stage_sees_what_the_stage_before_it_has_written() -> None:
    found = read_dockerfile(b"FROM a AS b\nRUN echo foo==1 > r.in2\nFROM b\nRUN pip install -r r.in2\n", "Dockerfile")
    assert values(found) == [("foo", "1")]


def test_a_quoted_heredoc_keeps_its_dollars() -> None:
    found = read("ARG V=2", "RUN cat <<'X' > requirements.in", "foo==1.4", "X")
    assert ("foo", "1.4") in values(found)


def test_a_name_with_a_constraint_and_line_ends_is_no_value() -> None:
    found = read("RUN printf 'foo<2\\nbar==1\\n' > constraints.txt && pip install -c constraints.txt baz")
    assert values(found) == [("foo", "<2"), ("bar", "1"), ("baz", None)]


# -- what is not known ------------------------------------------------------------------------------------------------


def test_a_requirement_whose_name_is_known_in_part_is_not_lost() -> None:
    found = read(
        "ARG CUDA",
        'RUN pip install cupy-cuda${CUDA}x "torch-${BASE_X}" foo-$(x | y 1)z "bar${CUDA}==2.0" $CUDA ${CUDA}$CUDA',
    )
    assert set(values(found)) == {
        ("cupy-cuda${CUDA}x", None),
        ("torch-${BASE_X}", None),
        ("foo-$(...)z", None),
        ("bar${CUDA}", "2.0"),
    }
    assert one(found, "cupy-cuda${CUDA}x").unknown == "CUDA is an ARG without a default: whoever builds gives it"
    assert one(found, "torch-${BASE_X}").unknown == "BASE_X is not set in this file: base image or empty"
    assert "not known: CUDA" in one(found, "bar${CUDA}").note
    assert not any(pin.floating for pin in found.pins)
    with pytest.raises(UsageError, match="CUDA is an ARG without a default"):
        edits_for(b"", one(found, "cupy-cuda${CUDA}x"), "1")


def test_a_global_arg_that_a_stage_does_not_declare_is_named_as_the_reason() -> None:
    data = b"ARG FOO_VERSION='>=1.4,<2'\nFROM a\nRUN pip install foo${FOO_VERSION}\n"
    found = read_dockerfile(data, "Dockerfile")
    unknown = [pin.unknown for pin in found.pins if pin.kind is PinKind.PACKAGE]
    assert unknown == ["FOO_VERSION is no ARG of this stage: base image or empty"]
    assert [(pin.value, pin.line) for pin in found.pins if pin.kind is PinKind.TEXT] == [(">=1.4,<2", 1)]


def test_of_a_version_known_in_part_the_variable_that_holds_it_is_the_pin() -> None:
    found = read("ARG T=1.2.3", "RUN pip install torch==${T}+$(local version)")
    assert (one(found, "torch").value, one(found, "torch").line) == ("1.2.3", 2)
    assert one(found, "torch").effective == "==1.2.3+$(local version)"


def test_an_arg_without_a_default_that_no_command_takes_is_shown_once() -> None:
    data = b"ARG FOO_VERSION\nARG GIT_SHA\nFROM a\nARG FOO_VERSION\nARG spark_version\nARG VCS_REF\nARG TARGETARCH\n"
    found = read_dockerfile(data, "Dockerfile")
    assert [(p.name, p.line, bool(p.unknown)) for p in found.pins if p.kind is PinKind.TEXT] == [
        ("foo", 1, True),
        ("spark", 5, True),
    ]


def test_an_arg_that_only_a_fetched_requirements_file_would_explain_says_so() -> None:
    found = read("RUN pip install -r https://h.example/requirements.txt")
    assert "it is downloaded when the image is built" in found.problems[0].message


# -- ARGs that a script reads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ARG URLREF_FOO=https://h.example/acme/foo.git#v1", (PinKind.GIT, "foo", "v1")),
        ("ARG URLREF_FOO=git+https://h.example/acme/foo@abc1234", (PinKind.GIT, "foo", "abc1234")),
        ("ENV FOO_URL=https://h.example/foo/1.4/foo-1.4-bin.tar.gz", (PinKind.URL, "foo", "1.4")),
        ("ARG SOURCE=https://h.example/foo/apt/6.3", (PinKind.URL, "foo", "6.3")),
        ("ARG FOO_COMMIT_ROCM=2554f490101742ccdc56620a938f847f61754be6", (PinKind.TEXT, "foo-commit-rocm", "2554f49")),
        ("ARG FOOVERSION=3.31", (PinKind.TEXT, "foo", "3.31")),
        ("ARG FOO_VERSIONS=3.31", (PinKind.TEXT, "foo", "3.31")),
        ("ARG FOO_VERSION='>=1.4,<2'", (PinKind.TEXT, "foo", ">=1.4,<2")),
    ],
)
def test_an_arg_that_no_command_takes_is_a_pin_by_what_it_holds(line: str, expected: tuple[PinKind, str, str]) -> None:
    found = read(line).pins[1]
    assert (found.kind, found.name) == expected[:2]
    assert (found.value or "").startswith(expected[2])


@pytest.mark.parametrize(
    "line",
    [
        "ARG KEY_ID=2554f490101742ccdc56620a938f847f61754be6",
        "ARG FOO_SHA256=2554f490101742ccdc56620a938f847f61754be62554f490101742ccdc56620a",
        "ARG PIP_INDEX=https://h.example/whl/cu128",
        "ARG REF_PORT=127.0.0.1",
        "ARG MIRROR=https://h.example/simple/",
        "ARG SITE=https://h.example/ubuntu/22.04/x",
    ],
)
def test_an_arg_that_holds_no_version_is_none(line: str) -> None:
    assert not values(read(line))


# -- other package managers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("curl -sSf https://sh.rustup.rs | sh -s -- --default-toolchain 1.85.1 -y", ("rust", "1.85.1")),
        ("rustup toolchain install nightly-2024-05-01", ("rust", "nightly-2024-05-01")),
        ('cargo install foo --version ">=0.10.0" --locked', ("foo", ">=0.10.0")),
        ("cargo install --locked foo@0.1.62", ("foo", "0.1.62")),
        ("cargo install --git https://h.example/acme/foo --tag v1", ("foo", "v1")),
        ("npm install -g @acme/foo@1.4 bar", ("@acme/foo", "1.4")),
        ("go install h.example/acme/foo/v2@v2.3.0", ("foo", "v2.3.0")),
        ("gem install foo -v 2.4.1", ("foo", "2.4.1")),
        ("pipx install foo==1.8.3", ("foo", "1.8.3")),
        ("uv python install 3.12", ("python", "3.12")),
        ("uv venv --python 3.12.4 /v", ("python", "3.12.4")),
        ("hf download acme/foo --revision abc1234", ("foo", "abc1234")),
        ("rapids-conda-retry install -y 'foo=1.4.*'", ("foo", "1.4.*")),
        ("rapids-pip-retry install foo==1.4", ("foo", "1.4")),
    ],
)
def test_what_other_package_managers_install_is_a_pin(line: str, expected: tuple[str, str]) -> None:
    found = read("RUN " + line)
    assert values(found) == [expected]
    pin = found.pins[1]
    data = ("FROM acme/os:9\nRUN " + line + "\n").encode()
    place = pin.places[0]
    assert data[place.start : place.end].decode() == expected[1]


# -- images -----------------------------------------------------------------------------------------------------------


def test_an_image_put_together_without_a_tag_is_no_registry() -> None:
    data = b"ARG REGISTRY=h.example\nARG OWNER=acme\nARG BASE=$REGISTRY/$OWNER/foo\nFROM $BASE\n"
    pin = read_dockerfile(data, "Dockerfile").pins[0]
    assert (pin.name, pin.value, pin.line) == ("h.example/acme/foo", "foo", 3)
    changed = apply(data, edits_for(data, pin, with_value(pin, "2026-08-18")))
    assert changed == data.replace(b"/foo", b"/foo:2026-08-18")


def test_an_image_put_together_without_a_tag_takes_one(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_bytes(b"ARG REGISTRY=h.example\nARG BASE=$REGISTRY/acme/foo-long-name\nFROM $BASE\n")
    after = set_pins(SetRequest(file, ("h.example/acme/foo-long-name=1.4",))).after
    assert after == file.read_bytes().replace(b"-name", b"-name:1.4")


def test_of_an_image_by_tag_and_digest_both_are_pins() -> None:
    digest = "sha256:" + "ab" * 32
    data = f"ARG BASE=h.example/acme/foo:26.03-py3\nARG DIGEST={digest}\nFROM ${{BASE}}@${{DIGEST}}\n".encode()
    tag, other = read_dockerfile(data, "Dockerfile").pins
    assert (tag.value, other.value) == ("h.example/acme/foo:26.03-py3", digest)
    assert apply(data, edits_for(data, tag, with_value(tag, "26.04-py3"))) == data.replace(b"26.03", b"26.04")


# -- variables that depend on a choice, positional parameters, files by name ------------------------------------------


def test_a_variable_made_of_one_that_a_choice_sets_is_followed() -> None:
    found = read(
        "RUN case $(uname -m) in x) A=x86 ;; *) A=arm ;; esac \\",
        '  && export URL="${URL:-https://h.example/v0.8.1/foo-v0.8.1-${A}-musl.tar.gz}" && curl -L -o $A.tgz ${URL}',
    )
    pin = one(found, "foo")
    assert (pin.value, pin.line, len(pin.places), len(pin.uses)) == ("0.8.1", 3, 2, 2)
    assert pin.uses[0].excludes(pin.uses[1])


def test_positional_parameters_are_followed() -> None:
    found = read('RUN set -e; set -- foo==1.4 /w/bar-2.17.0-py3-none-any.whl; pip install --no-deps "$@"')
    assert values(found) == [("foo", "1.4"), ("bar", "2.17.0")]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/w/foo_bar-2.17.0-cp312-cp312-linux_*.whl", [("foo-bar", "2.17.0")]),
        ("foo-2.7.4.post1+cu12torch2.6-cp310-cp310-linux_x86_64.whl", [("foo", "2.7.4.post1")]),
        ("./foo-2.17.tar.gz", [("foo", "2.17")]),
        ("/w/foo-*.whl", []),
        ("/w/*.whl", []),
        ("./python", []),
    ],
)
def test_a_file_that_pip_is_given_by_name_is_a_pin_where_the_name_says_a_version(
    path: str, expected: list[tuple[str, str]]
) -> None:
    assert values(read(f"RUN pip install {path}")) == expected


def test_versions_that_apt_is_to_prefer_are_pins() -> None:
    found = read("RUN printf '%s\\n' 'Package: foo foo-dev' 'Pin: version 54.0-187-1' > /etc/apt/preferences.d/foo")
    assert [(p.name, p.value, p.kind) for p in found.pins[1:]] == [("foo", "54.0-187-1", PinKind.APT)]


def test_a_requirement_whose_name_is_known_in_part_is_set_by_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_bytes(b'FROM a\nARG C\nRUN pip install "foo${C}==2.0" bar${C}x\n')
    assert set_pins(SetRequest(file, ("foo${C}=2.1",))).after == file.read_bytes().replace(b"2.0", b"2.1")
    with pytest.raises(UsageError, match="C is an ARG without a default"):
        set_pins(SetRequest(file, ("bar${C}x=1",)))


@pytest.mark.parametrize(
    "line",
    [
        "ARG FOO_REPO=https://github.com/acme/results_v6.0.git",
        "ARG FOO_REPO=https://github.com/acme/results_v6.0",
        "ENV CMAKE_POLICY_VERSION_MINIMUM=3.5",
        "RUN printf 'foo @ https://h.example/v%s/foo-%s.whl\\n' 1 x86_64 > override.txt",
    ],
)
def test_what_looks_like_a_pin_and_is_none_is_left_out(line: str) -> None:
    assert not values(read(line))


def test_a_tag_with_its_digest_in_one_literal_stays_one_pin() -> None:
    digest = "@sha256:" + "ab" * 32
    data = f"ARG R=h.example\nARG B=$R/acme/foo:2026-07-28{digest}\nFROM $B\n".encode()
    assert [pin.value for pin in read_dockerfile(data, "Dockerfile").pins] == ["2026-07-28" + digest]


def test_a_wheel_whose_name_is_computed_in_part_is_a_file() -> None:
    found = read("RUN pip install foo_npu-2.8.0.post2-cp311-cp311-manylinux_2_28_$(uname -m).whl")
    assert values(found) == [("foo-npu", "2.8.0.post2")]


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["-Ur", "-qr", "-Uqr", "-qq -r", "-U --requirement="])
def test_short_options_in_one_word_name_a_file(options: str, tmp_path: Path) -> None:
    (tmp_path / "reqs.txt").write_text("foo==1.4\n")
    file = tmp_path / "Dockerfile"
    file.write_text(
        f"FROM a\nCOPY reqs.txt .\nRUN pip install {options}{'' if options.endswith('=') else ' '}reqs.txt\n"
    )
    (found,) = read_all(ReadRequest((file,), context=tmp_path))
    assert values(found, PinKind.PACKAGE) == [("foo", "1.4")]


@pytest.mark.parametrize(
    "command",
    [
        "apt-get install -y -f foo=1.2-3",
        "zypper -n install foo-1.2-3",
        "zypper --non-interactive in foo-1.2-3",
        "apk add --no-cache -t deps foo=1.2-3",
        "apt-get -o Dpkg::Use-Pty=0 install -t stable foo=1.2-3",
    ],
)
def test_an_option_of_a_packager_takes_the_next_word_only_where_it_has_a_value(command: str) -> None:
    assert values(read("RUN " + command)) == [("foo", "1.2-3")]


def test_a_repository_that_only_whoever_builds_can_give_is_a_pin_without_a_value() -> None:
    found = read("ARG FLA_URL", 'RUN pip install --no-deps "git+${FLA_URL}"')
    assert values(found, PinKind.GIT) == [("fla", None)]
    assert one(found, "fla").unknown == "FLA_URL is an ARG without a default: whoever builds gives it"


def test_a_revision_in_an_address_that_lacks_its_argument_says_who_gives_it() -> None:
    found = read(
        "ARG ORG=https://x.org/acme", "ARG TAG", 'ARG REPO="${ORG}/tool@${TAG}"', 'RUN pip install "git+${REPO}"'
    )
    assert one(found, "tool").unknown == "TAG is an ARG without a default: whoever builds gives it"


@pytest.mark.parametrize(
    ("copied", "used"),
    [("reqs.txt .", "reqs.txt"), (". .", "reqs.txt"), ("reqs.txt ./", "./reqs.txt"), ("reqs.txt x/", "x/reqs.txt")],
)
def test_a_file_copied_to_the_working_directory_of_a_base_image_is_read(copied: str, used: str, tmp_path: Path) -> None:
    (tmp_path / "reqs.txt").write_text("foo==1.4\n")
    file = tmp_path / "Dockerfile"
    file.write_text(f"FROM a\nCOPY {copied}\nRUN pip install -r {used}\n")
    (found,) = read_all(ReadRequest((file,), context=tmp_path))
    assert values(found, PinKind.PACKAGE) == [("foo", "1.4")]


# -- clones -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        'if [ -z "$U" ]; then git clone https://x.org/foo.git && cd foo && git checkout v1; fi',
        "[ -d /x ] && git clone https://x.org/foo.git && cd foo && git checkout v1",
        "git clone https://x.org/foo.git || exit 1; cd foo; git checkout v1",
    ],
)
def test_what_a_clone_in_a_branch_is_set_to_there_decides(script: str) -> None:
    assert values(read("ARG U", "RUN " + script), PinKind.GIT) == [("foo", "v1")]


def test_a_checkout_under_a_condition_of_its_own_leaves_the_clone_open() -> None:
    found = read("ARG C", 'RUN git clone https://x.org/foo.git && cd foo && if [ -n "$C" ]; then git checkout v1; fi')
    assert values(found, PinKind.GIT) == [("foo", None), ("foo", "v1")]


def test_a_clone_whose_address_the_shell_computes_lies_where_the_next_command_goes() -> None:
    found = read(
        "ARG FOO_URL",
        "WORKDIR /w",
        "RUN git clone $(echo ${FOO_URL} | cut -d '@' -f 1) && cd /w/Foo && \\",
        "    git checkout $(echo ${FOO_URL} | cut -d '@' -f 2)",
    )
    (pin,) = (pin for pin in found.pins if pin.kind is PinKind.GIT)
    assert pin.name == "foo"
    assert pin.unknown.endswith("is computed by the shell")


def test_a_clone_whose_address_the_shell_computes_is_named_for_what_holds_it() -> None:
    found = read("ARG FOO_URL", "RUN git clone $(echo ${FOO_URL} | cut -d '@' -f 1)")
    assert values(found, PinKind.GIT) == [("foo", None)]
