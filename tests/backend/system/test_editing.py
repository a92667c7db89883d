from typing import Any

import pytest

from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.system.placeholder import UNDEFINED_PLACEHOLDER

System = Any


async def documents(system: System, table: str = "t") -> Any:
    return await system.call("frontend/listTableScan", table=table, limit=1000.0)


async def fields(system: System, table: str = "t") -> list[dict[str, Any]]:
    """Oldest first, without system fields."""
    found = reversed(await documents(system, table))
    return [{name: value for name, value in document.items() if name[0] != "_"} for document in found]


async def test_documents_are_added_and_the_table_with_them(system: System) -> None:
    await system.add("t", {"a": 1.0}, {"a": 2})
    assert await fields(system) == [{"a": 1.0}, {"a": 2}]


async def test_too_many_documents_are_refused_without_adding_any(system: System) -> None:
    assert await system.call("frontend/addDocument", table="t", documents=[{}] * 4097) == {
        "success": False,
        "error": "Can’t import more than 4096 documents at once.",
    }
    assert await documents(system) == []


async def test_what_the_schema_refuses_is_the_data_of_the_error(with_schema: System) -> None:
    with pytest.raises(ConvexError) as caught:
        await with_schema.add("messages", {"body": "ok"}, {"body": 5.0})
    text = 'Failed to insert or update a document in table "messages" because it does not match the schema: '
    assert caught.value.message.startswith(f"Uncaught ConvexError: {text}Value does not match validator.")
    assert caught.value.data.startswith('"Failed to insert or update a document in table \\"messages\\"')
    assert await documents(with_schema, "messages") == []


async def test_fields_are_patched_on_chosen_documents(system: System) -> None:
    await system.add("t", {"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 2.0})
    newest = (await documents(system))[0]["_id"]
    changes = {"a": UNDEFINED_PLACEHOLDER, "c": [1]}
    await system.call("frontend/patchDocumentsFields", table="t", fields=changes, ids=[newest])
    assert await fields(system) == [{"a": 1.0, "b": 1.0}, {"b": 2.0, "c": [1]}]


async def test_without_ids_every_document_is_patched(system: System) -> None:
    await system.add("t", *({"a": float(n)} for n in range(300)))
    await system.call("frontend/patchDocumentsFields", table="t", fields={"a": None})
    assert await fields(system) == [{"a": None}] * 300


async def test_patching_a_missing_document_fails(system: System) -> None:
    await system.add("t", {})
    gone = (await documents(system))[0]["_id"]
    await system.call("frontend/deleteDocuments", toDelete=[{"id": gone, "tableName": "t"}])
    with pytest.raises(ConvexError, match=f"Uncaught ConvexError: Update on nonexistent document ID {gone}"):
        await system.call("frontend/patchDocumentsFields", table="t", fields={}, ids=[gone])


async def test_a_document_is_replaced_as_a_whole(system: System) -> None:
    await system.add("t", {"a": 1.0, "b": 1.0})
    document = (await documents(system))[0]
    changed = {"_id": document["_id"], "_creationTime": document["_creationTime"], "c": 1.0}
    assert await system.call("frontend/replaceDocument", id=document["_id"], document=changed) == {"success": True}
    assert await documents(system) == [changed]


async def test_replacing_what_is_not_there_says_so(system: System) -> None:
    assert await system.call("frontend/replaceDocument", id="nope", document={}) == {
        "success": False,
        "error": "Document does not exist.",
    }


async def test_deleting_needs_documents_that_exist(system: System) -> None:
    await system.add("t", {})
    entry = {"id": (await documents(system))[0]["_id"], "tableName": "t"}
    assert await system.call("frontend/deleteDocuments", toDelete=[entry]) == {"success": True}
    with pytest.raises(DeveloperError, match=f"^Uncaught Error: Delete on nonexistent document ID {entry['id']}$"):
        await system.call("frontend/deleteDocuments", toDelete=[entry])


async def test_too_many_deletions_are_refused(system: System) -> None:
    entries = [{"id": "x", "tableName": "t"}] * 4097
    assert await system.call("frontend/deleteDocuments", toDelete=entries) == {
        "success": False,
        "error": "You can't delete more than 4096. Try selecting fewer documents instead..",
    }


async def test_a_table_is_cleared_page_by_page(system: System) -> None:
    await system.add("t", *({"n": float(n)} for n in range(4096)))
    first = await system.call("frontend/clearTablePage", tableName="t", cursor=None)
    assert (first["deleted"], first["hasMore"]) == (4000.0, True)
    second = await system.call("frontend/clearTablePage", tableName="t", cursor=first["continueCursor"])
    assert (second["deleted"], second["hasMore"]) == (96.0, False)
    assert await documents(system) == []


async def test_clearing_stops_after_three_megabytes(system: System) -> None:
    await system.add("t", *({"text": "x" * 900_000} for _ in range(5)))
    first = await system.call("frontend/clearTablePage", tableName="t", cursor=None)
    assert (first["deleted"], first["hasMore"]) == (4.0, True)


async def test_clearing_a_table_that_is_not_there_does_nothing(system: System) -> None:
    answer = await system.call("frontend/clearTablePage", tableName="nope", cursor=None)
    assert (answer["deleted"], answer["hasMore"]) == (0.0, False)


async def test_a_table_is_created_empty(system: System) -> None:
    assert await system.call("frontend/createTable", table="fresh") is None
    assert "fresh" in (await system.call("frontend/getTableMapping")).values()
    assert await documents(system, "fresh") == []


async def test_a_schema_that_demands_fields_forbids_creating_its_table(with_schema: System) -> None:
    with pytest.raises(DeveloperError, match=r"^Uncaught Error: Failed to insert or update a document in table"):
        await with_schema.call("frontend/createTable", table="messages")


async def test_components_have_tables_of_their_own(deployed: System) -> None:
    await deployed.add("t", {"where": "counter"}, componentId="counterid")
    assert await documents(deployed) == []
    inside = await deployed.call("frontend/listTableScan", component="counter", table="t", limit=10.0)
    assert [document["where"] for document in inside] == ["counter"]


@pytest.mark.parametrize(("component", "args"), [("nope", {}), ("", {"componentId": "nope"})])
async def test_a_component_that_is_not_there_is_an_error(deployed: System, component: str, args: Any) -> None:
    with pytest.raises(DeveloperError, match="not found"):
        await deployed.call("frontend/createTable", component=component, table="t", **args)
