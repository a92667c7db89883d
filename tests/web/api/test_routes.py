"""The reading routes, asked over HTTP about two recorded runs."""

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.scores import Benchmark, PlannedEval, ScoresStore
from convex_evals.suite import load_suite
from convex_evals.web import Site

FIRST, SECOND, THIRD = "000-basics/000-first", "000-basics/001-second", "001-queries/000-index"
SHA = "0" * 64


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "evals"
    for name in (FIRST, SECOND):
        (folder / name / "answer" / "convex").mkdir(parents=True)
        (folder / name / "TASK.txt").write_text(f"Task of {name}.\n")
        (folder / name / "answer" / "convex" / "index.ts").write_text("export {};\n")
        (folder / name / "grader.py").write_text("def test_it(): ...\n")
    (folder / FIRST / "GAPS.txt").write_text("Order is not checked.\n")
    (folder / "suite.json").write_text('{"packagesBefore": "2026-11-01"}')
    return folder


@pytest.fixture
def site(store: ScoresStore, tmp_path: Path, suite: Path) -> Site:
    return Site(store, suite=load_suite(suite), reports=tmp_path / "reports", desk=True)


@pytest_asyncio.fixture
async def ask(client: httpx2.AsyncClient) -> AsyncIterator[Any]:
    async def ask(path: str, **parameters: Any) -> Any:
        answer = await client.get(f"/api/v1{path}", params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    yield ask


async def test_runs_come_in_pages_the_newest_first(record, ask) -> None:
    made = [record.run(model) for model in ("a", "b", "c", "d", "e")]
    first = await ask("/runs", limit=2)
    second = await ask("/runs", limit=2, cursor=first["next"])
    third = await ask("/runs", limit=2, cursor=second["next"])
    assert [run["id"] for page in (first, second, third) for run in page["items"]] == made[::-1]
    assert third["next"] is None
    assert [run["model"] for run in (await ask("/runs", model="c"))["items"]] == ["c"]
    assert (await ask("/runs", since="2100-01-01T00:00:00Z"))["items"] == []


async def test_a_run_is_named_by_its_first_characters(record, ask, store: ScoresStore) -> None:
    run_id = record.run()
    found = await ask(f"/runs/{run_id[:8]}")
    assert (found["id"], found["counts"]["passed"], found["counts"]["failed"]) == (run_id, 2, 1)
    assert await ask(f"/runs/{run_id}/held") is False
    with store.hold_run(run_id):
        assert await ask(f"/runs/{run_id}/held") is True


async def test_results_attempts_and_what_is_left_of_a_run_are_listed(record, ask) -> None:
    run_id = record.begin()
    record.attempt(run_id, FIRST)
    failed = record.attempt(run_id, SECOND, passes=False)
    assert [each["eval"] for each in (await ask(f"/runs/{run_id}/planned"))["items"]] == [FIRST, SECOND, THIRD]
    assert [each["status"] for each in (await ask(f"/runs/{run_id}/results"))["items"]] == ["passed", "failed"]
    assert [each["eval"] for each in (await ask(f"/runs/{run_id}/pending"))["items"]] == [THIRD]
    assert len((await ask(f"/runs/{run_id}/generations"))["items"]) == 2
    assert len((await ask(f"/runs/{run_id}/attempts", eval=FIRST))["items"]) == 1
    (failure,) = (await ask(f"/runs/{run_id}/failures"))["items"]
    assert failure["attempt"]["id"] == failed
    (diagnostic,) = failure["steps"][1]["diagnostics"]
    assert (diagnostic["expected"], diagnostic["received"], diagnostic["name"]) == ("2", "3", "counts")


async def test_a_list_can_be_read_page_by_page(record, ask) -> None:
    run_id = record.run()
    first = await ask(f"/runs/{run_id}/planned", limit=2)
    rest = await ask(f"/runs/{run_id}/planned", limit=2, cursor=first["next"])
    assert [each["eval"] for each in first["items"] + rest["items"]] == [FIRST, SECOND, THIRD] and not rest["next"]


async def test_a_result_has_everything_about_it(record, ask, site: Site, store: ScoresStore) -> None:
    evals = {each.id: each.fingerprints for each in site.suite.evals}
    planned = tuple(PlannedEval(name, evals[name].content, evals[name].grader) for name in (FIRST, SECOND))
    run_id = record.begin(evals=planned)
    attempt = record.attempt(run_id, FIRST, passes=False)
    found = await ask(f"/results/{attempt}")
    assert found["run"]["id"] == run_id and found["details"]["attempt"]["failed_step"] == "tests"
    assert found["files"]["convex/index.ts"].startswith("export const name")
    assert found["alike"] == {"runs": 0, "models": 0} and found["labels"] == []
    assert found["eval"]["task"] == f"Task of {FIRST}.\n" and found["eval"]["gaps"] == "Order is not checked."
    assert found["eval"]["reference"] == {"convex/index.ts": "export {};\n"}
    assert found["eval"]["grader_files"] == {"grader.py": "def test_it(): ...\n"}
    assert await ask(f"/results/{attempt}/alike") == found["alike"]
    log = await ask_bytes(ask, found["details"]["logs"]["tests"])
    assert log == b"all of the output\n"


async def ask_bytes(ask: Any, sha256: str) -> bytes:
    client: httpx2.AsyncClient = ask.__closure__[0].cell_contents
    return (await client.get(f"/api/v1/artifacts/{sha256}")).content


async def test_an_eval_that_changed_since_is_not_shown_with_a_result(record, ask) -> None:
    attempt = record.attempt(record.begin(), FIRST)
    assert (await ask(f"/results/{attempt}"))["eval"] is None


async def test_half_a_character_in_a_file_is_not_an_accident(record, ask, store: ScoresStore) -> None:
    run_id = record.begin()
    begun = store.begin_attempt(run_id, FIRST)
    store.record_generation(begun.id, replace(record.generation(FIRST), files={"a.ts": "\ud800"}))
    assert (await ask(f"/results/{begun.id}"))["files"] == {"a.ts": "?"}


async def test_an_artifact_is_downloaded_never_shown(record, client: httpx2.AsyncClient, store: ScoresStore) -> None:
    (generation, *_) = store.generations(record.run())
    answer = await client.get(f"/api/v1/artifacts/{generation.response}")
    assert answer.content.startswith(b"An answer to")
    assert hashlib.sha256(answer.content).hexdigest() == generation.response
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert "immutable" in answer.headers["cache-control"] and "private" in answer.headers["cache-control"]
    again = await client.get(answer.url.path, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/runs/abcd",
        "/runs/ab",
        "/runs/abcd/results",
        "/results/nothing",
        f"/artifacts/{SHA}",
        "/evals/a/b",
        "/leaderboard",
    ],
)
async def test_what_is_not_there_is_not_found(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(f"/api/v1{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NotFound")


@pytest.mark.parametrize(
    "path",
    [
        "/runs?limit=0",
        "/runs?limit=501",
        "/runs?status=odd",
        "/runs?since=yesterday",
        "/compare",
        "/compare?runs=abcd",
        "/artifacts/ABC",
        "/labels?model=tiny",
        f"/runs/{'a' * 65}",
        "/evals?cursor=-1",
    ],
)
async def test_an_invalid_parameter_is_reported(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(f"/api/v1{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "InvalidRequest")


async def test_models_versions_leaderboard_and_comparison(record, ask, store: ScoresStore) -> None:
    before, after = record.run("a"), record.run("a", failing=())
    record.run("b")
    assert [(each["model"], each["runs"]) for each in (await ask("/models"))["items"]] == [("a", 2), ("b", 1)]
    planned = store.planned(before)
    store.mint_benchmark(Benchmark("v1", planned, {}, "pi", "to", datetime.now(UTC)))
    assert [each["name"] for each in (await ask("/benchmarks"))["items"]] == ["v1"]
    found = await ask("/leaderboard")
    assert found["benchmark"]["name"] == "v1" and len(found["standings"]) + len(found["left_out"]) > 0
    (pair,) = (await ask("/compare", runs=f"{before},{after}"))["items"]
    changes = {each["eval"]: (each["change"], each["before"], each["after"]) for each in pair["evals"]}
    assert changes[SECOND] == ("better", 0.0, 1.0) and pair["verdict"] == "cannot tell"


async def test_the_suite_can_be_read_and_taken_away(ask, client: httpx2.AsyncClient, tmp_path: Path) -> None:
    assert [each["name"] for each in (await ask("/evals"))["items"]] == [FIRST, SECOND]
    answer = await client.get(f"/api/v1/evals/{FIRST}/folder")
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path / "taken")
    taken = load_suite(tmp_path / "taken" / "evals").evals
    (shown,) = [each for each in (await ask("/evals"))["items"] if each["name"] == FIRST]
    assert [(each.id, each.fingerprints.content, each.fingerprints.grader) for each in taken] == [
        (FIRST, shown["content"], shown["grader"])
    ]


async def test_a_failure_is_labelled(record, ask, client: httpx2.AsyncClient, store: ScoresStore) -> None:
    run_id = record.run()
    given = {"run": run_id[:8], "eval": SECOND, "failure_class": "AMBIGUOUS_TASK", "note": "Which order?"}
    made = await client.post("/api/v1/labels", json=given)
    assert made.status_code == 201 and made.json()["who"] == "local"
    assert (await ask("/labels", run=run_id))["items"] == [made.json()]
    packed = gzip.compress(json.dumps({**given, "note": "Sure?"}).encode())
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    assert (await client.post("/api/v1/labels", content=packed, headers=headers)).status_code == 201
    assert [each.note for each in store.labels.of_run(run_id)] == ["Which order?", "Sure?"]


@pytest.mark.parametrize("change", [{"failure_class": "ODD"}, {"trial": 0}, {"note": 5}, {"run": "x" * 65}])
async def test_an_invalid_label_is_refused(record, client: httpx2.AsyncClient, change: dict[str, Any]) -> None:
    given = {"run": record.run(), "eval": SECOND, "failure_class": "MODEL_FAULT", **change}
    assert (await client.post("/api/v1/labels", json=given)).status_code == 422


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1]", b"null", b"\xff", b"[" * 100_000, b'{"run": ' + b"9" * 5000 + b"}"]
)
async def test_a_body_that_is_not_a_json_object_is_refused(client: httpx2.AsyncClient, body: bytes) -> None:
    answer = await client.post("/api/v1/labels", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "InvalidRequest")


async def test_only_users_with_the_right_can_label(record, serve, site: Site, store: ScoresStore) -> None:
    given = {"run": record.run(), "eval": SECOND, "failure_class": "MODEL_FAULT"}
    reader, labeller = (store.tokens.create(name, (name,), "local").token for name in ("read", "label"))
    async with httpx2.AsyncClient(base_url=await serve(replace(site, desk=False)), timeout=60) as client:
        answers = [
            await client.post("/api/v1/labels", json=given, headers=headers)
            for headers in ({}, {"authorization": f"Bearer {reader}"}, {"authorization": f"Bearer {labeller}"})
        ]
    assert [answer.status_code for answer in answers] == [401, 403, 201]
    assert answers[-1].json()["who"] == "label"


async def test_the_schedule_is_shown(ask) -> None:
    assert "turns" in await ask("/schedule")
