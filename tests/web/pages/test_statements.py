"""Pages ask few questions: their number does not grow with what there is to show."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event
from starlette.testclient import TestClient

MOST = {"/": 40, "/runs": 20, "run": 25, "category": 25, "result": 40}


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


def addresses(run_id: str) -> dict[str, str]:
    run = f"/experiment/default/run/{run_id}"
    return {
        "/": "/",
        "/runs": "/runs",
        "run": run,
        "category": f"{run}/000-basics",
        "result": f"{run}/000-basics/001-second",
    }


@pytest.mark.parametrize("page", MOST)
def test_a_page_asks_as_much_with_many_runs_as_with_one(client: TestClient, record: Any, page: str) -> None:
    few = asked(client, addresses(record.run())[page])
    latest = [record.run() for _ in range(5)][-1]
    assert asked(client, addresses(latest)[page]) <= few <= MOST[page]
