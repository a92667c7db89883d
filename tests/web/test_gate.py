import httpx2
import pytest

OWN = "http://{host}"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]:9000", "app.localhost"])
async def test_this_machine_is_answered_under_its_own_names(client: httpx2.AsyncClient, host: str) -> None:
    assert (await client.get("/api/v1/runs", headers={"host": host})).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", ""])
async def test_an_unknown_name_for_this_machine_is_refused(client: httpx2.AsyncClient, host: str) -> None:
    answer = await client.get("/api/v1/runs", headers={"host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "ForeignHost")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"cookie": "session=x"},
    ],
)
async def test_a_change_from_a_cross_origin_page_is_refused(
    client: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await client.post("/api/v1/labels", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "ForeignOrigin")


@pytest.mark.parametrize(
    ("headers", "status"), [({"authorization": "Bearer x"}, 401), ({"sec-fetch-site": "same-origin"}, 404), ({}, 404)]
)
async def test_own_pages_and_programs_may_ask_for_changes(
    client: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    assert (await client.post("/nowhere", headers=headers)).status_code == status


async def test_a_page_with_the_origin_of_the_server_may_ask_for_changes(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/nowhere", headers={"origin": str(client.base_url).rstrip("/")})
    assert answer.status_code == 404
