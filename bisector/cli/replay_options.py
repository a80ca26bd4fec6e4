"""The options that may be given anew with `--replay`: how runs are judged, and how sure to be."""

from dataclasses import fields

from bisector.cli import arguments
from bisector.cli.options import RunOptions, key_of
from bisector.cli.search_arguments import parse_metric, parse_suspect
from bisector.request import BuildFailureIs, TimeoutIs
from pins.errors import UsageError

JUDGING = frozenset(
    {
        *("expect", "any_failure", "timeout_is", "build_failure_is", "metric", "regress", "suspect"),
        *("confidence", "repeat", "max_runs"),
    }
)


def changes_from(options: RunOptions) -> dict[str, object]:
    """The fields of a request that are to be taken otherwise than the run took them.

    Raises:
        UsageError: an option that a record cannot be judged by, or one that is wrong.
    """
    given = {each.name: getattr(options, each.name) for each in fields(RunOptions) if getattr(options, each.name)}
    useless = sorted(f"--{key_of(name)}" for name in given if name not in JUDGING)
    if useless:
        may = ", ".join(sorted(f"--{key_of(name)}" for name in JUDGING))
        raise UsageError(f"{', '.join(useless)}: with --replay nothing is built or run; of use are {may}")
    changes: dict[str, object] = {}
    for name, text in given.items():
        match name:
            case "expect":
                changes[name] = arguments.parse_pattern(text, "--expect")
            case "any_failure":
                changes[name] = text
            case "timeout_is":
                changes[name] = TimeoutIs(arguments.parse_choice(text, "--timeout-is", tuple(TimeoutIs)))
            case "build_failure_is":
                choices = tuple(BuildFailureIs)
                changes[name] = BuildFailureIs(arguments.parse_choice(text, "--build-failure-is", choices))
            case "metric" | "regress":
                changes["metric"] = parse_metric(options.metric, options.regress)
            case "suspect":
                changes["suspects"] = tuple(parse_suspect(each) for each in text)
            case "confidence":
                changes[name] = arguments.parse_confidence(text)
            case "repeat":
                changes[name] = arguments.parse_repeat(text)
            case "max_runs":
                changes[name] = arguments.parse_max_runs(text)
    return changes
