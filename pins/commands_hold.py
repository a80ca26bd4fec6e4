"""`pins hold`."""

import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import guarded, new_app
from pins.common_options import Format, NoColor, Output, Quiet, Verbose, check_common
from pins.errors import UsageError
from pins.recording import Entry, InDirectory, Why, Write, day, recorded, required

if TYPE_CHECKING:
    from pins.suggest.holds import Hold

app = new_app("Write down temporary pins.")


@app.command("hold", short_help="Record a temporary pin.")
@guarded
def _hold(
    what: Annotated[
        str, typer.Argument(metavar="REQ|NAME=VALUE", help="'pybind11<3.1.0'; of what is no package, triton=9c1ab00.")
    ],
    why: Why = "",
    until: Annotated[str, typer.Option("--until", metavar="TEXT", help="What ends it.")] = "",
    review: Annotated[str, typer.Option("--review", metavar="DATE", help="The day to look again.")] = "",
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="The file that has the pin, where only that is meant.")
    ] = None,
    directory: InDirectory = Path(),
    write: Write = False,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""Record a temporary pin with its reason and its end. Written into pins.toml, to be committed.

    \b
    Examples:
      pins hold 'setuptools<80' --why "mori's setup.py" --until "ROCm/mori#123"
      pins hold triton=9c1ab00 --why "the next fails" --review 2026-12-31 --write

    `pins windows`, `pins suggest` and `pins drift` keep to it. The file itself is not changed: `pins set` does that.
    """
    from pins.files.locate import locate
    from pins.suggest.holds import FILE, with_hold

    check_common(output_format, output, quiet, verbose)
    reason = required(why)
    tree, relative = locate(file or directory)
    if file is not None and not file.is_file():
        raise UsageError(f"--file {file} is not a file")
    again = day(review, "--review") if review else None
    hold = _made(what, relative if file else "", reason, until.strip(), again)
    if file is not None:
        _check(file, hold)
    before = tree.read(FILE)
    return recorded(
        Entry("hold", f"{hold.pin} is held", _content(hold)),
        tree,
        (before, with_hold(before or b"", hold)),
        write=write,
        quiet=quiet,
        output_format=output_format,
        output=output,
        no_color=no_color,
    )


def _content(hold: "Hold") -> dict[str, str | None]:
    return {
        "pin": hold.pin,
        "requirement": hold.requirement or None,
        "value": hold.value or None,
        "file": hold.file or None,
        "why": hold.reason,
        "until": hold.until or None,
        "since": hold.since.isoformat() if hold.since else None,
        "review": hold.review.isoformat() if hold.review else None,
    }


def _made(what: str, file: str, why: str, until: str, review: date | None) -> "Hold":
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    from pins.suggest.holds import Hold

    today = datetime.now(UTC).date()
    exact = re.fullmatch(r"([A-Za-z0-9][\w./-]*)=([^=<>!~\s]\S*)", what)
    if exact:
        return Hold(exact[1], "", file, why, until, today, review, "", exact[2])
    try:
        requirement = Requirement(what)
    except InvalidRequirement:
        raise UsageError(f"{what!r} is neither a requirement such as 'pybind11<3.1.0' nor NAME=VALUE") from None
    if not requirement.specifier or requirement.url or requirement.extras or requirement.marker:
        raise UsageError(f"{what!r} bounds no version; give a requirement such as 'pybind11<3.1.0'")
    name = canonicalize_name(requirement.name)
    return Hold(name, f"{name}{requirement.specifier}", file, why, until, today, review)


def _check(file: Path, hold: "Hold") -> None:
    """That the file has such a pin.

    Raises:
        UsageError: it has none of that name, or of another kind.
    """
    from pins.files.reading import ReadRequest, read_all
    from pins.model import PinKind

    pins = read_all(ReadRequest((file,), "", {}, "", (), {}))[0].pins
    found = next((pin for pin in pins if hold.pin in (pin.name, *pin.aliases)), None)
    if found is None:
        names = ", ".join(dict.fromkeys(pin.name for pin in pins))
        raise UsageError(f"{file} pins nothing that is called {hold.pin}; it pins {names or 'nothing at all'}")
    if (found.kind is PinKind.PACKAGE) != bool(hold.requirement):
        how = f"{hold.pin}=={hold.value}" if hold.value else f"{hold.pin}=VALUE"
        raise UsageError(f"{hold.pin} is a pin of kind {found.kind.value} in {file}: hold it as {how}")
