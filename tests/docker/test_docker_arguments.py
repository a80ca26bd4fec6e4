from pathlib import Path

import pytest

from bisector.environments.docker.arguments import pin_arguments
from bisector.environments.docker.instructions import read_dockerfile
from bisector.environments.docker.reach import built_stages, unreachable, unused
from pins.errors import UsageError


def values(
    text: str, pin: str = "pybind11", version: str = "3.1.0", templates: tuple[tuple[str, str], ...] = ()
) -> dict[str, str]:
    found = pin_arguments(read_dockerfile(text), "Dockerfile", [pin], templates)
    return found.values({pin: version})


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("ARG PYBIND11_VERSION=3.0.4", {"PYBIND11_VERSION": "3.1.0"}),
        ('ARG PYBIND11_VERSION="3.0.4"', {"PYBIND11_VERSION": "3.1.0"}),
        ("ARG PYBIND11_VERSION='3.0.4'", {"PYBIND11_VERSION": "3.1.0"}),
        ("ARG PYBIND11_REF=v3.0.4", {"PYBIND11_REF": "v3.1.0"}),
        ("ARG PYBIND11_TAG=pybind11-3.0.4", {"PYBIND11_TAG": "pybind11-3.1.0"}),
        ("ARG PYBIND11_TAG=release/3.0", {"PYBIND11_TAG": "release/3.1.0"}),
        ('ARG PYBIND11_SPEC="==3.0.4"', {"PYBIND11_SPEC": "==3.1.0"}),
        ('ARG PYBIND11_SPEC="<3.1.0"', {"PYBIND11_SPEC": "==3.1.0"}),
        ('ARG PYBIND11_SPEC=">=3,<3.1"', {"PYBIND11_SPEC": "==3.1.0"}),
        ('ARG PYBIND11="pybind11<3.1.0"', {"PYBIND11": "pybind11==3.1.0"}),
        ('ARG PYBIND11="pybind11[global]"', {"PYBIND11": "pybind11[global]==3.1.0"}),
        ('ARG BINDINGS="pybind11>=3"', {"BINDINGS": "pybind11==3.1.0"}),
        ("arg pybind11_version=3.0.4", {"pybind11_version": "3.1.0"}),
        ("ARG OTHER=1 PYBIND11_VERSION=3.0.4", {"PYBIND11_VERSION": "3.1.0"}),
    ],
)
def test_a_pin_goes_to_the_arg_of_its_name_in_the_form_of_its_default(
    declaration: str, expected: dict[str, str]
) -> None:
    assert values(f"FROM x\n{declaration}\nRUN true\n") == expected


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ('pip install "pybind11${PYBIND11_SPEC}"', "==3.1.0"),
        ("pip install pybind11$PYBIND11_SPEC", "==3.1.0"),
        ('pip install "pybind11[global]${PYBIND11_SPEC}"', "==3.1.0"),
        ('pip install "pybind11==${PYBIND11_SPEC}"', "3.1.0"),
        ('uv pip install "${PYBIND11_SPEC}"', "pybind11==3.1.0"),
        ("python3 -m pip install ${PYBIND11_SPEC}", "pybind11==3.1.0"),
        ("git clone -b v${PYBIND11_SPEC} URL", "3.1.0"),
        ("git checkout ${PYBIND11_SPEC}", "3.1.0"),
        ("pip install pybind11${PYBIND11_SPEC:+==${PYBIND11_SPEC}}", "3.1.0"),
    ],
)
@pytest.mark.parametrize("declaration", ["ARG PYBIND11_SPEC", 'ARG PYBIND11_SPEC=""', "ARG PYBIND11_SPEC="])
def test_an_arg_without_a_default_takes_the_form_that_its_use_needs(declaration: str, use: str, expected: str) -> None:
    assert values(f"FROM x\n{declaration}\nRUN {use}\n") == {"PYBIND11_SPEC": expected}


@pytest.mark.parametrize(
    ("pin", "argument"),
    [("importlib-metadata", "IMPORTLIB_METADATA_VERSION"), ("zope.interface", "zope_interface_spec"), ("A-b", "a_B")],
)
def test_names_are_compared_without_case_and_kind_of_separator(pin: str, argument: str) -> None:
    assert values(f"FROM x\nARG {argument}=1.0\n", pin, "2.0") == {argument: "2.0"}


