"""Which requirements of a stage's commands still hold at its end."""

from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pins.metadata.environments.model import Requested, StageContents


def effective_requests(contents: StageContents) -> Iterator[tuple[Requested, str]]:
    """The requirements that still hold at the end of a stage, and for those that do not, which one replaced them.

    A later command replaces what an earlier one asked for where both cannot be true, or where it asks for the newest.
    """
    later: dict[str, list[tuple[Requested, Requirement]]] = {}
    found: list[tuple[Requested, str]] = []
    for one in reversed(contents.requested):
        try:
            requirement = Requirement(one.text)
        except InvalidRequirement:
            found.append((one, ""))
            continue
        name = canonicalize_name(requirement.name)
        replaced = ""
        for other, newer in later.get(name, []):
            together = requirement.specifier & newer.specifier
            same_command = (other.file, other.line) == (one.file, one.line)
            if not same_command and (other.upgrade or together.is_unsatisfiable()):
                replaced = f"{other.file}:{other.line} ({other.text})"
        found.append((one, replaced))
        if not replaced:
            later.setdefault(name, []).append((one, requirement))
    yield from reversed(found)
