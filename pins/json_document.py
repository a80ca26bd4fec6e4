"""How every JSON document of both commands begins."""

import os
import re
import sys
from datetime import UTC, datetime

_INSTALLED = re.compile(r"bisector-([0-9][^-/]*)\.dist-info")
_TELLS = re.compile(r"bisector([-.].*)?\.(dist|egg)-info|bisector.*\.egg(-link)?")


def opening(schema: str, tool: str) -> dict[str, object]:
    """The first keys: schema, tool and the time.

    Args:
        schema: name and version, such as "bisector.plan/1".
        tool: the command.
    """
    return {
        "schema": schema,
        "tool": {"name": tool, "version": installed_version()},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def installed_version() -> str:
    """The version of the distribution, "unknown" where it runs from a tree that was never installed."""
    found = [name for directory in dict.fromkeys(sys.path) for name in _installed_in(directory)]
    if not found:
        return "unknown"
    if len(found) == 1 and (named := _INSTALLED.fullmatch(found[0])):
        return named[1]
    from importlib.metadata import PackageNotFoundError, version  # to import it takes longer than a short answer

    try:
        return version("bisector")
    except PackageNotFoundError:
        return "unknown"


def _installed_in(directory: str) -> list[str]:
    """Names of what may tell of an installed version: in a directory; of an archive its own."""
    try:
        return [name for name in os.listdir(directory or ".") if _TELLS.fullmatch(name)]  # noqa: PTH208 - names do
    except NotADirectoryError:
        return [directory]
    except OSError:
        return []
