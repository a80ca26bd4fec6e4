"""Which commands a script runs, and when."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pins.files.joined import JoinedText
from pins.files.shell.command import Command
from pins.files.shell.commands import ShellReader
from pins.files.shell.syntax import parse_shell
from pins.files.values import Declaration, Fragment, Value, text_of


def commands(script: str, **variables: str) -> list[Command]:
    def lookup(name: str) -> Value | None:
        return (Fragment(variables[name]),) if name in variables else None

    reader = ShellReader(lookup, lambda name, offset, form: Declaration(name, form, "s", "f", 1, offset))
    reader.read(JoinedText(script.encode(), (0,), (0,)), "/w", docker=True)
    assert not reader.problems
    return reader.commands


def lines(script: str, **variables: str) -> list[str]:
    return [" ".join(text_of(word) for word in command.words) for command in commands(script, **variables)]


def test_chains_lists_and_pipelines_run_all_their_commands() -> None:
    assert lines("a 1 && b 2 || c 3; d | e & f\ng") == ["a 1", "b 2", "c 3", "d", "e", "f", "g"]


def test_quotes_expansions_and_inline_assignments() -> None:
    found = commands("""V="v1.4" && X=1 curl 'a b'"c$V"d\\ e ${W:-f}""")
    assert [text_of(word) for word in found[0].words] == ["curl", "a bcv1.4d e", "f"]
    assert [name for name, _ in found[0].environment] == ["X"]


def test_an_unquoted_variable_splits_into_words_and_a_quoted_one_does_not() -> None:
    assert [len(c.words) for c in commands('pip install $P; pip install "$P"', P="a b")] == [4, 3]


def test_a_test_with_known_values_decides_the_branch() -> None:
    found = commands('if [ "$U" = "1" ]; then a; elif [ -n "$V" ]; then b; else c; fi', U="0", V="x")
    assert {c.name: c.conditions[-1].holds for c in found if c.conditions} == {"a": False, "b": True, "c": False}


def test_branches_of_one_choice_exclude_each_other() -> None:
    found = {c.name: c.conditions[-1] for c in commands('case "$X" in 12.*|13*) a;; *) b;; esac') if c.conditions}
    assert found["a"].choice == found["b"].choice
    assert found["a"].arm != found["b"].arm
    assert found["a"].holds is None


def test_a_variable_set_in_exclusive_branches_gives_the_command_once_for_each_value() -> None:
    script = "case $(uname -m) in x86_64) U=one;; *) U=two;; esac; curl $U"
    assert [line for line in lines(script) if line.startswith("curl")] == ["curl one", "curl two"]


def test_a_loop_over_literal_words_runs_for_each() -> None:
    assert lines("for p in a b; do pip install $p; done") == ["pip install a", "pip install b"]


def test_cd_is_followed_and_ends_with_its_subshell() -> None:
    found = commands("(cd x && a); b; cd y; c; cd ..; d")
    assert {c.name: c.directory for c in found if len(c.name) == 1} == {"a": "/w/x", "b": "/w", "c": "/w/y", "d": "/w"}


def test_functions_run_where_they_are_called() -> None:
    assert lines("f() { pip install $1; }; f foo") == ["pip install foo"]


def test_scripts_inside_words_and_heredocs_are_followed_with_their_places() -> None:
    script = "bash -c 'pip install foo==1.4'\nbash -e <<EOF\npip install bar==2\nEOF\n"
    found = [c for c in commands(script) if c.name == "pip"]
    assert [text_of(c.words[2]) for c in found] == ["foo==1.4", "bar==2"]
    for command in found:
        word = command.words[2][0]
        assert script[word.start : word.end] == word.text


def test_a_docker_heredoc_without_command_is_a_script_unless_another_interpreter_is_named() -> None:
    assert lines("<<EOF\npip install x\nEOF\n") == ["pip install x"]
    assert lines("<<EOF\n#!/usr/bin/env python3\nimport x\nEOF\n") == []
    assert lines("python3 <<EOF\npip install x\nEOF\n") == ["python3"]


def test_redirections_belong_to_the_command_and_are_no_words() -> None:
    command = commands("pip install foo>=4 2>/dev/null < in")[0]
    assert [text_of(w) for w in command.words] == ["pip", "install", "foo"]
    assert [text_of(w) for w in command.outputs] == ["=4"]
    assert [text_of(w) for w in command.inputs] == ["in"]


def test_a_comment_swallows_the_rest_of_a_joined_line() -> None:
    assert lines("a # b && c") == ["a"]


def test_commands_in_substitutions_run_too() -> None:
    assert "git rev-parse HEAD" in lines('echo "$(git rev-parse HEAD)"')


def test_what_cannot_be_parsed_is_stepped_over() -> None:
    reader = ShellReader(lambda _: None, lambda name, offset, form: Declaration(name, form, "s", "f", 1, offset))
    reader.read(JoinedText(b"a; fi; pip install x", (0,), (0,)), "/")
    assert [c.name for c in reader.commands] == ["a", "pip"]
    assert reader.problems


PIECES = st.sampled_from(
    [
        "a",
        "b c",
        "&&",
        "||",
        ";",
        "|",
        "(",
        ")",
        "{ ",
        "; }",
        "if x; then",
        "fi",
        "else",
        "for i in 1 2; do",
        "done",
        "\n",
        "case $x in",
        "y)",
        ";;",
        "esac",
        "'q w'",
        '"$V w"',
        "$(z)",
        "${V:-d}",
        "> f",
        "2>&1",
        "<<E\nh\nE\n",
        "# c\n",
        "while x; do",
        "V=1",
        "!",
        "[ -n x ]",
        "[[ a && b ]]",
        "f() {",
        "`t`",
        "\\\n",
        "((1+2))",
        "&",
    ]
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@settings(max_examples=250, deadline=None)
@given(st.lists(PIECES, max_size=12))
def test_what_bash_accepts_is_parsed_without_complaint(pieces: list[str]) -> None:
    script = " ".join(pieces).encode()
    found = parse_shell(script)
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, check=False)
    if checked.returncode == 0:
        assert found.problems == []


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    reader = ShellReader(lambda _: None, lambda name, offset, form: Declaration(name, form, "s", "f", 1, offset))
    reader.read(JoinedText(data, (0,), (0,)), "/")
