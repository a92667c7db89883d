"""How fast is the embedded deployment? Medians and ratios measured on this machine, in one run."""

from convex_evals.backend.bench.measure import Timings
from convex_evals.backend.bench.run import BackendFigures, measure_backend

__all__ = ["BackendFigures", "Timings", "measure_backend"]
