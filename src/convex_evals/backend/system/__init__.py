"""The `_system/*` functions, written in Python: what dashboards, the CLI and test harnesses ask a deployment."""

from convex_evals.backend.system.library import SystemLibrary

__all__ = [
    "SystemLibrary",
]
