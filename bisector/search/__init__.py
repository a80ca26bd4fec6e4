"""Which candidate to try next, and when to stop.

Pure: no input or output, no clock, no randomness; what `ChainSearch` answers depends on nothing but what it was told,
in whatever order.
"""

from bisector.search.belief import Belief
from bisector.search.chain import ChainSearch
from bisector.search.decisions import Conclusion, ConclusionKind, Decision, Probe, Wait
from bisector.search.replication import Replication, ReplicationVerdict
from bisector.search.settings import Costs, Observation, SearchSettings

__all__ = [
    "Belief",
    "ChainSearch",
    "Conclusion",
    "ConclusionKind",
    "Costs",
    "Decision",
    "Observation",
    "Probe",
    "Replication",
    "ReplicationVerdict",
    "SearchSettings",
    "Wait",
]
