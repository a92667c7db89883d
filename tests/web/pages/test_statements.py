"""Pages ask few questions: their number does not grow with what there is to show."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event
from starlette.testclient import TestClient

MOST = {"/": 40, "/runs": 20, "run": 25, "category": 25, "result": 40, "compare": 40, "/model/acme/tiny": 30}
MOST |= {"/eval/000-basics/001-second": 30, "/leaderboard": 30, "/matrix": 30, "/graders": 30, "/schedule": 30}
MOST |= {"/reports": 15, "/search?q=tiny": 30}


@contextmanager
def counted() -> Iterator[list[str]]:
    statements: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def asked(client: TestClient, address: str) -> int:
    with counted() as statements:
        assert client.get(address).status_code == 200
    return len(statements)


def addresses(run_id: str, other: str) -> dict[str, str]:
    run = f"/experiment/default/run/{run_id}"
    return {name: name for name in MOST if name.startswith("/")} | {
        "compare": f"/compare?runs={run_id},{other}",
        "run": run,
        "category": f"{run}/000-basics",
        "result": f"{run}/000-basics/001-second",
    }


PREPARED = {"/graders"}
"""Looks through the newest runs, at most 60 of them, each time one has ended; `serve` does that in the background."""


@pytest.mark.parametrize("page", MOST)
def test_a_page_that_was_seen_before_asks_a_few_questions(client: TestClient, record: Any, page: str) -> None:
    shown = addresses(record.run(), record.run())[page]
    asked(client, shown)
    assert asked(client, shown) <= 40


@pytest.mark.parametrize("page", [page for page in MOST if page not in PREPARED])
def test_a_page_asks_as_much_with_many_runs_as_with_one(client: TestClient, record: Any, page: str) -> None:
    few = asked(client, addresses(record.run(), record.run())[page])
    *_, other, latest = (record.run() for _ in range(5))
    assert asked(client, addresses(latest, other)[page]) <= few <= MOST[page]
