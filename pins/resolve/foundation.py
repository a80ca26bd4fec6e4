"""What in a solution is really asked for. Needed for pip's rules, by which a version may need somebody who names it.

To the search a constraint is a constraint: it would let a package in only because it names the pre-release that is
wanted, or let two pre-releases name each other. pip never would: it looks at a version because of what it has accepted
already. What is asked for follows from the choices of what is asked for, so where a set of choices is not founded, it
never is, whatever else is chosen; it can be ruled out as it stands.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from pins.resolve.search import Literal, Search

Supported = tuple[int, int, list[Literal]]
"""A variable, the values that must be named, and who names them."""


def reached(search: Search, values: Mapping[int, int], roots: Iterable[int]) -> set[int]:
    """The variables that are asked for, directly or by others that are."""
    found: set[int] = set()
    waiting = [variable for variable in roots if variable in values]
    while waiting:
        variable = waiting.pop()
        if variable not in found:
            found.add(variable)
            waiting.extend(asked for asked in _asked_by(search, values, variable) if asked in values)
    return found


def founded(
    search: Search,
    values: Mapping[int, int],
    roots: Iterable[int],
    supported: Iterable[Supported],
    is_admitted: Callable[[int, Mapping[int, int], Collection[int]], bool],
) -> set[int]:
    """The variables whose values are accepted, each because of what was accepted before it.

    Args:
        search: knows what asks for what.
        values: variable -> number of its choice.
        roots: the variables that the problem itself asks for.
        supported: what must be named.
        is_admitted: is asked of a variable, the values and what is accepted, for all that is not so simple.
    """
    needs = [(v, named) for v, mask, named in supported if v in values and mask & 2 << values[v]]
    accepted: set[int] = set()
    asked = {variable for variable in roots if variable in values}
    while True:
        new = {
            variable
            for variable in asked - accepted
            if is_admitted(variable, values, accepted)
            and all(
                any(by in accepted and mask & 2 << values[by] for by, mask in named)
                for needing, named in needs
                if needing == variable
            )
        }
        if not new:
            return accepted
        accepted |= new
        for variable in new:
            asked.update(one for one in _asked_by(search, values, variable) if one in values)


def _asked_by(search: Search, values: Mapping[int, int], variable: int) -> Iterable[int]:
    value = 2 << values[variable]
    return [edge.target for edge in search.edges_from(variable) if any(mask & value for mask, _ in edge.rows)]
