"""What a repository's project requires, all along a branch: ranges of commits with equal requirements.

The files that say so change seldom, and what they say changes more seldom still: 2,817 commits of a Triton branch have
223 states of their build files and a few dozen sets of requirements. Each state is read once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pins.metadata.declarations import Statement, Subject
from pins.metadata.inferred.rules import implied_by
from pins.metadata.kept_states import KeptStates, Key
from pins.metadata.project_state import ProjectPlace, ProjectState
from pins.metadata.tree import FILES, TreeRequirements, read_tree
from pins.sources.git.branches import Line, LineCommit
from pins.sources.git.trees import MissingObjectsError, Node, Trees
from pins.sources.metadata_cache import MetadataCache

_MOST_ROUNDS = 8
_LARGEST_FILE = 4 * 2**20


@dataclass(frozen=True)
class CommitRange:
    """Neighbouring commits of a line that require the same.

    Attributes:
        commits: oldest first.
        state: what they require; lines are those of the last commit, or of the pinned one.
        at: the commit whose files `state` was read from.
    """

    commits: tuple[LineCommit, ...]
    state: ProjectState
    at: str

    def label(self, length: int = 7) -> str:
        """Such as "f0b55c0..532137f", or "f0b55c0" for one commit."""
        first, last = self.commits[0].id[:length], self.commits[-1].id[:length]
        return first if len(self.commits) == 1 else f"{first}..{last}"


class ProjectHistory:
    """Reads a project at commits of its repository; keeps what it has read.

    Args:
        trees: of the repository.
        place: where the project lies.
        markers: of the target, as PEP 508 names them.
        cache: where states are kept between calls; None keeps none.
    """

    def __init__(
        self,
        trees: Trees,
        place: ProjectPlace,
        markers: Mapping[str, str] | None = None,
        cache: MetadataCache | None = None,
    ) -> None:
        self._trees = trees
        self._place = place
        self._markers = dict(markers or {})
        self._paths = {f"{one}/{name}".lstrip("/") for one in place.directories for name in FILES}
        self._paths |= set(place.requirement_files)
        self._states: dict[Key, ProjectState] = {}
        self._tree_paths: set[str] = set()
        self._tree_states: dict[tuple[str, Key], TreeRequirements] = {}
        self._kept = KeptStates(cache, trees.clone.address.text, place, self._markers) if cache else None
        if self._kept is not None:
            self._paths |= self._kept.paths()

    def states(self, commits: Sequence[str]) -> dict[str, ProjectState]:
        """What the project requires at each commit; unknown where the repository lacks objects that say so."""
        for example in dict.fromkeys([*commits[-1:], *commits[len(commits) // 2 :][:1], *commits[:1]]):
            self._discover(example)
        for _ in range(_MOST_ROUNDS):
            nodes = self._trees.nodes(commits, self._paths)
            keys = {commit: _key(found) for commit, found in nodes.items()}
            if self._kept is not None:
                self._states.update(self._kept.states([key for key in keys.values() if key not in self._states]))
            unread = {key: commit for commit, key in keys.items() if key not in self._states}
            if not unread:
                break
            self._trees.bring(node.id for commit in unread.values() for node in nodes[commit].values() if node.is_file)
            before = set(self._paths)
            read = {key: self._read(nodes[commit]) for key, commit in unread.items()}
            if self._paths == before:
                self._states.update(read)
                break
            # A build file reads further files: what they hold at each commit matters as well.
        else:
            self._states.update(read)
        if self._kept is not None and unread:
            self._kept.keep(self._paths, {key: self._states[key] for key in unread if key in self._states})
        return {
            commit: self._states[keys[commit]] if commit in keys else _unreadable(self._trees.unreadable[commit])
            for commit in commits
        }

    def _discover(self, commit: str) -> None:
        """Find out which files a commit's build files lead to, so that they are looked up for all commits at once."""
        nodes = self._trees.nodes([commit], self._paths)
        if commit not in nodes or (self._kept is not None and self._kept.states([_key(nodes[commit])])):
            return
        try:
            self._read(nodes[commit], self._trees.everything(commit))
        except MissingObjectsError:
            return

    def ranges(self, line: Line, pinned: str = "") -> tuple[CommitRange, ...]:
        """The line cut into ranges, oldest first.

        Args:
            line: of a branch.
            pinned: the commit whose lines are told for the range that holds it.
        """
        states = self.states([commit.id for commit in line.commits])
        ranges: list[CommitRange] = []
        gathered: list[LineCommit] = []
        for commit in line.commits:
            if gathered and states[gathered[-1].id].key != states[commit.id].key:
                ranges.append(_range(gathered, states, pinned))
                gathered = []
            gathered.append(commit)
        if gathered:
            ranges.append(_range(gathered, states, pinned))
        return tuple(ranges)

    def _read(self, nodes: Mapping[str, Node], others: Mapping[str, Node] | None = None) -> ProjectState:
        """The state of a commit; files that are not among `nodes` are looked for in `others`, and noted."""

        def read(path: str) -> bytes | None:
            normal = path.strip("/")
            node = nodes.get(normal)
            if normal not in self._paths:
                self._paths.add(normal)
                node = others.get(normal) if others is not None else None
            if node is None or not node.is_file:
                return None
            content = self._trees.content(node.id)
            return content if len(content) <= _LARGEST_FILE else None

        directories = self._place.directories
        directory = next(
            (
                one
                for name in ("setup.py", "pyproject.toml")
                for one in directories
                if f"{one}/{name}".lstrip("/") in nodes
            ),
            directories[0],
        )
        try:
            tree = self._tree(read, directory, nodes)
            installed, unknown = _installed(self._place.requirement_files, read)
            python = self._markers.get("python_version", "")
            rules = self._place.rules
            implied = implied_by(read, directory, tree, python=python, rules=rules) if rules else ()
        except MissingObjectsError as error:
            return _unreadable(str(error))
        return ProjectState(tree, installed, unknown, implied)

    def _tree(self, read: Callable[[str], bytes | None], directory: str, nodes: Mapping[str, Node]) -> TreeRequirements:
        """What the build files say; read once for all commits where those, and what they read in turn, are the same."""
        key = (directory, _key({path: nodes[path] for path in self._tree_paths if path in nodes}))
        if key not in self._tree_states:

            def noted(path: str) -> bytes | None:
                self._tree_paths.add(path.strip("/"))
                return read(path)

            looked_up = set(self._paths)
            tree = read_tree(noted, directory, variables=self._place.variables, markers=self._markers)
            if not self._tree_paths <= looked_up:
                return tree  # what tells such trees apart is not among `nodes` yet
            key = (directory, _key({path: nodes[path] for path in self._tree_paths if path in nodes}))
            self._tree_states[key] = tree
        return self._tree_states[key]


