"""What releases require, asked of the package index for the rules that need it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from packaging.specifiers import SpecifierSet

from pins.hazards.rules.promises import exact_installs
from pins.hazards.subject import Subject


def with_metadata(
    subjects: Sequence[Subject], *, python: str, offline: bool, say: Callable[[str], None]
) -> list[Subject]:
    """The subjects, each knowing what the releases that it installs exactly require.

    What cannot be known of a release is said, and taken as nothing.

    Raises:
        SourceError: an index could not be read.
        UsageError: `python` names none.
    """
    from pins.resolve.requirement_line import Markers, read_line
    from pins.windows_request import WindowsRequest, gathered_for

    wanted = sorted(set().union(*(exact_installs(subject) for subject in subjects)))
    if not wanted:
        return list(subjects)
    known: dict[tuple[str, str], list[tuple[str, str, SpecifierSet]]] = {}
    stated = tuple(f"{name}=={version}" for name, version in wanted)
    with gathered_for(WindowsRequest(require=stated, python=python, offline=offline)) as question:
        markers = Markers(dict(question.target.markers))
        for one, answer in question.gathered.source.requires(wanted).items():
            if answer.unknown:
                say(f"{one[0]} {one[1]}: {answer.unknown}")
            lines = [read_line(text) for text in answer.lines]
            known[one] = [
                (line.text.split(";")[0].strip(), line.name, line.specifiers)
                for line in lines
                if line.name and not line.url and not line.problem and markers.hold(line.marker, "")
            ]

    def requires(name: str, version: str) -> Iterable[tuple[str, str, SpecifierSet]]:
        return known.get((name, version), ())

    return [replace(subject, requires=requires) for subject in subjects]
