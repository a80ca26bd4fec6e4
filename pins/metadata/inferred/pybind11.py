"""The rule on pybind11's internals: modules that share types must be compiled with releases that share them.

A project that compiles a module when it is built, and requires pybind11 where it is installed as well, compiles
further modules there. Both sorts exchange objects; pybind11 lets them only where its internals are equal. So the
release in the environment must have the internals of the one that the project was built with.
"""

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from pins.metadata.declarations import Statement
from pins.metadata.inferred.facts import internals_of
from pins.metadata.project_state import Implied, ProjectState

RULE = "pybind11-internals"


def compiles_where_installed(state: ProjectState) -> Statement | None:
    """The line by which a project requires pybind11 where it is installed; None where it does not."""
    return next((one for one in state.tree.runtime if _is_pybind11(one) and "extra" not in one.text), None)


def built_with(state: ProjectState) -> tuple[Version, Statement] | None:
    """The release of pybind11 that a project is built with, where a requirement names one; None otherwise."""
    for one in (*state.installed, *state.tree.build):
        if _is_pybind11(one):
            pieces = list(Requirement(one.text).specifier)
            if len(pieces) == 1 and pieces[0].operator in ("==", "===") and not pieces[0].version.endswith(".*"):
                try:
                    return Version(pieces[0].version), one
                except InvalidVersion:
                    continue
    return None


def implied_by_internals(state: ProjectState, python: Version, where: str) -> tuple[Implied | None, str]:
    """The bound on pybind11 where a project is installed, and what is to be said where none can be told.

    Args:
        state: of the project.
        python: that it is built with.
        where: the stage that builds it, for people.
    """
    if compiles_where_installed(state) is None:
        return None, ""
    found = built_with(state)
    if found is None:
        return None, ""  # built and used with whatever the base layer brings: the same release in both
    version, statement = found
    internals = internals_of(version, python)
    if internals is None:
        return None, f"the internals of pybind11 {version} are not known; it may share types with no other release"
    sentence = (
        f"its modules are compiled with pybind11 {version} in {where} and share types with those that are compiled "
        f"where it is installed, which takes equal internals ({internals.number})"
    )
    return Implied(RULE, f"pybind11{internals.releases}", statement.file, statement.line, sentence), ""


def _is_pybind11(statement: Statement) -> bool:
    try:
        return canonicalize_name(Requirement(statement.text).name) == "pybind11"
    except InvalidRequirement:
        return False
