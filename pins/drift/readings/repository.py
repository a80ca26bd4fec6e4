"""Which repository a pin is of, and where that is read."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from packaging.utils import canonicalize_name

from pins.model import Pin


def repository_of(pin: Pin, clones: Mapping[str, Path]) -> str:
    """The address under which a git pin's repository is read: a clone that the user has named, else its own.

    Args:
        pin: of kind git.
        clones: local clones by the name of a pin or repository.
    """
    return named_clone(pin.repo, (pin.name, *pin.aliases), clones) or pin.repo


def named_clone(address: str, names: tuple[str, ...], clones: Mapping[str, Path]) -> str:
    """The clone of a repository among those that the user has named, "" for none."""
    by_name = {canonicalize_name(name): path for name, path in clones.items()}
    last = re.split(r"[/:]", address.rstrip("/").removesuffix(".git"))[-1]
    for name in (*names, last):
        if name and (path := by_name.get(canonicalize_name(name))):
            return str(path)
    return ""


def slug(address: str) -> str:
    """Owner and name of a repository in lower case, such as "rocm/triton", "" where an address does not tell."""
    parts = [part for part in re.split(r"[/:]", address.rstrip("/").removesuffix(".git")) if part]
    return "/".join(parts[-2:]).lower() if len(parts) > 1 else ""


def repository_host(address: str) -> str:
    """The host that a repository is read from; "" for one on this machine."""
    if "://" in address:
        return (urlsplit(address).hostname or "").lower()
    before, colon, _ = address.partition(":")
    return before.rpartition("@")[2].lower() if colon and "/" not in before else ""
