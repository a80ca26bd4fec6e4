"""What differs between two revisions of a file, and the file of each candidate in between."""

import os
import subprocess
from pathlib import Path

import pytest

from bisector.environments.base import InfeasibleError
from bisector.file_axes.ends import read_space
from bisector.file_axes.request import FilesRequest
from bisector.file_axes.versions import Reading
from pins.errors import UsageError
from pins.model import PinKind
from tests.docker.image_project import git
from tests.file_axes.small_repository import SmallRepository, values


@pytest.fixture
def repository(tmp_path: Path) -> SmallRepository:
    return SmallRepository(tmp_path / "repository", {"spam": ["1.0", "1.1", "2.0", "3.0"], "eggs": ["1.0", "2.0"]})


BASE = """ARG BASE_IMAGE=base:1
ARG EXT_BRANCH="aaaa111" # as of 1
ARG EXT_REPO=https://host.invalid/o/ext.git
FROM ${{BASE_IMAGE}} AS base
RUN pip install {spam} 'eggs==1.0'
FROM base AS final
ARG EXT_BRANCH
ARG EXT_REPO
RUN git clone ${{EXT_REPO}} ext && cd ext && git checkout ${{EXT_BRANCH}}
"""


def test_each_pin_that_differs_is_an_axis_of_its_kind(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(BASE.format(spam="spam==1.0").replace("base:1", "base:2"))
    repository.commit(
        BASE.format(spam="spam==3.0").replace("base:1", "base:3").replace("aaaa111", "bbbb222").replace("of 1", "of 2")
    )
    axes = repository.axes(repository.space())
    assert {name: axis.kind for name, axis in axes.items()} == {
        "base-image": PinKind.IMAGE,
        "ext": PinKind.GIT,
        "spam": PinKind.PACKAGE,
    }
    assert values(axes["spam"]) == ["1.0", "1.1", "2.0", "3.0"]
    assert values(axes["base-image"]) == ["base:1", "base:2", "base:3"]
    assert values(axes["ext"]) == ["aaaa111", "bbbb222"]


def test_pins_move_in_the_order_in_which_a_build_uses_them_so_that_early_layers_are_there(
    repository: SmallRepository,
) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    moved = BASE.format(spam="spam==3.0").replace("base:1", "base:2").replace("aaaa111", "bbbb222")
    repository.commit(moved)
    axes = repository.axes(repository.space())
    assert [*axes] == ["base-image", "spam", "ext"], "ext has the higher ARG, and is checked out last"
    early = [
        (candidate["base-image"], candidate["spam"]) for candidate in repository.chain(repository.space()).candidates
    ]
    assert early[-2:] == [("base:2", "3.0")] * 2, "where ext moves, all before it is as at the bad end"


def test_an_argument_that_is_used_as_two_things_is_one_axis(repository: SmallRepository) -> None:
    text = (
        "ARG CUDA_VER={}\nFROM nvidia/cuda:${{CUDA_VER}}-base\nARG CUDA_VER\n"
        'RUN pip install spam==1.0 && conda install -y "cuda-version=${{CUDA_VER}}" && git clone -b v${{CUDA_VER}}'
        " https://host.invalid/o/ext.git\n"
    )
    for value in ("12.0", "12.4", "13.0"):
        repository.commit(text.format(value))
    space = repository.space()
    [part] = space.parts
    places = [bad.places for _, _, bad in part.moving]
    assert len(set(places)) == len(places) == 1
    [name] = space.pins
    for candidate in repository.chain(space).candidates:
        assert f"ARG CUDA_VER={candidate[name]}\n".encode() in part.render(candidate)


def test_a_candidate_is_the_bad_file_with_its_pins_set_and_nothing_else_changed(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(BASE.format(spam="'spam==3.0'").replace("aaaa111", "bbbb222"))
    space = repository.space()
    chain = repository.chain(space)
    [part] = space.parts
    assert part.render({"ext": "aaaa111", "spam": "2.0"}) == BASE.format(spam="'spam==2.0'").encode()
    assert part.render(chain.candidates[-1]) == part.history.bad.data


def test_the_rest_of_the_text_is_one_more_axis_over_its_revisions(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"), "First")
    repository.commit(BASE.format(spam="spam==1.0") + "ENV A=1\n", "Set A")
    repository.commit(BASE.format(spam="spam==2.0") + "ENV A=1\n", "Bump spam")
    repository.commit(BASE.format(spam="spam==2.0") + "# more to come\nENV   A=1\n", "Say more")
    repository.commit(BASE.format(spam="spam==2.0") + "ENV A=2\n", "Set A again")
    space = repository.space()
    axes = repository.axes(space)
    assert [*axes] == ["text", "spam"]
    assert [value.subject for value in axes["text"].values] == ["First", "Set A", "Set A again"]
    assert values(axes["text"]) == [repository.revisions[number] for number in (0, 1, 4)]
    [part] = space.parts
    assert part.render({"text": repository.revisions[1], "spam": "2.0"}).decode() == (
        BASE.format(spam="spam==2.0") + "ENV A=1\n"
    )


def test_both_ends_come_out_as_they_are_in_the_repository(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(BASE.format(spam='"spam==2.0"') + "USER me\n# the end\n")
    space = repository.space()
    [part] = space.parts
    chain = repository.chain(space)
    assert part.render(chain.candidates[0]) == part.history.good.data
    assert part.render(chain.candidates[-1]) == part.history.bad.data


def test_pins_at_one_end_alone_move_with_the_text_and_are_said(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0 old==1.0"))
    repository.commit(BASE.format(spam="spam==2.0 new==1.0"))
    space = repository.space()
    assert space.pins == ("text", "spam")
    assert any("at the good end alone, moves with the text: old (package)" in note for note in space.notes)
    assert any("at the bad end alone, moves with the text: new (package)" in note for note in space.notes)


def test_a_renamed_argument_stays_one_pin_and_is_said(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    renamed = BASE.format(spam="spam==1.0").replace("EXT_BRANCH", "PLUGIN_REF").replace("aaaa111", "bbbb222")
    repository.commit(renamed)
    space = repository.space()
    assert any("PLUGIN_REF (line 2) at the bad end" in note for note in space.notes)
    [name] = [pin for pin in space.pins if pin != "text"]
    [part] = space.parts
    good = part.render({"text": repository.revisions[0], name: "cccc333"}).decode()
    assert 'ARG EXT_BRANCH="cccc333"' in good
    assert 'ARG PLUGIN_REF="cccc333"' in part.render({"text": repository.revisions[1], name: "cccc333"}).decode()


def test_a_revision_that_does_not_parse_cannot_be_built_and_says_why(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(BASE.format(spam="spam==1.0") + "RUN <<EOF\nnever ended\n")
    repository.commit(BASE.format(spam="spam==2.0") + "ENV A=1\n")
    space = repository.space()
    axes = repository.axes(space)
    assert values(axes["text"]) == repository.revisions
    [part] = space.parts
    with pytest.raises(InfeasibleError, match=r"cannot be read: line \d+"):
        part.render({"text": repository.revisions[1], "spam": "1.0"})


def test_an_end_that_does_not_parse_is_refused(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(BASE.format(spam="spam==1.0") + "RUN <<EOF\nnever ended\n")
    with pytest.raises(UsageError, match=r"the bad end: .* cannot be read"):
        repository.space()


def test_a_file_that_was_away_for_a_while_has_no_value_then(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(None)
    repository.commit(BASE.format(spam="spam==2.0"))
    assert repository.space().pins == ("spam",)


def test_a_file_that_does_not_exist_at_an_end_is_refused(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(None)
    with pytest.raises(UsageError, match=f"does not exist at {repository.revisions[1][:12]};"):
        repository.space()


def test_divergent_ends_are_led_through_their_common_ancestor(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    git(repository.path, "checkout", "--quiet", "-b", "release")
    repository.commit(BASE.format(spam="spam==1.0") + "ENV SIDE=1\n", "On the release branch")
    git(repository.path, "checkout", "--quiet", "main")
    repository.commit(BASE.format(spam="spam==1.0") + "ENV MAIN=1\n", "On main")
    space = repository.space(repository.revisions[1], repository.revisions[2])
    axes = repository.axes(space)
    assert values(axes["text"]) == [repository.revisions[number] for number in (1, 0, 2)]
    assert any("different branches" in note for note in space.notes)


def test_requirements_without_a_version_stand_for_the_newest_that_fits(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam"))
    repository.commit(BASE.format(spam="'spam<2'"))
    space = repository.space()
    assert space.pins == ("spam",), "quotes that mean nothing are no text of their own"
    assert values(repository.axes(space)["spam"]) == ["3.0", "2.0", "1.1"]
    [part] = space.parts
    assert "'spam==2.0'" in part.render({"spam": "2.0"}).decode()


def test_without_an_index_the_values_are_those_that_the_file_has_held(repository: SmallRepository) -> None:
    for version in ("1.0", "1.1", "5.0", "1.1", "2.0"):
        repository.commit(BASE.format(spam=f"unknown=={version}"))
    assert values(repository.axes(repository.space())["unknown"]) == ["1.0", "1.1", "2.0"]


def test_only_and_exclude_choose_and_fix_holds_still(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam==1.0"))
    repository.commit(
        BASE.format(spam="spam==2.0").replace("aaaa111", "bbbb222").replace("eggs==1", "eggs==2") + "USER x\n"
    )
    assert repository.space().pins == ("text", "ext", "spam", "eggs")
    assert repository.space(only=("spam", "EXT_BRANCH")).pins == ("ext", "spam")
    assert repository.space(exclude=("text", "spam")).pins == ("ext", "eggs")
    space = repository.space(fixed=("spam",))
    assert space.pins == ("text", "ext", "eggs")
    rendered = space.parts[0].render({"spam": "1.1", "ext": "bbbb222", "eggs": "2.0"}).decode()
    assert "spam==1.1" in rendered
    with pytest.raises(UsageError, match="--only spaam: no such pin differs"):
        repository.space(only=("spaam",))
    with pytest.raises(UsageError, match=r"--fix spaam: .* has no such pin"):
        repository.space(fixed=("spaam",))


def test_one_name_in_two_stages_makes_two_axes(repository: SmallRepository) -> None:
    both = (
        "FROM base AS one\nRUN pip install spam=={}\n"
        "FROM base AS two\nCOPY --from=one /a /a\nRUN pip install spam=={}\n"
    )
    repository.commit(both.format("1.0", "1.1"))
    repository.commit(both.format("2.0", "3.0"))
    space = repository.space()
    assert space.pins == ("spam@one", "spam@two")
    assert space.parts[0].render({"spam@one": "1.0", "spam@two": "3.0"}).decode() == both.format("1.0", "3.0")


def test_two_files_are_ends_too(repository: SmallRepository, tmp_path: Path) -> None:
    good, bad = tmp_path / "Dockerfile.good", tmp_path / "Dockerfile.bad"
    good.write_text(BASE.format(spam="spam==1.0"))
    bad.write_text(BASE.format(spam="spam==2.0") + "USER me\n")
    space = repository.space(good_file=good, bad_file=bad)
    axes = repository.axes(space)
    assert values(axes["text"]) == [str(good), str(bad)]
    assert values(axes["spam"]) == ["1.0", "1.1", "2.0"]


def test_files_around_the_dockerfile_belong_to_the_text(repository: SmallRepository) -> None:
    text = "FROM base\nCOPY data.txt /data\nRUN pip install spam==1.0\n"
    repository.commit(text, "First", data__txt="one")
    repository.commit(text, "Other data", data__txt="two")
    repository.commit(text, "Beside", other__txt="three")
    axes = repository.axes(repository.space())
    assert [value.subject for value in axes["text"].values] == ["First", "Other data"]


def test_where_all_of_the_context_is_copied_every_commit_that_changes_it_is_a_text(repository: SmallRepository) -> None:
    text = "FROM base\nCOPY . /all\nRUN pip install spam==1.0\n"
    for number in range(4):
        repository.commit(text, f"Change {number}", data__txt=str(number // 2), other__txt=str(number))
    axes = repository.axes(repository.space())
    assert [value.subject for value in axes["text"].values] == [f"Change {number}" for number in range(4)]


def test_reading_leaves_the_repository_as_it_was(repository: SmallRepository, tmp_path: Path) -> None:
    repository.commit("FROM base\nCOPY data.txt /data\n", data__txt="one")
    repository.commit("FROM base\nCOPY data.txt /data\nUSER x\n", data__txt="two")
    (repository.path / "untracked").write_text("mine")
    (repository.path / "Dockerfile").write_text("FROM changed\n")
    before = state(repository.path)
    space = repository.space()
    [part] = space.parts
    history = part.history
    assert history.repository is not None
    for number, version in enumerate(history.versions):
        room = tmp_path / str(number)
        history.repository.check_out(version.commit, history.sources, room / "tree", room / "index")
        assert (room / "tree" / "data.txt").read_text() == ("one", "two")[number]
    assert state(repository.path) == before


def state(path: Path) -> dict[str, bytes]:
    found = {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    status = ["git", "-C", str(path), "status", "--porcelain"]
    found["status"] = subprocess.run(
        status, capture_output=True, check=True, env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    ).stdout
    return found


def test_nothing_that_differs_is_refused_with_the_way_to_floats(repository: SmallRepository) -> None:
    repository.commit(BASE.format(spam="spam"))
    repository.commit(BASE.format(spam="spam") + "# a comment\n")
    with pytest.raises(UsageError, match="--good-date and --bad-date"):
        repository.space()


@pytest.mark.parametrize("copied", ['COPY ["zwei wege/dätä.txt", "made-before", "/"]', "COPY zwei* /data\nCOPY . /all"])
def test_the_context_is_the_top_of_the_repository_where_that_alone_holds_what_is_copied(
    copied: str, tmp_path: Path
) -> None:
    path = tmp_path / "mein projekt"
    repository = SmallRepository(path)
    (path / "docker files").mkdir()
    (path / "zwei wege").mkdir()
    for number, content in enumerate(("one", "two", "three")):
        (path / "zwei wege" / "dätä.txt").write_text(content)
        (path / "docker files" / "Dockerfile.größe").write_text(f"FROM base\nENV A={number // 2}\n{copied}\n")
        repository.commit("FROM another\n", content)
    request = FilesRequest(file=path / "docker files" / "Dockerfile.größe", good="HEAD~2", bad="HEAD")
    space = read_space(request, Reading({}, "", {}), None, [])
    [part] = space.parts
    if "wege" not in copied:  # nothing is named in full, so that nothing tells
        assert part.history.context == "docker files"
        return
    assert part.history.context == ""
    assert [version.subject for version in part.texts] == ["one", "two", "three"], "what is copied is text, too"
    assert any(
        "the build context is the top of the repository, since docker files/ holds" in note for note in space.notes
    )
    named = read_space(request, Reading({}, "", {}), path / "docker files", [])
    assert named.parts[0].history.context == "docker files", "what the user says holds"
