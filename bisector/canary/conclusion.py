"""From the result of the run to what is written down, what is suggested, and the report of it all."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bisector.canary.memory import Broken, known_broken, remember_broken, remember_passed
from bisector.canary.model import CanaryReport, Sung
from bisector.canary.preparation import CanaryRequest, Prepared
from bisector.report.json_writer import render_json
from bisector.report.model import NEWEST_PASSES, Culprit, Result, Verdict
from pins.errors import PinsError
from pins.files.patch import unified_diff
from pins.files.setting import SetResult
from pins.suggest.bisection import read_bisection
from pins.suggest.holds import FILE
from pins.suggest.known_bad import KnownBad, with_known_bad
from pins.suggest.looking_up import releases_of, windows_of_file
from pins.suggest.model import SuggestReport
from pins.suggest.suggesting import SuggestRequest, suggest

_FAILED = (Verdict.CULPRIT, Verdict.RANGE)


def nothing_new(asked: CanaryRequest, prepared: Prepared, shown: str, *, write: bool) -> CanaryReport:
    """The report where nothing has moved; raises as `concluded` does."""
    fact, written = _record(prepared, _remembered(prepared), write)
    return CanaryReport(
        shown, Sung.NOTHING_NEW, prepared.since, asked.as_of, prepared.newest, fact=fact, written=written
    )


def concluded(asked: CanaryRequest, prepared: Prepared, result: Result, shown: str, *, write: bool) -> CanaryReport:
    """The report of a run; a newest that passes is remembered, a culprit written down where that is asked for.

    So are culprits of earlier canaries that are not in `pins.toml` yet: they are left out now, and no run finds them.

    Args:
        asked: what was asked.
        prepared: both ends.
        result: of the run.
        shown: the file as it was named.
        write: whether `pins.toml` may be changed.

    Raises:
        UsageError: `pins.toml` is wrong as it stands, or may not be written.
        EnvironmentFailureError: it cannot be written.
    """
    ended = _ended(result)
    facts = _remembered(prepared)
    notes = list(prepared.newest.notes)
    suggestion = None
    if ended is Sung.PASSED:
        remember_passed(prepared.room, asked.as_of)
    if result.verdict is Verdict.CULPRIT and result.culprit is not None:
        suggestion = _suggestion(asked, result, notes)
        known = _fact(result, result.culprit)
        why = ("", "") if known is None else (known.reason, known.found)
        for move in result.culprit.moves:
            newest = next((axis.bad for axis in result.axes if axis.pin == move.pin), move.new)
            remember_broken(prepared.room, Broken(move.pin.partition("@")[0], move.new, newest, result.run_id, *why))
        facts = [*facts, *([] if known is None else [known])]
    fact, written = _record(prepared, facts, write)
    return CanaryReport(
        shown,
        ended,
        prepared.since,
        asked.as_of,
        replace(prepared.newest, notes=tuple(notes)),
        _change(asked, prepared),
        result,
        suggestion,
        fact,
        written,
        f"bisector resume {result.run_id} && bisector canary {shlex.quote(shown)} --run {result.run_id}"
        if result.verdict in (Verdict.INTERRUPTED, Verdict.INFRASTRUCTURE)
        else "",
    )


def _ended(result: Result) -> Sung:
    if result.verdict is Verdict.NO_BRACKET and result.summary == NEWEST_PASSES:
        return Sung.PASSED
    return Sung.FAILED if result.verdict in _FAILED else Sung.UNDECIDED


def _change(asked: CanaryRequest, prepared: Prepared) -> str:
    try:
        before = asked.file.read_bytes()
    except OSError:  # it is gone since
        return ""
    if before == prepared.newest.newest:
        return ""
    return unified_diff(before, prepared.newest.newest, _path_of(asked.file, prepared)).decode("utf-8", "replace")


def _path_of(file: Path, prepared: Prepared) -> str:
    """The path from the top that a patch of a file names: of a link that which it leads to, for git changes no link."""
    real, top = file.resolve(), prepared.newest.tree.root.resolve()
    return real.relative_to(top).as_posix() if real.is_relative_to(top) else prepared.newest.relative


def _fact(result: Result, culprit: Culprit) -> KnownBad | None:
    """What to write down; None for what is no version of a package, and where it takes several pins together."""
    if culprit.kind not in {"package", "float"} or len(culprit.moves) > 1 or culprit.partners:
        return None
    [move] = culprit.moves
    found = f"bisect run {result.run_id}, {result.created:%Y-%m-%d}"
    return KnownBad(move.pin.partition("@")[0], move.new, _reason(result)[:200], found)


def _reason(result: Result) -> str:
    """What failed, on one line: the error and what it says; of one that says nothing, where it arose."""
    signature = result.signature
    if signature is None:
        return "it fails"
    said = signature.message or signature.frame
    return ": ".join(part for part in (signature.kind, said) if part) or signature.exit


def _remembered(prepared: Prepared) -> list[KnownBad]:
    """What earlier canaries have found of single versions."""
    return [KnownBad(it.pin, it.first_bad, it.reason, it.found) for it in known_broken(prepared.room) if it.found]


def _record(prepared: Prepared, facts: Sequence[KnownBad], write: bool) -> tuple[str, bool]:
    """The patch of `pins.toml`, and whether it was written."""
    known = prepared.newest.tree.root / FILE
    before = known.read_bytes() if known.is_file() else b""
    after = before
    for fact in facts:
        after = with_known_bad(after, fact)
    if after == before:
        return "", False
    if write:
        known.touch()
        SetResult(known, before, after, b"").write()
    return unified_diff(before, after, FILE).decode("utf-8", "replace"), write


def _suggestion(asked: CanaryRequest, result: Result, notes: list[str]) -> SuggestReport | None:
    """What to pin; None where that cannot be told, with the reason among the notes."""
    bisected = read_bisection(render_json(result), f"run {result.run_id}")
    request = SuggestRequest(
        asked.file,
        asked.as_of.date(),
        (bisected,),
        build_args=asked.build_args,
        target=asked.target,
        clones=asked.asked.clones,
        reproduce=shlex.join(["pins", "suggest", str(asked.file), "--run", result.run_id]),
        data_time=asked.as_of,
    )
    try:
        report, _ = suggest(
            request, lambda names: releases_of(names, asked.asked, notes.append), lambda: windows_of_file(asked.asked)
        )
    except PinsError as error:
        notes.append(f"what to pin could not be worked out: {error.message}")
        return None
    return report
