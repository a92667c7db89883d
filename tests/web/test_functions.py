"""The commands and clients of the first life: the unmodified `convex` CLI, and the HTTP clients of npm and PyPI."""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from convex_evals.core.processes import base_environment, run
from convex_evals.core.toolchain import Toolchain
from convex_evals.scores import Fingerprints, ScoresStore
from convex_evals.web import Site

PATIENCE = 120.0
NPM = """
import { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
const client = new ConvexHttpClient(process.argv[2]);
console.log(JSON.stringify(await client.query(makeFunctionReference(process.argv[3]), {})));
"""
PYPI = """
import json, sys
from convex.http_client import ConvexHttpClient
print(json.dumps(ConvexHttpClient(sys.argv[1]).query(sys.argv[2], {})))
"""
Convex = Callable[..., Awaitable[tuple[int | None, str, str]]]


@pytest.fixture
async def convex(convex_cli: Any) -> Convex:
    """`await convex("debug:…", args, key=…)` is `npx convex run`."""

    async def convex(*arguments: str, key: str | None = None) -> tuple[int | None, str, str]:
        done = await run(**convex_cli.run(*arguments, key=key), timeout=PATIENCE, separate_errors=True)
        return done.exit_code, done.output.text, done.errors.text if done.errors else ""

    return convex


async def test_the_cli_shows_the_failures_of_a_run_and_everything_about_one(convex: Convex, record: Any) -> None:
    run_id = record.run()
    code, shown, errors = await convex("debugQueries:getFailedEvalsForRun", json.dumps({"runId": run_id}))
    assert (code, errors) == (0, "")
    found = json.loads(shown)
    assert found["run"]["model"] == "tiny" and found["run"]["provider"] == "acme"
    assert (found["totalEvals"], found["passedCount"], found["failedCount"]) == (3, 2, 1)
    (failed,) = found["failedEvals"]
    assert (failed["evalPath"], failed["category"], failed["name"]) == (
        "000-basics/001-second",
        "000-basics",
        "001-second",
    )
    assert failed["failedStep"]["name"] == "tests" and "expected 2, got 3" in failed["failedStep"]["error"]
    code, shown, _ = await convex("debug:getEvalDebugInfo", json.dumps({"evalId": failed["_id"]}))
    details = json.loads(shown)
    assert code == 0 and [step["name"] for step in details["steps"]] == ["tsc", "tests"]
    assert [file["path"] for file in details["outputFiles"]] == ["convex/index.ts", "package.json"]


async def test_the_cli_is_told_of_wrong_keys_and_arguments(convex: Convex) -> None:
    code, _, errors = await convex("debug:getEvalDebugInfo", '{"evalId": "x"}', key="local|wrong")
    assert code == 1 and "WrongToken" in errors and "The token is unknown, expired or revoked." in errors
    code, _, errors = await convex("debug:getEvalDebugInfo", '{"runId": "x"}')
    assert code == 1 and "ArgumentValidationError: Object missing required field `evalId`" in errors


async def test_the_cli_names_the_functions_there_are_after_one_there_is_not(convex: Convex) -> None:
    code, _, errors = await convex("debug:nope")
    assert code == 1 and "Could not find function for 'debug:nope'. Did you forget to run `npx convex dev`?" in errors
    assert "Available functions:" in errors and "• debug:getEvalDebugInfo" in errors and "getStatus" not in errors
    code, _, errors = await convex("--component", "migrations", "lib:nope")
    assert (
        code == 1 and "in 'migrations'" in errors and errors.rstrip().endswith("Available functions:\n• lib:getStatus")
    )


async def test_the_cli_runs_and_shows_data_migrations(convex: Convex, store: ScoresStore) -> None:
    code, _, errors = await convex("migrations:runAll")
    assert code == 1 and "The token 'analyst' does not have the right to admin." in errors
    admin = store.tokens.create("boss", ["admin"]).token
    code, shown, errors = await convex("migrations:runAll", key=admin)
    assert (code, errors) == (0, "") and json.loads(shown)[0]["isDone"]
    code, shown, _ = await convex("--component", "migrations", "lib:getStatus")
    assert code == 0 and json.loads(shown)[0]["state"] == "success"


