"""Processes that start programs for us and leave nothing of them behind: one supervisor per program.

They run apart from the main process (see docs/processes.md) on a bare interpreter, so this package imports nothing but
the standard library, and as little of that as it can.
"""

from convex_evals.core.supervisor.enclosure import Enclosure
from convex_evals.core.supervisor.landlock import abi as landlock_abi
from convex_evals.core.supervisor.landlock import restrict as restrict_files
from convex_evals.core.supervisor.process_tree import (
    MEMORY_UNIT,
    Relation,
    adopt_orphans,
    descendants,
    drain,
    wake_on_child_exit,
)

__all__ = [
    "MEMORY_UNIT",
    "Enclosure",
    "Relation",
    "adopt_orphans",
    "descendants",
    "drain",
    "landlock_abi",
    "restrict_files",
    "wake_on_child_exit",
]
