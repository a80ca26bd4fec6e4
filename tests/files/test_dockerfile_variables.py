"""ARG and ENV as the builder evaluates them."""

from collections.abc import Mapping

import pytest

from pins.files.dockerfile.stages import Stages, read_stages
from pins.files.dockerfile.syntax import split_dockerfile
from pins.files.values import text_of, unknown_of


def stages_of(text: str, build_args: Mapping[str, str] | None = None) -> Stages:
    stages = read_stages(split_dockerfile(text.encode()), "Dockerfile", build_args)
    for stage in stages.stages:
        for _ in stages.walk(stage):
            pass
    return stages


def values(text: str, stage: str = "0", build_args: Mapping[str, str] | None = None) -> dict[str, str]:
    found = stages_of(text, build_args).find(stage)
    assert found
    assert found.final
    return {name: text_of(value) for name, value in found.final.values.items()}


def test_a_global_arg_is_not_seen_in_a_stage_that_does_not_declare_it() -> None:
    assert "A" not in values("ARG A=1\nFROM x\nRUN y\n")


def test_a_global_arg_is_seen_where_it_is_declared_again() -> None:
    assert values("ARG A=1\nFROM x\nARG A\n")["A"] == "1"


def test_the_default_of_the_stage_beats_that_of_the_global() -> None:
    assert values("ARG A=1\nFROM x\nARG A=2\n")["A"] == "2"


def test_a_build_argument_beats_both() -> None:
    assert values("ARG A=1\nFROM x\nARG A=2\n", build_args={"A": "3"})["A"] == "3"


def test_a_build_argument_for_a_name_that_no_arg_declares_has_no_effect() -> None:
    assert "A" not in values("FROM x\nRUN y\n", build_args={"A": "3"})


def test_a_child_stage_inherits_args_and_envs() -> None:
    assert values("FROM x AS p\nARG A=1\nENV B=2\nFROM p\n", "1") == {"A": "1", "B": "2"}


def test_in_a_child_stage_env_beats_an_arg_that_came_after_it() -> None:
    assert values("FROM x AS p\nENV A=env\nARG A=arg\n", "p")["A"] == "arg"
    assert values("FROM x AS p\nENV A=env\nARG A=arg\nFROM p\n", "1")["A"] == "env"


def test_the_later_statement_wins() -> None:
    assert values("FROM x\nENV A=1\nARG A=2\n")["A"] == "2"
    assert values("FROM x\nARG A=2\nENV A=1\n")["A"] == "1"


def test_words_of_one_env_see_the_environment_before_it_and_those_of_an_arg_one_another() -> None:
    assert values("FROM x\nENV A=0\nENV A=1 B=$A\n")["B"] == "0"
    assert values("FROM x\nARG A=1 B=$A\n")["B"] == "1"


def test_text_behind_a_hash_on_an_arg_line_declares_arguments_and_is_kept_as_a_comment() -> None:
    stages = stages_of("FROM x\nARG A=1 # see B=2\n")
    final = stages.stages[0].final
    assert final
    assert text_of(final.values["B"]) == "2"
    assert final.values["A"][0].variables[-1].comment == "see B=2"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("${A:-d}", "1.2.3"),
        ("${E:-d}", "d"),
        ("${U:-d}", "d"),
        ("${U-d}", "d"),
        ("${E-d}", ""),
        ("${A:+s}", "s"),
        ("${E:+s}", ""),
        ("${U:+s}", ""),
        ("${E+s}", "s"),
        ("${U:-${A}}", "1.2.3"),
        ("${U:-a b}", "a b"),
        ("${A%.*}", "1.2"),
        ("${A%%.*}", "1"),
        ("${A#*.}", "2.3"),
        ("${A##*.}", "3"),
        ("${A/./-}", "1-2.3"),
        ("${A//./-}", "1-2-3"),
        ("${A//.}", "123"),
        ("$A-x", "1.2.3-x"),
        ("\\$A", "$A"),
        ("${A%\\.3}", "1.2"),
        ("${A?no}", "1.2.3"),
    ],
)
def test_operators(reference: str, expected: str) -> None:
    assert values(f'FROM x\nENV A=1.2.3 E=\nENV V="{reference}"\n')["V"] == expected


def test_quotes_and_escapes() -> None:
    found = values('FROM x\nENV A=\'$X\' B="a\\"b" C=a\\ b D="x"\'y\'z\nENV E one  two\n')
    assert found == {"A": "$X", "B": 'a"b', "C": "a b", "D": "xyz", "E": "one  two"}


def test_letters_of_every_script_are_part_of_a_name_as_the_builder_reads_it_and_other_characters_are_not() -> None:
    found = values('FROM x\nENV A=1\nENV V="$Aé|${Aé:-none}|$A→|$A٣|"\n')
    assert found["V"] == "|none|1→||"


def test_an_arg_without_default_on_a_from_line_is_unknown_and_named() -> None:
    stage = stages_of("ARG CUDA\nFROM nvidia/cuda:${CUDA}-devel\n").stages[0]
    assert "CUDA has no default" in unknown_of(stage.base)


def test_what_the_builder_sets_is_unknown() -> None:
    found = stages_of("FROM x\nARG TARGETARCH\n").stages[0]
    assert found.final
    assert "builder" in unknown_of(found.final.values["TARGETARCH"])


def test_from_finds_an_earlier_stage_by_an_evaluated_name_in_any_case() -> None:
    stages = stages_of("ARG R=1\nFROM x AS Fetch_1\nFROM fetch_${R} AS t\n").stages
    assert stages[1].base_stage is stages[0]


def test_a_name_used_twice_means_the_latest_stage_before() -> None:
    stages = stages_of("FROM x AS a\nFROM y AS a\nFROM a\n").stages
    assert stages[2].base_stage is stages[1]


def test_roles_tell_what_ships_from_what_only_feeds() -> None:
    stages = stages_of(
        "FROM x AS base\nFROM base AS build\nFROM base AS unused\nFROM base AS debs\n"
        "RUN --mount=type=bind,from=build,target=/i cp /i/* /d\nFROM base\nCOPY --from=debs /d /d\n"
    )
    names = {stages.stages[index].name: role.value for index, role in stages.roles().items()}
    assert names == {"base": "ships", "build": "feeds", "unused": "unused", "debs": "feeds", "4": "target"}


def test_onbuild_runs_in_the_stage_that_is_built_from_it() -> None:
    stages = stages_of("FROM x AS a\nARG V=1\nONBUILD RUN echo $V\nFROM a\nRUN z\n")
    steps = [step.instruction.keyword for step in stages.walk(stages.stages[1])]
    assert steps == ["RUN", "RUN"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("FROM x\nENV A=$(uname -m)\n", 2),
        ("FROM x\nENV A\n", 2),
        ('FROM x\nARG A="open\n', 2),
        ("RUN x\nFROM y\n", 1),
        ("FROM a b\n", 1),
        ("# nothing\n", 1),
    ],
)
def test_what_the_builder_refuses_ends_the_reading_at_its_line(text: str, line: int) -> None:
    problem = stages_of(text).problem
    assert problem
    assert problem.line == line
