import json
from typing import Any

import pytest

from convex_evals.backend.database.catalog import schema_row
from convex_evals.backend.errors import DeveloperError

System = Any


async def test_without_a_schema_there_is_nothing_to_show(system: System) -> None:
    assert await system.call("frontend/getSchemas") == {}
    assert await system.call("frontend/getSchemas:schemaValidationProgress") is None


async def test_schemas_are_shown_as_json_text(with_schema: System) -> None:
    pending = '{"schemaValidation":false,"tables":[]}'
    row = schema_row("pending", pending)
    with_schema.insert_row("_schemas", **row)
    schemas = await with_schema.call("frontend/getSchemas")
    assert schemas["inProgress"] == pending
    (table,) = json.loads(schemas["active"])["tables"]
    assert table["tableName"] == "messages"
    assert table["indexes"] == [{"indexDescriptor": "by_channel", "fields": ["channel", "_creationTime"]}]
    assert table["vectorIndexes"][0]["dimension"] is None


async def test_a_new_schema_is_noticed(system: System) -> None:
    async def push() -> None:
        system.insert_row("_schemas", **schema_row("active", '{"schemaValidation":true,"tables":[]}'))

    assert await system.is_reactive("frontend/getSchemas", push)


async def test_tables_are_known_by_number(system: System) -> None:
    await system.add("messages", {})
    await system.add("users", {})
    assert await system.call("frontend/getTableMapping") == {
        "539": "_scheduled_jobs",
        "540": "_file_storage",
        "10001": "messages",
        "10002": "users",
    }
    assert await system.call("cli/tables", paginationOpts={"numItems": 1.0, "cursor": None}) == {
        "page": [{"name": "messages"}, {"name": "users"}],
        "isDone": True,
        "continueCursor": "end",
    }


@pytest.mark.parametrize("query", ["frontend/getTableMapping", "cli/tables"])
async def test_a_new_table_is_noticed(system: System, query: str) -> None:
    args = {} if query.startswith("frontend") else {"paginationOpts": {"numItems": 1.0, "cursor": None}}
    assert await system.is_reactive(query, lambda: system.add("fresh", {}), **args)


async def test_indexes_are_listed_without_the_built_in_ones(with_schema: System) -> None:
    done = {"staged": False, "backfill": {"state": "done"}}
    listed = await with_schema.call("frontend/indexes", tableName="messages", tableNamespace=None)
    assert sorted(listed, key=lambda index: str(index["name"])) == [
        {"name": "by_channel", "fields": ["channel", "_creationTime"], **done},
        {"name": "by_emb", "fields": {"vectorField": "emb", "dimensions": 2.0, "filterFields": []}, **done},
        {"name": "search_body", "fields": {"searchField": "body", "filterFields": ["channel"]}, **done},
    ]


@pytest.mark.parametrize("args", [{}, {"tableName": None}, {"tableName": "nope"}])
async def test_an_unknown_table_has_no_indexes(system: System, args: Any) -> None:
    assert await system.call("frontend/indexes", tableNamespace=None, **args) is None


async def test_arguments_are_checked_without_the_usual_prefix(system: System) -> None:
    with pytest.raises(DeveloperError) as caught:
        await system.call("frontend/tableSize")
    assert caught.value.message.startswith("Uncaught Error: Object is missing the required field `tableName`.")
