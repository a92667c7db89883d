"""System functions over a real database, with files played by a list: what is stored is not their business."""

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from convex_evals.backend.database import Database, Transaction
from convex_evals.backend.database.catalog import schema_row
from convex_evals.backend.database.tables import index_row
from convex_evals.backend.deployed import (
    AnalyzedFunction,
    AnalyzedModule,
    Application,
    ComponentDefinition,
    ComponentInstance,
    CronSpec,
    FunctionPath,
    HttpRoute,
    Position,
    UdfConfig,
)
from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.system_calls import SystemCall
from convex_evals.backend.schema import Schema
from convex_evals.backend.system import SystemLibrary
from convex_evals.backend.values import Value

COUNTER = "counterid"


class Files:
    def get_url(self, transaction: Transaction, instance: ComponentInstance, storage_id: str) -> str | None:
        return f"http://cloud/api/storage/{storage_id[-4:]}"

    def delete(self, transaction: Transaction, instance: ComponentInstance, storage_id: str) -> None:
        try:
            transaction.system.delete(instance.id, "_file_storage", storage_id)
        except KeyError as error:
            raise DeveloperError(f"storage id {storage_id} not found") from error

    def upload_url(self, instance: ComponentInstance) -> str:
        return f"http://cloud/api/storage/upload?token={instance.id}"


@dataclass
class Facts:
    cloud_url: str = "http://cloud"
    site_url: str = "http://site"
    files: Files = field(default_factory=Files)


def any_args(name: str, udf_type: Any, visibility: Any = "public", **more: Any) -> AnalyzedFunction:
    return AnalyzedFunction(name, udf_type, visibility, '{"type":"any"}', "null", **more)


def application() -> Application:
    body = '{"type":"object","value":{"body":{"fieldType":{"type":"string"},"optional":false}}}'
    messages = AnalyzedModule(
        (
            AnalyzedFunction("send", "Mutation", "public", body, '{"type":"null"}', Position("messages.ts", 12, 1)),
            any_args("clean", "Mutation", "internal"),
        )
    )
    app = ComponentDefinition(
        "",
        {},
        {
            "messages.js": messages,
            "messages/sub.js": AnalyzedModule((any_args("default", "Query", None),)),
            "http.js": AnalyzedModule(http_routes=(HttpRoute("/hi", "GET"), HttpRoute("/pre/*", "POST"))),
            "crons.js": AnalyzedModule(
                cron_specs=(CronSpec("clean up", "messages.js:clean", "[{}]", {"type": "interval", "seconds": 60}),)
            ),
            "schema.js": AnalyzedModule(),
        },
        None,
        {},
    )
    counter = ComponentDefinition("counter", {}, {"public.js": AnalyzedModule((any_args("get", "Query"),))}, None, {})
    instances = {
        "": ComponentInstance("", "", "", {"counter": "counter"}),
        "counter": ComponentInstance(COUNTER, "counter", "counter"),
    }
    provider: dict[str, object] = {
        "type": "customJwt",
        "applicationID": None,
        "issuer": "https://a.example",
        "jwks": "data:",
        "algorithm": "RS256",
    }
    return Application(
        3,
        UdfConfig("1.44.0", b"", 0),
        {"": app, "counter": counter},
        instances,
        ({"domain": "https://b.example", "applicationID": "convex"}, provider),
    )


@dataclass
class System:
    database: Database
    library: SystemLibrary
    application: Application | None = None

    async def call(self, path: str, component: str = "", journal: str | None = None, **args: Any) -> Value:
        return (await self.trace(path, component, journal, **args))[0]

    async def trace(
        self, path: str, component: str = "", journal: str | None = None, **args: Any
    ) -> tuple[Value, SystemCall]:
        parsed = FunctionPath.parse(f"_system/{path}", component)
        function = self.library.find(parsed)
        assert function is not None, path
        transaction = self.database.begin()
        call = SystemCall(parsed, args, transaction, self.application, journal)
        value = await function.run(call)
        if function.kind == "mutation":
            self.database.commit(transaction)
        return value, call

    async def is_reactive(self, path: str, write: Callable[[], Awaitable[Value]], **args: Any) -> bool:
        """Whether the write touches what the query read."""
        _, call = await self.trace(path, **args)
        before = self.database.latest
        await write()
        return self.database.changed_since(call.transaction.read_set, before)

    async def add(self, table: str, *documents: Value, **args: Any) -> None:
        assert await self.call("frontend/addDocument", table=table, documents=list(documents), **args) == {
            "success": True
        }

    def insert_row(self, table: str, namespace: str = "", **fields: Value) -> str:
        transaction = self.database.begin()
        row = transaction.system.insert(namespace, table, fields)
        self.database.commit(transaction)
        return row.id

    def activate(self, schema: Schema) -> None:
        """What a push of this schema leaves behind, when its tables are new."""
        transaction = self.database.begin()
        system = transaction.system
        system.insert("", "_schemas", schema_row("active", schema.dumps()))
        for number, table in enumerate(schema.tables.values(), 10001):
            system.insert("", "_tables", {"name": table.name, "number": number, "state": "active"})
            for index in table.all_indexes:
                system.insert("", "_index", index_row(number, index, pending=False))
        self.database.commit(transaction)


@pytest.fixture
def system() -> System:
    return System(Database.open(None), SystemLibrary(Facts()))


@pytest.fixture
def deployed(system: System) -> System:
    system.application = application()
    return system


@pytest.fixture
def with_schema(system: System) -> System:
    """Messages by channel, searchable by body; authors must be strings."""
    text = {"fieldType": {"type": "string"}, "optional": True}
    system.activate(
        Schema.parse(
            {
                "tables": [
                    {
                        "tableName": "messages",
                        "indexes": [{"indexDescriptor": "by_channel", "fields": ["channel"]}],
                        "searchIndexes": [
                            {"indexDescriptor": "search_body", "searchField": "body", "filterFields": ["channel"]}
                        ],
                        "vectorIndexes": [
                            {"indexDescriptor": "by_emb", "vectorField": "emb", "dimensions": 2, "filterFields": []}
                        ],
                        "documentType": {
                            "type": "object",
                            "value": {
                                "body": {**text, "optional": False},
                                "channel": text,
                                "n": {"fieldType": {"type": "any"}, "optional": True},
                                "emb": {
                                    "fieldType": {"type": "array", "value": {"type": "number"}},
                                    "optional": True,
                                },
                            },
                        },
                    }
                ],
                "schemaValidation": True,
            }
        )
    )
    return system


@pytest.fixture
def encoded() -> Callable[[dict[str, object]], str]:
    """A filter expression as the data browser sends it."""
    return lambda filters: base64.b64encode(json.dumps(filters).encode()).decode()
