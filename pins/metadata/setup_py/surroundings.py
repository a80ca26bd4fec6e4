"""What a `setup.py` would find around it, and what it may call without changing anything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

ROOT = "/tree"
"""Where the tree is taken to lie, so that paths made from `__file__` can be followed."""
LONGEST = 100_000
MOST_STEPS = 50_000
BUILT_IN = frozenset({"open", "len", "str", "int", "bool", "list", "tuple", "set", "dict", "sorted", "any", "all"})
TEXT_METHODS = frozenset(
    [
        *("strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "startswith", "endswith", "upper", "lower"),
        *("replace", "join", "format", "partition", "rpartition", "removeprefix", "removesuffix", "title", "isdigit"),
    ]
)
PURE = BUILT_IN | {"print", "isinstance", "repr", "max", "min", "sum", "zip", "enumerate", "range", "map", "filter"}
"""Functions that change nothing of what they are given."""
PURE_METHODS = TEXT_METHODS | {"get", "keys", "values", "items", "copy", "index", "count", "read", "write", "exists"}
"""Methods that do not change what they belong to, nor what they are given."""


@dataclass(frozen=True)
class Surroundings:
    """What the file would find around it.

    Attributes:
        read: gives a file of the tree by its path from the top, None when there is none.
        file: path of the `setup.py` from the top of the tree.
        variables: the environment of the build.
        markers: of the target, as PEP 508 names them.
    """

    read: Callable[[str], bytes | None]
    file: str
    variables: Mapping[str, str]
    markers: Mapping[str, str]


class TooMuchError(Exception):
    """The file asks for more steps than any honest one does."""
