"""One site for all tests of a module, served on a real port: runs, failures, a report, and a model that is hostile."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from convex_evals.core.diagnostics import Place, type_error
from convex_evals.core.http import LoopbackServer
from convex_evals.core.steps import StepResult
from convex_evals.scores import Benchmark, Fingerprints, Generation, Outcome, PlannedEval, ScoresStore
from convex_evals.suite import Suite, load_suite
from convex_evals.web import Site, create_app

FIRST, SECOND, INDEX = "000-basics/000-first", "000-basics/001-second", "001-queries/000-index"
ANSWER = "const count = 3;\nexport const index = count.nothing;\n"
EASY, HARD = ({"level": level, "source": "author"} for level in ("easy", "hard"))
TAGS = {
    FIRST: {"concepts": [f"concept-{number}" for number in range(30)], "difficulty": EASY},
    SECOND: {"concepts": ["contention"], "difficulty": HARD},
    INDEX: {"concepts": ["contention", "read-sets"], "difficulty": EASY},
}
PRINTS = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="prompt")
NEWER = replace(PRINTS, pipeline="newer")
HOSTILE = "<img src=x onerror=hit()><script>hit()</script>\x1b[31m\u202e`javascript:hit()`"


@dataclass(frozen=True)
class Served:
    """A server with runs: `passed` has no failure, `failed` has two, `hostile` is by a model that writes HOSTILE."""

    origin: str
    record: Any
    passed: str
    failed: str
    hostile: str

    def at(self, path: str = "/") -> str:
        return self.origin + path

    def of_run(self, run_id: str, path: str = "") -> str:
        return self.at(f"/experiment/default/run/{run_id}{path}")

    def result(self, name: str = SECOND) -> str:
        return self.of_run(self.failed, f"/{name}")

    @property
    def pages(self) -> dict[str, str]:
        """Every page, by its name."""
        run, named = f"/experiment/default/run/{self.failed}", {"home": "/", "model": "/model/acme/tiny"}
        named |= {"run": run, "category": f"{run}/000-basics", "result": f"{run}/{SECOND}", "eval": f"/eval/{SECOND}"}
        named |= {"compare": f"/compare?runs={self.passed},{self.failed}", "search": "/search?q=000", "lost": "/lost"}
        plain = ("runs", "leaderboard", "matrix", "reports", "graders", "schedule", "login", "api")
        return named | {each: f"/{each}" for each in plain}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(tmp_path_factory: pytest.TempPathFactory, recorder: Any) -> AsyncIterator[Served]:
    folder = tmp_path_factory.mktemp("site")
    with ScoresStore.open(folder / "scores.db") as store:
        record = recorder(store, folder)
        runs = (record.run(failing=()), _failing_run(record), _hostile_run(record))
        site = Site(store, suite=_suite(folder / "evals"), reports=folder / "reports", desk=True)
        async with LoopbackServer() as server:
            await server.start(create_app(site))
            yield Served(server.origin, record, *runs)


@dataclass(frozen=True)
class Ranked:
    """A server whose leaderboard has two versions, runs with and without guidelines, and three models. Only read it."""

    origin: str
    site: Site
    good: str


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def ranked(tmp_path_factory: pytest.TempPathFactory, recorder: Any) -> AsyncIterator[Ranked]:
    folder = tmp_path_factory.mktemp("ranked")
    with ScoresStore.open(folder / "scores.db") as store:
        record = recorder(store, folder)
        _mint(store, record.run("acme/old", failing=(), fingerprints=PRINTS), "v1", "pipeline")
        good = record.run("acme/good", failing=(), fingerprints=NEWER)
        _mint(store, good, "v2", "newer")
        record.run("acme/bad", failing=(FIRST, SECOND), fingerprints=NEWER)
        record.run("acme/bare", experiment="no_guidelines", fingerprints=replace(NEWER, prompt="bare"))
        site = Site(store, suite=_suite(folder / "evals"), reports=folder / "reports")
        async with LoopbackServer() as server:
            await server.start(create_app(site))
            yield Ranked(server.origin, site, good)


def _mint(store: ScoresStore, run_id: str, name: str, pipeline: str) -> None:
    prompts = {"default": "prompt", "no_guidelines": "bare"}
    version = Benchmark(name, store.planned(run_id), prompts, pipeline, "toolchain", datetime.now(UTC))
    store.mint_benchmark(version)


def _suite(folder: Path) -> Suite:
    for name in (FIRST, SECOND, INDEX):
        answer = folder / name / "answer" / "convex"
        answer.mkdir(parents=True)
        (folder / name / "TASK.txt").write_text("Write a backend.\n")
        (folder / name / "grader.py").write_text("def test_counts() -> None:\n    assert count == 2\n")
        (answer / "index.ts").write_text("export const name = 'the reference';\n")
        (folder / name / "eval.json").write_text(json.dumps({"tags": TAGS[name]}))
    return load_suite(folder)


def _failing_run(record: Any) -> str:
    run_id: str = record.begin()
    record.attempt(run_id, FIRST)
    record.attempt(run_id, SECOND, passes=False)
    found = type_error("TS2339", "Property 'nothing' does not exist on type 'number'.", Place("convex/index.ts", 2))
    _fail(record, run_id, INDEX, Generation("The task.", ANSWER, {"convex/index.ts": ANSWER}), found.message, found)
    return run_id


def _hostile_run(record: Any) -> str:
    run_id: str = record.begin("hostile", evals=(PlannedEval(SECOND),))
    files = {"convex/index.ts": HOSTILE, f"convex/{HOSTILE}.ts": HOSTILE, "long.ts": "x" * 1_000_000}
    found = type_error("TS1", HOSTILE, Place(HOSTILE, 1))
    _fail(record, run_id, SECOND, Generation(HOSTILE, HOSTILE, files), HOSTILE, found)
    return run_id


def _fail(record: Any, run_id: str, name: str, answer: Generation, excerpt: str, *found: Any) -> None:
    begun = record.store.begin_attempt(run_id, name)
    record.store.record_generation(begun.id, answer)
    record.store.record_step(begun.id, StepResult("tsc", "failed", excerpt=excerpt, diagnostics=found))
    record.store.finish_attempt(begun.id, Outcome("failed", "tsc", "tsc-failed"))
    record.store.finish_run(run_id, "completed")
