"""Running actions: once, outside of any transaction. Every syscall of an action is a transaction of its own."""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.environment import DeploymentState, read_state
from convex_evals.backend.errors import BackendError, DeveloperError
from convex_evals.backend.functions import jobs
from convex_evals.backend.functions.arguments import Arguments, check_arguments, check_returned
from convex_evals.backend.functions.calls import Call, CallOutcome, Finished, uncaught, warning
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.records import new_execution_id, record_action, record_progress
from convex_evals.backend.functions.syscalls import (
    NULL,
    SyscallArgs,
    component_argument,
    create_handle,
    deployment_metadata,
    dump_json,
    function_metadata,
    parse_args,
    reply_to,
    request_metadata,
    user_identity,
)
from convex_evals.backend.functions.targets import AddressBook, Target, check_type, describe_address, find_for_caller
from convex_evals.backend.identity import ANONYMOUS, Admin, Identity
from convex_evals.backend.limits import ACTION_SECONDS, NODE_ACTION_SECONDS, arguments_warning, return_warning
from convex_evals.backend.runtime import Execution, LogLine, StoredBlob, SyscallReply, SyscallRequest

if TYPE_CHECKING:
    from convex_evals.backend.database import Transaction

logger = logging.getLogger(__name__)

SYSTEM_ERROR = "Your request couldn't be completed. Try again later."
NO_SERVICE_TOKENS = (
    '`getServiceToken("ai-gateway")` isn\'t available on this deployment because the AI gateway is a Convex Cloud '
    "service. Deploy to Convex Cloud, or call your model provider directly with your own API key."
)

T = TypeVar("T")
Syscall = Callable[[SyscallArgs], Awaitable[str | SyscallReply]]
ReportLines = Callable[[Sequence[LogLine]], None]


class Runner(Protocol):
    """What actions call: outcomes are complete, nothing is redacted."""

    async def run_query(self, call: Call) -> CallOutcome: ...

    async def run_mutation(self, call: Call) -> CallOutcome: ...

    async def run_action(self, call: Call) -> CallOutcome: ...

    async def write(self, source: str, work: "Callable[[Transaction], T]") -> T:
        """Commits what `work` does to a transaction."""
        ...


