"""Starts programs: argument list, cleared environment, limits, time-out; nothing that they started outlives them."""

from convex_evals.core.processes.confinement import (
    DEVICES,
    LIBRARIES,
    SYSTEM,
    SYSTEM_PATH,
    UNCONFINED,
    Confinement,
    Limits,
    Sandbox,
    base_environment,
    use_sandbox,
)
from convex_evals.core.processes.execution import Output, PipedProcess, ProcessResult, run, start_piped
from convex_evals.core.processes.process import Ended, EndedProgram, Process, Usage, endings_recorded, start

__all__ = [
    "DEVICES",
    "LIBRARIES",
    "SYSTEM",
    "SYSTEM_PATH",
    "UNCONFINED",
    "Confinement",
    "Ended",
    "EndedProgram",
    "Limits",
    "Output",
    "PipedProcess",
    "Process",
    "ProcessResult",
    "Sandbox",
    "Usage",
    "base_environment",
    "endings_recorded",
    "run",
    "start",
    "start_piped",
    "use_sandbox",
]
