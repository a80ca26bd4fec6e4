"""What can be wrong with ends that are read from files."""

from pins.errors import UsageError


class NothingDiffersError(UsageError):
    """Both ends are the same: there is nothing to search."""
