from collections.abc import Callable
from typing import Any

import pytest

from convex_evals.backend.errors import ConvexError, DeveloperError

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


async def test_a_filter_that_is_none_fails(messages: System) -> None:
    with pytest.raises(DeveloperError, match=r"^Uncaught Error: Invalid filters"):
        await bodies(messages, "nonsense!")


async def test_a_cursor_of_another_query_is_recognised_as_such(messages: System, encoded: Encoded) -> None:
    page = await messages.call("cli/tableData", table="messages", order="asc", paginationOpts=FIRST_PAGE)
    with pytest.raises(ConvexError, match="InvalidCursor"):
        await bodies(messages, None, {"numItems": 2.0, "cursor": page["continueCursor"]})


async def test_the_browser_pages_inside_components(deployed: System) -> None:
    await deployed.add("messages", {"body": "inside"}, componentId="counterid")
    assert await bodies(deployed, None, componentId="counterid") == ["inside"]
