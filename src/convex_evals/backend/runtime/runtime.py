"""The function runtime: runs each function in the worker where it belongs."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final

from convex_evals.backend.deployed import Application
from convex_evals.backend.errors import WorkerCrashed, WorkerLost
from convex_evals.backend.runtime.action_exchange import ActionExchange, HttpAnswer, HttpExchange
from convex_evals.backend.runtime.action_workers import ActionPool, ActionWorker, PooledWorker
from convex_evals.backend.runtime.code import CodeBundle, CodeStore
from convex_evals.backend.runtime.evaluation import (
    Evaluated,
    Evaluation,
    evaluated_code,
    evaluation_message,
    timed_out_result,
)
from convex_evals.backend.runtime.execution import Execution, HttpRequestHead, Outcome, SyscallBridge
from convex_evals.backend.runtime.functions_worker import FunctionsWorker, Quarantine
from convex_evals.backend.runtime.limits import EVALUATION_SECONDS, IMPORT_SECONDS
from convex_evals.backend.runtime.network import Network, NetworkPolicy, Outside, OwnDeployment
from convex_evals.backend.runtime.program import WorkerCommand
from convex_evals.backend.runtime.sandbox import Sandbox

ISOLATE: Final = ""  # the key of workers that run any action of the default runtime


class FunctionRuntime:
    """Queries and mutations share one worker; actions get one each, started when they are needed.

    `network` decides where actions may connect to, besides their `own` deployment. Without `strict`, workers run even
    if this kernel cannot confine them completely.
    """

    def __init__(
        self,
        node: Path | None = None,
        network: NetworkPolicy = Network.LOOPBACK,
        own: OwnDeployment | None = None,
        strict: bool = True,
    ) -> None:
        outside = Outside(network, own)
        self._sandbox = Sandbox(node, network, strict)
        self._code = CodeStore()
        self._functions = FunctionsWorker(self._sandbox, self._code)
        self._quarantine = Quarantine(self._sandbox, self._code)
        self._actions = ActionPool(self._code, outside)
        self._node_actions = ActionPool(self._code, outside)
        self._numbers = itertools.count(1)

    async def start(self) -> None:
        """With a worker for queries and mutations, which would otherwise start with the first of them."""
        self.prepare()
        await self._functions.start()

    def prepare(self) -> None:
        """All that is needed before anything runs."""
        self._sandbox.create()

    async def stop(self) -> None:
        """Kills every worker and removes the temporary folder. Executions in flight end with WorkerLost."""
        workers = (self._functions, self._quarantine, self._actions, self._node_actions)
        await asyncio.gather(*(each.stop() for each in workers))
        self._sandbox.remove()

    def provide_packages(self, folder: Path) -> None:
        """`folder` is a `node_modules`: where `node.externalPackages` are found from now on."""
        self._sandbox.packages = folder.resolve()

    def kill_actions(self, *, idle: bool = False) -> int:
        """Kills the worker of every action in flight, which has failed then, and with `idle` those that wait for one
        too. How many actions there were."""
        return sum(pool.kill(idle=idle) for pool in (self._actions, self._node_actions))

    def load(self, application: Application) -> None:
        """Makes its functions callable. Workers fetch the code when they need it."""
        self._code.add_application(application)

    def loaded(self, application: Application) -> AbstractContextManager[None]:
        """Makes its functions callable inside the block: for code that is not deployed."""
        return self._code.borrowed(application)

    def quarantine(self) -> AbstractAsyncContextManager[None]:
        """For a call that has lost its worker before: inside, it can run `quarantined`."""
        return self._quarantine.enter()

    async def run(self, execution: Execution, bridge: SyscallBridge, *, quarantined: bool = False) -> Outcome:
        """Runs a query, mutation or action to its end; what user code did wrong is in the outcome.

        Raises WorkerLost when the worker died under it: a query or mutation may be tried again in a new transaction.
        Raises what the bridge raises.
        """
        if execution.kind in ("query", "mutation"):
            worker = self._quarantine.worker if quarantined else self._functions
            with self._code.used(execution.application_version):
                return await worker.run(execution, bridge)
        pooled = await self._take_worker(execution)
        return await self._run_action(pooled, ActionExchange(next(self._numbers), execution, bridge, pooled.process))

    async def run_http(
        self,
        execution: Execution,
        bridge: SyscallBridge,
        request: HttpRequestHead,
        body: AsyncIterator[bytes] | None,
        disconnected: asyncio.Event | None = None,
    ) -> HttpAnswer:
        """Runs the router of `execution.path.module` and returns when the head of the response is known.

        When `disconnected` is set, `request.signal` fires.
        """
        pooled = await self._take_worker(execution)
        exchange = HttpExchange(next(self._numbers), execution, bridge, pooled.process, request, body, disconnected)
        outcome = asyncio.create_task(self._run_action(pooled, exchange))
        outcome.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody may await it
        try:
            head = await exchange.head
        except asyncio.CancelledError:
            outcome.cancel()
            raise
        return HttpAnswer(exchange, head, outcome)

    async def evaluate(self, evaluation: Evaluation) -> Evaluated:
        """Imports pushed modules and reports what they export. Raises WorkerLost when a retry failed, too."""
        try:
            return await self._evaluate(evaluation)
        except WorkerLost:
            return await self._evaluate(evaluation)

    async def _take_worker(self, execution: Execution) -> PooledWorker:
        if execution.environment == "isolate":
            return await self._actions.take(ISOLATE, self._sandbox.actions())
        bundle = self._code.bundle(self._code.require(execution.application_version, execution.definition_path))
        key, command = self._node_command(bundle, execution.env)
        return await self._node_actions.take(key, command)

    def _node_command(self, bundle: CodeBundle, variables: Mapping[str, str]) -> tuple[str, WorkerCommand]:
        """Module state is shared by calls of the same code with the same variables."""
        folder = self._sandbox.write_modules(bundle.modules, bundle.packages)
        key = f"{folder.name}/{self._code.environment_id(variables)}"
        return key, self._sandbox.node_action(folder, variables)

    async def _run_action(self, pooled: PooledWorker, exchange: ActionExchange) -> Outcome:
        execution = exchange.execution
        version = execution.application_version
        async with pooled as worker:
            with self._code.used(version):
                code = self._code.require(version, execution.definition_path)
                message = exchange.run_message(code, self._code.environment_id(execution.env))
                return await worker.run(exchange, message)

    async def _evaluate(self, evaluation: Evaluation) -> Evaluated:
        key = f"evaluation/{next(self._numbers)}"
        bundle = evaluated_code(evaluation)
        self._code.add(key, bundle)
        try:
            if evaluation.environment == "isolate":
                return await self._functions.evaluate(evaluation_message(evaluation, key), EVALUATION_SECONDS)
            return await self._evaluate_in_node(evaluation, bundle, key)
        except TimeoutError:
            return [timed_out_result(evaluation)]
        finally:
            self._code.remove(key)

    async def _evaluate_in_node(self, evaluation: Evaluation, bundle: CodeBundle, key: str) -> Evaluated:
        """In a process that reaches nothing and runs nothing else, before or after. One path at a time, so that the one
        that never ends can be named."""
        variables = evaluation.env or {}
        worker = ActionWorker(self._code, Outside(Network.NONE))
        results: list[Mapping[str, object]] = []
        try:
            folder = self._sandbox.write_modules(bundle.modules, bundle.packages)
            await worker.start(self._sandbox.node_evaluation(folder, variables))
            async with asyncio.timeout(EVALUATION_SECONDS):
                for path in evaluation.paths:
                    message = evaluation_message(replace(evaluation, paths=(path,)), key)
                    (result,) = await worker.evaluate(message, evaluation.user_seconds, IMPORT_SECONDS)
                    results.append(result)
                    if "thrown" in result:
                        break
        except TimeoutError:
            results.append(timed_out_result(evaluation))
        except ValueError as error:
            raise WorkerCrashed("the evaluation of modules was answered with more, or less, than one result") from error
        finally:
            await worker.stop()
        return results
