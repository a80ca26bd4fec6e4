"""What is to be said of a patch: one finding for how its hunks fit, one for those that nothing can be told of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from pins.drift.model import About, Finding, finding
from pins.drift.patching.applied import AppliedPatch, Target, candidates
from pins.drift.patching.fit import Fit, Placed
from pins.drift.patching.landing import Landing
from pins.drift.readings.history import Told
from pins.hazards.hunks import landing
from pins.hazards.model import Severity

ID = "patch-context"
"""The rule's."""
_MOST_EVIDENCE = 12


def findings_of(
    patch: AppliedPatch,
    placed: Sequence[Placed],
    files: Mapping[str, bytes],
    about: About,
    target: Target,
    history: Mapping[str, Landing],
) -> Iterator[Finding]:
    """What is to be said of one patch; the worst of how its hunks fit is its case."""
    at = f"{target.pin} at {target.revision}"
    told = partial(_told, patch, about)
    skipped = [hunk for hunk in patch.hunks if patch.skips(hunk)]
    if skipped:
        yield told(
            "skipped",
            f"git steps over {_hunks(skipped)} of {patch.name} without an error: their files lie outside of"
            f" {patch.inside}, where it runs",
            [f"{patch.path(hunk)}: @@ {hunk.header} @@" for hunk in skipped],
            "run git apply at the top of the checkout, or with --directory",
            Severity.ERROR,
            "skipped",
        )
    bare = [one for one in placed if one.hunk.without_context and one.fit is not Fit.NOWHERE]
    if bare:
        yield _without_context(patch, bare, files, about, target, history)
    rest = [one for one in placed if one not in bare]
    nowhere = [one for one in rest if one.fit is Fit.NOWHERE]
    applied = [one for one in rest if one.fit is Fit.APPLIED]
    loose = [one for one in rest if one.fit in (Fit.OFFSET, Fit.FUZZ)]
    if nowhere:
        yield told(
            "fails",
            f"{patch.name} no longer applies to {at}: {_hunks(nowhere)} of {len(placed)} find"
            f"{'s' * (len(nowhere) == 1)} no lines that fit" + ", unless --3way can merge them" * patch.three_way,
            [*_lines(patch, nowhere), *_lines(patch, applied)],
            f"make {patch.name} again for what is pinned, or drop it if its change is there",
            Severity.WARNING if patch.three_way else Severity.ERROR,
        )
    elif applied and len(applied) == len(placed):
        yield told(
            "applied",
            f"all that {patch.name} changes is in {at} already: the patch can go",
            _lines(patch, applied),
            f"drop {patch.name}",
            Severity.WARNING,
        )
    elif applied:
        yield told(
            "partly applied",
            f"{_hunks(applied)} of {len(placed)} of {patch.name} {'is' if len(applied) == 1 else 'are'} in {at}"
            " already, and applying stops there",
            _lines(patch, applied),
            f"make {patch.name} again for what is pinned",
            Severity.ERROR,
        )
    elif loose:
        moves = sorted({one.moved for one in loose})
        fuzzy = any(one.fit is Fit.FUZZ for one in loose)
        yield told(
            "fuzz" if fuzzy else "offset",
            f"{patch.name} still applies to {at}, but {_hunks(loose)} of {len(placed)} only"
            f" {', '.join(f'{move:+}' for move in moves[:4])} lines off"
            + (", and with lines of context left out" if fuzzy else ""),
            _lines(patch, loose),
            f"make {patch.name} again for what is pinned",
            Severity.WARNING if fuzzy or any(one.places > 1 for one in loose) else Severity.NOTE,
        )


def _without_context(
    patch: AppliedPatch,
    bare: Sequence[Placed],
    files: Mapping[str, bytes],
    about: About,
    target: Target,
    history: Mapping[str, Landing],
) -> Finding:
    wrong = [hunk for one in history.values() for hunk in one.wrong]
    since = max((one.since for one in history.values() if one.since is not None), key=_date, default=None)
    evidence = [f"{patch.path(one.hunk)}: @@ {one.hunk.header} @@ {_lands(patch, one, files, target)}" for one in bare]
    evidence = evidence[:_MOST_EVIDENCE]
    said = f"{patch.name} has {_hunks(bare)} without a line of context"
    if not wrong:
        return _told(
            patch,
            about,
            "without context",
            f"{said}, which go where their line numbers say: whether they fit {target.pin} at {target.revision} cannot"
            " be told",
            evidence,
            "make the patch again with three lines of context (git diff), and apply it without --unidiff-zero",
            Severity.WARNING,
            "context",
        )
    made = max((one.made for one in history.values() if one.made is not None), default=None)
    from_commit = f", from its first day ({made:%Y-%m-%d}) on" if made is not None else ""
    from_commit = f", since {since.id[:10]} ({since.date:%Y-%m-%d})" if since is not None else from_commit
    if since is not None:
        evidence.append(f"since {since.shown}")
    evidence += [f"told by {one.by}" for one in history.values() if one.by]
    return _told(
        patch,
        about,
        "lands elsewhere",
        f"{said}, and {_hunks(wrong)} of them land{'s' * (len(wrong) == 1)} elsewhere in {target.pin} at"
        f" {target.revision} than {'it was' if len(wrong) == 1 else 'they were'} made for{from_commit}",
        [*evidence, *(f"wrong: {hunk.file}: @@ {hunk.header} @@" for hunk in wrong)],
        "make the patch again with three lines of context (git diff), and apply it without --unidiff-zero",
        Severity.ERROR,
        "context",
    )


def _lands(patch: AppliedPatch, one: Placed, files: Mapping[str, bytes], target: Target) -> str:
    if not patch.by_number:
        return f"goes to the end of the file, line {one.line}: git is not told that it has no context"
    name = next((path for path in candidates(patch.path(one.hunk)) if path in files), "")
    return landing(one.hunk, files.get(name), target.revision)


def _told(
    patch: AppliedPatch,
    about: About,
    case: str,
    summary: str,
    evidence: Sequence[str],
    suggestion: str,
    severity: Severity,
    series: str = "fit",
) -> Finding:
    return replace(
        finding(
            ID,
            about,
            f"{patch.name}: {case}",
            summary,
            evidence=evidence[: _MOST_EVIDENCE + 4],
            suggestion=suggestion,
            severity=severity,
            series=f"{patch.name}: {series}",
        ),
        line=patch.line,
    )


def _lines(patch: AppliedPatch, placed: Sequence[Placed]) -> list[str]:
    return [f"{patch.path(one.hunk)}: @@ {one.hunk.header} @@ {_fit(one)}" for one in placed]


def _fit(one: Placed) -> str:
    match one.fit:
        case Fit.NOWHERE:
            return "finds no lines that fit"
        case Fit.APPLIED:
            return "is there already"
        case _:
            several = f", one of {one.places} places" if one.places > 1 else ""
            return f"goes to line {one.line}, {one.moved:+} lines from where it says{several}"


def _hunks(some: Sequence[object]) -> str:
    return f"{len(some)} hunk{'s' * (len(some) != 1)}"


def _date(commit: Told) -> datetime:
    return commit.date
