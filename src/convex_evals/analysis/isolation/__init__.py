"""What is the cause? A search for the smallest change that turns the failing step green."""

from convex_evals.analysis.isolation.isolate import isolate_cause, locate_cause
from convex_evals.analysis.isolation.probes import Bound, BoundReached, GradingProbes, Outcome, Probe, open_probes

__all__ = [
    "Bound",
    "BoundReached",
    "GradingProbes",
    "Outcome",
    "Probe",
    "isolate_cause",
    "locate_cause",
    "open_probes",
]
