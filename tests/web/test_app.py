"""What holds for every answer: headers, errors, tags and packing."""

from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from convex_evals.web import Site, static_files
from convex_evals.web.headers import HEADERS

NOT_HTML = {"accept": "application/json"}


@pytest.mark.parametrize("path", ["/", "/nowhere", "/api/v1/runs", "/api/v1/nowhere", "/static/x/y.css"])
async def test_every_response_has_the_security_headers_of_browsers(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "server" not in answer.headers


async def test_a_missing_page_is_html_for_users_and_json_for_programs(
    client: httpx2.AsyncClient,
) -> None:
    page, api, asked = [
        await client.get(path, headers=headers)
        for path, headers in (("/no<b>where", {}), ("/api/v1/nowhere", {}), ("/nowhere", NOT_HTML))
    ]
    assert page.status_code == api.status_code == asked.status_code == 404
    assert page.headers["content-type"].startswith("text/html") and "<b>where" not in page.text
    assert api.json() == {"error": {"code": "NotFound", "message": "There is nothing at /api/v1/nowhere."}}
    assert asked.json()["error"]["code"] == "NotFound"


async def test_an_unknown_method_is_reported_in_the_same_shape(client: httpx2.AsyncClient) -> None:
    answer = await client.delete("/api/v1/runs")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "MethodNotAllowed")
    assert answer.headers["allow"] == "GET"


async def test_what_a_client_has_is_not_sent_again(client: httpx2.AsyncClient) -> None:
    first = await client.get("/api/openapi.json")
    tag = first.headers["etag"]
    again = await client.get("/api/openapi.json", headers={"if-none-match": f'"other", {tag}'})
    other = await client.get("/api/openapi.json", headers={"if-none-match": '"other"'})
    assert (first.status_code, again.status_code, other.status_code) == (200, 304, 200)
    assert again.content == b"" and again.headers["etag"] == tag


async def test_long_answers_are_packed_for_those_who_can_unpack_them(client: httpx2.AsyncClient) -> None:
    packed = await client.get("/api/openapi.json", headers={"accept-encoding": "gzip"})
    plain = await client.get("/api/openapi.json", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert packed.json() == plain.json()
    assert "accept-encoding" in plain.headers["vary"].lower()


async def test_a_file_is_kept_forever_under_the_hash_of_its_content(
    client: httpx2.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.css").write_text("body {}")
    monkeypatch.setattr(static_files, "FOLDER", tmp_path)
    address = static_files.static_address("page.css")
    found, old = await client.get(address), await client.get("/static/older/page.css")
    assert found.text == old.text == "body {}" and found.headers["content-type"].startswith("text/css")
    assert "immutable" in found.headers["cache-control"] and "immutable" not in old.headers["cache-control"]
    (tmp_path / "page.css").write_text("body { color: red }")
    assert static_files.static_address("page.css") != address


@pytest.mark.parametrize("path", ["/static/x/../../app.py", "/static/x/%2e%2e/%2e%2e/app.py", "/static/x//etc/passwd"])
async def test_no_file_outside_of_the_folder_is_sent(client: httpx2.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404


async def test_a_mistake_of_the_server_is_reported_without_details(site: Site, serve, caplog) -> None:
    class Broken:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError("secret detail")

    async with httpx2.AsyncClient(base_url=await serve(replace(site, store=Broken())), timeout=60) as client:
        answer = await client.get("/api/v1/runs")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "Failure")
    assert "secret detail" not in answer.text and HEADERS.items() <= answer.headers.items()
    assert "secret detail" in caplog.text
