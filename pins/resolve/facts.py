"""What an answer can stand on: each fact is one thing that is true of the problem, which a sentence can say."""

from dataclasses import dataclass

from pins.resolve.problem import Constraint
from pins.resolve.search import Edge


@dataclass(frozen=True)
class Stated:
    """A constraint of the problem: a requirement, or a bound.

    Attributes:
        constraint: as it was given.
        name: which it is about.
        extras: which it asks for.
        mask: the choices that it takes.
        is_requirement: whether it also asks for the name.
    """

    constraint: Constraint
    name: str
    extras: tuple[str, ...]
    mask: int
    is_requirement: bool


@dataclass(frozen=True)
class Unusable:
    """Some choices of a name cannot be installed here at all, or may not be used.

    Attributes:
        name: whose.
        mask: which choices.
        reason: why, as `Choice.unusable` has it.
    """

    name: str
    mask: int
    reason: str


@dataclass(frozen=True)
class Admission:
    """Choices that the installer takes only where a requirement names them: pre-releases, yanked ones.

    Attributes:
        name: whose.
        mask: which choices.
        reason: what they are: "pre-releases", "yanked".
        instead: what the installer takes instead unless something excludes that, "" where there is no such thing.
    """

    name: str
    mask: int
    reason: str
    instead: str = ""


@dataclass(frozen=True)
class Asks:
    """What the choices of one name ask of another; the rows of the edge say which ask what.

    Attributes:
        edge: from the name (or an extra of it) to what is required.
    """

    edge: Edge


@dataclass(frozen=True)
class NotKnown:
    """Choices of a name whose requirements, or whose version, are not known.

    Attributes:
        name: whose.
    """

    name: str


Fact = Stated | Unusable | Admission | Asks | NotKnown
