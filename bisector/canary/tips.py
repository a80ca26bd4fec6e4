"""What git pins move to: the tip of a branch."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pins.errors import UsageError
from pins.files.read import read_pins
from pins.files.select import select
from pins.model import PinKind
from pins.sources.git.program import GitFailedError, git


def tips_of(file: Path, wanted: Sequence[str], repositories: Mapping[str, str]) -> dict[str, str]:
    """The commits at the tips, by the name of the pin.

    Args:
        file: whose pins.
        wanted: `NAME` or `NAME=BRANCH` each; the repository's own HEAD where no branch is named.
        repositories: where a pin's commits are, where that is not what the file says.

    Raises:
        UsageError: no such pin, or no such branch.
        EnvironmentFailureError: git is not there.
    """
    found = {}
    pins = read_pins(file.read_bytes(), str(file)) if wanted else None
    for text in wanted:
        assert pins is not None
        name, _, branch = text.partition("=")
        pin = next((pin for pin in select(pins, name) if pin.kind is PinKind.GIT), None)
        if pin is None:
            raise UsageError(f"--tip {text}: {name} is no git pin of {file}; `pins show` lists them")
        address = repositories.get(name) or pin.repo
        if not address or address.startswith("-"):
            raise UsageError(f"--tip {text}: where its commits are is not known; say --repo {name}=URL")
        found[name] = _tip(address, branch, text)
    return found


def _tip(address: str, branch: str, text: str) -> str:
    ref = f"refs/heads/{branch}" if branch else "HEAD"
    try:
        said = git(["ls-remote", "--", address, ref]).decode("utf-8", "replace")
    except GitFailedError as error:
        raise UsageError(f"--tip {text}: {error}") from error
    for line in said.splitlines():
        commit, _, name = line.partition("\t")
        if name == ref:
            return commit
    raise UsageError(f"--tip {text}: the repository {address} has no {ref}")
