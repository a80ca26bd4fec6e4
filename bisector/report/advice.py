"""What a reader can do next, for each verdict."""

import shlex
from itertools import pairwise

from bisector.model import Outcome
from bisector.report.evidence import UNTESTABLE, first_failing, last_passing, on_chain
from bisector.report.model import Result, Verdict
from bisector.report.wording import end_probe
from pins.report.blocks import Line, Span
from pins.report.tones import Tone

_IMAGES = ("docker", "image")
"""Environments in which nothing is installed by an option of the command."""


def _say(*parts: str) -> Line:
    """Prose and literals in turn, prose first."""
    return tuple(
        Span(part, Tone.STRONG if place % 2 else Tone.PLAIN, code=bool(place % 2)) for place, part in enumerate(parts)
    )


def advice(result: Result) -> tuple[Line, ...]:
    """Sentences that say what to do next, the likeliest to help first."""
    match result.verdict:
        case Verdict.CULPRIT:
            return _after_culprit(result)
        case Verdict.RANGE:
            return (*_make_testable(result), *_go_on(result))
        case Verdict.NO_BRACKET:
            return _move_the_ends(result)
        case Verdict.UNDETERMINED:
            return (
                _say(
                    "Allow more runs (",
                    "--max-runs",
                    ") or more time (",
                    "--budget",
                    "), or ask for less (",
                    "--confidence",
                    ").",
                ),
                _say(
                    "Make the script steadier: fix seeds, ports and time limits, or count one failure only (",
                    "--expect",
                    ").",
                ),
                *_make_testable(result),
                *_go_on(result),
            )
        case Verdict.ENVIRONMENT:
            return (
                _say("Compare the host facts below, and run all probes on one machine that stays as it is."),
                *_go_on(result),
            )
        case Verdict.INFRASTRUCTURE:
            return (
                _say("Put right what the notes name; ", "bisector doctor", " says what this machine can run."),
                *_go_on(result, "Then go on; finished probes are not repeated: "),
            )
        case _:
            return _go_on(result, "Go on; finished probes are not repeated: ")


def _go_on(result: Result, before: str = "Go on from here with ") -> tuple[Line, ...]:
    return (_say(before, result.resume),) if result.resume else ()


def _after_culprit(result: Result) -> tuple[Line, ...]:
    if result.culprit is None:
        return ()
    move = result.culprit.moves[0]
    if result.first_good:
        return (_say("Move ", move.pin, " to ", f"{move.old} or later", ": from there on the failure is gone."),)
    said = [_say("Until this is fixed, keep ", move.pin, " at ", move.old, ", the last value seen to pass.")]
    if result.culprit.partners:
        pin, value = result.culprit.partners[0]
        said.append(_say("Or hold a partner at another value than the one that it fails with: ", f"{pin} {value}", "."))
    if file := _file_of(result):
        said.append(_say("What to pin in that file, as a patch: ", f"pins suggest {file} --run {result.run_id}", "."))
    if result.transitive and result.environment != "image":
        said.append(
            _say(
                "Other distributions moved along (see below). To see whether the failure comes through one of them, "
                "hold it with ", "--with NAME==VERSION", " and run again.",
            )
        )  # fmt: skip
    return tuple(said)


def _file_of(result: Result) -> str:
    """The file with pins that the command names, as it stands there, quoted; "" where it names none, or several."""
    try:
        words = shlex.split(result.reproduce)
    except ValueError:
        return ""
    named = [value for option, value in pairwise(words) if option in {"--dockerfile", "--requirements"}]
    return shlex.quote(named[0]) if len(named) == 1 else ""


def _make_testable(result: Result) -> tuple[Line, ...]:
    """What would make the candidates testable that stand between known good and known bad."""
    good, bad = last_passing(result), first_failing(result)
    low = good.step if good and good.step is not None else -1
    high = bad.step if bad and bad.step is not None else result.chain_length
    between = {
        probe.outcome for at, probe in on_chain(result).items() if low < at < high and probe.outcome in UNTESTABLE
    }
    unbuildable: tuple[str, ...] = ("Some candidates in between cannot be built: their logs say why",)
    if result.environment not in _IMAGES:
        unbuildable = (
            f"{unbuildable[0]}. What they lack may be given with ",
            *("--with", ", ", "--build-constraint", " or another ", "--python", ""),
        )
    before, last = unbuildable[:-1], unbuildable[-1]
    said = {
        Outcome.UNBUILDABLE: _say(
            *before, f"{last}; where building is itself the test, use ", "--build-failure-is fail", ".",
        ),
        Outcome.OTHER: _say(
            "Some candidates in between fail in another way. If that is the same bug, say so with ",
            "--expect REGEX", " or ", "--any-failure", ".",
        ),
        Outcome.SKIP: _say(
            "The script skipped some candidates in between (exit status ", "125",
            "): a script that can judge them tells the steps apart.",
        ),
        Outcome.INFRA: _say("Our side failed on some candidates in between; they can be run again."),
    }  # fmt: skip
    return tuple(line for outcome, line in said.items() if outcome in between)


def _held_with(result: Result) -> tuple[str, ...]:
    """How what has moved is held still, which is not the same for packages and in images."""
    if result.environment in _IMAGES:
        return ("), or search what floats in the file (", "--good-date", ", ", "--bad-date", ").")
    return ("), or hold it with ", "--with", ".")


def _move_the_ends(result: Result) -> tuple[Line, ...]:
    good, bad = end_probe(result, good=True), end_probe(result, good=False)
    said: list[Line] = []
    if good is not None and good.outcome is not Outcome.PASS:
        said.append(
            _say("Look at the output of the good end: does the script itself run there? Else take an older good end.")
        )
        said.append(
            _say(
                "If it once passed with these pins, something that is no pin has moved: read the index as of then (",
                "--exclude-newer DATE", *_held_with(result),
            )
        )  # fmt: skip
    if good is not None and good.outcome is Outcome.UNBUILDABLE and result.environment not in _IMAGES:
        said.append(_say("The good end cannot be built here: another ", "--python", " may be able to."))
    if bad is not None and bad.outcome is Outcome.PASS:
        said.append(
            _say("Take a newer bad end, or see what else differs where it was seen to fail: device, data, other pins.")
        )
        said.append(
            _say("If it fails only now and then, run the script more often inside itself, or raise ", "--repeat", ".")
        )
    if bad is not None and bad.outcome in (Outcome.UNBUILDABLE, Outcome.OTHER, Outcome.SKIP):
        said.append(
            _say(
                "The bad end gives no evidence. Where failing to build is the failure, use ",
                "--build-failure-is fail", "; where any failure is, ", "--any-failure", ".",
            )
        )  # fmt: skip
    return tuple(said)
