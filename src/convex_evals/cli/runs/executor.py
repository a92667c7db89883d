"""Where answers are graded: on this machine, or on a Ray cluster."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from convex_evals.cli.output import count, remark
from convex_evals.cli.runs.options import LOCAL_EXECUTOR, RAY_EXECUTOR
from convex_evals.core.errors import SandboxError
from convex_evals.core.machine import probe_sandbox
from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings

if TYPE_CHECKING:
    from convex_evals.runner import Cluster

GRADED_ANYWAY: Final = "They are graded anyway (--sandbox available)."


@dataclass(frozen=True, slots=True)
class Executor:
    """`size` is how many answers are graded at once unless someone says otherwise."""

    size: int
    cluster: "Cluster | None" = None

    async def check_sandbox(self, sandbox: Sandbox) -> tuple[str, ...]:
        """What is missing to confine answers, also printed. Raises SandboxError if confinement is required."""
        if self.cluster is None or sandbox == "none":
            return await check_sandbox(sandbox)
        missing = self.cluster.missing(sandbox)
        if missing:
            remark(f"Some nodes cannot confine answers: {'; '.join(missing)}. {GRADED_ANYWAY}")
        return missing


@asynccontextmanager
async def open_executor(given: str | None, settings: Settings) -> AsyncIterator[Executor]:
    """Raises UsageError when there is no such cluster."""
    if given in (None, LOCAL_EXECUTOR):
        yield Executor(cores())
        return
    from convex_evals.runner import open_cluster

    async with open_cluster(_address(given or "", settings), settings) as cluster:
        nodes = count(len(cluster.nodes), "node")
        remark(f"Grading on a Ray cluster of {nodes} with {count(cluster.cpus, 'processor')}.")
        yield Executor(cluster.cpus, cluster)


def _address(given: str, settings: Settings) -> str | None:
    return settings.ray_address if given == RAY_EXECUTOR else given


async def check_sandbox(sandbox: Sandbox) -> tuple[str, ...]:
    """The same for this machine."""
    if sandbox == "none":
        remark("Answers run unconfined (--sandbox none): they can read and change whatever you can.")
        return ("everything",)
    support = await probe_sandbox()
    missing = support.missing
    if not missing:
        return ()
    lacks = f"This machine cannot confine answers: {'; '.join(missing)}"
    if sandbox == "required" or not support.files:
        flag = "--sandbox available" if support.files else "--sandbox none"
        raise SandboxError(f"{lacks}. See `convex-evals doctor`, or accept the risk with {flag}.")
    remark(f"{lacks}. {GRADED_ANYWAY}")
    return missing


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
