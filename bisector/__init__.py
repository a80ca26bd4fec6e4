"""Find the first bad pin.

    from bisector import PinRange, RunRequest, SmokeScript, bisect

    result = bisect(RunRequest((PinRange("setuptools", "80.9.0", "82.0.1"),), SmokeScript(Path("smoke.py"))))
    print(result.verdict, result.culprit)

What can be imported from here is the library; everything else may move.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bisector.events import Event, Reporter
    from bisector.model import Candidate, Outcome, Signature, SmokeScript
    from bisector.preview import Plan, plan
    from bisector.report import render
    from bisector.report.model import Result, Verdict
    from bisector.request import DockerRequest, IndexRequest, PinRange, RequirementsRequest, RunRequest
    from bisector.session import InterruptedProbeError, InterruptedRunError, bisect, probe, resume

_HOMES = {
    "bisector.events": ("Event", "Reporter"),
    "bisector.model": ("Candidate", "Outcome", "Signature", "SmokeScript"),
    "bisector.report": ("render",),
    "bisector.report.model": ("Result", "Verdict"),
    "bisector.request": ("DockerRequest", "IndexRequest", "PinRange", "RequirementsRequest", "RunRequest"),
    "bisector.preview": ("Plan", "plan"),
    "bisector.session": ("InterruptedProbeError", "InterruptedRunError", "bisect", "probe", "resume"),
}

__all__ = [
    "Candidate",
    "DockerRequest",
    "Event",
    "IndexRequest",
    "InterruptedProbeError",
    "InterruptedRunError",
    "Outcome",
    "PinRange",
    "Plan",
    "Reporter",
    "RequirementsRequest",
    "Result",
    "RunRequest",
    "Signature",
    "SmokeScript",
    "Verdict",
    "bisect",
    "plan",
    "probe",
    "render",
    "resume",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is: the command line starts fast."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'bisector' has no attribute {name!r}")
