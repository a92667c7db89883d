"""`ctx.db` in queries and mutations, on top of a transaction."""

from collections.abc import Mapping

import orjson

from convex_evals.backend.database import Document, PageRequest, QueryStream, Transaction
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.attempt import Attempt
from convex_evals.backend.functions.syscall_args import SyscallArgs
from convex_evals.backend.functions.targets import Target
from convex_evals.backend.functions.warnings import document_warnings
from convex_evals.backend.values import nesting_of

SEVERAL_PAGES = (
    "This query or mutation function ran multiple paginated queries. "
    "Convex only supports a single paginated query in each function."
)


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
        return f'{{"page":{_array(page.documents)},{_json(rest)[1:]}'

    # ------------------------------------------------------------------ documents

    def get(self, args: SyscallArgs) -> str:
        document = self._transaction.get(
            self._namespace, args.text("id"), args.optional_text("table"), is_system=args.flag("isSystem")
        )
        return "null" if document is None else document.text

    def count(self, args: SyscallArgs) -> str:
        return _json(float(self._transaction.count(self._namespace, args.text("table"))))

    def normalize_id(self, args: SyscallArgs) -> str:
        normalized = self._transaction.normalize_id(self._namespace, args.text("table"), args.text("idString"))
        return _json({"id": normalized})

    def insert(self, args: SyscallArgs) -> str:
        document = self._transaction.insert(self._namespace, args.text("table"), args.required("value"))
        self._warn(document)
        return _json({"_id": document.id})

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
        return _json(self._transaction.metrics())

    # ------------------------------------------------------------------ private

    def _written(self, document: Document) -> str:
        self._warn(document)
        return document.text

    def _warn(self, document: Document) -> None:
        self._attempt.warnings.extend(document_warnings(document.id, document.size, nesting_of(document.value)))


def _array(documents: list[Document]) -> str:
    return f"[{','.join(document.text for document in documents)}]"


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
