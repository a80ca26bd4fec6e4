"""Which build argument carries a pin, and in what form."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bisector.environments.docker.instructions import IDENTIFIER, Argument, Dockerfile, arguments
from pins.errors import UsageError

_SUFFIXES = (
    *("", "_version", "_ver", "_spec", "_specifier", "_requirement"),
    *("_ref", "_tag", "_branch", "_commit", "_revision", "_rev", "_sha", "_hash"),
)
_PREDEFINED = re.compile(r"(?i:https?|ftp|no|all)_proxy|BUILDKIT_\w+|SOURCE_DATE_EPOCH|(?:TARGET|BUILD)[A-Z]+")
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\}")
_CREDENTIALS = re.compile(r"://[^/\s@]+@")
_OPERATOR = re.compile(r"\s*(?:===|[=~!<>]=|[<>])\s*")
_REQUIREMENT = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[^\]]*\])?)\s*(.*)", re.DOTALL)
_BOUNDARY = re.compile(r"[-_/]")
_DOTTED = re.compile(r"\d+\.\d")


@dataclass(frozen=True)
class PinArguments:
    """How the pins of a candidate become build arguments.

    Attributes:
        templates: (ARG, template) in the order in which they are passed; `{name}` stands for the value of a pin.
    """

    templates: tuple[tuple[str, str], ...]

    @property
    def carriers(self) -> tuple[str, ...]:
        """The ARGs whose value depends on a pin."""
        return tuple(name for name, template in self.templates if _PLACEHOLDER.search(template))

    def values(self, candidate: Mapping[str, str]) -> dict[str, str]:
        """The build arguments of a candidate.

        Raises:
            UsageError: a value that no build argument can hold.
        """
        by_name = {canonicalize_name(pin): value for pin, value in candidate.items()}
        for pin, value in candidate.items():
            if any(character in value for character in "\n\r\0"):
                raise UsageError(f"pin {pin}: the value {value!r} holds a line break or a null, which no ARG can take")
        return {
            name: _PLACEHOLDER.sub(lambda match: by_name.get(canonicalize_name(match[1]), match[0]), template)
            for name, template in self.templates
        }


def pin_arguments(
    dockerfile: Dockerfile,
    path: str,
    pins: Sequence[str],
    templates: Sequence[tuple[str, str]],
    commits: Collection[str] = (),
) -> PinArguments:
    """Find the build argument of each pin.

    Args:
        dockerfile: as read.
        path: its name, for messages.
        pins: names of the axes.
        templates: `--build-arg` as typed: (ARG, value with `{NAME}` for the value of a pin).
        commits: those of the pins whose values are commits: their ARG takes nothing but that.

    Raises:
        UsageError: a pin has no ARG, or several; an ARG is not declared; its form cannot be told.
    """
    declared = arguments(dockerfile)
    names = {argument.name for argument in declared}
    known = {canonicalize_name(pin) for pin in pins}
    carried: set[str] = set()
    for name, template in templates:
        if not IDENTIFIER.fullmatch(name):
            raise UsageError(f"--build-arg {name}={template}: {name!r} is not a name that an ARG can have")
        if any(character in template for character in "\n\r\0"):
            raise UsageError(f"--build-arg {name}: its value holds a line break or a null, which no ARG can take")
        if _CREDENTIALS.search(template):
            raise UsageError(
                f"--build-arg {name}: a build argument is kept in the history of the image, credentials and all; hand"
                " the address over with --secret, and read it in a RUN --mount=type=secret"
            )
        used = {canonicalize_name(found) for found in _PLACEHOLDER.findall(template)}
        if used - known:
            raise UsageError(
                f"--build-arg {name}={template}: {', '.join(sorted(used - known))} is not a pin of this run;"
                f" its pins are {', '.join(pins)}"
            )
        if used and name not in names and not _PREDEFINED.fullmatch(name):
            raise UsageError(f"--build-arg {name}={template}: {path} declares no ARG {name}. {_listing(declared)}")
        carried |= used
    taken = {name for name, _ in templates}
    found = [
        (argument, form)
        for pin in pins
        if canonicalize_name(pin) not in carried
        for argument, form in [_find(dockerfile, path, pin, declared, taken, is_commit=pin in commits)]
    ]
    return PinArguments((*templates, *found))


def _listing(declared: Sequence[Argument]) -> str:
    names = list(dict.fromkeys(argument.name for argument in declared))
    return f"Its ARGs are: {', '.join(names)}." if names else "It has no ARG at all."


def _way_out(pin: str) -> str:
    return f"Say which ARG takes it, and how: --build-arg 'NAME={{{pin}}}' or, say, --build-arg 'NAME==={{{pin}}}'"


def _find(
    dockerfile: Dockerfile,
    path: str,
    pin: str,
    declared: Sequence[Argument],
    taken: Collection[str],
    *,
    is_commit: bool = False,
) -> tuple[str, str]:
    folded = _folded(pin)
    wanted = {folded + suffix for suffix in _SUFFIXES}
    matching: dict[str, list[Argument]] = {}
    for argument in declared:
        if _folded(argument.name) in wanted or (argument.default and _requires(argument.default, pin)):
            matching.setdefault(argument.name, []).append(argument)
    # An ARG made of another one moves with it.
    derived = {
        name
        for name, found in matching.items()
        if any(_refers(argument.default or "", other) for argument in found for other in matching if other != name)
    }
    names = [name for name in matching if name not in derived and name not in taken]
    if not names and (held := [name for name in matching if name in taken]):
        raise UsageError(
            f"pin {pin}: --build-arg {held[0]} sets the ARG that the pin would take; leave that option out, or write"
            f" the pin's place into it: --build-arg '{held[0]}={{{pin}}}'"
        )
    if not names:
        raise UsageError(f"pin {pin}: {path} has no ARG that carries it. {_listing(declared)} {_way_out(pin)}")
    if len(names) > 1:
        raise UsageError(f"pin {pin}: {path} has several ARGs that may carry it: {', '.join(names)}. {_way_out(pin)}")
    name = names[0]
    found = matching[name]
    _require_effect(dockerfile, path, pin, name, found)
    if is_commit:
        return name, f"{{{pin}}}"
    defaults = [argument.default for argument in found if argument.default]
    forms = {_form_of_default(default, pin) for default in defaults} or _forms_of_uses(dockerfile, name, pin)
    if len(forms) != 1 or None in forms:
        shown = f"its default {defaults[0]!r}" if defaults else "its use"
        raise UsageError(
            f"pin {pin}: how ARG {name} of {path} takes a version cannot be told from {shown}. {_way_out(pin)}"
        )
    form = forms.pop()
    assert form is not None
    return name, form


def _folded(name: str) -> str:
    return re.sub(r"[-._]+", "_", name).lower()


def _refers(text: str, name: str) -> bool:
    return re.search(rf"\$(?:{name}\b|\{{{name}\b)", text) is not None


def _requires(text: str, pin: str) -> bool:
    """Whether a default is a requirement of the pin with a specifier: `pybind11<3.1`."""
    match = _REQUIREMENT.fullmatch(text)
    return (
        match is not None
        and canonicalize_name(match[1].partition("[")[0]) == canonicalize_name(pin)
        and _OPERATOR.match(match[2]) is not None
    )


def _require_effect(dockerfile: Dockerfile, path: str, pin: str, name: str, found: Sequence[Argument]) -> None:
    """An ARG before the first FROM reaches FROM lines alone: elsewhere a value for it would change nothing."""
    if any(argument.stage >= 0 for argument in found):
        return
    globally = [entry for entry in dockerfile.instructions if entry.keyword == "FROM" or entry.stage == -1]
    if not any(_refers(entry.text, name) for entry in globally):
        raise UsageError(
            f"pin {pin}: ARG {name} stands before the first FROM ({path}:{found[0].line}) and no stage declares it"
            f" again, so its value reaches nothing. Add `ARG {name}` to the stage that uses it"
        )


def _form_of_default(default: str, pin: str) -> str | None:
    placeholder = f"{{{pin}}}"
    if _OPERATOR.match(default):
        return "==" + placeholder
    match = _REQUIREMENT.fullmatch(default)
    named = match is not None and canonicalize_name(match[1].partition("[")[0]) == canonicalize_name(pin)
    if match and named and (not match[2] or _OPERATOR.match(match[2])):
        return f"{match[1]}=={placeholder}"
    for start in (0, *(boundary.end() for boundary in _BOUNDARY.finditer(default))):
        version = default[start:].removeprefix("v")
        # After a name, only what has a dot in it is a version: `pybind11-3.0`, but not `2026-08-01`.
        if _is_version(version) and (start == 0 or _DOTTED.match(version)):
            return default[: len(default) - len(version)] + placeholder
    return None


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _forms_of_uses(dockerfile: Dockerfile, name: str, pin: str) -> set[str | None]:
    """The forms in which the instructions use an ARG without a default: `"pybind11${SPEC}"` wants `==3.0.4`."""
    placeholder = f"{{{pin}}}"
    forms: set[str | None] = set()
    for instruction in dockerfile.instructions:
        if instruction.keyword not in {"RUN", "FROM", "COPY", "ADD"}:
            continue
        for match in re.finditer(rf"\$(?:{name}\b|\{{{name}(?!\w)(:?[-+?]|[#%/])?)", instruction.text):
            if match[1] and match[1].endswith("+"):  # it only asks whether there is a value
                continue
            before = re.search(r"[^\s\"']*$", instruction.text[: match.start()])
            attached = before[0] if before else ""
            requirement = re.fullmatch(r"([A-Za-z0-9._-]+)(\[[^\]]*\])?", attached)
            if requirement and canonicalize_name(requirement[1]) == canonicalize_name(pin):
                forms.add("==" + placeholder)
            elif attached:
                forms.add(placeholder)
            elif instruction.keyword == "RUN" and re.search(r"\bpip3?\b.*\binstall\b", instruction.text):
                forms.add(f"{pin}=={placeholder}")
            else:
                forms.add(placeholder)
    return forms
