"""Lines of a commit's files that hold a word."""

from dataclasses import dataclass

from pins.sources.git.clone import Clone
from pins.sources.git.program import GitFailedError, git


@dataclass(frozen=True, slots=True)
class Hit:
    """One line.

    Attributes:
        path: of the file, from the top of the tree.
        line: counted from 1.
        text: the line.
    """

    path: str
    line: int
    text: str


def lines_with(clone: Clone, commit: str, word: str, pathspecs: tuple[str, ...]) -> list[Hit] | None:
    """Every line that holds a word, in files that match; None where the repository lacks files that it would read.

    Args:
        clone: the repository. One that fetches contents as they are needed is not searched: it would fetch them all.
        commit: its full hash.
        word: what is looked for, as it is.
        pathspecs: of git, such as "*.py" and ":(exclude)tests/*".
    """
    if clone.is_partial:
        return None
    try:
        printed = git(
            [
                *("grep", "--no-color", "-n", "-z", "-I", "-F", "-w", "-e", word, commit, "--"),
                *pathspecs,
            ],
            repository=clone.directory,
            statuses=frozenset({0, 1}),
        )
    except GitFailedError:
        return None
    found = []
    for row in printed.decode("utf-8", "replace").split("\n"):
        parts = row.split("\0", 2)
        if len(parts) == 3 and parts[1].isdigit():
            found.append(Hit(parts[0].partition(":")[2], int(parts[1]), parts[2]))
    return found
