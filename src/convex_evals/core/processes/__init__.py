"""Starts programs: argument list, cleared environment, limits, time-out; nothing that they started outlives them."""

from convex_evals.core.processes.confinement import LIBRARIES, UNCONFINED, Confinement, Sandbox, use_sandbox
from convex_evals.core.processes.environment import base_environment
from convex_evals.core.processes.limits import Limits
from convex_evals.core.processes.output import Output
from convex_evals.core.processes.piped import PipedProcess, start_piped
from convex_evals.core.processes.process import Ended, Process, Usage, start
from convex_evals.core.processes.run import ProcessResult, run

__all__ = [
    "LIBRARIES",
    "UNCONFINED",
    "Confinement",
    "Ended",
    "Limits",
    "Output",
    "PipedProcess",
    "Process",
    "ProcessResult",
    "Sandbox",
    "Usage",
    "base_environment",
    "run",
    "start",
    "start_piped",
    "use_sandbox",
]
