"""Speed and memory of the embedded deployment, measured on this machine in one run."""

from convex_evals.backend.bench.run import BackendFigures, Timings, measure_backend

__all__ = ["BackendFigures", "Timings", "measure_backend"]
