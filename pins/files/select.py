"""Find the pins that a person means."""

import re

from packaging.utils import canonicalize_name

from pins.errors import UsageError
from pins.model import Pin, PinKind, PinSet


def select(pins: PinSet, name: str, *, line: int | None = None, stage: str | None = None) -> list[Pin]:
    """The pins of that name, ARG or alias.

    Args:
        pins: where to look.
        name: as shown, or the ARG that holds it, or the last part of an image's name; case, ``-`` and ``_`` do not
            matter.
        line: only the pin written or used on this line.
        stage: only pins written or used in this stage, whose name is taken in any case as in the file.

    Raises:
        UsageError: there is none; the message names what comes close.
    """
    wanted = canonicalize_name(name)
    found = [pin for pin in pins.pins if canonicalize_name(pin.name) == wanted]
    found = found or [pin for pin in pins.pins if wanted in {canonicalize_name(alias) for alias in pin.aliases}]
    found = found or [pin for pin in pins.pins if pin.kind is PinKind.IMAGE and _last_part(pin.name) == wanted]
    if not found:
        raise UsageError(f"{pins.file} has no pin {name!r}{_hint(pins, wanted)}")
    chosen = found
    if line is not None:
        chosen = [p for p in chosen if line in {p.line, *(q.line for q in p.places), *(u.line for u in p.uses)}]
    if stage is not None:
        chosen = [p for p in chosen if stage.lower() in {p.stage, *(u.stage for u in p.uses)}]
    if not chosen:
        listed = "\n".join(f"  {place(pin)}" for pin in found)
        raise UsageError(f"{pins.file} has {name!r} elsewhere only:\n{listed}")
    return chosen


def place(pin: Pin) -> str:
    """Where a pin is and what it holds, for a person."""
    where = f"{pin.file}:{pin.line}"
    stage = f" (stage {pin.stage})" if pin.stage else ""
    return f"{where}{stage}: {pin.name} = {pin.value if pin.value is not None else pin.unknown or 'open'}"


def _last_part(repository: str) -> str:
    return canonicalize_name(repository.rpartition("/")[2])


def _hint(pins: PinSet, wanted: str) -> str:
    import difflib

    names = sorted({pin.name for pin in pins.pins})
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5) or [n for n in names if wanted in n][:3]
    if close:
        return f"; did you mean {' or '.join(close)}?"
    shown = ", ".join(names[:12])
    return f"; it has {shown}{', ...' if len(names) > 12 else ''}" if names else "; it has no pins at all"


_ASSIGNMENT = re.compile(r"\s*([A-Za-z0-9@$][A-Za-z0-9@._/:+${}()-]*?)\s*(===|==|~=|!=|<=|>=|<|>|=)(.*)\Z", re.DOTALL)


def read_assignment(text: str) -> tuple[str, str | None]:
    """NAME and VALUE of ``NAME=VALUE``; ``NAME<3`` and ``NAME==1.2`` are taken as they look. An empty value is None.

    Raises:
        UsageError: it is no assignment.
    """
    match = _ASSIGNMENT.match(text)
    if not match:
        raise UsageError(f"{text!r} is not NAME=VALUE, such as triton=f0b55c0 or 'pybind11=<3.1.0'")
    # "foo===1.2" is "foo=" and "==1.2": arbitrary equality is written "foo= ===1.2"
    value = match[3] if match[2] == "=" else match[2].replace("===", "==") + match[3]
    return match[1], value.strip() or None
