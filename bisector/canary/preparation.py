"""From a file to the two between which a canary runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from packaging.version import InvalidVersion, Version

from bisector.canary.files import write_trees
from bisector.canary.memory import Broken, known_broken, last_passed, room_of
from bisector.canary.tips import tips_of
from pins.errors import UsageError
from pins.files.local_git import ask_git
from pins.resolve.problem import Constraint, Gathered, Origin, OriginKind
from pins.suggest.newest import NewestFile, newest_file
from pins.windows_request import WindowsRequest, gathered_for


@dataclass(frozen=True)
class CanaryRequest:
    """What is asked.

    Attributes:
        file: absolute path of the file.
        as_of: as of when the index is read for the newest (aware).
        since: as of when it is read for today's pin set; None for the last canary that passed, else the file's last
            change.
        tips: git pins that move: `NAME` or `NAME=BRANCH`.
        repositories: where their commits are, by name.
        only: exact pins that move, all of them where none is named.
        keep: those that stay.
        target, build_args, python, index_url, extra_index_url: as for the run.
    """

    file: Path
    as_of: datetime
    since: datetime | None = None
    tips: tuple[str, ...] = ()
    repositories: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    target: str = ""
    build_args: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    index_url: str = ""
    extra_index_url: tuple[str, ...] = ()

    @property
    def asked(self) -> WindowsRequest:
        """What is asked of indexes."""
        return WindowsRequest(
            file=self.file,
            python=self.python,
            index_url=self.index_url,
            extra_index_url=self.extra_index_url,
            exclude_newer=self.as_of.isoformat(),
            build_args=self.build_args,
            target=self.target,
            clones={name: Path(place) for name, place in self.repositories.items() if Path(place).is_dir()},
        )


@dataclass(frozen=True)
class Prepared:
    """Both ends.

    Attributes:
        since: as of when the index is read for the pin set of today.
        newest: both pin sets.
        today, moved: paths of the file as it is, and with everything moved.
        room: what belongs to the file between canaries.
    """

    since: datetime
    newest: NewestFile
    today: Path
    moved: Path
    room: Path


def prepare(request: CanaryRequest) -> Prepared:
    """Work out the newest pin set and write both files.

    Raises:
        UsageError: the file or a pin does not exist, or since when it counts is not known.
        SourceError: an index could not be read.
        EnvironmentFailureError: the files cannot be written.
    """
    if not request.file.is_file():
        raise UsageError(f"{request.file} is not a file")
    room = room_of(request.file, request.target)
    since = request.since or _since(request, room)
    if since >= request.as_of:
        raise UsageError(
            f"--since {since:%Y-%m-%d %H:%M} is not before the time of the canary, {request.as_of:%Y-%m-%d %H:%M}"
        )
    broken = known_broken(room)
    tips = tips_of(request.file, request.tips, request.repositories)
    still = {each.newest: each for each in broken}
    notes = [
        f"{name} stays: its tip {tip[:12]} failed in run {still[tip].run}" for name, tip in tips.items() if tip in still
    ]
    tips = {name: tip for name, tip in tips.items() if tip not in still}
    with gathered_for(request.asked) as question:
        gathered, said = _without_broken(question.gathered, broken)
        newest = newest_file(request.file, gathered, tips=tips, only=request.only, keep=request.keep)
    newest = replace(newest, notes=(*newest.notes, *notes, *said))
    today, moved = write_trees(newest, room, f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}")
    return Prepared(since, newest, today, moved, room)


def _since(request: CanaryRequest, room: Path) -> datetime:
    """When the pins of today are known to have worked, or else when the file was changed last.

    Raises:
        UsageError: neither is known, or only for a time after that of the canary.
    """
    passed, changed = last_passed(room), _last_change(request.file)
    known = [moment for moment in (passed, changed) if moment is not None]
    before = next((moment for moment in known if moment < request.as_of), None)
    if before is not None:
        return before
    if known:
        why = f"changed last on {known[-1]:%Y-%m-%d %H:%M}, not before {request.as_of:%Y-%m-%d %H:%M}"
    elif ask_git(request.file.parent, "rev-parse", "--git-dir").ok:
        why = "in no commit of its git repository"
    else:
        why = "in no git repository"
    raise UsageError(
        f"{request.file} is {why}, so that it is not known since when it stands: say as of when its pins worked,"
        " --since DATE"
    )


def _without_broken(gathered: Gathered, broken: Sequence[Broken]) -> tuple[Gathered, list[str]]:
    """The same with a hold for each package that is known to be broken and of which nothing newer is out since."""
    notes: list[str] = []
    holds: list[Constraint] = []
    packages = [each for each in broken if _version(each.newest) is not None]
    found = gathered.source.choices([each.pin for each in packages]) if packages else {}
    for each in packages:
        there = [
            c.version for c in found[each.pin].choices if c.version and not c.version.is_prerelease and not c.yanked
        ]
        newest = _version(each.newest)
        if there and newest is not None and max(there) > newest:
            continue
        sentence = (
            f"{each.first_bad} is the first that failed in run {each.run}, and nothing newer than {each.newest} is out"
        )
        notes.append(f"{each.pin} stays below {each.first_bad}: {sentence}")
        holds.append(Constraint(f"{each.pin}<{each.first_bad}", Origin(OriginKind.HOLD, sentence=sentence)))
    problems = tuple(replace(problem, bounds=(*problem.bounds, *holds)) for problem in gathered.problems)
    return replace(gathered, problems=problems), notes


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def prepared_earlier(run: Path, file: Path) -> tuple[CanaryRequest, Prepared]:
    """What a run was prepared with.

    Args:
        run: its directory.
        file: the file that it is about.

    Raises:
        UsageError: it is no canary's, or the files between which it ran are gone.
    """
    from bisector.journal import Journal
    from bisector.request import RunRequest
    from bisector.runs import JOURNAL
    from bisector.serial import adapter
    from pins.files.locate import locate

    journal = Journal(run / JOURNAL, writable=False)
    try:
        request: RunRequest = adapter(RunRequest).validate_json(journal.meta("request"))
    finally:
        journal.close()
    files = request.files
    if not request.canary or files is None or files.span is None or files.good_file is None or files.bad_file is None:
        raise UsageError(f"--run {run.name}: that is no canary's run")
    room = room_of(file, request.docker.target)
    if room not in files.good_file.parents:
        raise UsageError(f"--run {run.name}: that canary was of another file (or target) than {file}")
    since, as_of = files.span
    docker = request.docker
    asked = CanaryRequest(file, as_of, since, target=docker.target, build_args=dict(docker.build_args))
    tree, relative = locate(file)
    try:
        newest = NewestFile(tree, relative, files.good_file.read_bytes(), files.bad_file.read_bytes())
    except OSError as error:
        raise UsageError(f"--run {run.name}: its files are gone ({error}); start a new canary") from error
    return asked, Prepared(since, newest, files.good_file, files.bad_file, room)


def _last_change(file: Path) -> datetime | None:
    """When the last commit that touched it was made."""
    answer = ask_git(file.parent, "log", "-1", "--format=%cI", "--", file.name)
    text = answer.text.strip() if answer.ok else ""
    return datetime.fromisoformat(text).astimezone(UTC) if text else None
