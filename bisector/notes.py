"""What a report adds to its verdict: what the swap test could not tell, and what else was seen on the way."""

from bisector.bracket import Ending
from bisector.certificate import Standing
from bisector.divergence import divergence
from bisector.feasibility.merged import merged_steps
from bisector.model import Candidate, Outcome
from bisector.recorded_run import RecordedRun
from bisector.report.model import Verdict
from bisector.rounds import FoundInRound
from bisector.serial import adapter
from bisector.space import Chain

Witnesses = tuple[Candidate, Candidate] | None
_LEFT_OUT = list[tuple[tuple[tuple[str, str], ...], str]]


def notes_of(run: RecordedRun, ending: Ending | None, witnesses: Witnesses) -> tuple[str, ...]:
    """Sentences for the reader.

    Args:
        run: what is on record.
        ending: of the run, None where it is not over.
        witnesses: the last good and the first bad candidate.
    """
    notes = [
        *_of_the_swap_test(run, witnesses),
        *_of_what_was_passed_by(run, ending),
        *_of_what_was_left_out(run, witnesses),
        *_of_the_order(run, witnesses),
        *_of_branches(run, witnesses),
        *_of_parents(run),
        *_of_other_failures(run),
        *_of_images(run),
        *_of_files(run),
    ]
    if witnesses is not None:
        identities = [run.identity(candidate) for candidate in witnesses]
        if identities[0] and identities[0] == identities[1]:
            notes.insert(0, "as far as can be seen, the step changes nothing in what was built")
    return tuple(notes)


def _of_branches(run: RecordedRun, witnesses: Witnesses) -> list[str]:
    """Which sides were searched of pins whose ends lie on different branches."""
    if run.request.first_good:
        return []
    moved = {pin: new for pin, new in witnesses[1].items() if witnesses[0][pin] != new} if witnesses else {}
    found = [divergence(axis, moved.get(axis.pin, "")) for axis in run.axes]
    return [sentence for sentence in found if sentence]


def _of_parents(run: RecordedRun) -> list[str]:
    """How the parents of a commit that is blamed stood, where there is something to say."""
    return [found.change.note for found in run.rounds if found.change is not None and found.change.note]


def _of_files(run: RecordedRun) -> list[str]:
    """What the files were that are the ends: to reproduce the run takes the same ones."""
    digests = adapter(dict[str, str]).validate_json(run.journal.meta("end_files") or "{}")
    if not digests:
        return []
    said = " and ".join(f"{option} was SHA-256 {digest[:16]}" for option, digest in digests.items())
    return [f"the files may change after this run: {said}"]


def _of_images(run: RecordedRun) -> list[str]:
    """What moved between the two images that were found, and how to search among it."""
    if run.request.images is None:
        return []
    from bisector.image_axes.between import sentences
    from bisector.image_axes.offering import read_offer

    between = read_offer(run.journal)
    return [] if between is None else sentences(between)


def _of_the_swap_test(run: RecordedRun, witnesses: Witnesses) -> list[str]:
    certificate = run.certificate
    if certificate is None or witnesses is None:
        return []
    notes = []
    if certificate.removed_from_bad is Standing.FAIL:
        notes.append("with the culprit taken out, the bad set still fails: a second, independent culprit is there")
        if not run.request.every_culprit:
            notes[-1] += "; run again with --all to have it searched for"
        elif len(run.rounds) > 1:
            notes += _of_the_last_round(run.rounds[-1])
    elif certificate.removed_from_bad is Standing.NOT_RUN:
        lower, upper = witnesses
        without = run.chain.candidates[-1]
        for pin, new in upper.items():
            if lower[pin] != new:
                without = without.moved(pin, lower[pin])
        tried = run.tried.get(without)
        if tried is not None and Outcome.OTHER in run.outcomes(tried):
            notes.append(
                "with the culprit taken out, the bad set fails in another way: behind this failure stands another one"
            )
    if not certificate.partners_certain:
        notes.append("not every partner could be checked: some sets of the swap test could not be run")
    if not certificate.first_values_certain:
        notes.append("from which version on a partner is needed could not be told; its last one is named")
    return notes


def _of_the_last_round(last: FoundInRound) -> list[str]:
    if last.ending is None or last.ending.verdict is Verdict.CULPRIT:
        return []
    return [f"the search for a further culprit ended without one: {last.ending.verdict}. {last.ending.reason}".strip()]


def _of_what_was_passed_by(run: RecordedRun, ending: Ending | None) -> list[str]:
    if ending is None or ending.verdict is not Verdict.CULPRIT or ending.lower is None or not ending.upper:
        return []
    passed_by = run.chain.candidates[ending.lower + 1 : ending.upper]
    if not passed_by:
        return []
    names = "; ".join(str(candidate) for candidate in passed_by[:5])
    more = f" and {len(passed_by) - 5} more" if len(passed_by) > 5 else ""
    return [f"between predecessor and culprit lie candidates that cannot be resolved: {names}{more}"]


def _of_what_was_left_out(run: RecordedRun, witnesses: Witnesses) -> list[str]:
    """Why more than one pin by one value moves in the culprit's step, where that was known before the search."""
    recorded = run.journal.meta("left_out")
    if not recorded or witnesses is None:
        return []
    left_out = {Candidate(pins): reason for pins, reason in adapter(_LEFT_OUT).validate_json(recorded)}
    try:
        steps = merged_steps(run.axes, Chain(witnesses), left_out)
    except KeyError:  # a commit beside the line of the chain
        return []
    return [f"nothing that can be lies between predecessor and culprit: {step}" for step in steps if step.reason]


def _of_the_order(run: RecordedRun, witnesses: Witnesses) -> list[str]:
    """Where good and bad alternate along the chain, the answer is one of several."""
    unanimous: list[tuple[int, Outcome]] = []
    for candidate, tried in run.tried.items():
        outcomes = set(run.outcomes(tried))
        index = run.index.get(candidate)
        if index is not None and len(outcomes) == 1 and outcomes <= {Outcome.PASS, Outcome.FAIL}:
            unanimous.append((index, outcomes.pop()))
    failed = [index for index, outcome in unanimous if outcome is Outcome.FAIL]
    mended = [index for index, outcome in unanimous if outcome is Outcome.PASS and failed and index > min(failed)]
    if not mended or witnesses is None:
        return []
    return [
        "good and bad alternate: "
        f"{run.chain.candidates[min(failed)]} fails and {run.chain.candidates[max(mended)]} passes after it, so that"
        " this step from good to bad is not the only one"
    ]


def _of_other_failures(run: RecordedRun) -> list[str]:
    if not any(outcome is Outcome.OTHER for tried in run.tried.values() for outcome in run.outcomes(tried)):
        return []
    middle = [
        outcome
        for candidate, tried in run.tried.items()
        if 0 < run.index.get(candidate, 0) < run.chain.steps
        for outcome in run.outcomes(tried)
    ]
    seen = "" if Outcome.FAIL in middle or Outcome.PASS in middle else ", and none in between fails as it does"
    return [
        f"some candidates fail in another way than the bad end{seen}; if that is the failure you look for, name it with"
        " --expect REGEX, or count every failure with --any-failure"
    ]
