import asyncio

from convex_evals.backend.logs import Completion, FunctionLog, Progress, UsageStats
from convex_evals.backend.runtime import LogLine

LINE = LogLine("LOG", ("'hi'", "3"), 1_700_000_000_000)
NESTED = LogLine("WARN", ("'deep'",), 1_700_000_000_001, component_path="counter", udf_path="public:inc")


def completion(request_id: str = "r1") -> Completion:
    return Completion(
        udf_type="Query",
        identifier="messages:list",
        component_path=None,
        request_id=request_id,
        execution_id="e1",
        caller="HttpApi",
        identity_type="anonymous",
        environment="isolate",
        execution_seconds=0.5,
        log_lines=[LINE, NESTED],
        return_bytes=12,
        usage=UsageStats(database_read_bytes=70, database_read_documents=2),
        timestamp=1_700_000_000.5,
    )


def progress() -> Progress:
    return Progress("Action", "ai:answer", "counter", "r2", "e2", [LINE], 1_700_000_001.0)


def test_entries_after_a_cursor_come_in_order_with_a_cursor_that_is_behind_them() -> None:
    log = FunctionLog()
    log.append(completion("a"))
    middle = log.cursor
    log.append(completion("b"))
    log.append(completion("c"))
    assert [entry.request_id for entry in log.after(0).entries] == ["a", "b", "c"]
    page = log.after(middle)
    assert [entry.request_id for entry in page.entries] == ["b", "c"]
    assert log.after(page.cursor).entries == []
    assert log.after(page.cursor).cursor == page.cursor


def test_only_the_newest_entries_are_kept() -> None:
    log = FunctionLog(retained=2)
    for name in "abc":
        log.append(completion(name))
    assert [entry.request_id for entry in log.after(0).entries] == ["b", "c"]


async def test_a_reader_waits_for_the_next_entry() -> None:
    log = FunctionLog()
    waiting = asyncio.create_task(log.wait_after(log.cursor, timeout=10))
    await asyncio.sleep(0)
    log.append(completion("a"))
    page = await waiting
    assert [entry.request_id for entry in page.entries] == ["a"]


async def test_a_reader_who_waited_long_enough_gets_nothing_and_the_same_cursor() -> None:
    log = FunctionLog()
    log.append(completion())
    page = await log.wait_after(log.cursor, timeout=0.01)
    assert (page.entries, page.cursor) == ([], log.cursor)


async def test_closing_the_log_answers_those_who_wait() -> None:
    log = FunctionLog()
    waiting = asyncio.create_task(log.wait_after(5.0, timeout=10))
    await asyncio.sleep(0)
    log.close()
    assert (await waiting).entries == []


def test_a_completion_states_what_ran_and_what_it_cost() -> None:
    json = completion().to_json(structured=True)
    assert json["kind"] == "Completion"
    assert json["executionTimestamp"] == 1_700_000_000.0
    assert json["logLines"] == [
        {"messages": ["'hi'", "3"], "isTruncated": False, "timestamp": 1_700_000_000_000, "level": "LOG"},
        {
            "messages": ["'deep'"],
            "isTruncated": False,
            "timestamp": 1_700_000_000_001,
            "level": "WARN",
            "componentPath": "counter",
            "udfPath": "public:inc",
        },
    ]
    usage = json["usageStats"]
    assert isinstance(usage, dict)
    assert (usage["databaseReadBytes"], usage["databaseReadDocuments"], usage["databaseWriteBytes"]) == (70, 2, 0)


def test_clients_that_do_not_know_structured_lines_get_strings() -> None:
    assert progress().to_json(structured=False)["logLines"] == ["[LOG] 'hi' 3"]
    assert progress().to_json(structured=True)["kind"] == "Progress"