async def test_clients_of_npm_and_pypi_read_the_leaderboard(
    project: Path, toolchain: Toolchain, serve: Any, site: Site, record: Any
) -> None:
    prints = Fingerprints("suite", "content", "grader", "pipeline", "toolchain", "prompt")
    run_id, url = record.run(fingerprints=prints), await serve(site)
    (project / "npm.mjs").write_text(NPM)
    (project / "pypi.py").write_text(PYPI)
    npm, pypi = [str(toolchain.node.executable), "npm.mjs"], [sys.executable, "pypi.py"]
    environment = base_environment(project)
    for client in (npm, pypi):
        for name in ("leaderboard:getScores", "runs:list"):
            command = [*client, url, name]
            done = await run(command, cwd=project, timeout=PATIENCE, environment=environment, separate_errors=True)
            assert done.exit_code == 0, done.errors
            (first,) = json.loads(done.output.text)
            assert first["model"] == "tiny"
            assert first.get("_id", run_id) == run_id and first.get("runs", [run_id]) == [run_id]


async def test_runners_record_with_a_token_as_an_argument(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    token = store.tokens.create("ci", ["record"]).token

    async def call(function: str, **args: object) -> Any:
        sent = {"path": f"admin:{function}", "args": [{"token": token, **args}], "format": "json"}
        answer = (await client.post("/api/mutation", json=sent)).json()
        assert answer["status"] == "success", answer
        return answer["value"]

    run_id = await call("startRun", model="m", provider="p", plannedEvals=["000-a/000-b"])
    attempt = await call("startEval", runId=run_id, evalPath="000-a/000-b")
    await call("recordOutput", evalId=attempt, prompt="p", response="r", files=[{"path": "a.ts", "content": "1"}])
    await call("recordStep", evalId=attempt, name="tests", status="failed", error="no")
    await call("completeEval", evalId=attempt, status="failed", failedStep="tests", testsPassed=1, testsTotal=2)
    await call("completeRun", runId=run_id)
    run = store.find_run(run_id)
    assert (run.status, run.counts.failed) == ("completed", 1)
    (details,) = store.details(run_id)
    assert details.generation is not None and store.read_files(details.generation.files) == {"a.ts": "1"}
    for kept in (details, run):
        assert token not in repr(kept)


@pytest.mark.parametrize(
    ("token", "status"),
    [(None, 401), ("cevals_wrong", 401), ("reader", 403)],
    ids=["none", "wrong", "without the right"],
)
async def test_nobody_else_records(
    client: httpx2.AsyncClient, store: ScoresStore, token: str | None, status: int
) -> None:
    sent = store.tokens.create("r", ["read"]).token if token == "reader" else token
    args = {"model": "m", "provider": "p", "plannedEvals": [], **({"token": sent} if sent else {})}
    answer = await client.post("/api/mutation", json={"path": "admin:startRun", "args": [args]})
    assert answer.status_code == status and store.runs() == ()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"path": "nope:nope", "args": {}}, "Could not find public function for 'nope:nope'."),
        (
            {"path": "admin:startRun", "args": {}},
            "Trying to execute admin.js:startRun as Query, but it is defined as Mutation.",
        ),
        ({"path": "runs:list", "args": {"model": {"$integer": 1}}}, "$integer must have a string value"),
        ({"path": "runs:list", "args": [1]}, "ArgumentValidationError: Expected an object of arguments."),
    ],
)
async def test_impossible_calls_are_answered_as_convex_does(
    client: httpx2.AsyncClient, body: dict[str, object], text: str
) -> None:
    answer = await client.post("/api/query", json=body)
    told = answer.json()
    assert (answer.status_code, told["status"]) == (200, "error")
    assert told["errorMessage"].startswith("[Request ID: ") and told["errorMessage"].endswith(f"Server Error\n{text}")


async def test_a_body_that_is_not_a_call_is_refused(client: httpx2.AsyncClient) -> None:
    for body in (b"", b"[]", b'{"path": 1}'):
        assert (await client.post("/api/query", content=body)).status_code == 400