def test_an_arg_made_of_another_one_moves_with_it() -> None:
    text = 'FROM x\nARG PYBIND11_VERSION=3.0.4\nARG PYBIND11_SPEC="==${PYBIND11_VERSION}"\nRUN pip install a\n'
    assert values(text) == {"PYBIND11_VERSION": "3.1.0"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("FROM x\nRUN true\n", ["no ARG at all", "--build-arg 'NAME={pybind11}'"]),
        ("FROM x\nARG TORCH=1\nARG PYBIND12_VERSION=1\n", ["TORCH, PYBIND12_VERSION", "--build-arg"]),
        ("FROM x\nARG PYBIND11_VERSION=3.0\nARG PYBIND11_REF=v3.0\n", ["PYBIND11_VERSION, PYBIND11_REF", "several"]),
        ("FROM x\nARG PYBIND11_REF=main\nRUN true\n", ["'main'", "--build-arg"]),
        ("FROM x\nARG PYBIND11_SPEC\nRUN true\n", ["cannot be told from its use"]),
        ("FROM x\nARG PYBIND11_SPEC='==3.0'\nFROM x\nARG PYBIND11_SPEC=3.0\n", ["cannot be told"]),
        ("ARG PYBIND11_VERSION=3.0\nFROM x\nRUN pip install pybind11==$PYBIND11_VERSION\n", ["reaches nothing", ":1"]),
    ],
)
def test_what_cannot_be_told_is_asked_for(text: str, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        values(text)
    for word in words:
        assert word in caught.value.message


def test_a_global_arg_reaches_from_lines_and_stages_that_declare_it_again() -> None:
    assert values("ARG PYBIND11_VERSION=3.0\nFROM base:${PYBIND11_VERSION}\n") == {"PYBIND11_VERSION": "3.1.0"}
    assert values("ARG PYBIND11_VERSION=3.0\nFROM x\nARG PYBIND11_VERSION\n") == {"PYBIND11_VERSION": "3.1.0"}


def test_an_explicit_template_settles_it() -> None:
    text = "FROM x\nARG PYBIND11_VERSION=3.0\nARG PYBIND11_REF=v3.0\nARG OTHER\n"
    templates = (("PYBIND11_REF", "tag-{pybind11}+{Pybind11}"), ("OTHER", '{"a": 1} fixed'))
    assert values(text, templates=templates) == {"PYBIND11_REF": "tag-3.1.0+3.1.0", "OTHER": '{"a": 1} fixed'}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (("PYBIND", "{pybind11}"), ["declares no ARG PYBIND", "PYBIND11_VERSION"]),
        (("PYBIND11_VERSION", "{torch}"), ["torch is not a pin", "pybind11"]),
        (("--target", "{pybind11}"), ["not a name that an ARG can have"]),
        (("A B", "x"), ["not a name that an ARG can have"]),
        (("", "x"), ["not a name that an ARG can have"]),
        (("A", "x\ny"), ["line break"]),
        (("INDEX", "https://user:secret@index.invalid/simple"), ["--secret"]),
    ],
)
def test_a_wrong_template_is_refused(template: tuple[str, str], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        values("FROM x\nARG PYBIND11_VERSION=3.0\n", templates=(template,))
    for word in words:
        assert word in caught.value.message
    assert "user:secret" not in caught.value.message


@pytest.mark.parametrize("version", ["3.0\n--privileged", "3\0", "3\r4"])
def test_a_value_that_no_arg_can_hold_is_refused(version: str) -> None:
    with pytest.raises(UsageError, match="line break or a null"):
        values("FROM x\nARG PYBIND11_VERSION=3.0\n", version=version)


def test_a_value_with_a_placeholder_in_it_is_not_read_as_a_template() -> None:
    found = pin_arguments(read_dockerfile("FROM x\nARG A_VERSION=1\nARG B_VERSION=1\n"), "Dockerfile", ["a", "b"], ())
    assert found.values({"a": "{b}", "b": "2"}) == {"A_VERSION": "{b}", "B_VERSION": "2"}


def test_the_example_gives_its_pin_to_the_arg_of_the_later_stage() -> None:
    example = Path(__file__).parents[2] / "docs" / "examples" / "pybind11" / "Dockerfile"
    assert values(example.read_text()) == {"PYBIND11_SPEC": "==3.1.0"}


def test_a_pin_whose_arg_is_set_by_an_option_is_told_so() -> None:
    with pytest.raises(UsageError, match=r"--build-arg PYBIND11_VERSION sets the ARG that the pin would take"):
        values("FROM x\nARG PYBIND11_VERSION=3.0\n", templates=(("PYBIND11_VERSION", "3.0"),))


STAGES = "FROM x AS a\nARG A=1\nRUN $A\nFROM x AS b\nARG B=1\nRUN {copy}\nFROM b\nARG C=1\nRUN $C\n"


@pytest.mark.parametrize(
    ("copy", "target", "expected"),
    [
        ("true", "", {1, 2}),
        ("true", "a", {0}),
        ("true", "B", {1}),
        ("true", "1", {1}),
        ("--mount=type=bind,from=a,target=/a true", "", {0, 1, 2}),
        ("true\nCOPY --chown=1 --from=0 /a /b", "", {0, 1, 2}),
        ("true\nCOPY --from=image /a /b", "", {1, 2}),
        ("true\nCOPY --from=$WHERE /a /b", "", None),
    ],
)
def test_the_stages_that_a_target_is_made_from(copy: str, target: str, expected: set[int] | None) -> None:
    assert built_stages(read_dockerfile(STAGES.replace("{copy}", copy)), target) == expected


def test_an_arg_of_a_stage_that_is_not_built_is_said() -> None:
    text = read_dockerfile(STAGES.replace("{copy}", "true"))
    assert "Dockerfile:2, in stage a" in unreachable(text, "Dockerfile", "", "A")
    assert unreachable(text, "Dockerfile", "", "B") == unreachable(text, "Dockerfile", "a", "A") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM x\nARG A_VERSION=1\n# A_VERSION\nRUN true\n", True),
        ("FROM x\nARG A_VERSION=1\nRUN $A_VERSION\n", False),
        ("FROM x\nARG A_VERSION=1\nARG B=$A_VERSION\nRUN $B\n", False),
        ("FROM x\nARG A_VERSION=1 B=$A_VERSION\nRUN $B\n", False),
        ("FROM x\nARG A_VERSION=1\nRUN <<E\nenv | grep A_VERSION\nE\n", False),
    ],
)
def test_an_arg_that_nothing_names_is_unused(text: str, expected: bool) -> None:
    assert unused(read_dockerfile(text), "A_VERSION") is expected
