from pathlib import Path

from pins.metadata.nested_pins import NestedPin, nested_pins
from pins.sources.git.address import parse_address
from pins.sources.git.clone import open_clone
from pins.sources.git.trees import Trees
from tests.metadata.repositories import SmallRepository

MODULES = '[submodule "ck"]\n\tpath = 3rdparty/ck\n\turl = https://example.org/ck.git\n\tbranch = develop\n'


def test_submodules_and_files_that_hold_a_hash_are_pins(tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "spam")
    other = "1" * 40
    repository.commit({"cmake/llvm-hash.txt": f"# as of today\n{'a1' * 20}\n", "notes.txt": "b" * 40, "README": "x"})
    (repository.path / ".gitmodules").write_text(MODULES)
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{other},3rdparty/ck")
    repository.git("add", ".gitmodules")
    repository.git("commit", "-q", "-m", "submodule")
    commit = repository.git("rev-parse", "HEAD")
    trees = Trees(open_clone(parse_address(str(repository.path), tmp_path), tmp_path / "cache"))
    assert nested_pins(trees, commit) == (
        NestedPin("3rdparty/ck", other, "https://example.org/ck.git"),
        NestedPin("cmake/llvm-hash.txt", "a1" * 20),
    )
