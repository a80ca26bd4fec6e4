"""Requirements that the installer does not enforce (`--no-deps`), and that nothing keeps."""

from collections.abc import Collection, Iterator

from pins.resolve.requirement_line import Markers, RequirementLine, read_line
from pins.resolve.search import ABSENT
from pins.resolve.universe import Universe
from pins.resolve.windows import Windows


def broken_promises(found: Windows) -> tuple[str, ...]:
    """What packages that are installed without their requirements would need, and do not get, as sentences.

    A requirement counts as broken where nothing installs what it names, or where no version that could be chosen is
    one that it takes. It is asked of the choice that is pinned, else of the newest that can be chosen.
    """
    return tuple(dict.fromkeys(_broken(found)))


def _broken(found: Windows) -> Iterator[str]:
    universe = found.solver.universe
    names = sorted(name for name in universe.problem.without_dependencies if universe.node(name))
    chosen = {name: label for name in names if (label := _label(universe, name))}
    answers = universe.source.requires(list(chosen.items()))
    markers = Markers(dict(universe.problem.markers))
    installed = found.example.chosen if found.example is not None else {}
    for (name, label), answer in answers.items():
        for line in map(read_line, answer.lines):
            if line.name and not line.problem and not line.url and markers.hold(line.marker, ""):
                sentence = _sentence(universe, installed, line)
                if sentence:
                    yield f"{name} {label} requires {line.name}{line.specifiers}, and {sentence}"


def _label(universe: Universe, name: str) -> str:
    current = universe.problem.current.get(name)
    node = universe.node(name)
    assert node is not None
    domain = universe.search.domains[node.variable] & ~ABSENT
    labels = [choice.label for i, choice in enumerate(node.choices) if domain & 2 << i]
    return current if current in labels else labels[-1] if labels else ""


def _sentence(universe: Universe, installed: Collection[str], line: RequirementLine) -> str:
    node = universe.node(line.name)
    if node is None or line.name not in installed:
        return "nothing installs it"
    domain = universe.search.domains[node.variable] & ~ABSENT
    if not domain & node.versions.taken_by(line.specifiers):
        return f"no version of {line.name} that can be chosen is one"
    return ""
