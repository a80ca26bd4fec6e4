"""What single rules must tell apart, beyond their examples."""

import pytest

from pins.hazards.check import check
from pins.hazards.model import Hazard
from pins.hazards.table import chosen
from tests.hazards.subjects import subject_of


def found(text: str, rule: str, file: str = "Dockerfile", **files: bytes) -> list[Hazard]:
    return check([subject_of(text, file, **files)], chosen([rule], ()))


def test_a_variable_with_a_default_of_its_own_needs_no_declaration() -> None:
    text = "ARG X=1\nFROM ubuntu:22.04\nRUN a ${X:-2} && b ${X:+c}\n"
    assert not found(text, "undeclared-global-argument")


@pytest.mark.parametrize("use", ["'${X}'", "\\${X}", "$(X=2; echo $X)"])
def test_what_the_shell_does_not_expand_or_sets_itself_is_no_use(use: str) -> None:
    assert not found(f"ARG X=1\nFROM ubuntu:22.04\nRUN echo {use}\n", "undeclared-global-argument")


def test_what_the_base_image_is_known_to_set_is_not_reported() -> None:
    text = "ARG CUDA_VERSION=12.8.1\nFROM nvidia/cuda:${CUDA_VERSION}-devel\nRUN echo ${CUDA_VERSION}\n"
    assert not found(text, "undeclared-global-argument")
    assert found(text.replace("nvidia/cuda", "acme/cuda"), "undeclared-global-argument")


def test_an_inherited_argument_is_declared() -> None:
    text = "FROM ubuntu:22.04 AS a\nARG GPU_ARCH=gfx942\nFROM a AS b\nFROM b AS c\nRUN make ${GPU_ARCH}\n"
    for rule in ("undeclared-global-argument", "override-misses-stage", "used-before-declaration"):
        assert not found(text, rule)


def test_an_argument_that_nothing_names_in_a_stage_is_no_hazard() -> None:
    text = "FROM ubuntu:22.04\nARG MAX_JOBS=8\nARG TORCH_CUDA_ARCH_LIST=9.0\nARG http_proxy\nRUN make\n"
    assert [h.rule.name for h in check([subject_of(text)], chosen((), ()))] == []


def test_an_empty_environment_variable_ends_an_argument_on_purpose() -> None:
    assert not found('FROM ubuntu:22.04\nARG TOKEN\nRUN a\nENV TOKEN=""\n', "environment-beats-argument")


def test_true_behind_an_uninstall_is_harmless_and_reaches_no_further() -> None:
    text = "FROM ubuntu:22.04\nRUN pip uninstall -y apex || true && pip install apex==1.0\n"
    assert not found(text, "ignored-failure")


def test_one_alternative_is_one_finding_however_long_the_chain() -> None:
    text = "FROM ubuntu:22.04\nRUN git clone -b v1 https://h.example/w.git && cd w && git checkout v2 || true\n"
    assert len(found(text, "ignored-failure")) == 1


def test_the_lines_of_a_heredoc_are_a_sequence() -> None:
    script = "FROM ubuntu:22.04\nRUN <<EOF{}\npip install torch==2.9.0\nrm -rf /root/.cache\nEOF\n"
    assert found(script.format(""), "lost-in-sequence")
    assert not found(script.format(" bash -ex"), "lost-in-sequence")
    assert not found(script.format("\nset -euo pipefail"), "lost-in-sequence")


def test_a_status_that_is_looked_at_is_not_lost() -> None:
    assert not found("FROM ubuntu:22.04\nRUN pip install x==1; test $? = 0\n", "lost-in-sequence")


def test_exact_versions_in_exclusive_branches_are_no_conflict() -> None:
    text = (
        'FROM ubuntu:22.04\nARG A=1\nRUN case "$A" in 1) pip install numpy==1.26.4;;'
        " *) pip install numpy==2.0.0;; esac\n"
    )
    assert not found(text, "pin-undone")
    assert not found(text, "two-requirements")


def test_an_uninstall_between_two_versions_says_that_it_is_meant() -> None:
    text = "FROM ubuntu:22.04\nRUN pip install x==1\nRUN pip uninstall -y x\nRUN pip install x==2\n"
    assert not found(text, "pin-undone")


def test_a_cap_is_undone_by_an_upgrade_only() -> None:
    text = "FROM ubuntu:22.04\nRUN pip install 'setuptools<80'\nRUN pip install {} setuptools\n"
    assert found(text.format("-U"), "pin-undone")
    assert not found(text.format(""), "pin-undone")


def test_an_install_elsewhere_is_another_environment() -> None:
    text = "FROM ubuntu:22.04\nRUN pip install x==1\nRUN pip install --target /opt/y x==2\n"
    assert not found(text, "pin-undone")


def test_a_capped_pybind11_is_no_skew() -> None:
    base = (
        "FROM ubuntu:22.04 AS base\nRUN pip install {}\n"
        "FROM base AS build\nRUN cd aiter && python3 setup.py bdist_wheel\n"
        "FROM base AS final\nCOPY --from=build /aiter/dist /i\nRUN pip install /i/*.whl\n"
    )
    assert found(base.format("pybind11"), "compiled-skew")
    assert found(base.format("'pybind11>=3.0'"), "compiled-skew")
    assert not found(base.format("'pybind11<3.1.0'"), "compiled-skew")
    assert not found(base.format("pybind11==3.0.4"), "compiled-skew")


