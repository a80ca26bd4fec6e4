"""Choosing among valid answers: pure, over what is written and what is known to break."""

from collections.abc import Sequence
from dataclasses import replace

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from pins.model import Form, Pin
from pins.suggest.model import Option, Policy, State, SuggestionKind, VersionState

_UPPER = frozenset({"<", "<="})


def capped(existing: str | None, first_bad: str) -> str:
    """A specifier with a bound below `first_bad`: what is there stays, an upper bound that is looser goes.

    Args:
        existing: what the file says now, None or "" for nothing.
        first_bad: the first version to keep out.
    """
    try:
        clauses = list(SpecifierSet(existing or ""))
    except InvalidSpecifier:
        clauses = []
    kept = [clause for clause in clauses if not _looser(clause, first_bad)]
    if any(_at_least_as_tight(clause, first_bad) for clause in kept):
        return _written(kept, existing or "")
    return ",".join(part for part in (_written(kept, existing or ""), f"<{first_bad}") if part)


def _looser(clause: Specifier, first_bad: str) -> bool:
    if clause.operator not in _UPPER:
        return False
    bound = Version(clause.version)
    return bound > Version(first_bad) or (clause.operator == "<=" and bound >= Version(first_bad))


def _at_least_as_tight(clause: Specifier, first_bad: str) -> bool:
    if clause.operator not in _UPPER:
        return False
    return Version(clause.version) <= Version(first_bad)


def _written(clauses: Sequence[Specifier], existing: str) -> str:
    """Clauses in the order in which the file has them."""
    texts = [part.strip() for part in existing.split(",")]
    order = {text.replace(" ", ""): index for index, text in enumerate(texts)}
    return ",".join(sorted((str(clause) for clause in clauses), key=lambda text: order.get(text, len(order))))


def options_for(
    pin: Pin, good: str, bad: str, policy: Policy, *, current: str = "", lowest: str = "", ends: bool
) -> tuple[Option, ...]:
    """The valid answers for a package pin, the one that the policy asks for first.

    Args:
        pin: as it stands in the file.
        good: the newest version known to do, "" where none is.
        bad: the first version to keep out.
        policy: which answer comes first.
        current: the version that the file gives now, where it is inside.
        lowest: the lowest version known to do.
        ends: whether a condition ends the need.
    """
    bound = SuggestionKind.HOLD if ends else SuggestionKind.CAP
    alone = pin.form in {Form.EXACT, Form.VALUE}  # the place holds a version, and no operator
    exactly = {
        Policy.NEWEST: good,
        Policy.LOWEST: lowest or good,
        Policy.EXACT: current or good,
        Policy.MINIMAL: good,
    }[policy]
    exact = Option(
        exactly if alone else f"=={exactly}",
        SuggestionKind.EXACT,
        "builds the same every time; fixes do not arrive until somebody moves it",
    )
    if alone:
        return (exact,)
    cap = Option(
        capped(pin.value, bad),
        bound,
        f"keeps out what broke and nothing more; fixes below {bad} still arrive"
        + (f", and today's {current} stays" if current else ""),
    )
    only = Option(
        ",".join(part for part in (pin.value or "", f"!={bad}") if part),
        bound,
        f"lets releases after {bad} in at once, though none of them has been seen to pass",
    )
    exacts = (exact,) if exactly else ()
    return (cap, *exacts, only) if policy is Policy.MINIMAL else (*exacts, cap, only)


def drawn_versions(
    versions: Sequence[str], first_bad: str, current: str, suggested: str, reason: str
) -> tuple[VersionState, ...]:
    """Versions in order, those from the first bad one on kept out.

    Args:
        versions: known versions, ascending.
        first_bad: the first to keep out.
        current: what the file gives now.
        suggested: what the suggestion gives.
        reason: why the first bad one is out.
    """
    bad = _parsed(first_bad)
    states: list[VersionState] = []
    for version in versions:
        parsed = _parsed(version)
        if parsed is None or bad is None:
            continue
        out = parsed >= bad
        said = ""
        if out:
            said = reason if version == first_bad else f"newer than {first_bad}, and not tried"
        state = VersionState(version, State.EXCLUDED if out else State.ALLOWED, said)
        states.append(replace(state, current=version == current, suggested=version == suggested))
    return tuple(states)


def _parsed(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def ascending(versions: Sequence[str]) -> list[str]:
    """Versions in order; what is none is left out."""
    parsed = {text: version for text in dict.fromkeys(versions) if (version := _parsed(text)) is not None}
    return sorted(parsed, key=lambda text: parsed[text])
