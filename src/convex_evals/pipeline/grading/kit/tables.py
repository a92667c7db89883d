"""The documents of a deployment, as an administrator sees and writes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from convex_evals.pipeline.grading.kit.comparing import show, without
from convex_evals.pipeline.grading.kit.errors import CallFailed, EvalBroken, Refused
from convex_evals.pipeline.grading.kit.transport import Transport

Document = dict[str, Any]
PAGE: Final = 1000
MOST_AT_ONCE: Final = 4096


@dataclass(frozen=True, slots=True)
class Tables:
    transport: Transport

    def insert(self, table: str, documents: Sequence[Mapping[str, Any]]) -> list[str]:
        """Inserts all or none and returns their ids, in order. The deployed schema applies."""
        if not documents:
            return []
        if len(documents) > MOST_AT_ONCE:
            raise EvalBroken(f"at most {MOST_AT_ONCE} documents can be inserted at once, not {len(documents)}")
        wanted = [dict(document) for document in documents]
        answer = self._mutation("frontend/addDocument", f'insert into "{table}"', table=table, documents=wanted)
        if not answer["success"]:
            raise Refused(self.transport.name, f'the insert into "{table}"', 400, show(answer["error"]))
        newest = self.transport.system("query", "frontend/listTableScan", {"table": table, "limit": len(wanted)})
        written: list[Document] = newest[::-1]
        if without(written) != without(wanted):
            raise Refused(
                self.transport.name,
                f'the insert into "{table}"',
                409,
                "the table changed meanwhile, so ids are not known",
            )
        return [document["_id"] for document in written]

    def documents(self, table: str) -> list[Document]:
        """Oldest first; empty when there is no such table."""
        return list(self._scan(table))

    def get(self, document_id: str) -> Document | None:
        found: Document | None = self.transport.system("query", "frontend/getById", {"id": document_id})
        return found

    def replace(self, document_id: str, document: Mapping[str, Any]) -> None:
        answer = self._mutation("frontend/replaceDocument", f"replace {document_id}", id=document_id, document=document)
        if not answer["success"]:
            raise Refused(self.transport.name, f"the replacement of {document_id}", 400, show(answer["error"]))

    def delete(self, table: str, ids: Sequence[str]) -> None:
        entries = [{"id": document_id, "tableName": table} for document_id in ids]
        self._mutation("frontend/deleteDocuments", f'delete from "{table}"', toDelete=entries)

    def names(self, component: str | None = None) -> list[str]:
        args = {"paginationOpts": {"numItems": PAGE, "cursor": None}, "componentId": component}
        return [entry["name"] for entry in self.transport.system("query", "cli/tables", args)["page"]]

    def clear(self, table: str, component: str | None = None) -> None:
        cursor: str | None = None
        has_more = True
        while has_more:
            args = {"tableName": table, "cursor": cursor, "componentId": component}
            page = self.transport.system("mutation", "frontend/clearTablePage", args)
            cursor, has_more = page["continueCursor"], page["hasMore"]

    def _scan(self, table: str) -> Iterator[Document]:
        cursor: str | None = None
        is_done = False
        while not is_done:
            args = {"table": table, "order": "asc", "paginationOpts": {"numItems": PAGE, "cursor": cursor}}
            page = self.transport.system("query", "cli/tableData", args)
            yield from page["page"]
            cursor, is_done = page["continueCursor"], page["isDone"]

    def _mutation(self, path: str, what: str, **args: object) -> Any:
        try:
            return self.transport.system("mutation", path, args)
        except CallFailed as error:
            raise CallFailed(error.deployment, what, error.text, error.data, error.has_data) from error
