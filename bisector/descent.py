"""Going on inside: when a blamed commit moves a pin that its own tree carries, that pin's history is searched.

It is a run of its own: every pin stays as the first bad candidate has it, and the one inside moves from its old value
to its new one. If it fails with the old value too, the pin inside is not to blame, and the next one is looked at.

Where the run inside lies is on the record of the one around it as soon as it begins, so that an interruption loses
nothing: a resume of either goes on with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bisector.events import Event, Note, Reporter, RunStarted, silent
from bisector.journal import Journal
from bisector.model import Axis, short_text
from bisector.report.evidence import culprit_probe
from bisector.report.model import NestedMove, Result, Verdict
from bisector.request import PinRange, RepositoryRequest, RunRequest
from bisector.results import load_result
from bisector.runs import JOURNAL, driving
from bisector.serial import adapter
from pins.errors import PinsError
from pins.model import PinKind

DEEPEST = 4
"""Pins within pins that are followed."""


@dataclass(frozen=True)
class Inside:
    """Where the run is that searches the history of a pin inside.

    Attributes:
        path: of the file or submodule that holds the pin.
        name: of the pin.
        directory: of the run.
    """

    path: str
    name: str
    directory: str


def descend(request: RunRequest, result: Result, *, reporter: Reporter = silent, depth: int = 0) -> Result:
    """Search inside what was found, as far as that leads, and say in the run's own record what came of it.

    Args:
        request: of the run.
        result: of the run; where it names no commit that moves a pin inside, nothing happens.
        reporter: told what happens.
        depth: how many pins lie around this one.

    Returns:
        The result, with what was found inside.

    Raises:
        InterruptedRunError: Ctrl-C; the run inside can be resumed.
    """
    from bisector.session import InterruptedRunError

    culprit = result.culprit
    if culprit is None or request.first_good or depth >= DEEPEST:
        return result
    for move in culprit.nested:
        if move.first_bad:
            break  # found before an interruption, and so are those that were passed over
        if move.said:
            continue
        inner = inner_request(request, result, move)
        if inner is None:
            why = f"not searched: say where its commits are, with --repo {move.name}=URL"
            _record(result, replace(move, said=why))
            continue
        reporter(Note(f"going on inside: {move.path}, {move.name} {short_text(move.old)} -> {short_text(move.new)}"))
        try:
            found = _search(inner, result, move, reporter)
            found = descend(inner, found, reporter=reporter, depth=depth + 1)
        except PinsError as error:
            if isinstance(error, InterruptedRunError):
                raise InterruptedRunError(Path(result.run_directory)) from None
            _record(result, replace(move, said=f"could not be searched: {error}"))
            continue
        if found.verdict is Verdict.INFRASTRUCTURE:
            where = Path(result.run_directory).name
            reporter(Note(f"the search inside stopped: {found.summary}; `bisector resume {where}` goes on with it"))
            break
        _record(result, _told(move, found))
        if found.verdict is Verdict.CULPRIT:
            break
    return load_result(Path(result.run_directory))


def _search(request: RunRequest, around: Result, move: NestedMove, reporter: Reporter) -> Result:
    """The run inside: gone on with where one was begun."""
    from bisector.session import bisect, resume

    begun = _begun(around, move)
    if begun is not None:
        return resume(str(begun), reporter=reporter, index_url=request.index.index_url)

    def telling(event: Event) -> None:
        if isinstance(event, RunStarted):
            _decide(around, "inside", Inside(move.path, move.name, event.run_directory))
        reporter(event)

    return bisect(request, reporter=telling)


def _begun(around: Result, move: NestedMove) -> Path | None:
    """Where the run inside lies that was begun before, None where none was, or it is gone."""
    journal = Journal(Path(around.run_directory) / JOURNAL, writable=False)
    try:
        every = [adapter(Inside).validate_json(decision.body) for decision in journal.decisions("inside")]
    finally:
        journal.close()
    mine = [Path(each.directory) for each in every if (each.path, each.name) == (move.path, move.name)]
    return next((directory for directory in reversed(mine) if (directory / JOURNAL).is_file()), None)


def inner_request(request: RunRequest, result: Result, move: NestedMove) -> RunRequest | None:
    """The request for the run inside; None where it cannot be made."""
    probe = culprit_probe(result)
    culprit = result.culprit
    if probe is None or culprit is None or (request.files is not None and request.environment != "docker"):
        return None
    outer = culprit.moves[0].pin
    name = move.name if move.name not in probe.candidate and move.name != outer else f"{outer}-{move.name}"
    given = next((one for one in request.repositories if one.pin == move.name), None)
    repositories = [one for one in request.repositories if one.pin != move.name]
    if move.kind == PinKind.GIT.value:
        location = given.location if given is not None else move.repository
        if not location:
            return None
        repositories.append(RepositoryRequest(name, location, install=False))
    files = request.files
    if files is not None:  # the files stay as the candidate has them
        files = replace(files, held=tuple(dict.fromkeys((*files.held, *probe.candidate))))
        if all(one.pin != outer for one in repositories):
            repositories.append(RepositoryRequest(outer, _repository_of(result, outer)))
    fixed = tuple((pin, value) for pin, value in probe.candidate.items())
    others = tuple((pin, value) for pin, value in request.fixed if pin not in probe.candidate)
    return replace(
        request,
        pins=(PinRange(name, move.old, move.new),),
        fixed=(*fixed, *others),
        repositories=tuple(repositories),
        nested=(*request.nested, (name, outer, move.path)),
        files=files,
        suspects=(),
        run_directory=None,
        command_line=request.command_line  # ends from files and a pin inside have no command of their own
        if files is not None
        else _words(request.command_line, fixed, PinRange(name, move.old, move.new), repositories, outer, move),
    )


def _repository_of(result: Result, pin: str) -> str:
    """Where the commits of a pin of a run come from."""
    journal = Journal(Path(result.run_directory) / JOURNAL, writable=False)
    try:
        axes = adapter(tuple[Axis, ...]).validate_json(journal.meta("axes"))
    finally:
        journal.close()
    return next((axis.repository for axis in axes if axis.pin == pin), "")


def _words(
    typed: Sequence[str],
    fixed: Sequence[tuple[str, str]],
    pin: PinRange,
    repositories: Sequence[RepositoryRequest],
    outer: str,
    move: NestedMove,
) -> tuple[str, ...]:
    """The command that does the same, from the one that was typed."""
    if not typed:
        return ()
    end = list(typed).index("--") if "--" in typed else len(typed)
    kept: list[str] = []
    words = iter(typed[:end])
    for word in words:
        option, equals, _ = word.partition("=")
        if option in ("--pin", "--repo"):
            if not equals:
                next(words, "")
        elif word != "--descend":
            kept.append(word)
    for name, value in fixed:
        kept += ["--fix", f"{name}={value}"]
    for one in repositories:
        below = f"#subdirectory={one.subdirectory}" if one.subdirectory else ""
        kept += ["--repo", f"{one.pin}={one.location}{below}"]
    kept += ["--pin", f"{pin.pin}={pin.good}..{pin.bad}", "--within", f"{pin.pin}={outer}:{move.path}"]
    return (*kept, *typed[end:])


def _told(move: NestedMove, found: Result) -> NestedMove:
    if found.verdict is Verdict.CULPRIT and found.culprit is not None:
        first = found.culprit.moves[0]
        subject = f", {found.culprit.subject}" if found.culprit.subject else ""
        said = f"the first bad one inside is {first.pin} {short_text(first.new)}{subject}; run {found.run_id}"
        return replace(move, run=found.run_id, first_bad=first.new, said=said)
    if found.verdict is Verdict.NO_BRACKET:
        said = f"not to blame, or not alone: it fails with {short_text(move.old)} there, too; run {found.run_id}"
        return replace(move, run=found.run_id, said=said)
    return replace(move, run=found.run_id, said=f"searched without an answer; run {found.run_id}")


def _record(result: Result, move: NestedMove) -> None:
    _decide(result, "descent", move)


def _decide(result: Result, kind: str, value: object) -> None:
    directory = Path(result.run_directory)
    with driving(directory):
        journal = Journal(directory / JOURNAL)
        try:
            journal.decide(kind, value)
        finally:
            journal.close()
