"""How every JSON document of both commands begins."""

from datetime import UTC, datetime


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
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("bisector")
    except PackageNotFoundError:
        return "unknown"