def test_two_versions_of_torch_on_the_two_sides_of_a_wheel_are_skew() -> None:
    text = (
        "FROM ubuntu:22.04 AS build\nRUN pip install torch==2.8.0\nRUN cd w && python3 -m build\n"
        "FROM ubuntu:22.04\nRUN pip install torch==2.9.0\nCOPY --from=build /w/dist /i\nRUN pip install /i/*.whl\n"
    )
    (hazard,) = found(text, "compiled-skew")
    assert "torch==2.8.0" in hazard.summary
    assert "torch==2.9.0" in hazard.summary


@pytest.mark.parametrize("ref", ["main", "origin/feature-x", "release/internal/3.7.x", "miles-main", "dev_rl"])
def test_branches_by_the_looks_of_them(ref: str) -> None:
    text = f"FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w && git checkout {ref}\n"
    assert found(text, "moving-branch")


@pytest.mark.parametrize("ref", ["v2.9.0", "0.4.3", "v3.0.0rc1", "f0b55c0", "rocm-7.0.2", "r2.9"])
def test_tags_and_commits_are_no_branches_and_what_is_unclear_is_none_either(ref: str) -> None:
    text = f"FROM ubuntu:22.04\nRUN git clone https://h.example/w.git && cd w && git checkout {ref}\n"
    assert not found(text, "moving-branch")


def test_a_clone_of_which_a_revision_is_checked_out_under_the_same_condition_is_pinned() -> None:
    text = (
        'FROM ubuntu:22.04\nARG A\nRUN if [ "$A" != 0 ]; then git clone https://h.example/t.git; cd t;'
        ' git checkout "270e696d"; fi\n'
    )
    assert not found(text, "no-revision")


def test_the_hunks_of_a_patch_are_read_from_the_build_context() -> None:
    patch = b"--- a/m/actor.py\n+++ b/m/actor.py\n@@ -3,0 +4,1 @@\n+    x = 1\n"
    text = (
        "FROM ubuntu:22.04\nCOPY docker/p.patch /tmp/p.patch\n"
        "RUN git clone -b v1.2 https://h.example/m.git /m && cd /m && git apply /tmp/p.patch\n"
    )
    files = {"docker/p.patch": patch}
    (hazard,) = check([subject_of(text, "Dockerfile", **files)], chosen(["zero-context-patch"], ()))
    assert "1 hunk without a line of context" in hazard.summary
    assert hazard.evidence[0] == "m/actor.py: @@ -3,0 +4,1 @@ inserts 1 line after line 3"
    with_context = patch.replace(b"@@ -3,0 +4,1 @@\n", b"@@ -3,1 +3,2 @@\n line\n")
    assert not check([subject_of(text, "Dockerfile", **{"docker/p.patch": with_context})], chosen(["zero"], ()))


def test_a_patch_on_a_file_elsewhere_is_not_on_the_checkout_around_the_command() -> None:
    text = "FROM ubuntu:22.04\nRUN git clone -b main https://h.example/v.git && cd v && patch {} ./fix.patch\n"
    assert found(text.format("csrc/a.h"), "patch-on-moving-reference")
    assert not found(text.format("/opt/rocm/include/hip/a.h"), "patch-on-moving-reference")


def test_credentials_in_an_address_are_masked() -> None:
    text = "FROM ubuntu:22.04\nRUN git clone https://someone:secret@h.example/w.git && cd w && pip install .; ls\n"
    for hazard in check([subject_of(text)], chosen(["all"], ())):
        assert "secret" not in hazard.summary + hazard.source + hazard.fix


def test_lines_of_a_requirements_file_are_checked_one_by_one() -> None:
    text = (
        "numpy=1.2\nscipy>=1.*  # why\ngood==1.0 --hash=sha256:00\nx==1; python_version < '3.9'\n-r other.txt\n"
        "y @ https://h.example/y.whl\n./local\nz[a,b]~=1.4\n"
    )
    assert [h.line for h in found(text, "invalid-specifier", "requirements.txt")] == [1, 2]


def test_a_sentence_about_the_option_passes_nothing() -> None:
    dockerfile = subject_of("FROM ubuntu:22.04\nARG REF=v1\nRUN x ${REF}\n")
    document = subject_of("Whoever sets --build-arg changes the pin; --build-arg by itself does not.\n", "a.md")
    assert check([dockerfile, document], chosen(["undeclared-build-argument"], ())) == []


def test_a_document_may_pass_what_any_dockerfile_declares() -> None:
    dockerfile = subject_of("FROM ubuntu:22.04\nARG REF=v1\nRUN x ${REF}\n")
    document = subject_of(
        "docker build --build-arg REF=v2 --build-arg RFE=v3 --build-arg HTTP_PROXY=x .\n", "docs/a.md"
    )
    elsewhere = subject_of("docker build \\\n  --build-arg OTHER=1 \\\n  https://h.example/other.git\n", "build.sh")
    hazards = check([dockerfile, document, elsewhere], chosen(["undeclared-build-argument"], ()))
    assert [(h.file, h.pin) for h in hazards] == [("docs/a.md", "RFE")]


def test_the_default_branch_of_a_shallow_clone_is_in_it_but_what_else_a_variable_may_name_is_not() -> None:
    clone = "RUN git clone --depth=1 https://h.example/a/w.git && cd w && git checkout"
    assert not found(f"FROM ubuntu:22.04\n{clone} main\n", "shallow-checkout")
    assert found(f"FROM ubuntu:22.04\n{clone} r7\n", "shallow-checkout")
    assert found(f"FROM ubuntu:22.04\n{clone.replace('--depth=1', '--depth=1 -b dev')} main\n", "shallow-checkout")
    (hazard,) = found(f"FROM ubuntu:22.04\nARG COMMIT=main\n{clone} ${{COMMIT}}\n", "shallow-checkout")
    assert "whatever else COMMIT may name is not in it" in hazard.summary
    assert "git fetch --depth 1 origin $COMMIT" in hazard.fix
