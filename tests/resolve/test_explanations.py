"""Why something does not fit: few facts, each needed, and the least that would have to give way."""

from dataclasses import replace
from itertools import combinations

import pytest

from pins.errors import UsageError
from pins.resolve.bounds import package_windows
from pins.resolve.problem import Choice, Choices, Constraint, Origin, OriginKind, Problem, Requires
from pins.resolve.promises import broken_promises
from pins.resolve.requirement_line import read_line
from pins.resolve.why import Answer, why
from pins.resolve.windows import windows_of
from tests.resolve.frozen import frozen
from tests.resolve.memory_source import MemorySource, problem


def told(answer: Answer) -> list[str]:
    assert answer.explanation is not None
    return [sentence.text for sentence in answer.explanation.sentences]


def relaxed(answer: Answer) -> set[tuple[str, ...]]:
    return {tuple(constraint.requirement for constraint in one.constraints) for one in answer.relaxations}


def test_torch_triton_and_setuptools_exclude_each_other_in_three_sentences() -> None:
    universe = frozen("torch")
    asked = universe.problem("torch>=2.4", "triton==3.7.0", "setuptools>=82")
    answer = why(asked, universe.source())
    sentences = told(answer)
    assert len(sentences) == 3
    assert "setuptools>=82" in " ".join(sentences)
    assert "triton" in " ".join(sentences)
    assert relaxed(answer) == {("torch>=2.4",), ("triton==3.7.0",), ("setuptools>=82",)}


def test_a_question_about_one_version_is_answered_with_what_excludes_it() -> None:
    universe = frozen("torch")
    answer = why(universe.problem("torch>=2.4", "setuptools>=82"), universe.source(), "triton==3.7.0")
    assert answer.explanation is not None
    assert relaxed(answer) == {("torch>=2.4",), ("setuptools>=82",)}
    newest = {one.constraints[0].requirement: one.instead for one in answer.relaxations}
    assert newest["setuptools>=82"] == ("setuptools 81.0.0",)


def test_a_version_that_fits_comes_with_an_example() -> None:
    source = MemorySource().add("spam", "1.0", ["eggs>=2"]).add("eggs", "1.0").add("eggs", "2.0")
    answer = why(problem("spam"), source, "eggs==2.0")
    assert answer.model is not None
    assert answer.model.chosen == {"spam": "1.0", "eggs": "2.0"}


@pytest.mark.parametrize("question", ["eggs==9.0", "nothing-of-the-sort", "=1", "eggs=>1"])
def test_a_question_about_what_does_not_exist_is_a_mistake(question: str) -> None:
    source = MemorySource().add("spam", "1.0").add("eggs", "1.0")
    with pytest.raises(UsageError):
        why(problem("spam"), source, question)


def test_of_several_requirements_on_one_name_the_deciding_one_is_quoted_with_its_place() -> None:
    source = MemorySource().add("eggs", "1.0").add("eggs", "2.0").add("eggs", "3.0").add("spam", "1.0")
    tree, rule = Origin(file="spam@abc:pyproject.toml", line=3), Origin(OriginKind.INFERRED, "spam@abc:a.c", 7, "since")
    source.required["spam", "1.0"] = Requires(("eggs>=2", "eggs<3"), (tree, rule))
    [_, eggs] = package_windows(windows_of(problem("spam", "eggs"), source))
    assert eggs.specifier == "==2.0"
    assert {bound.version: [one.text for one in bound.because] for bound in eggs.bounds} == {
        "1.0": ["spam 1.0 requires eggs>=2 (spam@abc:pyproject.toml:3), not eggs 1.0"],
        "3.0": ["spam 1.0 requires eggs<3 (inferred, spam@abc:a.c:7, since), not eggs 3.0"],
    }
    kinds = [premise.kind for bound in eggs.bounds for one in bound.because for premise in one.premises]
    assert kinds.count(OriginKind.INFERRED) == 1


def test_known_bad_versions_and_holds_are_reasons_like_others() -> None:
    source = MemorySource().add("eggs", "1.0").add("eggs", "2.0").add("eggs", "3.0")
    bad = Constraint("eggs!=2.0", Origin(OriginKind.KNOWN_BAD, "pins.toml", 4, "bisect run 7"))
    hold = Constraint("eggs<3", Origin(OriginKind.HOLD, "pins.toml", 9, "until spam 2 is out"))
    [eggs] = package_windows(windows_of(replace(problem("eggs"), bounds=(bad, hold)), source))
    assert eggs.versions == ("1.0",)
    answer = why(replace(problem("eggs"), bounds=(bad, hold)), source, "eggs==2.0")
    assert told(answer)[-1] == "eggs!=2.0: known bad (pins.toml:4): bisect run 7"


def test_what_no_index_has_is_said() -> None:
    source = MemorySource().add("spam", "1.0", ["eggs"])
    assert "no index has it" in " ".join(told(why(problem("spam"), source)))


