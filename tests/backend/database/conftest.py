from collections.abc import Callable, Iterator
from typing import Any

import pytest

from convex_evals.backend.database import (
    Database,
    Document,
    Transaction,
    activate_schema,
    prepare_schema,
    validate_schema,
)
from convex_evals.backend.schema import Schema


class Bench:
    """A database with short ways to say what tests say often."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def begin(self) -> Transaction:
        return self.database.begin()

    def insert(self, table: str, *values: dict[str, Any], namespace: str = "") -> list[Document]:
        transaction = self.begin()
        documents = [transaction.insert(namespace, table, value) for value in values]
        self.database.commit(transaction)
        return documents

    def push(self, *tables: dict[str, Any], validation: bool = True, namespace: str = "") -> None:
        """Prepares, validates and activates a schema, as a push does."""
        schema = Schema.parse({"tables": list(tables), "schemaValidation": validation})
        transaction = self.begin()
        schema_id = prepare_schema(transaction, namespace, schema)
        assert schema_id is not None
        validate_schema(transaction, namespace, schema_id)
        self.database.commit(transaction)
        transaction = self.begin()
        activate_schema(transaction, namespace, schema_id)
        self.database.commit(transaction)

    @staticmethod
    def table(
        name: str,
        fields: dict[str, Any] | None = None,
        indexes: dict[str, list[str]] | None = None,
        search: dict[str, Any] | None = None,
        vector: dict[str, Any] | None = None,
        staged: dict[str, list[str]] | None = None,
    ) -> dict[str, Any]:
        document = {"type": "any"} if fields is None else {"type": "object", "value": fields}
        return {
            "tableName": name,
            "documentType": document,
            "indexes": [{"indexDescriptor": name, "fields": paths} for name, paths in (indexes or {}).items()],
            "stagedDbIndexes": [{"indexDescriptor": name, "fields": paths} for name, paths in (staged or {}).items()],
            "searchIndexes": [{"indexDescriptor": name, **spec} for name, spec in (search or {}).items()],
            "vectorIndexes": [{"indexDescriptor": name, **spec} for name, spec in (vector or {}).items()],
        }

    @staticmethod
    def scan(table: str, *operators: dict[str, Any], order: str | None = None) -> dict[str, Any]:
        source = {"type": "FullTableScan", "tableName": table, "order": order}
        return {"source": source, "operators": list(operators)}

    @staticmethod
    def range(
        index: str, *comparisons: tuple[str, str, Any], order: str | None = None, operators: Any = ()
    ) -> dict[str, Any]:
        return {
            "source": {
                "type": "IndexRange",
                "indexName": index,
                "range": [{"type": kind, "fieldPath": path, "value": value} for kind, path, value in comparisons],
                "order": order,
            },
            "operators": list(operators),
        }

    @staticmethod
    def search(index: str, field: str, text: str, **equal: Any) -> dict[str, Any]:
        filters = [{"type": "Search", "fieldPath": field, "value": text}]
        filters += [{"type": "Eq", "fieldPath": name, "value": value} for name, value in equal.items()]
        return {"source": {"type": "Search", "indexName": index, "filters": filters}, "operators": []}

    @staticmethod
    def pull_all(
        transaction: Transaction, query: dict[str, Any], batch: int = 7, namespace: str = ""
    ) -> list[Document]:
        """Like `collect()`: pulls every row and the end."""
        stream = transaction.open_query(namespace, query)
        documents: list[Document] = []
        while True:
            fetched = stream.fetch(batch)
            stream.pull(len(fetched.documents))
            documents += fetched.documents
            if fetched.done:
                stream.pull(1)
                return documents

    @staticmethod
    def take(transaction: Transaction, query: dict[str, Any], count: int) -> list[Document]:
        """Pulls `count` rows, one at a time, and no end."""
        stream = transaction.open_query("", query)
        documents: list[Document] = []
        for _ in range(count):
            documents += stream.fetch(1).documents
            stream.pull(1)
        return documents


@pytest.fixture
def bench() -> Iterator[Bench]:
    database = Database.open(None)
    yield Bench(database)
    database.close()


@pytest.fixture
def bench_on() -> Callable[[Database], Bench]:
    """A bench on another database."""
    return Bench
