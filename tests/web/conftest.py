"""A site of two runs on a real port, and clients for it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.core.diagnostics import TestResult, failed_test
from convex_evals.core.http import LoopbackServer
from convex_evals.core.processes import base_environment
from convex_evals.core.settings import read_settings
from convex_evals.core.steps import Command, StepResult, TestCounts
from convex_evals.core.toolchain import Toolchain, prepare_toolchain
from convex_evals.scores import Generation, Outcome, PlannedEval, RunPlan, ScoresStore, Usage
from convex_evals.web import Site, create_app

EVALS = ("000-basics/000-first", "000-basics/001-second", "001-queries/000-index")
COMPILED = str(read_settings().cache_folder / "tests" / "compiled")
COMMAND = Command(("tsc", "--noEmit"), "exit code 0", 900.0, 700.0)


@pytest.fixture
def store(ready_scores: None, tmp_path: Path) -> Iterator[ScoresStore]:
    with ScoresStore.open(tmp_path / "scores.db") as opened:
        yield opened


@dataclass
class Recorder:
    """Short ways to record what happened."""

    store: ScoresStore
    folder: Path

    def run(self, model: str = "tiny", *, failing: tuple[str, ...] = EVALS[1:2], **changes: Any) -> str:
        """A finished run: every eval passes but those that are failing."""
        run_id = self.begin(model, **changes)
        for name in EVALS:
            self.attempt(run_id, name, name not in failing)
        self.store.finish_run(run_id, "completed")
        return run_id

    def begin(self, model: str = "tiny", **changes: Any) -> str:
        planned = tuple(PlannedEval(name, f"content of {name}", f"grader of {name}") for name in EVALS)
        plan = RunPlan(model, "acme", "default", planned)
        return self.store.create_run(replace(plan, **changes))

    def attempt(self, run_id: str, name: str, passes: bool = True) -> str:
        begun = self.store.begin_attempt(run_id, name)
        self.store.record_generation(begun.id, self.generation(name))
        for step in self.steps(passes):
            self.store.record_step(begun.id, step)
        outcome = Outcome("passed", tests=TestCounts(2, 2), duration_ms=1500.0, cpu_ms=900.0)
        if not passes:
            outcome = Outcome("failed", "tests", "tests-failed", TestCounts(1, 2), 1500.0, 900.0)
        self.store.finish_attempt(begun.id, outcome)
        return begun.id

    def generation(self, name: str) -> Generation:
        files = {"convex/index.ts": f"export const name = '{name}';\n", "package.json": "{}\n"}
        usage = Usage(1000, 100, 200, 50, 300.0, 2000.0, "stop", "acme", 0.25, "provider")
        return Generation(f"The task of {name}.", f"An answer to {name}.", files, usage)

    def steps(self, passes: bool) -> list[StepResult]:
        log = self.folder / "step.log"
        log.write_text("all of the output\n")
        first = TestResult("says hello", "passed", duration_ms=3.0)
        second = TestResult("counts", "passed", file="grader.py", line=7)
        if not passes:
            wrong = {"expected": "2", "received": "3", "assertion": "assert count == 2"}
            second = replace(second, status="failed", message="expected 2, got 3", **wrong)
        found = () if passes else (failed_test("pytest", second),)
        typed = StepResult("tsc", "passed", 900.0, 700.0, (COMMAND,), log=log)
        tests = StepResult("tests", "passed" if passes else "failed", 50.0, 40.0, log=log, test_results=(first, second))
        return [typed, replace(tests, diagnostics=found, failure=None if passes else "tests-failed")]


@pytest.fixture(scope="session")
def recorder() -> type[Recorder]:
    """For fixtures that outlive a test."""
    return Recorder


@pytest.fixture
def record(store: ScoresStore, tmp_path: Path) -> Recorder:
    return Recorder(store, tmp_path)


@pytest.fixture
def site(store: ScoresStore, tmp_path: Path) -> Site:
    return Site(store, reports=tmp_path / "reports")


Serve = Callable[[Site], Awaitable[str]]


@pytest_asyncio.fixture
async def serve() -> AsyncIterator[Serve]:
    """`url = await serve(site)`; it is stopped after the test."""
    async with AsyncExitStack() as opened:

        async def serve(site: Site) -> str:
            server = await opened.enter_async_context(LoopbackServer())
            await server.start(create_app(site))
            return server.origin

        yield serve


@pytest_asyncio.fixture
async def client(serve: Serve, site: Site) -> AsyncIterator[httpx2.AsyncClient]:
    """Of the site, with nothing but what the test gives it."""
    async with httpx2.AsyncClient(base_url=await serve(site), timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return asyncio.run(prepare_toolchain(read_settings()))


@pytest.fixture
def project(tmp_path: Path, toolchain: Toolchain) -> Path:
    """A folder in which someone has installed convex."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "node_modules").symlink_to(toolchain.packages.node_modules)
    (folder / "package.json").write_text(json.dumps({"type": "module", "dependencies": {"convex": "*"}}))
    return folder


@dataclass(frozen=True)
class ConvexCli:
    """The unmodified CLI, for a server that lets only tokens read."""

    url: str
    reader: str
    project: Path
    program: list[str]

    def run(self, *arguments: str, key: str | None = None) -> dict[str, Any]:
        """What starts `npx convex run`."""
        variables = {"CONVEX_SELF_HOSTED_URL": self.url, "CONVEX_SELF_HOSTED_ADMIN_KEY": key or self.reader, "CI": "1"}
        environment = base_environment(self.project, {**variables, "NODE_COMPILE_CACHE": COMPILED})
        return {
            "arguments": [*self.program, "run", *arguments],
            "cwd": self.project,
            "environment": environment,
        }


@pytest_asyncio.fixture
async def convex_cli(project: Path, toolchain: Toolchain, serve: Serve, site: Site, store: ScoresStore) -> ConvexCli:
    url = await serve(replace(site, read="token"))
    reader = store.tokens.create("analyst", ["read"]).token
    return ConvexCli(url, reader, project, [str(part) for part in toolchain.node_command("convex")])
