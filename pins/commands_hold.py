"""`pins hold`."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import Output, deliver, guarded, new_app, say
from pins.errors import UsageError

if TYPE_CHECKING:
    from pins.model import Pin, PinSet
    from pins.suggest.holds import Hold

app = new_app("Write down temporary pins.")
REVIEW_AFTER = timedelta(days=30)


@app.command("hold")
@guarded
def _hold(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file that holds the pin.")],
    what: Annotated[
        str, typer.Argument(metavar="REQ|NAME=VALUE", help="'pybind11<3.1.0'; of what is no package, triton=9c1ab00.")
    ],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, for whoever reads it later.")] = "",
    until: Annotated[str, typer.Option("--until", metavar="TEXT", help="What ends it.")] = "",
    review: Annotated[
        str, typer.Option("--review", metavar="DATE", help="The day to look again; else in 30 days.")
    ] = "",
    evidence: Annotated[
        str, typer.Option("--evidence", metavar="TEXT", help="What it stands on: a run, an issue's address.")
    ] = "",
    write: Annotated[bool, typer.Option("--write", help="Change pins.toml; else the change is shown.")] = False,
    output: Output = None,
) -> int:
    r"""Record a temporary pin with its reason and its end. Written into pins.toml, to be committed.

    \b
    Example:
      pins hold docker/Dockerfile.rocm_base 'pybind11<3.1.0' --why "AITER's kernels share no types with 3.1.0" \
          --until "AITER is built with internals 12" --write

    `pins windows` and `pins suggest` keep to it. The file itself is not changed: `pins set` does that.
    """
    from pins.files.locate import locate
    from pins.suggest.holds import FILE, with_hold
    from pins.suggest.writing import Planned

    if not why.strip():
        raise UsageError("--why is needed: whoever meets it later wants to know")
    if not file.is_file():
        raise UsageError(f"{file} is not a file")
    today = datetime.now(UTC).date()
    tree, relative = locate(file)
    hold = _made(_pins_of(file), what, relative, why.strip(), until.strip(), today, _day(review, today), evidence)
    before = tree.read(FILE)
    planned = Planned(tree.root, ((FILE, before, with_hold(before or b"", hold)),))
    if write:
        planned.write()
        say(f"{tree.root / FILE}: changed.")
    return deliver(planned.patch, output)


def _day(text: str, today: date) -> date:
    if not text:
        return today + REVIEW_AFTER
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--review {text!r} is no day such as {today + REVIEW_AFTER}") from None
    if day < today:
        raise UsageError(f"--review {day} is over already")
    return day


def _pins_of(file: Path) -> "PinSet":
    from pins.files.reading import ReadRequest, read_all

    return read_all(ReadRequest((file,), "", {}, "", (), {}))[0]


def _made(
    pins: "PinSet", what: str, file: str, why: str, until: str, today: date, review: date, evidence: str
) -> "Hold":
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    from pins.model import PinKind
    from pins.suggest.holds import Hold

    exact = re.fullmatch(r"([A-Za-z0-9][\w./-]*)=([^=<>!~\s]\S*)", what)
    if exact:
        pin = _named(pins, exact[1], what)
        if pin.kind is PinKind.PACKAGE:
            raise UsageError(
                f"{what!r}: {pin.name} is a package; hold it by a requirement such as {pin.name}=={exact[2]}"
            )
        if pin.value != exact[2]:
            say(f"{pin.file}:{pin.line}: {pin.name} is {pin.value or 'open'} there; `pins set` writes {exact[2]}")
        return Hold(pin.name, "", file, why, until, today, review, evidence, exact[2])
    try:
        requirement = Requirement(what)
    except InvalidRequirement:
        raise UsageError(f"{what!r} is neither a requirement such as 'pybind11<3.1.0' nor NAME=VALUE") from None
    if not requirement.specifier or requirement.url or requirement.extras or requirement.marker:
        raise UsageError(f"{what!r} bounds no version; give a requirement such as 'pybind11<3.1.0'")
    pin = _named(pins, canonicalize_name(requirement.name), what)
    if pin.kind is not PinKind.PACKAGE:
        raise UsageError(f"{what!r}: {pin.name} is no package in {file}; hold it as {pin.name}=VALUE")
    if pin.value is None:
        say(f"{pin.file}:{pin.line}: {pin.name} is open there; `pins set` writes the bound into the file")
    return Hold(pin.name, f"{pin.name}{requirement.specifier}", file, why, until, today, review, evidence)


def _named(pins: "PinSet", name: str, what: str) -> "Pin":
    found = [pin for pin in pins.pins if name in (pin.name, *pin.aliases)]
    if not found:
        names = ", ".join(dict.fromkeys(pin.name for pin in pins.pins))
        raise UsageError(f"{what!r}: {pins.file} pins nothing of that name; it pins {names or 'nothing at all'}")
    return found[0]
