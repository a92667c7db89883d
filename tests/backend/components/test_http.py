"""HTTP actions of components, mounted below the paths that their parents give them."""

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("prefix", "instance"), [("/first", "notebook"), ("/second", "second"), ("/outer/inner", "outer/inner")]
)
async def test_a_mounted_route_runs_in_its_instance(local: Any, prefix: str, instance: str) -> None:
    await local.run("public:add", instance, text=f"over {prefix}")
    response = await local.http.get(f"{prefix}/notes")
    assert (response.status_code, response.json()) == (200, [f"over {prefix}"])


async def test_a_handler_sees_the_original_address_and_no_user(local: Any) -> None:
    headers = {"Authorization": "Bearer whatever"}
    response = await local.http.post("/second/echo/a/b?c=d", content=b"hello", headers=headers)
    assert response.json() == {"path": "/second/echo/a/b", "body": "hello", "user": None}


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("PUT", "/first/notes", 200, "the app's PUT"),  # an exact route of the app beats every mount
        ("GET", "/first", 200, "the app"),  # a mount ends in a slash
        ("GET", "/elsewhere", 200, "the app"),
        ("GET", "/first/nothing", 404, "No matching routes found"),  # the longest prefix decides, not the answer
        ("POST", "/first/notes", 404, "No matching routes found"),
        ("GET", "/outer/nothing", 404, "This Convex deployment does not have HTTP actions enabled."),
    ],
)
async def test_routes_and_mounts_compete(local: Any, method: str, path: str, status: int, text: str) -> None:
    response = await local.http.request(method, path)
    assert (response.status_code, response.text) == (status, text)
