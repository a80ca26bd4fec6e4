"""What `pins windows` and `pins why` report, whatever the form."""

from dataclasses import dataclass

from pins.resolve.bounds import PackageWindow
from pins.resolve.exclusions import Exclusion
from pins.resolve.why import Answer


@dataclass(frozen=True)
class EnvironmentWindows:
    """The windows of one environment.

    Attributes:
        name: of the environment, "" where there is only one.
        also: further environments of which all of this holds, since they install the same.
        target: what everything must fit: "Python 3.12.4 on linux-x86_64".
        installer: whose rules held.
        possible: whether anything fits together for certain.
        packages: its windows, in the order asked for; empty ones where nothing fits.
        exclusions: versions inside their windows that exclude each other.
        answer: why nothing fits, or why that cannot be told; None where something does.
        differences: what the other installer's rules would change, as sentences.
        not_counted: what is installed besides whose requirements are not known: each could make windows smaller.
        broken: requirements that the installer does not enforce and that nothing keeps.
    """

    name: str
    target: str
    installer: str
    possible: bool
    packages: tuple[PackageWindow, ...]
    exclusions: tuple[Exclusion, ...] = ()
    answer: Answer | None = None
    broken: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    not_counted: tuple[str, ...] = ()


@dataclass(frozen=True)
class WindowsReport:
    """All environments.

    Attributes:
        environments: each solved apart.
        notes: what a person should know of the gathering.
    """

    environments: tuple[EnvironmentWindows, ...]
    notes: tuple[str, ...] = ()
