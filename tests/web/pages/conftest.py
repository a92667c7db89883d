"""Pages without a browser: the real application over a real database, asked in-process."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from convex_evals.scores import PlannedEval, RunPlan, ScoresStore
from convex_evals.web import Site, create_app


@pytest.fixture
def client(store: ScoresStore) -> Iterator[TestClient]:
    with TestClient(create_app(Site(store)), base_url="http://127.0.0.1") as made:
        yield made


@pytest.fixture
def execute(tmp_path: Path) -> Callable[..., None]:
    """SQL on the database of `store`, past everything that keeps records from being changed."""

    def execute(statement: str, *values: object) -> None:
        with closing(sqlite3.connect(tmp_path / "scores.db", isolation_level=None)) as connection:
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                connection.execute(f'DROP TRIGGER "{name}"')
            connection.execute(statement, values)

    return execute


@pytest.fixture
def run(store: ScoresStore) -> str:
    """A run of two evals that has only begun."""
    evals = (PlannedEval("002-queries/012-index_and_filter"), PlannedEval("003-mutations/000-insert"))
    return store.create_run(RunPlan("openai/gpt-5", "openai", "default", evals))
