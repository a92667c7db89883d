import re
from dataclasses import replace

import httpx2

from convex_evals.web import Site

SAMPLE = re.compile(r'[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.+e-]+')


async def test_everyone_may_ask_whether_the_server_works(serve, site: Site) -> None:
    async with httpx2.AsyncClient(base_url=await serve(replace(site, read="token")), timeout=60) as client:
        answer = await client.get("/health")
        assert (answer.status_code, answer.text) == (200, "ok\n")
        assert (await client.get("/metrics", headers={"accept": "application/json"})).status_code == 401


async def test_metrics_count_answers_by_route_and_not_by_address(client: httpx2.AsyncClient) -> None:
    for path in ("/api/v1/runs", "/api/v1/runs/abcd", "/api/v1/runs/efgh", "/nowhere/at/all"):
        await client.get(path)
    await client.request("PROPFIND", "/api/v1/runs")
    text = (await client.get("/metrics")).text
    assert all(line.startswith("# ") or SAMPLE.fullmatch(line) for line in text.splitlines())
    assert 'requests_total{method="GET",route="/api/v1/runs",status="200"} 1\n' in text
    assert 'requests_total{method="GET",route="/api/v1/runs/{run}",status="404"} 2\n' in text
    assert 'method="other"' in text and "PROPFIND" not in text and "abcd" not in text and "at/all" not in text
    assert "convex_evals_http_request_seconds_count 5\n" in text
