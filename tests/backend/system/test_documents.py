from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.system.filters import UNDEFINED_PLACEHOLDER

System = Any
Encoded = Callable[[dict[str, object]], str]

FIRST_PAGE = {"numItems": 2.0, "cursor": None}
EVERYTHING = {"numItems": 100.0, "cursor": None}


@pytest.fixture
async def messages(with_schema: System) -> System:
    await with_schema.add(
        "messages",
        {"body": "hello world", "channel": "a", "n": 1.0},
        {"body": "hello there", "channel": "b", "n": 2},
        {"body": "goodbye", "channel": "b", "n": "three"},
        {"body": "silence"},
    )
    return with_schema


async def bodies(system: System, filters: str | None, options: Any = EVERYTHING, **args: Any) -> list[str]:
    page = await system.call(
        "frontend/paginatedTableDocuments", table="messages", filters=filters, paginationOpts=options, **args
    )
    return [document["body"] for document in page["page"]]


async def test_a_scan_shows_the_newest_first_up_to_the_limit(messages: System) -> None:
    found = await messages.call("frontend/listTableScan", table="messages", limit=2.0)
    assert [document["body"] for document in found] == ["silence", "goodbye"]


@pytest.mark.parametrize("table", ["", "nope", "_tables"])
async def test_a_scan_of_nothing_is_empty(system: System, table: str) -> None:
    assert await system.call("frontend/listTableScan", table=table, limit=10.0) == []


async def test_a_scan_stops_silently_at_the_read_limit(system: System) -> None:
    await system.add("t", *({"text": "x" * 900_000} for _ in range(10)))
    await system.add("t", *({"text": "x" * 900_000} for _ in range(10)))
    found = await system.call("frontend/listTableScan", table="t", limit=100.0)
    assert 15 <= len(found) < 20


async def test_sizes_of_tables(messages: System) -> None:
    await messages.add("other", {}, {})
    assert await messages.call("frontend/tableSize", tableName="messages") == 4.0
    assert await messages.call("cli/tableSize", tableName="nope") == 0.0
    assert await messages.call("frontend/tableSize", tableName="") == 0.0
    assert await messages.call("frontend/tableSize:sizeOfAllTables") == 6.0


async def test_documents_are_found_by_id(messages: System) -> None:
    (document,) = await messages.call("frontend/listTableScan", table="messages", limit=1.0)
    document_id = document["_id"]
    assert await messages.call("frontend/getById", id=document_id) == document
    assert await messages.call("frontend/getById", id="nope") is None
    ids = [
        {"id": "nope", "tableName": "messages"},
        {"id": document_id, "tableName": "other"},
        {"id": document_id, "tableName": "messages"},
    ]
    assert await messages.call("frontend/listById", ids=ids) == [None, None, document]


async def test_files_are_found_by_id_under_their_public_and_private_name(system: System) -> None:
    file = system.insert_row("_file_storage", storageId="u", sha256=b"\x01", size=3, contentType=None)
    ids = [{"id": file, "tableName": name} for name in ("_storage", "_file_storage", "messages")]
    public, private, other = await system.call("frontend/listById", ids=ids)
    assert public == private == await system.call("frontend/getById", id=file)
    assert public["sha256"] == "AQ=="
    assert other is None


async def test_table_data_pages_in_both_directions(messages: System) -> None:
    page = await messages.call("cli/tableData", table="messages", order="asc", paginationOpts=FIRST_PAGE)
    assert [document["body"] for document in page["page"]] == ["hello world", "hello there"]
    assert (page["isDone"], page["splitCursor"], page["pageStatus"]) == (False, None, None)
    rest = await messages.call(
        "cli/tableData",
        table="messages",
        order="asc",
        paginationOpts={"numItems": 100.0, "cursor": page["continueCursor"]},
    )
    assert [document["body"] for document in rest["page"]] == ["goodbye", "silence"]
    assert rest["isDone"] is True
    newest = await messages.call("cli/tableData", table="messages", order="desc", paginationOpts=FIRST_PAGE)
    assert [document["body"] for document in newest["page"]] == ["silence", "goodbye"]


async def test_private_tables_look_empty(messages: System) -> None:
    page = await messages.call("cli/tableData", table="_tables", order="asc", paginationOpts=EVERYTHING)
    assert (page["page"], page["isDone"]) == ([], True)


async def test_the_change_signal_follows_its_table_only(messages: System) -> None:
    assert await messages.is_reactive(
        "cli/queryTable", lambda: messages.add("messages", {"body": "x"}), tableName="messages"
    )
    assert not await messages.is_reactive("cli/queryTable", lambda: messages.add("other", {}), tableName="messages")
    first = await messages.call("cli/queryTable", tableName="messages")
    assert first != await messages.call("cli/queryTable", tableName="messages")


async def test_a_page_keeps_its_extent_when_it_is_computed_again(messages: System) -> None:
    page, call = await messages.trace("cli/tableData", table="messages", order="asc", paginationOpts=FIRST_PAGE)
    first = page["page"][0]["_id"]
    await messages.call("frontend/deleteDocuments", toDelete=[{"id": first, "tableName": "messages"}])
    again = await messages.call(
        "cli/tableData", journal=call.journal, table="messages", order="asc", paginationOpts=FIRST_PAGE
    )
    assert [document["body"] for document in again["page"]] == ["hello there"]
    assert again["continueCursor"] == page["continueCursor"]


