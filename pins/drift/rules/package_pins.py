"""The pins of packages among those that are watched, and what each of them takes."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from pins.drift.model import About, Subject, WatchedFile, WatchedPin
from pins.drift.python_of import python_of
from pins.model import Form, Pin, PinKind

_UPPER = frozenset({"<", "<=", "~=", "==", "==="})


@dataclass(frozen=True)
class PackagePin:
    """A requirement on a package.

    Attributes:
        file: that holds it.
        pin: as it was read.
        about: what a check on it is about.
        specifier: what versions it takes.
        exact: the one version that it takes, None where there are more.
    """

    file: WatchedFile
    pin: Pin
    about: About
    specifier: SpecifierSet
    exact: Version | None

    @property
    def capped(self) -> bool:
        """Whether newer versions are kept out."""
        return any(clause.operator in _UPPER for clause in self.specifier)

    @property
    def written(self) -> str:
        """The requirement for people, such as "setuptools<80"."""
        return f"{self.pin.name}{self.specifier}" if str(self.specifier) else self.pin.name

    @property
    def python(self) -> str:
        """The Python of its file, "" where the file does not tell."""
        return python_of(self.file)


def package_pins(subject: Subject) -> Iterator[PackagePin]:
    """Every package pin whose value is known."""
    for file, watched in subject.pins():
        found = _read(file, watched)
        if found is not None:
            yield found


def _read(file: WatchedFile, watched: WatchedPin) -> PackagePin | None:
    pin = watched.pin
    if pin.kind is not PinKind.PACKAGE or pin.unknown:
        return None
    text = "" if pin.form is Form.OPEN else (pin.effective or pin.value or "")
    taken = _taken(text, is_version=pin.form in (Form.EXACT, Form.VALUE))
    return PackagePin(file, pin, watched.about, *taken) if taken is not None else None


@lru_cache(maxsize=8192)  # each rule reads all pins
def _taken(text: str, *, is_version: bool) -> tuple[SpecifierSet, Version | None] | None:
    """What a pin takes, and the one version that this is; None where it is no specifier."""
    try:
        if is_version and text:
            version = Version(text.lstrip("= "))
            return SpecifierSet(f"=={version}"), version
        specifier = SpecifierSet(text)
    except (InvalidSpecifier, InvalidVersion):
        return None
    single = list(specifier)
    exact = None
    if len(single) == 1 and single[0].operator in ("==", "===") and not single[0].version.endswith(".*"):
        try:
            exact = Version(single[0].version)
        except InvalidVersion:
            return None
    return specifier, exact
