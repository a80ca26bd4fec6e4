"""The versions of a file between its two ends: from the revisions of its repository, or just two files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from bisector.environments.docker.context import named_sources
from bisector.environments.docker.instructions import read_dockerfile
from bisector.file_axes.repository import Commit, Repository
from bisector.model import short_text
from pins.errors import UsageError
from pins.files.locate import locate
from pins.files.read import kind_of
from pins.files.reading import ReadRequest, read_all
from pins.model import PinSet

_AT_TOP = (
    "{path}: the build context is the top of the repository, since {inside}/ holds nothing of what is copied; --context"
    " names another"
)


@dataclass(frozen=True)
class Reading:
    """How pins are read.

    Attributes:
        build_args: what `--build-arg` gives.
        target: the stage that is built.
        clones: local clones by pin name.
        chain: the files that build base images.
    """

    build_args: Mapping[str, str]
    target: str = ""
    clones: Mapping[str, Path] | None = None
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class Version:
    """A file as it was at one revision.

    Attributes:
        name: a commit in full, or the path of a file: what a text axis holds.
        path: the file, as the user named it.
        commit: the full name, "" for a file on disk.
        date: of the commit, None for a file.
        subject: of the commit.
        data: its bytes.
        context: an identity of the files that its build takes from around it.
        reading: how its pins are read.
        known: pins by the bytes of the file, shared by the versions in between: what they take from around the file
            decides no pin of the file itself. None at the ends.
    """

    name: str
    path: Path
    commit: str
    date: datetime | None
    subject: str
    data: bytes
    context: str
    reading: Reading
    known: dict[bytes, PinSet] | None = field(default=None, compare=False)

    @cached_property
    def pins(self) -> PinSet:
        """Its pins, those that a chain's files hold left out."""
        if self.known is None:
            return self._read()
        if self.data not in self.known:
            self.known[self.data] = self._read()
        return self.known[self.data]

    def _read(self) -> PinSet:
        request = ReadRequest(
            (self.path,),
            self.commit,
            self.reading.build_args,
            self.reading.target,
            self.reading.chain,
            self.reading.clones or {},
        )
        return read_all(request)[-1]

    @property
    def unreadable(self) -> str:
        """Why it cannot be read to its end, "" where it can."""
        problem = next((problem for problem in self.pins.problems if problem.fatal), None)
        return (
            f"{self.path} at {short_text(self.name)} cannot be read: line {problem.line}: {problem.message}"
            if problem
            else ""
        )


@dataclass(frozen=True)
class History:
    """A file from its good end (first) to its bad end (last).

    Attributes:
        versions: neighbours differ in the file or in what its build takes from around it.
        sources: what the build takes from its context, by path from the top of the tree; "" for all of it.
        repository: None for two files.
        context: the directory of the build context, from the top of the tree.
        relative: the file, likewise.
        divergent: what is to be said where the ends lie on branches, so that the way between them leads through their
            common ancestor.
        around: what is to be said of the build context, where nobody has named it.
    """

    versions: tuple[Version, ...]
    sources: tuple[str, ...] = ()
    repository: Repository | None = None
    context: str = ""
    relative: str = ""
    divergent: str = ""
    around: str = ""

    @property
    def good(self) -> Version:
        """The good end."""
        return self.versions[0]

    @property
    def bad(self) -> Version:
        """The bad end."""
        return self.versions[-1]

    @cached_property
    def by_name(self) -> dict[str, Version]:
        """The versions by their names."""
        return {version.name: version for version in self.versions}


def of_files(good: Path, bad: Path, reading: Reading) -> History:
    """Two files on disk.

    Raises:
        UsageError: one cannot be read.
    """
    return History((_on_disk(good, reading), _on_disk(bad, reading)))


def _on_disk(path: Path, reading: Reading) -> Version:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    return Version(str(path), path, "", None, "", data, "", reading)


