"""Options that say how a package index is read, and for what Python, for every command that reads one."""

from typing import Annotated

import typer

Python = Annotated[str, typer.Option("--python", metavar="VERSION|PATH", help="The Python it must fit, such as 3.12.")]
Platform = Annotated[
    str,
    typer.Option("--platform", metavar="NAME", help="Such as linux-x86_64; this machine's by default.", hidden=True),
]
IndexUrl = Annotated[
    str, typer.Option("--index-url", metavar="URL", help="In place of the configured index.", hidden=True)
]
ExtraIndexUrl = Annotated[
    list[str] | None,
    typer.Option("--extra-index-url", metavar="URL", help="A further index. Repeatable.", hidden=True),
]
ExcludeNewer = Annotated[str, typer.Option("--exclude-newer", metavar="DATE", help="Read the index as of then.")]
Offline = Annotated[bool, typer.Option("--offline", help="Use only what is kept of package indexes.")]
