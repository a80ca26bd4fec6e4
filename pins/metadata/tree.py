"""What a source tree requires, from all of its files together: read, never executed.

Which file has the last word is setuptools' own order: a `[project]` table over `setup.py`, `setup.py` over `setup.cfg`;
what `[project]` calls dynamic comes from the others. Another build backend looks at `[project]` alone. Where two files
speak of one subject and do not say the same, the one that counts is taken and both are reported.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pins.metadata.declarations import Declarations, Statement, Subject
from pins.metadata.pyproject import read_pyproject, setuptools_dynamic
from pins.metadata.setup_cfg import read_setup_cfg, requirement_lines
from pins.metadata.setup_py.read import read_setup_py

FILES = ("pyproject.toml", "setup.py", "setup.cfg")
"""What is read of every tree."""
Read = Callable[[str], bytes | None]


@dataclass(frozen=True)
class TreeRequirements:
    """What a tree requires.

    Attributes:
        name: of the distribution, canonical; "" where no file tells.
        version: as written; "" where it is not static.
        requires_python: the specifier, "" for none.
        runtime: what the installed distribution requires, extras as markers.
        build: what building it requires.
        unknown: why something is not, or not fully, known: by subject.
        backend: what builds it, "" for setuptools' own old ways.
        disagreements: sentences, each naming two places.
    """

    name: str = ""
    version: str = ""
    requires_python: str = ""
    runtime: tuple[Statement, ...] = ()
    build: tuple[Statement, ...] = ()
    unknown: Mapping[Subject, str] = field(default_factory=dict)
    backend: str = ""
    disagreements: tuple[str, ...] = ()


def read_tree(
    read: Read,
    directory: str = "",
    *,
    variables: Mapping[str, str] | None = None,
    markers: Mapping[str, str] | None = None,
) -> TreeRequirements:
    """What the project in a directory of a tree requires.

    Args:
        read: gives a file by its path from the top of the tree, None when there is none.
        directory: of the project, "" for the top.
        variables: the environment of its build.
        markers: of the target, as PEP 508 names them.
    """
    prefix = f"{directory.strip('/')}/" if directory.strip("/") else ""
    contents = {name: read(prefix + name) for name in FILES}

    def beside(path: str) -> bytes | None:
        return read(prefix + path)

    pyproject, setup_cfg, setup_py = None, None, None
    if contents["pyproject.toml"] is not None:
        pyproject = read_pyproject(contents["pyproject.toml"], f"{prefix}pyproject.toml")
    if contents["setup.cfg"] is not None:
        setup_cfg = read_setup_cfg(contents["setup.cfg"], f"{prefix}setup.cfg", read=beside)
    if contents["setup.py"] is not None:
        setup_py = read_setup_py(
            contents["setup.py"], f"{prefix}setup.py", read=read, variables=variables, markers=markers
        )
    if pyproject is None and setup_py is None and setup_cfg is None:
        where = f"in {directory}" if directory else "at its top"
        return TreeRequirements(unknown=dict.fromkeys(Subject, f"the tree has no pyproject.toml or setup.py {where}"))
    backend = pyproject.backend if pyproject else ""
    if backend and not backend.startswith("setuptools"):
        setup_py = setup_cfg = None
    dynamic = _dynamic(contents["pyproject.toml"] or b"", pyproject, beside)
    return _together(pyproject, dynamic, setup_py, setup_cfg, backend)


def _dynamic(content: bytes, pyproject: Declarations | None, beside: Read) -> Declarations | None:
    """What [tool.setuptools.dynamic] says of fields that [project] leaves open."""
    if pyproject is None or not pyproject.dynamic:
        return None
    table = setuptools_dynamic(content)
    says: dict[Subject, tuple[Statement, ...]] = {}
    unknown: dict[Subject, str] = {}
    if Subject.RUNTIME in pyproject.dynamic and "dependencies" in table:
        found: list[Statement] = []
        for name in _file_names(table["dependencies"]):
            lines = beside(name)
            if lines is None:
                unknown[Subject.RUNTIME] = f"its dependencies are in {name}, which is not in the tree"
            else:
                found += requirement_lines(lines, name)
        says[Subject.RUNTIME] = tuple(found)
    return Declarations(pyproject.file, says, unknown)


def _file_names(value: Any) -> list[str]:
    names = value.get("file") if isinstance(value, dict) else None
    if isinstance(names, str):
        return [names]
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _together(
    pyproject: Declarations | None,
    dynamic: Declarations | None,
    setup_py: Declarations | None,
    setup_cfg: Declarations | None,
    backend: str,
) -> TreeRequirements:
    has_project = pyproject is not None and Subject.NAME in pyproject.says
    files = [one for one in (pyproject, dynamic, setup_py, setup_cfg) if one is not None]
    chosen: dict[Subject, tuple[Statement, ...]] = {}
    unknown: dict[Subject, str] = {}
    notes: list[str] = []
    for subject in (Subject.NAME, Subject.VERSION, Subject.REQUIRES_PYTHON, Subject.RUNTIME):
        speakers = [one for one in files if one.speaks_of(subject)]
        if has_project and pyproject is not None and subject not in pyproject.dynamic:
            # [project] has the whole say on what it does not call dynamic, even by saying nothing.
            speakers = [pyproject, *(one for one in speakers if one is not pyproject)]
        if speakers:
            first = speakers[0]
            chosen[subject] = first.says.get(subject, ())
            if subject in first.unknown:
                unknown[subject] = first.unknown[subject]
            notes += _disagreements(subject, speakers)
        elif pyproject is not None and subject in pyproject.dynamic and subject is not Subject.NAME:
            unknown[subject] = f"{pyproject.file} leaves its {subject} to the build"
        elif subject is Subject.RUNTIME and not has_project and setup_py is None and setup_cfg is None:
            unknown[subject] = "no file of the tree declares what it requires"
    build = [one for one in (pyproject, setup_py, setup_cfg) if one is not None and one.speaks_of(Subject.BUILD)]
    chosen[Subject.BUILD] = _unique(statement for one in build for statement in one.says.get(Subject.BUILD, ()))
    reasons = [one.unknown[Subject.BUILD] for one in build if Subject.BUILD in one.unknown]
    if reasons:
        unknown[Subject.BUILD] = reasons[0]
    chosen, unknown, odd = _valid(chosen, unknown)
    return TreeRequirements(
        name=canonicalize_name(_only(chosen, Subject.NAME)),
        version=_only(chosen, Subject.VERSION),
        requires_python=_only(chosen, Subject.REQUIRES_PYTHON),
        runtime=chosen.get(Subject.RUNTIME, ()),
        build=chosen[Subject.BUILD],
        unknown=unknown,
        backend=backend,
        disagreements=(*notes, *odd),
    )


def _valid(
    chosen: dict[Subject, tuple[Statement, ...]], unknown: dict[Subject, str]
) -> tuple[dict[Subject, tuple[Statement, ...]], dict[Subject, str], list[str]]:
    """Take out what is no requirement: with it, what the tree requires is not fully known."""
    notes: list[str] = []
    for subject in (Subject.RUNTIME, Subject.BUILD):
        kept: list[Statement] = []
        for one in chosen.get(subject, ()):
            try:
                Requirement(one.text)
            except InvalidRequirement:
                said = f"{one.file}:{one.line} has {one.text[:80]!r}, which is no requirement"
                unknown.setdefault(subject, said)
                notes.append(said)
            else:
                kept.append(one)
        chosen[subject] = tuple(kept)
    return chosen, unknown, notes


def _only(chosen: Mapping[Subject, tuple[Statement, ...]], subject: Subject) -> str:
    found = chosen.get(subject, ())
    return found[0].text if found else ""


def _unique(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    by_text: dict[str, Statement] = {}
    for one in statements:
        by_text.setdefault(one.text.replace(" ", "").lower(), one)
    return tuple(by_text.values())


def _disagreements(subject: Subject, speakers: list[Declarations]) -> list[str]:
    notes: list[str] = []
    first, *others = speakers
    for other in others:
        if subject in first.unknown or subject in other.unknown or first.file == other.file:
            continue
        plain = subject is not Subject.RUNTIME
        here, there = (_by_key(one.says.get(subject, ()), plain=plain) for one in (first, other))
        for key in [*here, *(key for key in there if key not in here)]:
            one, two = here.get(key), there.get(key)
            if one is not None and two is not None and not _same(one.text, two.text, plain=plain):
                notes.append(
                    f"{one.file}:{one.line} says {one.text!r} and {two.file}:{two.line} says {two.text!r}; "
                    f"{first.file} counts"
                )
            elif one is None and two is not None:
                notes.append(f"{two.file}:{two.line} says {two.text!r} and {first.file} does not; {first.file} counts")
    return notes


def _by_key(statements: Iterable[Statement], *, plain: bool) -> dict[str, Statement]:
    """Statements by what they are about: requirements by name and marker, of anything else there is one."""
    found: dict[str, Statement] = {}
    for one in statements:
        found.setdefault("" if plain else "".join(_parts(one.text)[:2]), one)
    return found


def _same(one: str, other: str, *, plain: bool) -> bool:
    return one.strip() == other.strip() if plain else _parts(one) == _parts(other)


def _parts(text: str) -> tuple[str, str, str, str]:
    """(name, marker, extras, specifier or URL) of a requirement, each in one spelling."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return text, "", "", ""
    marker = f";{requirement.marker}" if requirement.marker else ""
    extras = ",".join(sorted(map(canonicalize_name, requirement.extras)))
    return canonicalize_name(requirement.name), marker, extras, str(requirement.specifier) or requirement.url or ""
