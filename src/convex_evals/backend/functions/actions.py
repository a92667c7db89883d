"""Running actions: once, outside of any transaction."""

import os
import time
from dataclasses import dataclass
from functools import partial

from convex_evals.backend.environment import DeploymentState, read_state
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.action_syscalls import ActionSyscalls, Runner
from convex_evals.backend.functions.arguments import Arguments, check_arguments, check_returned
from convex_evals.backend.functions.calls import Call, CallOutcome, Finished, uncaught, warning
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.records import new_execution_id, record_action, record_progress
from convex_evals.backend.functions.targets import Target, check_type, find_for_caller
from convex_evals.backend.limits import ACTION_SECONDS, NODE_ACTION_SECONDS, arguments_warning, return_warning
from convex_evals.backend.runtime import Execution


@dataclass(frozen=True, slots=True)
class _Checked:
    target: Target
    arguments: Arguments
    state: DeploymentState


class ActionRunner:
    """`runner` is what actions call in turn."""

    def __init__(self, host: Host, runner: Runner) -> None:
        self._host = host
        self._runner = runner

    async def run(self, call: Call) -> CallOutcome:
        started = time.perf_counter()
        execution_id = new_execution_id()
        target: Target | None = None
        try:
            checked = self._check(call)
            target = checked.target
            finished = await self._execute(call, checked, execution_id)
        except DeveloperError as error:
            finished = Finished.failed(error)
        record_action(self._host.log, call, target, execution_id, finished, time.perf_counter() - started)
        value = finished.returned.text if finished.returned else None
        return CallOutcome(value, finished.failure, call.request_id, finished.log_lines)

    def _check(self, call: Call) -> _Checked:
        self._host.check_open()
        transaction = self._host.database.begin()
        state = read_state(transaction, self._host.urls)
        state.check_running()
        target = find_for_caller(self._host.application, call)
        check_type(target, "Action")
        tables = transaction.catalog(target.instance.id).table_names
        return _Checked(target, check_arguments(target, call.args, tables), state)

    async def _execute(self, call: Call, checked: _Checked, execution_id: str) -> Finished:
        target = checked.target
        report = partial(record_progress, self._host.log, call, "Action", execution_id)
        bridge = ActionSyscalls(self._host, self._runner, call, target, execution_id, report)
        outcome = await self._host.runtime.run(self._execution(call, checked), bridge)
        lines = outcome.log_lines
        if outcome.failure is not None:
            return Finished(None, uncaught(outcome.failure), lines, outcome.user_ms)
        tables = self._host.database.begin().catalog(target.instance.id).table_names
        try:
            returned = check_returned(target, outcome.result or "null", tables)
        except DeveloperError as error:
            return Finished.failed(error, lines, outcome.user_ms)
        near_limits = [*arguments_warning(checked.arguments.size), *return_warning(returned.size)]
        warnings = list(map(warning, near_limits))
        if warnings:
            report(warnings)
        return Finished(returned, None, lines + warnings, outcome.user_ms)

    def _execution(self, call: Call, checked: _Checked) -> Execution:
        target = checked.target
        seconds = NODE_ACTION_SECONDS if target.environment == "node" else ACTION_SECONDS
        return Execution(
            kind="action",
            application_version=target.application.version,
            definition_path=target.instance.definition_path,
            path=target.path,
            environment=target.environment,
            args=checked.arguments.text,
            now_ms=self._host.clock.now_ms(),
            ahead_ms=self._host.clock.ahead_ms,
            seed=os.urandom(32),
            env=checked.state.variables_of(target.instance),
            request_id=call.request_id,
            user_seconds=seconds,
            total_seconds=seconds,
        )