class ActionSyscalls:
    """The bridge of one action. Batches arrive concurrently; what they ask for runs concurrently. `report` gets log
    lines as they are written."""

    def __init__(
        self, host: Host, runner: Runner, call: Call, target: Target, execution_id: str, report: ReportLines
    ) -> None:
        self.logged = report
        self._host = host
        self._runner = runner
        self._call = call
        self._target = target
        self._execution_id = execution_id
        self._syscalls: dict[str, tuple[str, Syscall]] = {
            "1.0/actions/query": ("runQuery", self._run_query),
            "1.0/actions/mutation": ("runMutation", self._run_mutation),
            "1.0/actions/action": ("runAction", self._run_action),
            "1.0/actions/schedule": ("scheduler", self._schedule),
            "1.0/actions/cancel_job": ("db.cancel_job", self._cancel_job),
            "1.0/actions/vectorSearch": ("vectorSearch", self._vector_search),
            "1.0/createFunctionHandle": ("createFunctionHandle", self._create_handle),
            "1.0/getUserIdentity": ("auth.getUserIdentity", self._user_identity),
            "1.0/getFunctionMetadata": ("getFunctionMetadata", self._function_metadata),
            "1.0/getDeploymentMetadata": ("getDeploymentMetadata", self._deployment_metadata),
            "1.0/getRequestMetadata": ("getRequestMetadata", self._request_metadata),
            "1.0/storageGetUrl": ("storage.getUrl", self._storage_get_url),
            "1.0/storageGetMetadata": ("storage.getMetadata", self._storage_get_metadata),
            "1.0/storageDelete": ("storage.delete", self._storage_delete),
            "1.0/storageGenerateUploadUrl": ("storage.generateUploadUrl", self._storage_upload_url),
            "1.0/createServiceToken": ("getServiceToken", self._service_token),
            "1.0/auditLog": ("auditLog", self._audit_log),
        }

    def call_now(self, name: str, args: str) -> str:
        if name == "1.0/componentArgument":
            return component_argument(self._target)
        raise DeveloperError(f"Unknown operation {name}")

    async def call(self, calls: Sequence[SyscallRequest]) -> Sequence[SyscallReply]:
        return await asyncio.gather(*(self._reply(request) for request in calls))

    def pulled(self, counts: Mapping[int, int]) -> None:
        """Actions have no open queries."""

    async def store_blob(self, content: bytes, content_type: str | None, sha256: str | None) -> str:
        return await self._host.files.store(self._target.instance, content, content_type, sha256)

    async def load_blob(self, storage_id: str) -> StoredBlob | None:
        return await self._host.files.load(self._target.instance, storage_id)

    async def _reply(self, request: SyscallRequest) -> SyscallReply:
        try:
            return await reply_to(self._answer(request))
        except BackendError:
            logger.exception("%s failed in %s", request.name, self._target.shown)
            return SyscallReply(error=SYSTEM_ERROR)

    async def _answer(self, request: SyscallRequest) -> str | SyscallReply:
        found = self._syscalls.get(request.name)
        if found is None:
            kind = "operation" if self._target.environment == "node" else "async operation"
            raise DeveloperError(f"Unknown {kind} {request.name}")
        method, syscall = found
        return await syscall(SyscallArgs(parse_args(request.args), method))

    # ------------------------------------------------------------------ calls

    async def _run_query(self, args: SyscallArgs) -> SyscallReply:
        return await self._in_step(self._runner.run_query(self._call_of(args)))

    async def _run_mutation(self, args: SyscallArgs) -> SyscallReply:
        return await self._in_step(self._runner.run_mutation(self._call_of(args)))

    async def _run_action(self, args: SyscallArgs) -> SyscallReply:
        return await self._in_step(self._runner.run_action(self._call_of(args)))

    async def _in_step(self, running: Awaitable[CallOutcome]) -> SyscallReply:
        outcome = await running
        await self._host.lockstep.wait()
        return _reply_with(outcome)

    def _call_of(self, args: SyscallArgs) -> Call:
        path = self._resolve(args)
        return replace(
            self._call,
            path=path,
            args=[args.mapping("args")],
            identity=self._identity_for(path),
            caller="Action",
            allow_internal=True,
            parent_execution_id=self._execution_id,
        )

    def _resolve(self, args: SyscallArgs) -> FunctionPath:
        application = self._host.application or self._target.application
        book = AddressBook(application, self._host.handles, self._target.path.component)
        try:
            return book.resolve(args.json, args.method)
        except DeveloperError as error:
            if "reference" in args.json:
                raise DeveloperError(f"Couldn't resolve {describe_address(args.json)}") from error
            raise

    def _identity_for(self, path: FunctionPath) -> Identity:
        """A user's identity does not cross the border of a component."""
        stays_in_app = path.component == "" and self._target.path.component == ""
        return self._call.identity if stays_in_app or isinstance(self._call.identity, Admin) else ANONYMOUS

    # ------------------------------------------------------------------ scheduler

    async def _schedule(self, args: SyscallArgs) -> str:
        path, seconds, given = self._resolve(args), args.number("ts"), args.mapping("args")
        job = jobs.plan(self._host.application, path, given, seconds, self._host.clock.now_ms() / 1000)
        namespace, parent = self._target.instance.id, self._call.scheduled_job
        return dump_json(await self._write(lambda tx: jobs.schedule(tx, namespace, job, parent)))

    async def _cancel_job(self, args: SyscallArgs) -> str:
        job_id = jobs.check_job_id(args.text("id"))
        await self._write(lambda tx: jobs.cancel_job(tx, self._target.instance.id, job_id))
        return NULL

    async def _write(self, work: "Callable[[Transaction], T]") -> T:
        return await self._runner.write(self._target.path.stripped, work)

    # ------------------------------------------------------------------ storage and search

    async def _storage_get_url(self, args: SyscallArgs) -> str:
        storage, instance = self._host.files, self._target.instance
        return dump_json(storage.get_url(self._host.database.begin(), instance, args.text("storageId")))

    async def _storage_get_metadata(self, args: SyscallArgs) -> str:
        storage, instance = self._host.files, self._target.instance
        return dump_json(storage.get_metadata(self._host.database.begin(), instance, args.text("storageId")))

    async def _storage_delete(self, args: SyscallArgs) -> str:
        storage, instance, storage_id = self._host.files, self._target.instance, args.text("storageId")
        await self._write(lambda tx: storage.delete(tx, instance, storage_id))
        return NULL

    async def _storage_upload_url(self, args: SyscallArgs) -> str:
        return dump_json(self._host.files.upload_url(self._target.instance))

    async def _vector_search(self, args: SyscallArgs) -> str:
        found = self._host.database.vector_search(self._target.instance.id, args.mapping("query"))
        return dump_json({"results": [{"_id": hit.id, "_score": hit.score} for hit in found]})

    # ------------------------------------------------------------------ metadata

    async def _create_handle(self, args: SyscallArgs) -> str:
        return create_handle(self._host, self._target, args.json)

    async def _user_identity(self, args: SyscallArgs) -> str:
        return user_identity(self._call.identity)

    async def _function_metadata(self, args: SyscallArgs) -> str:
        return function_metadata(self._target)

    async def _deployment_metadata(self, args: SyscallArgs) -> str:
        return deployment_metadata(self._host)

    async def _request_metadata(self, args: SyscallArgs) -> str:
        return request_metadata(self._call)

    async def _service_token(self, args: SyscallArgs) -> str:
        raise DeveloperError(NO_SERVICE_TOKENS)

    async def _audit_log(self, args: SyscallArgs) -> str:
        if self._target.environment == "isolate":
            raise DeveloperError("Audit logging is not yet supported in actions")
        return NULL


def _reply_with(outcome: CallOutcome) -> SyscallReply:
    """The callee has logged its own lines."""
    if outcome.failure is None:
        return SyscallReply(outcome.value)
    return SyscallReply(error=outcome.failure.message, error_data=outcome.failure.data)


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
