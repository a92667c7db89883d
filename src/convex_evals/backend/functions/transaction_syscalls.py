"""The bridge of one query or mutation: everything it asks for happens in one transaction, in order."""

import base64
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

import orjson

from convex_evals.backend.database import Document, PageRequest, QueryStream, Transaction
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions import jobs
from convex_evals.backend.functions.calls import warning
from convex_evals.backend.functions.host import Attempt, TransactionKind
from convex_evals.backend.functions.syscalls import (
    NULL,
    SyscallArgs,
    component_argument,
    create_handle,
    deployment_metadata,
    dump_json,
    function_metadata,
    parse_args,
    refused,
    request_metadata,
    user_identity,
)
from convex_evals.backend.functions.targets import AddressBook, Target
from convex_evals.backend.limits import (
    MAX_AUDIT_LOG_BYTES,
    audit_log_too_large,
    document_warnings,
    scheduled_arguments_warning,
)
from convex_evals.backend.runtime import SyscallReply, SyscallRequest
from convex_evals.backend.values import nesting_of

SEVERAL_PAGES = (
    "This query or mutation function ran multiple paginated queries. "
    "Convex only supports a single paginated query in each function."
)

SELF_CANCEL_IS_AN_ERROR_SINCE = (1, 50)
SELF_CANCEL = (
    "A scheduled mutation canceling itself is deprecated and will throw an error in a future version of Convex."
)

Syscall = Callable[[SyscallArgs], str]
RunFunction = Callable[[Mapping[str, object]], Awaitable[SyscallReply]]


class DatabaseSyscalls:
    """The database as one execution sees it: the tables of its component, inside the attempt's transaction."""

    def __init__(self, attempt: Attempt, target: Target, depth: int) -> None:
        self._attempt = attempt
        self._namespace = target.instance.id
        self._depth = depth
        self._streams: dict[int, QueryStream] = {}  # by the number that the worker gave them
        self._has_paginated = False

    @property
    def _transaction(self) -> Transaction:
        return self._attempt.transaction

    # ------------------------------------------------------------------ queries

    def fetch(self, args: SyscallArgs) -> str:
        """`query/fetch`: rows ahead of what user code pulls. The first time it brings the query along."""
        query_id = args.integer("queryId")
        if query_id not in self._streams:
            self._streams[query_id] = self._transaction.open_query(self._namespace, args.required("query"))
        batch = self._streams[query_id].fetch(args.integer("max"))
        return f'{{"rows":{_array(batch.documents)},"done":{"true" if batch.done else "false"}}}'

    def pulled(self, counts: Mapping[int, int]) -> None:
        """How many of the fetched rows user code took."""
        for query_id, count in counts.items():
            self._streams[query_id].pull(count)

    def page(self, args: SyscallArgs) -> str:
        """`1.0/queryPage`"""
        request = PageRequest(
            args.required("query"),
            args.optional_text("cursor"),
            args.number("pageSize"),
            args.optional_text("endCursor"),
            args.optional_number("maximumRowsRead"),
            args.optional_number("maximumBytesRead"),
            journal=self._attempt.journal if self._depth == 0 else None,
        )
        page = self._transaction.paginate(self._namespace, request)
        if self._has_paginated:
            raise DeveloperError(SEVERAL_PAGES)
        self._has_paginated = True
        if self._depth == 0:
            self._attempt.next_journal = page.journal
        rest = {
            "isDone": page.is_done,
            "continueCursor": page.continue_cursor,
            "splitCursor": page.split_cursor,
            "pageStatus": page.status,
        }
        return f'{{"page":{_array(page.documents)},{dump_json(rest)[1:]}'

    # ------------------------------------------------------------------ documents

    def get(self, args: SyscallArgs) -> str:
        document = self._transaction.get(
            self._namespace, args.text("id"), args.optional_text("table"), is_system=args.flag("isSystem")
        )
        return "null" if document is None else document.text

    def count(self, args: SyscallArgs) -> str:
        return dump_json(float(self._transaction.count(self._namespace, args.text("table"))))

    def normalize_id(self, args: SyscallArgs) -> str:
        normalized = self._transaction.normalize_id(self._namespace, args.text("table"), args.text("idString"))
        return dump_json({"id": normalized})

    def insert(self, args: SyscallArgs) -> str:
        document = self._transaction.insert(self._namespace, args.text("table"), args.required("value"))
        self._warn(document)
        return dump_json({"_id": document.id})

    def patch(self, args: SyscallArgs) -> str:
        return self._written(
            self._transaction.patch(
                self._namespace, args.text("id"), args.required("value"), args.optional_text("table")
            )
        )

    def replace(self, args: SyscallArgs) -> str:
        return self._written(
            self._transaction.replace(
                self._namespace, args.text("id"), args.required("value"), args.optional_text("table")
            )
        )

    def delete(self, args: SyscallArgs) -> str:
        return self._transaction.delete(self._namespace, args.text("id"), args.optional_text("table")).text

    def metrics(self, args: SyscallArgs) -> str:
        return dump_json(self._transaction.metrics())

    # ------------------------------------------------------------------ private

    def _written(self, document: Document) -> str:
        self._warn(document)
        return document.text

    def _warn(self, document: Document) -> None:
        near_limits = document_warnings(document.id, document.size, nesting_of(document.value))
        self._attempt.warnings.extend(map(warning, near_limits))


