"""A project with tests of its own: they pass with convex-test, and a deployment does what convex-test does."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.functions.calls import CallOutcome
from convex_evals.backend.identity import ANONYMOUS, User

APP = Path(__file__).parent / "app"
STORY: list[dict[str, Any]] = json.loads((APP / "convex" / "story.json").read_text())
PATIENCE = 60.0

CopiedProject = Any

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment() -> AsyncIterator[Deployment]:
    async with Deployment.start() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def project(copy_project: Callable[[Path], CopiedProject], deployment: Deployment) -> CopiedProject:
    """Pushed, which also generates the code that convex-test needs."""
    project = copy_project(APP)
    await project.push(deployment)
    return project


async def test_the_projects_own_tests_pass_next_to_the_deployment(project: CopiedProject) -> None:
    vitest = project.toolchain.node_command("vitest")
    await project.run(*vitest, "run", "--reporter=json", "--outputFile=report.json")
    report = json.loads((project.folder / "report.json").read_bytes())
    passed = {
        Path(file["name"]).name: [test["title"] for test in file["assertionResults"] if test["status"] == "passed"]
        for file in report["testResults"]
    }
    assert passed["story.test.ts"] == [step["name"] for step in STORY]
    assert len(passed["books.test.ts"]) == 2


@pytest.mark.usefixtures("project")
async def test_the_deployment_reports_the_same(deployment: Deployment) -> None:
    for step in STORY:
        if step["call"] == "fetch":
            await _fetch(deployment, step)
        elif step["call"] == "settle":
            await _settle(deployment)
        else:
            _check(await _call(deployment, step), step)


async def _call(deployment: Deployment, step: dict[str, Any]) -> CallOutcome:
    identity = User({"name": step["as"], "tokenIdentifier": f"test|{step['as']}"}) if "as" in step else ANONYMOUS
    call = {"query": deployment.query, "mutation": deployment.mutation, "action": deployment.action}[step["call"]]
    return await call(step["path"], _floats(step["args"]), identity=identity)


def _check(outcome: CallOutcome, step: dict[str, Any]) -> None:
    if "error" in step:
        assert outcome.failure is not None and outcome.failure.data is not None, step["name"]
        assert json.loads(outcome.failure.data) == step["error"], step["name"]
    else:
        assert outcome.value is not None, f"{step['name']}: {outcome.failure}"
        assert json.loads(outcome.value) == step["value"], step["name"]


async def _fetch(deployment: Deployment, step: dict[str, Any]) -> None:
    async with httpx2.AsyncClient(base_url=deployment.site_url, timeout=60) as client:
        answer = await client.get(step["path"])
    assert answer.status_code == step["status"], step["name"]
    if "value" in step:
        assert answer.json() == step["value"], step["name"]


async def _settle(deployment: Deployment) -> None:
    deadline = time.monotonic() + PATIENCE
    while (await deployment.query("loans:awaited")).value != "0.0":
        assert time.monotonic() < deadline, "scheduled functions do not end"
        await asyncio.sleep(0.02)


def _floats(value: Any) -> Any:
    """JavaScript knows one kind of number; an int would be a bigint."""
    match value:
        case int():
            return float(value)
        case list():
            return [_floats(item) for item in value]
        case dict():
            return {key: _floats(item) for key, item in value.items()}
        case _:
            return value


async def test_functions_and_tests_type_check_against_the_generated_api(project: CopiedProject) -> None:
    await project.type_check()
