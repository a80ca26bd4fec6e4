"""Pins within the tree of a git pin, in images: set where the Dockerfile has checked that tree out.

An image fetches its sources itself, and nothing that we make of them could be fetched. So the copy of the Dockerfile
that is built sets the pin right behind the checkout: the commit of a submodule in the index, from which a later
`git submodule update` takes it, and the content of a file in the file.
"""

import base64
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisector.environments.base import InfeasibleError
from pins.errors import UsageError

if TYPE_CHECKING:
    from pins.sources.git.clone import Clone

_SUBMODULE = "160000"

Settings = Mapping[str, tuple["Setting", ...]]
"""What is set within the trees of commits, by full hash."""
SettingsOf = Callable[[Mapping[str, str]], Settings]
"""The settings of a candidate."""


@dataclass(frozen=True)
class Setting:
    """One pin inside.

    Attributes:
        path: of the file or the submodule, from the top of the tree.
        commit: of a submodule, "" for a file.
        content: of a file.
    """

    path: str
    commit: str = ""
    content: bytes = b""

    def command(self, git: str) -> str:
        """What a shell does behind the checkout; `git` is how git is called there, with `-C` where that is needed."""
        path = shlex.quote(self.path)
        if self.commit:
            return f"{git} update-index --add --cacheinfo {_SUBMODULE},{self.commit},{path}"
        coded = base64.b64encode(self.content).decode()
        return f'printf %s {coded} | base64 -d > "$({git} rev-parse --show-toplevel)"/{path}'


def settings_of(clones: "Mapping[str, Clone]", nested: Sequence[tuple[str, str, str]]) -> SettingsOf:
    """What gives the settings of candidates.

    Args:
        clones: our clones of the pins' repositories.
        nested: (name of the pin inside, the pin in whose tree it lies, path).
    """

    def settings(candidate: Mapping[str, str]) -> Settings:
        from pins.sources.git.replaced import replaced_file

        found: dict[str, list[Setting]] = {}
        for name, outer, path in nested:
            if name not in candidate:  # what is built for all candidates alike
                continue
            commit, value = candidate[outer], candidate[name]
            try:
                content = replaced_file(clones[outer], commit, path, name, value)
            except UsageError as error:
                raise InfeasibleError(str(error)) from error
            made = Setting(path, commit=value) if content is None else Setting(path, content=content)
            found.setdefault(commit, []).append(made)
        return {commit: tuple(settings) for commit, settings in found.items()}

    return settings
