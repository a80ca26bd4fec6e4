"""From the options that name files, revisions, dates and images to what is asked of file axes."""

from pathlib import Path

from bisector.cli import arguments
from bisector.cli.options import RunOptions, key_of
from bisector.file_axes.request import FilesRequest
from pins.errors import UsageError

_PAIRS = (("good", "bad"), ("good_file", "bad_file"), ("good_date", "bad_date"), ("good_image", "bad_image"))


def files_request(options: RunOptions, directory: Path) -> FilesRequest | None:
    """The ends as files, None where `--pin` names them.

    Raises:
        UsageError: one of a pair is missing, or options contradict one another.
    """
    given = [name for pair in _PAIRS for name in pair if getattr(options, name)]
    if not given:
        _refuse_without_ends(options)
        return None
    for good, bad in _PAIRS:
        if bool(getattr(options, good)) != bool(getattr(options, bad)):
            there, missing = (good, bad) if getattr(options, good) else (bad, good)
            raise UsageError(f"--{key_of(there)} without --{key_of(missing)}: name both ends")
    if options.good and not options.dockerfile and len(options.requirements) != 1:
        raise UsageError(
            "--good and --bad are revisions of a file: name it with --dockerfile FILE, or one with --requirements FILE"
        )
    if options.good and options.good_file:
        raise UsageError("--good REV and --good-file FILE both name the good end; leave one of them out")
    if options.good_file and options.dockerfile:
        raise UsageError("--good-file and --bad-file are the Dockerfiles; leave --dockerfile out")
    if options.pin:
        raise UsageError(
            "--pin beside ends that are read from files: what differs is found there; choose among it with --only or"
            " --exclude, and hold a pin still with --fix NAME=VALUE"
        )
    good_date = arguments.parse_date(options.good_date, "--good-date") if options.good_date else None
    bad_date = arguments.parse_date(options.bad_date, "--bad-date") if options.bad_date else None
    if options.good_image and not options.dockerfile:
        raise UsageError(
            "--good-image and --bad-image: name the Dockerfile that they are built from, --dockerfile FILE"
        )
    if options.good_image and options.good_date:
        raise UsageError("--good-date and --good-image both say when; leave one of them out")
    if good_date and bad_date and good_date >= bad_date:
        raise UsageError(f"--good-date {options.good_date} is not before --bad-date {options.bad_date}")
    file = options.dockerfile or (options.requirements[0] if options.good else "")
    return FilesRequest(
        file=arguments.parse_path(file, directory) if file else None,
        good=options.good or "",
        bad=options.bad or "",
        good_file=arguments.parse_path(options.good_file, directory) if options.good_file else None,
        bad_file=arguments.parse_path(options.bad_file, directory) if options.bad_file else None,
        chain=tuple(_link(text, directory) for text in options.chain),
        only=options.only,
        exclude=options.exclude,
        good_date=good_date,
        bad_date=bad_date,
        good_image=options.good_image or "",
        bad_image=options.bad_image or "",
    )


def fixed_pins(options: RunOptions) -> tuple[tuple[str, str], ...]:
    """`--fix` where the pins are those of a file: whatever a pin there may hold; an empty value opens a requirement."""
    from bisector.file_axes.slots import OPEN
    from pins.files.select import read_assignment

    found = []
    for text in options.fix:
        name, value = read_assignment(text)
        found.append((name, OPEN if value is None else value))
    return tuple(found)


def _refuse_without_ends(options: RunOptions) -> None:
    for name in ("only", "exclude", "chain"):
        if getattr(options, name):
            raise UsageError(
                f"--{key_of(name)}: of use only where ends are read from files; name them with --dockerfile FILE"
                " --good REV --bad REV, or with --good-file and --bad-file"
            )


def _link(text: str, directory: Path) -> str:
    place, equals, argument = text.rpartition("=")
    file, colon, target = place.rpartition(":")
    if not equals or not colon or not file or not argument.isidentifier():
        raise UsageError(
            f"--chain {text!r} must be FILE:TARGET=ARG, such as docker/Dockerfile.base:final=BASE_IMAGE; TARGET may be"
            " empty for the last stage"
        )
    return f"{arguments.parse_path(file, directory)}:{target}={argument}"
