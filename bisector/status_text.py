"""Where a run stands, in a few lines: `bisector status`."""

from bisector.model import Outcome
from bisector.report.model import ProbeRecord, Result, Verdict


def render_status(result: Result, *, running: bool) -> str:
    """The state of a run: who it is, what was tried, what it says so far, and the command that goes on.

    Args:
        result: from the journal, live or finished.
        running: whether a process on this machine drives it now.
    """
    pins = ", ".join(f"{axis.pin} {axis.good} .. {axis.bad}" for axis in result.axes)
    lines = [f"Run {result.run_id}: {_state(result, running)}", f"  {pins} ({result.chain_length} candidates)"]
    if result.summary:
        lines.append(f"  {result.summary}")
    lines.append(f"  {result.builds} builds, {result.runs} runs of the script so far")
    lines += [f"    {_line(probe)}" for probe in result.probes]
    lines.append(f"  Logs: {result.run_directory}")
    if result.resume and not running:
        lines.append(f"  Go on: {result.resume}")
    elif not running:
        lines.append(f"  Report: bisector report {result.run_id}")
    return "\n".join(lines)


def _state(result: Result, running: bool) -> str:
    if running:
        return "running"
    if result.verdict is Verdict.INTERRUPTED:
        return "interrupted"
    return f"ended, {result.verdict.value}"


def _line(probe: ProbeRecord) -> str:
    if not probe.runs and probe.outcome is not Outcome.UNBUILDABLE:
        shown = "under way" if probe.built else "not built"
    else:
        shown = probe.outcome.value
        if len(probe.runs) > 1:
            shown += f" ({len(probe.runs)} runs)"
    return f"{probe.candidate}: {shown}"