FILTERED: list[tuple[dict[str, object], list[str]]] = [
    ({}, ["silence", "goodbye", "hello there", "hello world"]),
    ({"order": "asc"}, ["hello world", "hello there", "goodbye", "silence"]),
    ({"clauses": [{"field": "channel", "op": "eq", "value": "b"}]}, ["goodbye", "hello there"]),
    ({"clauses": [{"field": "channel", "op": "neq", "value": "b"}]}, ["silence", "hello world"]),
    ({"clauses": [{"field": "n", "op": "gte", "value": 1}]}, ["goodbye", "hello world"]),
    ({"clauses": [{"field": "n", "op": "anyOf", "value": [1, "three"]}]}, ["goodbye", "hello world"]),
    ({"clauses": [{"field": "n", "op": "type", "value": "bigint"}]}, ["hello there"]),
    ({"clauses": [{"field": "n", "op": "type", "value": "unset"}]}, ["silence"]),
    ({"clauses": [{"field": "n", "op": "notype", "value": "unset"}]}, ["goodbye", "hello there", "hello world"]),
    (
        {"index": {"name": "by_channel", "clauses": [{"type": "indexEq", "enabled": True, "value": "b"}]}},
        ["goodbye", "hello there"],
    ),
    (
        {
            "order": "asc",
            "index": {"name": "by_channel", "clauses": [{"type": "indexRange", "lowerOp": "gte", "lowerValue": "a"}]},
        },
        ["hello world", "hello there", "goodbye"],
    ),
    ({"index": {"name": "by_creation_time", "clauses": []}}, ["silence", "goodbye", "hello there", "hello world"]),
    (
        {
            "order": "asc",
            "index": {
                "name": "search_body",
                "search": "hello",
                "clauses": [{"field": "channel", "enabled": True, "value": "b"}],
            },
        },
        ["hello there"],
    ),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERED)
async def test_filters_choose_documents(
    messages: System, encoded: Encoded, filters: dict[str, object], expected: list[str]
) -> None:
    assert await bodies(messages, encoded(filters)) == expected


async def test_no_filter_at_all_is_everything(messages: System) -> None:
    assert await bodies(messages, None, FIRST_PAGE) == ["silence", "goodbye"]


async def test_one_id_is_looked_up(messages: System, encoded: Encoded) -> None:
    (document,) = await messages.call("frontend/listTableScan", table="messages", limit=1.0)
    for value, page in ((document["_id"], [document]), ("nope", [])):
        filters = encoded({"clauses": [{"field": "_id", "op": "eq", "value": value}]})
        answer = await messages.call(
            "frontend/paginatedTableDocuments", table="messages", filters=filters, paginationOpts=EVERYTHING
        )
        assert answer == {
            "page": page,
            "isDone": True,
            "continueCursor": "",
            "splitCursor": None,
            "pageStatus": None,
        }


PROBLEMS: list[tuple[dict[str, object], str]] = [
    ({"index": {"name": "nope", "clauses": []}}, "Index nope does not exist."),
    (
        {"index": {"name": "search_body", "clauses": []}},
        "Index search_body is a search index, but the query is trying to use it as a database index.",
    ),
    (
        {"index": {"name": "by_channel", "search": "x", "clauses": []}, "order": "asc"},
        "Index by_channel is not a search index, but the query is trying to use it as search index.",
    ),
    (
        {"index": {"name": "search_body", "search": "x", "clauses": []}, "order": "desc"},
        "Trying to query search index `search_body` in descending order.",
    ),
]


@pytest.mark.parametrize(("filters", "error"), PROBLEMS)
async def test_a_filter_that_cannot_work_is_answered_with_the_reason(
    messages: System, encoded: Encoded, filters: dict[str, object], error: str
) -> None:
    answer = await messages.call(
        "frontend/paginatedTableDocuments", table="messages", filters=encoded(filters), paginationOpts=EVERYTHING
    )
    assert answer["page"] == [{"filter": -1.0, "error": error}]
    assert (answer["isDone"], answer["continueCursor"]) == (True, "")


async def test_an_invalid_filter_fails(messages: System) -> None:
    with pytest.raises(DeveloperError, match=r"^Uncaught Error: Invalid filters"):
        await bodies(messages, "nonsense!")


async def test_a_cursor_of_another_query_is_recognised_as_such(messages: System, encoded: Encoded) -> None:
    page = await messages.call("cli/tableData", table="messages", order="asc", paginationOpts=FIRST_PAGE)
    with pytest.raises(ConvexError, match="InvalidCursor"):
        await bodies(messages, None, {"numItems": 2.0, "cursor": page["continueCursor"]})


async def test_the_browser_pages_inside_components(deployed: System) -> None:
    await deployed.add("messages", {"body": "inside"}, componentId="counterid")
    assert await bodies(deployed, None, componentId="counterid") == ["inside"]


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
