from typing import Any

import httpx2
import pytest

from convex_evals.backend.deployment import Deployment

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROUTES = [
    ("POST", "/api/delete_tables"),
    ("POST", "/api/cancel_job"),
    ("POST", "/api/cancel_all_jobs"),
    ("POST", "/api/delete_scheduled_functions_table"),
    ("GET", "/api/shapes2"),
    ("GET", "/api/get_indexes"),
    ("POST", "/api/v1/pause_deployment"),
    ("POST", "/api/v1/unpause_deployment"),
    ("GET", "/api/v1/deployment_info"),
    ("GET", "/api/check_admin_key"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_everybody_else_is_refused(client: httpx2.AsyncClient, method: str, path: str) -> None:
    response = await client.request(method, path, json={} if method == "POST" else None)
    assert (response.status_code, response.json()["code"]) == (403, "BadDeployKey")


async def test_a_key_can_be_checked(admin: httpx2.AsyncClient) -> None:
    assert (await admin.get("/api/check_admin_key")).json() == {"success": True, "allowedOps": [], "isReadOnly": False}


async def test_a_paused_deployment_runs_nothing_until_it_goes_on(admin: httpx2.AsyncClient) -> None:
    async def run() -> Any:
        return (await admin.post("/api/query", json={"path": "messages", "args": {}})).json()

    assert (await admin.post("/api/v1/pause_deployment", json={})).status_code == 200
    assert "Cannot run functions while this deployment is paused." in (await run())["errorMessage"]
    assert (await admin.post("/api/v1/unpause_deployment", json={})).status_code == 200
    assert (await run())["value"] == "default"


async def test_what_is_here_can_be_listed(admin: httpx2.AsyncClient) -> None:
    assert (await admin.get("/api/v1/deployment_info")).json() == {"kind": "selfHosted"}
    assert (await admin.get("/api/shapes2")).json() == {
        "counters": {"type": "Unknown"},
        "messages": {"type": "Unknown"},
    }
    assert (await admin.get("/api/get_indexes")).json() == {
        "indexes": [
            {
                "table": "messages",
                "name": "by_channel",
                "fields": ["channel", "_creationTime"],
                "backfill": {"state": "done"},
                "staged": False,
            }
        ]
    }


async def test_tables_can_be_deleted_unless_the_schema_names_them(
    admin: httpx2.AsyncClient, deployment: Deployment
) -> None:
    transaction = deployment.database.begin()
    transaction.insert("", "leftover", {})
    deployment.database.commit(transaction)
    assert (await admin.post("/api/delete_tables", json={"tableNames": ["leftover"]})).status_code == 200
    assert "leftover" not in deployment.database.begin().catalog("").tables
    refused = await admin.post("/api/delete_tables", json={"tableNames": ["messages"]})
    assert (refused.status_code, refused.json()["message"]) == (
        400,
        'Failed to delete table "messages" because it appears in the schema',
    )


async def test_jobs_can_be_cancelled_and_forgotten(admin: httpx2.AsyncClient, deployment: Deployment) -> None:
    def jobs() -> list[Any]:
        return [row.value["state"] for row in deployment.database.begin().system.scan("", "_scheduled_jobs")]

    transaction = deployment.database.begin()
    fields: dict[str, Any] = {"udfPath": "a.js:b", "state": {"type": "pending"}, "nextTs": 2**62, "completedTs": None}
    ids = [transaction.system.insert("", "_scheduled_jobs", fields).id for _ in range(3)]
    deployment.database.commit(transaction)
    await admin.post("/api/cancel_job", json={"id": ids[0]})
    assert jobs() == [{"type": "canceled"}, {"type": "pending"}, {"type": "pending"}]
    await admin.post("/api/cancel_all_jobs", json={"udfPath": "other.js:b"})
    assert jobs().count({"type": "pending"}) == 2
    await admin.post("/api/cancel_all_jobs", json={"udfPath": "a.js:b"})
    assert jobs() == [{"type": "canceled"}] * 3
    await admin.post("/api/delete_scheduled_functions_table", json={})
    assert jobs() == []


@pytest.mark.parametrize("job", ["x", "j57000820c20a1g7104gm2rc1m70ynr8"])
async def test_a_job_must_be_named_by_its_id(admin: httpx2.AsyncClient, job: str) -> None:
    refused = await admin.post("/api/cancel_job", json={"id": job})
    assert refused.json() == {"code": "InvalidId", "message": "Invalid ID for table _scheduled_jobs"}