def of_revisions(path: Path, good: str, bad: str, reading: Reading, context: Path | None = None) -> History:
    """A file at two revisions of its repository, and at those in between that change it.

    Args:
        path: the file; it need not exist on disk.
        good: the revision that works.
        bad: the revision that does not.
        reading: how pins are read.
        context: the build context; None for the directory of the file, or for the top of the repository where that one
            alone holds what is copied.

    Raises:
        UsageError: no repository, no such revision, or no such file there.
        EnvironmentFailureError: git cannot be used.
    """
    tree, relative = locate(path, good)
    repository = Repository(tree.root)
    ends = [repository.commit(revision) for revision in (good, bad)]
    found = repository.blobs([f"{end.id}:{relative}" for end in ends])
    for end, revision in zip(ends, (good, bad), strict=True):
        if f"{end.id}:{relative}" not in found:
            raise UsageError(
                f"{path} does not exist at {short_text(revision)}; if it had another name there, write both to files"
                " and name them with --good-file and --bad-file"
            )
    taken = [_taken(found[f"{end.id}:{relative}"][1], relative) for end in ends]
    inside, said = relative.rpartition("/")[0], ""
    if context:
        inside = _inside(tree.root, context)
    elif inside and _is_at_top(repository, ends[1], taken[1], inside):
        inside, said = "", _AT_TOP.format(path=path, inside=inside)
    sources = _sources(taken[0] | taken[1], relative, inside)
    commits, divergent = _way(repository, ends[0], ends[1], [relative, *sources])
    found |= repository.blobs([f"{commit.id}:{relative}" for commit in commits])
    objects = repository.objects([f"{commit.id}:{source}" for commit in commits for source in sources])
    versions = []
    known: dict[bytes, PinSet] = {}
    for commit in commits:
        if (name := f"{commit.id}:{relative}") not in found:
            continue  # it was away for a while
        around = " ".join(objects.get(f"{commit.id}:{source}", "-") for source in sources)
        text = found[name][1]
        shared = None if commit in (commits[0], commits[-1]) else known
        versions.append(Version(commit.id, path, commit.id, commit.date, commit.subject, text, around, reading, shared))
    return History(_without_repeats(versions), sources, repository, inside, relative, divergent, said)


def _inside(top: Path, context: Path) -> str:
    try:
        inside = context.resolve().relative_to(top.resolve()).as_posix()
    except ValueError:
        raise UsageError(
            f"--context {context}: it lies outside of the repository {top}, so that there are no revisions of it"
        ) from None
    return "" if inside == "." else inside


def _taken(text: bytes, relative: str) -> set[str]:
    """What a build takes from its context, from the top of that one; "" for all of it."""
    if kind_of(relative) not in {"dockerfile", ""}:
        return set()
    return named_sources(read_dockerfile(text.decode("utf-8", "surrogateescape")))


def _is_at_top(repository: Repository, end: Commit, taken: set[str], inside: str) -> bool:
    """Whether the directory of the file has nothing that is copied by name, and the top of the repository has some.

    Some, as there may be files among them that are not in git: .git itself, or what is made before a build.
    """
    named = sorted(taken - {""})
    here, top = [f"{end.id}:{inside}/{name}" for name in named], [f"{end.id}:{name}" for name in named]
    there = repository.objects([*here, *top])
    return not there.keys() & set(here) and bool(there.keys() & set(top))


def _sources(taken: set[str], relative: str, inside: str) -> tuple[str, ...]:
    """What the builds take from around the file, from the top of the tree; ("",) for all of it."""
    if not taken:
        return ()
    if "" in taken:
        taken = {""}
    found = {f"{inside}/{source}".strip("/") if inside else source for source in taken}
    if "" in found:
        return ("",)
    ignores = (f"{inside}/.dockerignore".lstrip("/"), f"{relative}.dockerignore")
    return tuple(sorted({*found, *ignores}))


def _way(repository: Repository, good: Commit, bad: Commit, paths: Sequence[str]) -> tuple[list[Commit], str]:
    """The commits that lead from the good end to the bad end: back to where the branches part, then forward."""
    base = repository.merge_base(good.id, bad.id)
    if not base:
        return [good, bad], "the two revisions have no common ancestor: only they themselves are looked at"
    back = repository.touching(base, good.id, paths) if base != good.id else []
    forward = repository.touching(base, bad.id, paths) if base != bad.id else []
    ids = [good.id, *(commit for commit in reversed(back) if commit != good.id)]
    if base != good.id:
        ids.append(base)
    ids += [commit for commit in forward if commit != bad.id]
    ids.append(bad.id)
    said = ""
    if base not in (good.id, bad.id) and back:
        said = (
            f"the good and the bad end are on different branches, which part at {short_text(base)}: the way between"
            f" them takes back {len(back)} revisions of the good side, then goes forward on the bad side"
        )
    return repository.commits(list(dict.fromkeys(ids))), said


def _without_repeats(versions: Sequence[Version]) -> tuple[Version, ...]:
    """Of neighbours with equal content the first."""
    kept = [versions[0]]
    for before, version in pairwise(versions):
        if (version.data, version.context) != (before.data, before.context):
            kept.append(version)
    return tuple(kept)
