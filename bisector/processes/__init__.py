"""Programs that are run to their end, with all that they start."""

from bisector.processes.bounded_log import LOG_LIMIT
from bisector.processes.running import KEPT_OUTPUT, run_process
from bisector.processes.tree import MARKER, end_marked

__all__ = ["KEPT_OUTPUT", "LOG_LIMIT", "MARKER", "end_marked", "run_process"]