def _array(documents: list[Document]) -> str:
    return f"[{','.join(document.text for document in documents)}]"


class TransactionSyscalls:
    def __init__(
        self, attempt: Attempt, target: Target, kind: TransactionKind, depth: int, run_function: RunFunction
    ) -> None:
        self._attempt = attempt
        self._target = target
        self._run_function = run_function
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
        replies: list[SyscallReply] = []
        for request in calls:
            try:
                if request.name == "1.0/runUdf":
                    replies.append(await self._run_function(parse_args(request.args)))
                    continue
                found = self._later.get(request.name)
                if found is None:
                    raise DeveloperError(f"Unknown async operation {request.name}")
                method, syscall = found
                replies.append(SyscallReply(syscall(SyscallArgs(parse_args(request.args), method))))
            except DeveloperError as error:
                replies.append(refused(error))
        return replies

    def pulled(self, counts: Mapping[int, int]) -> None:
        self._database.pulled(counts)

    # ------------------------------------------------------------------ metadata

    def _component_argument(self, args: SyscallArgs) -> str:
        return component_argument(self._target)

    def _user_identity(self, args: SyscallArgs) -> str:
        self._attempt.identity_read = True
        return user_identity(self._attempt.call.identity)

    def _function_metadata(self, args: SyscallArgs) -> str:
        return function_metadata(self._target)

    def _deployment_metadata(self, args: SyscallArgs) -> str:
        return deployment_metadata(self._attempt.host)

    def _request_metadata(self, args: SyscallArgs) -> str:
        if self._attempt.kind == "Query":
            raise DeveloperError("Cannot get request metadata in a Query")
        return request_metadata(self._attempt.call)

    def _create_handle(self, args: SyscallArgs) -> str:
        return create_handle(self._attempt.host, self._target, args.json)

    def _audit_log(self, args: SyscallArgs) -> str:
        """Only its size is checked: a local deployment keeps no audit log."""
        self._attempt.audited_bytes += len(orjson.dumps(args.mapping("body")))
        if self._attempt.audited_bytes > MAX_AUDIT_LOG_BYTES:
            raise audit_log_too_large()
        return NULL

    # ------------------------------------------------------------------ scheduler

    def _schedule(self, args: SyscallArgs) -> str:
        attempt = self._attempt
        book = AddressBook(self._target.application, attempt.host.handles, self._target.path.component)
        path = book.resolve(args.json, args.method)
        now = attempt.now_ms / 1000
        job = jobs.plan(self._target.application, path, args.mapping("args"), args.number("ts"), now)
        attempt.warnings.extend(map(warning, scheduled_arguments_warning(job.args_size)))
        parent = attempt.call.scheduled_job
        return dump_json(jobs.schedule(attempt.transaction, self._target.instance.id, job, parent))

    def _cancel_job(self, args: SyscallArgs) -> str:
        job_id = jobs.check_job_id(args.text("id"))
        running = self._attempt.call.scheduled_job
        if running is not None and running.id == job_id and self._attempt.call.caller == "Scheduler":
            self._warn_about_cancelling_itself(args.optional_text("version"))
        else:
            jobs.cancel_job(self._attempt.transaction, self._target.instance.id, job_id)
        return NULL

    def _warn_about_cancelling_itself(self, version: str | None) -> None:
        if _release(version) >= SELF_CANCEL_IS_AN_ERROR_SINCE:
            raise DeveloperError("A mutation cannot cancel itself")
        self._attempt.warnings.append(warning(SELF_CANCEL))

    # ------------------------------------------------------------------ storage

    def _storage_get_url(self, args: SyscallArgs) -> str:
        files, instance = self._attempt.host.files, self._target.instance
        return dump_json(files.get_url(self._attempt.transaction, instance, args.text("storageId")))

    def _storage_get_metadata(self, args: SyscallArgs) -> str:
        files, instance = self._attempt.host.files, self._target.instance
        return dump_json(files.get_metadata(self._attempt.transaction, instance, args.text("storageId")))

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
        return dump_json(stored.id)

    def _storage_get(self, args: SyscallArgs) -> str:
        files, instance = self._attempt.host.files, self._target.instance
        found = files.load_in(self._attempt.transaction, instance, args.text("storageId"))
        if found is None:
            return NULL
        return dump_json({"blob": base64.b64encode(found.content).decode(), "contentType": found.content_type})

    def _storage_upload_url(self, args: SyscallArgs) -> str:
        return dump_json(self._attempt.host.files.upload_url(self._target.instance))


def _release(version: str | None) -> tuple[int, int]:
    """Of the library that makes the syscall."""
    match = re.match(r"(\d+)\.(\d+)\.", version or "")
    return (int(match[1]), int(match[2])) if match else (0, 0)
