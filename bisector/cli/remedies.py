"""How to get what is missing, in the words of the package manager that this machine has."""

import shutil
from collections.abc import Callable

Which = Callable[[str], str | None]

INSTALLERS = {
    "apt-get": "sudo apt-get install",
    "dnf": "sudo dnf install",
    "apk": "sudo apk add",
    "pacman": "sudo pacman -S",
    "zypper": "sudo zypper install",
    "brew": "brew install",
}
"""What installs, by the program that gives a distribution away, the likeliest first."""

PACKAGES = {
    "git": {},
    "docker": {
        "apt-get": "docker.io",
        "dnf": "moby-engine docker-cli",
    },
    "docker-buildx": {
        "apk": "docker-cli-buildx",
    },
}
"""Names of packages, where they are others than that of the program."""


def install(package: str, which: Which = shutil.which) -> str:
    """The command that installs a package here; of Debian and by name where no known package manager is."""
    manager = next((name for name in INSTALLERS if which(name)), "")
    named = PACKAGES[package]
    if manager:
        return f"`{INSTALLERS[manager]} {named.get(manager, package)}`"
    debian = f"{INSTALLERS['apt-get']} {named.get('apt-get', package)}"
    return f"the package {package} of your distribution (Debian, Ubuntu: `{debian}`)"
