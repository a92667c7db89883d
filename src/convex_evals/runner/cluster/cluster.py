"""The runner's side of a Ray cluster: its nodes are checked and prepared once, then grade what they are sent."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, Final

from convex_evals.core.errors import InfrastructureError, SandboxError, UsageError
from convex_evals.core.processes import Sandbox
from convex_evals.core.settings import Settings
from convex_evals.pipeline import Assignment, Grade, OnStep
from convex_evals.runner.cluster.node import NodeReport, NodeWorker, RemoteGrade, Tools, prepare_node
from convex_evals.runner.worker import GATE_SECONDS, SPARE_SECONDS, broken_down
from convex_evals.suite import SuiteParcel, root_of

QUIETLY: Final[Mapping[str, Any]] = {
    "namespace": "convex-evals",
    "log_to_driver": False,
    "logging_level": "ERROR",
    "configure_logging": False,
}
KNOCK_SECONDS: Final = 10.0
START_SECONDS: Final = "180"
"""How long Ray may take to start; its own limit is too short for a busy machine."""
OBJECT_BYTES: Final = 200_000_000
PREPARE_SECONDS: Final = 900.0
ACTOR_CPUS: Final = 0.01
"""Nearly nothing, so that what a lost node graded finds a place on the others however busy they are."""


@dataclass
class Cluster:
    """Grading workers on the nodes of a Ray cluster. Use `open_cluster`."""

    ray: Any
    nodes: Mapping[str, NodeReport]
    """By the address of a node."""
    cpus: int
    actor: type = NodeWorker
    arguments: tuple[Any, ...] = ()
    """What every actor is made with."""
    _suites: dict[Path, Any] = field(default_factory=dict)

    def missing(self, sandbox: Sandbox) -> tuple[str, ...]:
        """Which kinds of confinement some node lacks. Raises SandboxError when they are required."""
        lacks = {node: report.sandbox for node, report in self.nodes.items() if report.sandbox.missing}
        for node, support in lacks.items():
            if sandbox == "required" or not support.files:
                flag = "--sandbox available" if support.files else "--sandbox none"
                raise SandboxError(
                    f"The node {node} cannot confine answers: {'; '.join(support.missing)}. "
                    f"Take it out of the cluster, or accept the risk with {flag}."
                )
        return tuple(dict.fromkeys(lack for support in lacks.values() for lack in support.missing))

    def worker(self, folder: Path) -> AbstractAsyncContextManager["RemoteWorker"]:
        return _remote_worker(self)

    async def suite(self, root: Path) -> Any:
        """Where in the cluster the suite is; it is sent once, and each node fetches it once."""
        if root not in self._suites:
            parcel = await asyncio.to_thread(SuiteParcel.of, root)
            self._suites[root] = await asyncio.to_thread(self.ray.put, parcel)
        return self._suites[root]


@dataclass
class RemoteWorker:
    """One actor, started when it is needed and replaced when it is gone; Ray chooses the node."""

    cluster: Cluster
    actor: Any = None

    async def grade(self, assignment: Assignment, on_step: OnStep) -> Grade:
        try:
            async with asyncio.timeout(_patience(assignment)):
                answered = await self._answered(assignment)
        except (TimeoutError, self.cluster.ray.exceptions.RayError) as error:
            await self.discard()
            return broken_down(assignment, (), "node-lost", _sentence(error), None)
        grade = await asyncio.to_thread(answered.written, assignment.folder)
        for step in grade.steps:
            await on_step(step)
        if grade.status == "infrastructure":
            await self.discard()
        return grade

    async def _answered(self, assignment: Assignment) -> RemoteGrade:
        suite = await self.cluster.suite(root_of(assignment.eval))
        if self.actor is None:
            options = self.cluster.ray.remote(num_cpus=ACTOR_CPUS, scheduling_strategy="SPREAD")
            made = options(self.cluster.actor)
            self.actor = await asyncio.to_thread(made.remote, *self.cluster.arguments)
        answered: RemoteGrade = await self.actor.grade.remote(assignment, suite)
        return answered

    async def discard(self) -> None:
        """Ends the actor with everything that it started."""
        actor, self.actor = self.actor, None
        if actor is not None:
            with suppress(Exception):  # whatever is wrong with it, it is given up
                await asyncio.to_thread(self.cluster.ray.kill, actor)


@asynccontextmanager
async def open_cluster(address: str | None, settings: Settings) -> AsyncIterator[Cluster]:
    """Connects to a cluster that runs: `ray://HOST:PORT`, `HOST:PORT`, or the one on this machine.

    Raises UsageError when there is none, when Ray is not installed or a node would grade otherwise than this machine,
    InfrastructureError when nodes cannot be used.
    """
    ray = _ray()
    await asyncio.to_thread(_connect, ray, address)
    async with _checked(ray, settings) as cluster:
        yield cluster


@asynccontextmanager
async def start_cluster(settings: Settings, workers: int) -> AsyncIterator[Cluster]:
    """A cluster of this machine alone, with room for this many workers, that ends with this command."""
    os.environ.setdefault("RAY_raylet_start_wait_time_s", START_SECONDS)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = _ray()
    logging.getLogger("ray").setLevel(logging.ERROR)
    room = {
        "num_cpus": ceil(workers * ACTOR_CPUS) + 1,
        "object_store_memory": OBJECT_BYTES,
        "include_dashboard": False,
        "_node_ip_address": ray.util.get_node_ip_address(),  # as a cluster of many machines has it
    }
    try:
        await asyncio.to_thread(ray.init, address="local", **room, **QUIETLY)
    except Exception as error:  # Ray raises no class of its own for this
        raise InfrastructureError(f"Ray does not start on this machine: {_sentence(error)}") from error
    async with _checked(ray, settings) as cluster:
        yield cluster


@asynccontextmanager
async def _checked(ray: Any, settings: Settings) -> AsyncIterator[Cluster]:
    try:
        nodes = await _prepared(ray)
        _check(nodes, await Tools.of(settings))
        yield Cluster(ray, nodes, int(ray.cluster_resources().get("CPU", 0)))
    finally:
        await asyncio.to_thread(ray.shutdown)


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UsageError("--executor ray needs Ray; install it with pip install 'convex-evals[ray]'.") from error
    return ray


def _connect(ray: Any, address: str | None) -> None:
    logging.getLogger("ray").setLevel(logging.ERROR)  # it has much to say about threads and versions
    try:
        _knock(address)
        ray.init(address=address or "auto", **QUIETLY)
    except (OSError, RuntimeError, ValueError) as error:
        where = address or "on this machine"
        raise UsageError(
            f"There is no Ray cluster {where} to connect to; start one with `ray start --head`, or name it: "
            f"--executor ray://HOST:10001. If it asks for a token, set RAY_AUTH_MODE=token."
        ) from error


def _knock(address: str | None) -> None:
    """Ray itself tries for minutes where nobody listens. Raises OSError."""
    host, separator, port = (address or "").removeprefix("ray://").rpartition(":")
    if separator and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_SECONDS).close()


async def _prepared(ray: Any) -> dict[str, NodeReport]:
    """Every node is asked at once, and installs the tools if it has to. One that dies meanwhile is left out."""
    prepare = ray.remote(num_cpus=ACTOR_CPUS)(_prepare_in_task)
    on_node = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    nodes = [node for node in _alive(ray) if node["Resources"].get("CPU", 0) >= ACTOR_CPUS]
    asked = [prepare.options(scheduling_strategy=on_node(node["NodeID"], soft=False)).remote() for node in nodes]
    try:
        async with asyncio.timeout(PREPARE_SECONDS):
            reports = [await _report(ray, node, answer) for node, answer in zip(nodes, asked, strict=True)]
    except TimeoutError as error:
        raise InfrastructureError("A node of the cluster takes too long to get ready for grading.") from error
    return {_address(node): report for node, report in zip(nodes, reports, strict=True) if report is not None}


async def _report(ray: Any, node: Mapping[str, Any], answer: Any) -> NodeReport | None:
    try:
        report: NodeReport = await answer
    except ray.exceptions.RayError as error:
        if node["NodeID"] not in {each["NodeID"] for each in _alive(ray)}:
            return None
        raise InfrastructureError(f"The node {_address(node)} cannot be prepared: {_sentence(error)}") from error
    return report


def _alive(ray: Any) -> list[dict[str, Any]]:
    return [node for node in ray.nodes() if node["Alive"]]


def _address(node: Mapping[str, Any]) -> str:
    return f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"


def _prepare_in_task() -> NodeReport:
    return asyncio.run(prepare_node())


def _check(nodes: Mapping[str, NodeReport], here: Tools) -> None:
    """A run records the tools of the machine that started it, so every node must have the same."""
    if not nodes:
        raise InfrastructureError("The cluster has no node with a processor to spare for grading.")
    for node, report in nodes.items():
        difference = _difference(report.tools, here)
        if difference:
            raise UsageError(f"The node {node} {difference}; install the same on both.")


def _difference(there: Tools, here: Tools) -> str | None:
    if there.version != here.version:
        return f"has convex-evals {there.version}, this machine {here.version}"
    if there.node != here.node:
        return f"has Node.js {there.node}, this machine {here.node}"
    if there.fingerprint != here.fingerprint:
        return f"has other JavaScript tools ({there.fingerprint[:12]}) than this machine ({here.fingerprint[:12]})"
    if there.blind and not here.blind:
        return f"cannot look at pages ({there.blind}), this machine can"
    if here.blind and not there.blind:
        return f"can look at pages, this machine cannot ({here.blind})"
    return None


def _patience(assignment: Assignment) -> float:
    """The worker on the node keeps its own times; this is for a node that is gone without a word."""
    return sum(GATE_SECONDS.values()) + assignment.options.longest_grader_seconds + 2 * SPARE_SECONDS


def _sentence(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first[:200]}".rstrip(": ") + "."


@asynccontextmanager
async def _remote_worker(cluster: Cluster) -> AsyncIterator[RemoteWorker]:
    worker = RemoteWorker(cluster)
    try:
        yield worker
    finally:
        await worker.discard()