def test_many_reasons_of_one_kind_are_told_as_one() -> None:
    source = MemorySource()
    for minor in range(5):
        source.add("spam", f"1.{minor}", unusable=f"needs Python >=3.{minor + 20}")
        source.add("eggs", f"1.{minor}", unusable=f"has no wheel for here (only for cp3{minor} on win32) and no sdist")
    assert told(why(problem("spam"), source)) == [
        "spam 1.0 to 1.4 cannot be installed here: needs another Python",
        "spam is asked for (--require:1)",
    ]
    assert told(why(problem("eggs"), source))[0] == (
        "eggs 1.0 to 1.4 cannot be installed here: has no wheel for here and no sdist"
    )
    two = MemorySource().add("spam", "1", unusable="needs Python >=4").add("spam", "2", unusable="needs Python >=5")
    assert told(why(problem("spam"), two))[:2] == [
        "spam 1 cannot be installed here: needs Python >=4",
        "spam 2 cannot be installed here: needs Python >=5",
    ]


def test_a_requirement_that_no_release_fulfils_says_so() -> None:
    source = MemorySource().add("spam", "1.0")
    assert told(why(problem("spam>=9"), source)) == ["spam>=9 is asked for (--require:1), and there is none"]
    [nothing] = told(why(problem("ham"), source))
    assert nothing.endswith("and no index has it")


def test_commits_are_pinned_by_their_label_though_their_version_is_not_known() -> None:
    source = MemorySource().add("eggs", "1.0").add("eggs", "2.0")
    ranges = [Choice("aaaaaaa..bbbbbbb", None), Choice("ccccccc..ddddddd", None)]
    source.packages["tree"] = Choices(tuple(ranges))
    source.required["tree", "aaaaaaa..bbbbbbb"] = Requires(("eggs<2",))
    source.required["tree", "ccccccc..ddddddd"] = Requires(("eggs>=2",))
    pinned = Constraint("tree===aaaaaaa..bbbbbbb")
    [eggs] = windows_of(replace(problem("tree"), bounds=(pinned,), targets=("eggs",)), source).windows
    assert eggs.labels(eggs.inside) == ("1.0",)
    [tree] = windows_of(problem("tree", "eggs>=2", targets=("tree",)), source).windows
    assert tree.labels(tree.inside) == ("ccccccc..ddddddd",)
    [tree] = windows_of(problem("tree>=1", targets=("tree",)), source).windows
    assert not tree.inside
    assert tree.labels(tree.unknown) == () or tree.unknown == tree.asked


def test_requirements_that_are_not_enforced_exclude_nothing_and_are_reported_where_broken() -> None:
    source = MemorySource().add("spam", "1.0", ["eggs<2", "ham", "bread"]).add("eggs", "2.0").add("bread", "1.0")
    asked = replace(problem("spam", "eggs", "bread"), without_dependencies=frozenset({"spam"}))
    found = windows_of(asked, source)
    assert found.possible
    assert broken_promises(found) == (
        "spam 1.0 requires eggs<2, and no version of eggs that can be chosen is one",
        "spam 1.0 requires ham, and nothing installs it",
    )


def _without(asked: Problem, left_out: tuple[Constraint, ...]) -> Problem:
    def bare(constraint: Constraint) -> Constraint:
        line = read_line(constraint.requirement)
        extras = f"[{','.join(line.extras)}]" if line.extras else ""
        return replace(constraint, requirement=line.name + extras)

    gone = {id(one) for one in left_out}
    return replace(
        asked,
        requirements=tuple(bare(one) if id(one) in gone else one for one in asked.requirements),
        bounds=tuple(one for one in asked.bounds if id(one) not in gone),
    )


def test_relaxations_of_random_universes_are_the_smallest_that_a_sat_solver_finds() -> None:
    pytest.importorskip("pysat", reason="python-sat is the oracle")
    from tests.resolve.random_universes import RandomUniverse, oracle, random_universe

    compared = 0
    for seed in range(0, 160, 2):  # by uv's rules, in which leaving a requirement out never rules anything out
        universe = random_universe(seed)
        answer = why(universe.problem, universe.source)
        if answer.explanation is None:
            continue
        constraints = (*universe.problem.requirements, *universe.problem.bounds)
        expected: set[tuple[str, ...]] = set()
        for size in range(1, len(constraints) + 1):
            expected = {
                tuple(sorted(one.requirement for one in chosen))
                for chosen in combinations(constraints, size)
                if oracle(RandomUniverse(seed, _without(universe.problem, chosen), universe.source), only=[""]).possible
            }
            if expected:
                break
        assert {tuple(sorted(one)) for one in relaxed(answer)} == expected, f"universe {seed}"
        compared += bool(expected)
    assert compared > 5


def test_what_comes_from_an_address_makes_a_version_unknown_only_where_it_counts() -> None:
    source = MemorySource().add("eggs", "1.0").add("spam", "1.0", ["eggs @ https://example.invalid/eggs.whl"])
    source.add("spam", "2.0", ["eggs @ https://example.invalid/eggs.whl ; extra == 'odd'"]).add("spam", "3.0", ["<?>"])
    [spam] = package_windows(windows_of(problem("spam"), source))
    assert spam.versions == ("2.0",)
    assert {one.versions: one.reason.partition(",")[0] for one in spam.unknown} == {
        ("1.0",): "it requires eggs from an address",
        ("3.0",): "it requires '<?>'",
    }
    [spam] = package_windows(windows_of(problem("spam[odd]"), source))
    assert spam.versions == ()
    answer = why(problem("spam[odd]==2.0"), source)
    assert answer.explanation is None
    assert "from an address" in answer.unknown[0]