def _key(nodes: Mapping[str, Node]) -> Key:
    return tuple(sorted((path, node.id) for path, node in nodes.items()))


def _unreadable(reason: str) -> ProjectState:
    return ProjectState(TreeRequirements(unknown=dict.fromkeys(Subject, reason)), unknown=reason, lasting=False)


def _range(commits: list[LineCommit], states: Mapping[str, ProjectState], pinned: str) -> CommitRange:
    at = pinned if any(commit.id == pinned for commit in commits) else commits[-1].id
    return CommitRange(tuple(commits), states[at], at)


def _installed(files: Sequence[str], read: Callable[[str], bytes | None]) -> tuple[tuple[Statement, ...], str]:
    """The requirements of files as pip reads them, those that they name in turn included."""
    from pins.files.requirement import RequirementKind
    from pins.files.requirements import read_requirements

    found: list[Statement] = []
    unknown = ""
    for file in files:
        content = read(file)
        if content is None:
            unknown = unknown or f"{file} is not in the tree"
            continue
        parsed = read_requirements(content, file, read)
        for line in parsed.lines:
            if line.role != "requirement":
                continue
            if line.requirement.kind is RequirementKind.SPECIFIER:
                found.append(Statement(line.text.strip(), line.file, line.line))
            elif line.requirement.name and line.requirement.url:
                found.append(Statement(line.requirement.name, line.file, line.line))
        for name, number, message in parsed.problems:
            unknown = unknown or f"{name}:{number}: {message}"
    return tuple(found), unknown
