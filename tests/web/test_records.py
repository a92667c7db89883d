"""Recording over HTTP: what a runner sends, what it is told, and what it may not do."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from tests.web.served_site import serving

from convex_evals.core.settings import Destination, Secret
from convex_evals.runner import Service
from convex_evals.scores import PART, Holder, ScoresStore, batch_of, encode
from convex_evals.web import Site

DESK, LAPTOP = Holder("desk", "desk"), Holder("laptop", "laptop")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[ScoresStore]:
    with ScoresStore.open(tmp_path / "team.db") as opened:
        yield opened


@pytest.fixture
def token(team: ScoresStore) -> dict[str, str]:
    return bearer(team, "record")


def bearer(team: ScoresStore, right: Any, deployment: str | None = None) -> dict[str, str]:
    return {"authorization": f"Bearer {team.tokens.create(f'{right}-{deployment}', [right], deployment).token}"}


@pytest_asyncio.fixture
async def http(serve: Any, team: ScoresStore) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=await serve(Site(team)), timeout=60) as client:
        yield client


def name_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def send(http: httpx2.AsyncClient, store: ScoresStore, run_id: str, token: dict[str, str]) -> httpx2.Response:
    store.outbox.send_again(run_id, "there")
    parcel = store.outbox.next_parcel("there")
    assert parcel is not None
    wanted = {"artifacts": parcel.artifacts}
    asked = await http.post("/api/v1/records/artifacts/missing", content=encode(wanted), headers=token)
    for name in asked.json()["missing"]:
        sent = await http.put(f"/api/v1/records/artifacts/{name}", content=store.read_bytes(name), headers=token)
        assert sent.json() == {"new": 1}
    return await http.post("/api/v1/records", content=encode(batch_of(run_id, parcel.records, DESK)), headers=token)


async def test_a_run_is_recorded_and_read(http: Any, record: Any, team: ScoresStore, token: dict[str, str]) -> None:
    run_id = record.run()
    answered = await send(http, record.store, run_id, token)
    assert answered.status_code == 200
    assert answered.json()["new"] > 10
    assert team.export_run(run_id) == record.store.export_run(run_id)
    assert (await send(http, record.store, run_id, token)).json() == {"new": 0}
    assert (await http.get(f"/api/v1/runs/{run_id}")).json()["status"] == "completed"


@pytest.mark.parametrize(
    ("right", "deployment", "status", "code"),
    [
        (None, None, 401, "TokenNeeded"),
        ("read", None, 403, "RightMissing"),
        ("label", None, 403, "RightMissing"),
        ("record", "development", 403, "WrongDeployment"),
    ],
)
async def test_only_a_token_of_this_deployment_records(
    serve: Any, team: ScoresStore, right: Any, deployment: str | None, status: int, code: str
) -> None:
    team.deployment.mark("production")
    url = await serve(Site(team, "production"))
    headers = {} if right is None else bearer(team, right, deployment)
    for method, path in (
        ("POST", ""),
        ("POST", "/artifacts/missing"),
        ("PUT", f"/artifacts/{name_of(b'')}"),
        ("POST", "/leases"),
    ):
        async with httpx2.AsyncClient(base_url=url, timeout=60) as http:
            answered = await http.request(method, f"/api/v1/records{path}", content=b"{}", headers=headers)
        assert (answered.status_code, answered.json()["error"]["code"]) == (status, code)


async def test_a_large_artifact_comes_in_parts(http: Any, team: ScoresStore, token: dict[str, str]) -> None:
    content = bytes(range(256)) * (PART // 256) + b"rest"
    path = f"/api/v1/records/artifacts/{name_of(content)}"
    answers = []
    for offset in (0, PART):
        part = content[offset : offset + PART]
        place = {"content-range": f"bytes {offset}-{offset + len(part) - 1}/{len(content)}"}
        answers.append((await http.put(path, content=part, headers={**token, **place})).json())
    assert answers == [{"new": 0}, {"new": 1}]
    assert team.read_bytes(name_of(content)) == content


def test_an_artifact_of_which_all_parts_are_there_is_completed(
    team: ScoresStore, token: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server was killed after it had the last part, and before it put them together."""
    content = bytes(PART) + b"rest"
    name = name_of(content)
    with monkeypatch.context() as killed:
        killed.setattr(team.uploads, "_assemble", lambda name: False)
        for offset in (0, PART):
            team.uploads.put(name, content[offset : offset + PART], offset, len(content))
    secret = Secret(token["authorization"].removeprefix("Bearer "))
    with serving(Site(team)) as url, closing(Service(Destination(url, token=secret))) as service:
        service.put(name, content, service.missing((name,))[name])
    assert team.read_bytes(name) == content


@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("POST", "", b"{", {}),
        ("POST", "", b'{"run_id": "a", "revision": "1", "records": [{"table": "tokens"}]}', {}),
        ("POST", "", b'{"run_id": "a", "revision": "1", "records": [{"table": "runs", "id": 1}]}', {}),
        ("POST", "", b'{"run_id": "A B", "revision": "1", "records": []}', {}),
        ("POST", "", b"\xff", {}),
        ("POST", "/artifacts/missing", b'{"artifacts": ["x"]}', {}),
        ("POST", "/leases", b'{"runs": [], "holder": 1}', {}),
        ("PUT", "/artifacts/abc", b"x", {}),
        ("PUT", f"/artifacts/{name_of(b'x')}", b"y", {}),
        ("PUT", f"/artifacts/{name_of(b'x')}", b"x", {"content-range": "bytes 5"}),
        ("PUT", f"/artifacts/{name_of(b'x')}", b"x", {"content-range": "bytes 1-1/99999999999"}),
    ],
)
async def test_what_cannot_be_recorded_is_refused_in_one_sentence(
    http: Any, token: dict[str, str], method: str, path: str, body: bytes, headers: dict[str, str]
) -> None:
    answered = await http.request(method, f"/api/v1/records{path}", content=body, headers={**token, **headers})
    assert answered.status_code == 422
    assert answered.json()["error"]["code"] == "InvalidRequest"


async def test_runners_are_told_what_to_do(http: Any, record: Any, team: ScoresStore, token: dict[str, str]) -> None:
    run_id = record.begin()
    records = record.store.outbox.records(run_id)

    async def say(**changes: Any) -> str:
        batch = {"run_id": run_id, "revision": "1", "records": records, "holder": DESK, **changes}
        answered = await http.post("/api/v1/records", content=encode(batch), headers=token)
        assert answered.status_code == 409
        return str(answered.json()["error"]["code"])

    assert await say(records=records[1:]) == "Incomplete"
    assert await say(revision="9999") == "Outdated"
    await send(http, record.store, run_id, token)
    assert await say(holder=LAPTOP) == "Held"
    team.decisions.delete(run_id, "an admin", "a mistake")
    assert await say() == "Conflict"


async def test_a_runner_at_work_is_heard_from(http: Any, record: Any, team: ScoresStore, token: dict[str, str]) -> None:
    run_id = record.begin()
    await send(http, record.store, run_id, token)
    assert team.is_run_held(run_id)
    for holder, status in ((DESK, 200), (LAPTOP, 409)):
        body = encode({"runs": [run_id, "unknown"], "holder": holder})
        answered = await http.post("/api/v1/records/leases", content=body, headers=token)
        assert answered.status_code == status
