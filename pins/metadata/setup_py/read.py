"""What a `setup.py` says, as far as reading it tells."""

from collections.abc import Callable, Iterator, Mapping

from pins.metadata.declarations import Declarations, Statement, Subject, with_extra
from pins.metadata.python_syntax import syntax_of
from pins.metadata.setup_py.statements import Reading, SetupCall
from pins.metadata.setup_py.surroundings import Surroundings
from pins.metadata.setup_py.values import Known, Unknown, Value

_LARGEST = 2**20
_SIMPLE = {"name": Subject.NAME, "version": Subject.VERSION, "python_requires": Subject.REQUIRES_PYTHON}


def read_setup_py(
    content: bytes,
    file: str = "setup.py",
    *,
    read: Callable[[str], bytes | None] = lambda _: None,
    variables: Mapping[str, str] | None = None,
    markers: Mapping[str, str] | None = None,
) -> Declarations:
    """What the file says; never raises for what stands in it.

    Args:
        content: of the file.
        file: its path from the top of the tree.
        read: gives another file of the tree, None when there is none.
        variables: the environment of the build; a variable that is not among them is taken as not set.
        markers: of the target, as PEP 508 names them.
    """
    try:
        if len(content) > _LARGEST:
            raise ValueError("it is too long")
        tree = syntax_of(content)
    except ValueError as error:
        return _all_unknown(file, f"{file} is no Python that can be read: {str(error)[:100]}")
    reading = Reading(Surroundings(read, file, dict(variables or {}), dict(markers or {})))
    ended_early = reading.module(tree)
    if ended_early:
        return _all_unknown(file, f"{file}: {ended_early}")
    calls = reading.calls
    if not calls:
        return _all_unknown(file, f"{file} has no call of setup() that can be followed")
    if len(calls) > 1:
        lines = " and ".join(str(call.line) for call in calls[:3])
        return _all_unknown(file, f"{file} calls setup() in several places (lines {lines})")
    return _declarations(calls[0], file)


def _all_unknown(file: str, reason: str) -> Declarations:
    return Declarations(file, unknown=dict.fromkeys(Subject, reason))


def _declarations(call: SetupCall, file: str) -> Declarations:
    says: dict[Subject, tuple[Statement, ...]] = {}
    unknown: dict[Subject, str] = {}
    if call.unknown:
        unknown = dict.fromkeys(Subject, f"{call.unknown} ({file}:{call.line})")
    for argument, subject in _SIMPLE.items():
        if argument in call.arguments:
            value = call.arguments[argument]
            if isinstance(value, Known) and isinstance(value.value, str):
                says[subject] = (Statement(value.value, file, value.line, _assumed(value)),)
            elif not (isinstance(value, Known) and value.value is None):
                unknown[subject] = _why(value, argument, file)
    if "use_scm_version" in call.arguments and Subject.VERSION not in says:
        unknown[Subject.VERSION] = f"setuptools_scm makes it from tags ({file}:{call.line})"
    for argument, subject in (("install_requires", Subject.RUNTIME), ("setup_requires", Subject.BUILD)):
        if argument in call.arguments:
            found, reason = _requirements(call.arguments[argument], argument, file)
            says[subject] = found
            if reason:
                unknown[subject] = reason
    extras = call.arguments.get("extras_require")
    if extras is not None:
        found, reason = _extras(extras, file)
        says[Subject.RUNTIME] = (*says.get(Subject.RUNTIME, ()), *found)
        if reason and Subject.RUNTIME not in unknown:
            unknown[Subject.RUNTIME] = reason
    return Declarations(file, says, unknown)


def _requirements(value: Value, argument: str, file: str) -> tuple[tuple[Statement, ...], str]:
    """The requirements of a list or text, and why there may be others."""
    if isinstance(value, Unknown):
        return tuple(_each(value.members, frozenset(), file)), _why(value, argument, file)
    if isinstance(value, Known) and value.value is None:
        return (), ""
    if isinstance(value, Known) and isinstance(value.value, str):
        return tuple(_each([value], value.assumptions, file)), ""
    if isinstance(value, Known) and isinstance(value.value, list | tuple):
        odd = next((one for one in value.value if not _is_text(one)), None)
        return tuple(_each(value.value, value.assumptions, file)), _why(odd, argument, file) if odd else ""
    return (), _why(value, argument, file)


def _each(values: list[Value] | tuple[Value, ...], rests: frozenset[str], file: str) -> Iterator[Statement]:
    for value in values:
        if isinstance(value, Known) and isinstance(value.value, str):
            for line in value.value.splitlines():
                text = line.partition(" #")[0].strip()
                if text and not text.startswith("#"):
                    yield Statement(text, file, value.line, _assumed(value, rests))


def _extras(value: Value, file: str) -> tuple[tuple[Statement, ...], str]:
    if not isinstance(value, Known) or not isinstance(value.value, dict):
        return (), _why(value, "extras_require", file)
    statements: list[Statement] = []
    reason = ""
    for key, part in value.value.items():
        extra, _, marker = str(key).partition(":")
        found, why = _requirements(part, "extras_require", file)
        reason = reason or why
        for one in found:
            text = one.text
            if marker:
                text = f"{text}; {marker}" if ";" not in text else f"{text} and ({marker})"
            if extra:
                text = with_extra(text, extra)
            statements.append(Statement(text, one.file, one.line, one.assumption))
    return tuple(statements), reason


def _is_text(value: Value) -> bool:
    return isinstance(value, Known) and isinstance(value.value, str)


def _assumed(value: Known, others: frozenset[str] = frozenset()) -> str:
    return " and ".join(sorted(value.assumptions | others))


def _why(value: Value, argument: str, file: str) -> str:
    if isinstance(value, Unknown):
        return f"{argument}: {value.reason} ({file}:{value.line})"
    return f"{argument} is computed ({file})"
