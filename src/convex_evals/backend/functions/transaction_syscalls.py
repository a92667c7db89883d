"""The bridge of one query or mutation: everything it asks for happens in one transaction, in order."""

import base64
import re
from collections.abc import Callable, Mapping, Sequence

import orjson

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions import metadata, scheduling
from convex_evals.backend.functions.addresses import AddressBook
from convex_evals.backend.functions.attempt import Attempt, TransactionKind
from convex_evals.backend.functions.database_syscalls import DatabaseSyscalls
from convex_evals.backend.functions.nested import NestedCalls
from convex_evals.backend.functions.replies import NULL, refused
from convex_evals.backend.functions.syscall_args import SyscallArgs, parse_args
from convex_evals.backend.functions.targets import Target
from convex_evals.backend.functions.warnings import scheduled_arguments_warning, warning
from convex_evals.backend.runtime.types import SyscallReply, SyscallRequest

SELF_CANCEL_IS_AN_ERROR_SINCE = (1, 50)
SELF_CANCEL = (
    "A scheduled mutation canceling itself is deprecated and will throw an error in a future version of Convex."
)

Syscall = Callable[[SyscallArgs], str]


class TransactionSyscalls:
    def __init__(self, attempt: Attempt, target: Target, kind: TransactionKind, depth: int, calls: NestedCalls) -> None:
        self._attempt = attempt
        self._target = target
        self._calls = calls
        self._database = database = DatabaseSyscalls(attempt, target, depth)
        self._now: dict[str, tuple[str, Syscall]] = {
            "1.0/db/normalizeId": ("db.normalizeId", database.normalize_id),
            "1.0/componentArgument": ("componentArgument", self._component_argument),
        }
        self._later: dict[str, tuple[str, Syscall]] = {
            "query/fetch": ("queryStream", database.fetch),
            "1.0/queryPage": ("queryPage", database.page),
            "1.0/get": ("db.get", database.get),
            "1.0/count": ("db.count", database.count),
            "1.0/getTransactionMetrics": ("getTransactionMetrics", database.metrics),
            "1.0/getUserIdentity": ("auth.getUserIdentity", self._user_identity),
            "1.0/getFunctionMetadata": ("getFunctionMetadata", self._function_metadata),
            "1.0/getDeploymentMetadata": ("getDeploymentMetadata", self._deployment_metadata),
            "1.0/getRequestMetadata": ("getRequestMetadata", self._request_metadata),
            "1.0/createFunctionHandle": ("createFunctionHandle", self._create_handle),
            "1.0/storageGetUrl": ("storage.getUrl", self._storage_get_url),
            "1.0/storageGetMetadata": ("storage.getMetadata", self._storage_get_metadata),
            "1.0/auditLog": ("auditLog", self._audit_log),
        }
        if kind == "Mutation":
            self._later |= {
                "1.0/insert": ("db.insert", database.insert),
                "1.0/shallowMerge": ("db.patch", database.patch),
                "1.0/replace": ("db.replace", database.replace),
                "1.0/remove": ("db.delete", database.delete),
                "1.0/schedule": ("scheduler", self._schedule),
                "1.0/cancel_job": ("db.cancel_job", self._cancel_job),
                "1.0/storageDelete": ("storage.delete", self._storage_delete),
                "1.0/storageStore": ("storage.store", self._storage_store),
                "1.0/storageGet": ("storage.get", self._storage_get),
                "1.0/storageGenerateUploadUrl": ("storage.generateUploadUrl", self._storage_upload_url),
            }

    def call_now(self, name: str, args: str) -> str:
        found = self._now.get(name)
        if found is None:
            raise DeveloperError(f"Unknown operation {name}")
        method, syscall = found
        return syscall(SyscallArgs(parse_args(args), method))

    async def call(self, calls: Sequence[SyscallRequest]) -> Sequence[SyscallReply]:
        self._attempt.round_trips += 1
        return [await self._reply(request) for request in calls]

    def pulled(self, counts: Mapping[int, int]) -> None:
        self._database.pulled(counts)

    async def _reply(self, request: SyscallRequest) -> SyscallReply:
        try:
            if request.name == "1.0/runUdf":
                return await self._calls.call(parse_args(request.args))
            found = self._later.get(request.name)
            if found is None:
                raise DeveloperError(f"Unknown async operation {request.name}")
            method, syscall = found
            return SyscallReply(syscall(SyscallArgs(parse_args(request.args), method)))
        except DeveloperError as error:
            return refused(error)

    # ------------------------------------------------------------------ metadata

    def _component_argument(self, args: SyscallArgs) -> str:
        return metadata.component_argument(self._target)

    def _user_identity(self, args: SyscallArgs) -> str:
        self._attempt.identity_read = True
        return metadata.user_identity(self._attempt.call.identity)

    def _function_metadata(self, args: SyscallArgs) -> str:
        return metadata.function_metadata(self._target)

    def _deployment_metadata(self, args: SyscallArgs) -> str:
        return metadata.deployment_metadata(self._attempt.host)

    def _request_metadata(self, args: SyscallArgs) -> str:
        if self._attempt.kind == "Query":
            raise DeveloperError("Cannot get request metadata in a Query")
        return metadata.request_metadata(self._attempt.call)

    def _create_handle(self, args: SyscallArgs) -> str:
        return metadata.create_handle(self._attempt.host, self._target, args.json)

    def _audit_log(self, args: SyscallArgs) -> str:
        """Nobody reads the audit log of a deployment that has one user."""
        self._attempt.audited_bytes += len(orjson.dumps(args.mapping("body")))
        if self._attempt.audited_bytes > metadata.MOST_AUDITED_BYTES:
            raise DeveloperError("Audit logs exceed function execution limits")
        return NULL

    # ------------------------------------------------------------------ scheduler

    def _schedule(self, args: SyscallArgs) -> str:
        attempt = self._attempt
        book = AddressBook(self._target.application, attempt.host.handles, self._target.path.component)
        path = book.resolve(args.json, args.method)
        now = attempt.now_ms / 1000
        job = scheduling.plan(self._target.application, path, args.mapping("args"), args.number("ts"), now)
        attempt.warnings.extend(scheduled_arguments_warning(job.args_size))
        parent = attempt.call.scheduled_job
        return _json(scheduling.schedule(attempt.transaction, self._target.instance.id, job, parent))

    def _cancel_job(self, args: SyscallArgs) -> str:
        job_id = scheduling.check_job_id(args.text("id"))
        running = self._attempt.call.scheduled_job
        if running is not None and running.id == job_id and self._attempt.call.caller == "Scheduler":
            self._warn_about_cancelling_itself(args.optional_text("version"))
        else:
            scheduling.cancel(self._attempt.transaction, self._target.instance.id, job_id)
        return NULL

    def _warn_about_cancelling_itself(self, version: str | None) -> None:
        if _release(version) >= SELF_CANCEL_IS_AN_ERROR_SINCE:
            raise DeveloperError("A mutation cannot cancel itself")
        self._attempt.warnings.append(warning(SELF_CANCEL))

    # ------------------------------------------------------------------ storage

    def _storage_get_url(self, args: SyscallArgs) -> str:
        files, instance = self._attempt.host.files, self._target.instance
        return _json(files.get_url(self._attempt.transaction, instance, args.text("storageId")))

    def _storage_get_metadata(self, args: SyscallArgs) -> str:
        files, instance = self._attempt.host.files, self._target.instance
        return _json(files.get_metadata(self._attempt.transaction, instance, args.text("storageId")))

    def _storage_delete(self, args: SyscallArgs) -> str:
        self._attempt.host.files.delete(self._attempt.transaction, self._target.instance, args.text("storageId"))
        return NULL

    def _storage_store(self, args: SyscallArgs) -> str:
        """Since convex 1.48. The file is there when the mutation commits, and gone when it does not."""
        files, instance = self._attempt.host.files, self._target.instance
        content = base64.b64decode(args.text("blob"))
        stored = files.store_in(
            self._attempt.transaction,
            instance,
            content,
            args.optional_text("contentType"),
            args.optional_text("sha256"),
        )
        self._attempt.stored.append(stored)
        return _json(stored.id)

    def _storage_get(self, args: SyscallArgs) -> str:
        files, instance = self._attempt.host.files, self._target.instance
        found = files.load_in(self._attempt.transaction, instance, args.text("storageId"))
        if found is None:
            return NULL
        return _json({"blob": base64.b64encode(found.content).decode(), "contentType": found.content_type})

    def _storage_upload_url(self, args: SyscallArgs) -> str:
        return _json(self._attempt.host.files.upload_url(self._target.instance))


def _release(version: str | None) -> tuple[int, int]:
    """Of the library that makes the syscall."""
    match = re.match(r"(\d+)\.(\d+)\.", version or "")
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
