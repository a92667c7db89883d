"""Both engines for every test: a SQLite file, and a real PostgreSQL server that the tests start and stop.

On PostgreSQL the ordinary run takes examples: the tests and cases that are marked `both_engines`, and those that name
it as their only engine. `test --all` runs all tests on both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import pytest

from convex_evals.core.steps import Command, StepResult, TestCounts
from convex_evals.core.verdicts import Status
from convex_evals.scores import (
    Fingerprints,
    Generation,
    OpenAttempt,
    Outcome,
    PlannedEval,
    RunPlan,
    ScoresStore,
    Usage,
)

ENGINES = ("sqlite", "postgresql")


COMMAND = Command(("tsc", "--noEmit"), "exit code 0", 812.5, 640.25)


class Server(Protocol):
    """Where databases come from. `empty` has no tables yet, `ready` has them."""

    name: str

    def empty(self) -> str: ...
    def ready(self) -> str: ...
    def execute(self, where: str, statement: str) -> list[Any]:
        """Any SQL, past everything the store would say about it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and _is_left_for_all(item):
            item.add_marker(pytest.mark.exhaustive)


def _is_left_for_all(item: pytest.Item) -> bool:
    case = getattr(item, "callspec", None)
    if case is None or case.params.get("server") != "postgresql" or item.get_closest_marker("both_engines"):
        return False
    return all(mark.args[0] != "server" for mark in item.iter_markers("parametrize"))


@pytest.fixture(params=ENGINES)
def server(request: pytest.FixtureRequest) -> Server:
    made: Server = request.getfixturevalue("files" if request.param == "sqlite" else "postgresql")
    return made


@pytest.fixture
def where(server: Server) -> str:
    return server.ready()


@pytest.fixture
def store(where: str) -> Iterator[ScoresStore]:
    with ScoresStore.open(where) as opened:
        yield opened


@pytest.fixture
def team(server: Server) -> Iterator[ScoresStore]:
    """Another database: that of a service."""
    with ScoresStore.open(server.ready()) as opened:
        yield opened


@pytest.fixture
def execute(server: Server, where: str) -> Callable[[str], list[Any]]:
    """SQL on the database of `store`."""
    return lambda statement: server.execute(where, statement)


@dataclass
class Scene:
    """Short ways to say what happened in a run."""

    store: ScoresStore
    folder: Path
    numbers: Iterator[int] = field(default_factory=count)

    def plan(self, *evals: str, **changes: Any) -> RunPlan:
        planned = tuple(PlannedEval(name, f"content of {name}", None) for name in evals or ("000-a/000-b",))
        given: dict[str, Any] = {"model": "m1", "provider": "p1", "experiment": "default", "evals": planned}
        return RunPlan(**{**given, **changes})

    def run(self, *evals: str, **changes: Any) -> str:
        return self.store.create_run(self.plan(*evals, **changes))

    def step(self, log: bytes | None = None, **changes: Any) -> StepResult:
        given: dict[str, Any] = {
            "name": "tsc",
            "status": "passed",
            "duration_ms": 900.0,
            "cpu_ms": 700.0,
            "commands": (COMMAND,),
        }
        if log is not None:
            given["log"] = self.folder / f"{next(self.numbers)}.log"
            given["log"].write_bytes(log)
        return StepResult(**{**given, **changes})

    def generation(self, response: str = "an answer", **changes: Any) -> Generation:
        given: dict[str, Any] = {"prompt": "a task", "response": response, "files": {"convex/a.ts": "export {};\n"}}
        return Generation(**{**given, "usage": Usage(10, 5, 20, 7, cost_usd=0.25, cost_source="provider"), **changes})

    def attempt(self, run_id: str, eval: str = "000-a/000-b", trial: int = 1, status: Status = "passed") -> OpenAttempt:
        """One that is begun and finished."""
        begun = self.store.begin_attempt(run_id, eval, trial)
        self.store.finish_attempt(begun.id, Outcome(status, tests=TestCounts(1, 2), duration_ms=5.0, cpu_ms=4.0))
        return begun


@pytest.fixture(scope="session")
def scene_of() -> type[Scene]:
    """For fixtures that outlive a test."""
    return Scene


@pytest.fixture
def scene(store: ScoresStore, tmp_path: Path) -> Scene:
    return Scene(store, tmp_path)


@pytest.fixture
def fingerprints() -> Fingerprints:
    return Fingerprints("s", "c", "g", "pi", "t", "pr")
