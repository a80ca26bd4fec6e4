"""Home directories: of this user, and those that a path names with a tilde."""

from pathlib import Path

from pins.errors import EnvironmentFailureError, UsageError


def home() -> Path:
    """The user's home directory.

    Raises:
        EnvironmentFailureError: HOME is not set, and the system knows no user of this number, as in some containers.
    """
    try:
        return Path.home()
    except RuntimeError as error:
        raise EnvironmentFailureError(
            "this user has no home directory: HOME is not set, and the system does not know the user; set HOME to a"
            " directory that may be written"
        ) from error


def expanded(path: str | Path) -> Path:
    """A path with `~` or `~user` at its beginning replaced.

    Raises:
        UsageError: there is no such user, or no home directory.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(
            f"{str(path)[:200]!r} begins with the home directory of a user that does not exist here; write the path"
            " out, with ./ before it where a name begins with a tilde"
        ) from error
