"""Tokens and sessions: who may read, label and record, and what a wrong one gets."""

import logging
from dataclasses import replace
from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path

import httpx2
import pytest

from convex_evals.scores import Right, ScoresStore
from convex_evals.web import Site, identity
from convex_evals.web.identity import MOST_KEYS, Rate, Throttle

RUNS = "/api/v1/runs"


@pytest.fixture
def site(store: ScoresStore, tmp_path: Path) -> Site:
    """Only holders of a token may read."""
    return Site(store, read="token", reports=tmp_path / "reports")


def make(store: ScoresStore, *rights: Right, name: str = "ann", deployment: str = "local") -> str:
    return store.tokens.create(name, rights or ("read",), deployment).token


def bearer(token: str, scheme: str = "Bearer") -> dict[str, str]:
    return {"authorization": f"{scheme} {token}"}


def refusal(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_without_a_token_programs_are_refused_and_users_are_asked_for_one(client: httpx2.AsyncClient) -> None:
    program, person = await client.get(RUNS), await client.get("/runs?status=failed")
    assert refusal(program) == (401, "TokenNeeded") and program.headers["www-authenticate"] == "Bearer"
    assert (person.status_code, person.headers["location"]) == (303, "/login?next=/runs%3Fstatus%3Dfailed")
    assert (await client.get("/login")).status_code == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Convex"])
async def test_a_token_is_sent_as_bearer_or_as_the_convex_cli_does(
    client: httpx2.AsyncClient, store: ScoresStore, scheme: str
) -> None:
    assert (await client.get(RUNS, headers=bearer(make(store), scheme))).status_code == 200


@pytest.mark.parametrize("given", ["Bearer", "Basic YTpi", "x", "Bearer a b", f"Bearer {'x' * 9000}"])
async def test_invalid_tokens_are_refused(client: httpx2.AsyncClient, given: str) -> None:
    assert refusal(await client.get(RUNS, headers={"authorization": given})) == (401, "WrongToken")


async def test_a_wrong_token_is_refused_also_where_everyone_may_read(serve, site: Site, store: ScoresStore) -> None:
    wrong = make(store)[:-1] + "!"
    async with httpx2.AsyncClient(base_url=await serve(replace(site, read="open")), timeout=60) as client:
        assert (await client.get(RUNS)).status_code == 200
        assert refusal(await client.get(RUNS, headers=bearer(wrong))) == (401, "WrongToken")


async def test_a_token_that_may_only_record_does_not_read(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    answer = await client.get(RUNS, headers=bearer(make(store, "record")))
    assert refusal(answer) == (403, "RightMissing") and "'ann'" in answer.text


async def test_production_refuses_a_token_of_development(serve, site: Site, store: ScoresStore) -> None:
    token = make(store, "admin", deployment="development")
    async with httpx2.AsyncClient(base_url=await serve(replace(site, name="production")), timeout=60) as client:
        answer = await client.get(RUNS, headers=bearer(token))
    assert refusal(answer) == (403, "WrongDeployment")
    assert "for development, but this server is production" in answer.text


async def test_a_revoked_token_is_refused_at_once(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    token = make(store)
    assert (await client.get(RUNS, headers=bearer(token))).status_code == 200
    store.tokens.revoke("ann")
    assert refusal(await client.get(RUNS, headers=bearer(token))) == (401, "WrongToken")


async def test_an_expired_token_is_refused(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    token = store.tokens.create("late", ("read",), "local", timedelta(seconds=-1)).token
    assert refusal(await client.get(RUNS, headers=bearer(token))) == (401, "WrongToken")


async def test_guessing_is_throttled_but_not_those_who_know(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    good, unseen = make(store), make(store, name="bob")
    assert (await client.get(RUNS, headers=bearer(good))).status_code == 200
    answers = [await client.get(RUNS, headers=bearer(f"guess{number}")) for number in range(12)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 6
    assert (await client.get(RUNS, headers=bearer(good))).status_code == 200
    assert (await client.get(RUNS, headers=bearer(unseen))).status_code == 429


async def test_guesses_of_many_addresses_are_throttled_together(
    serve, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "GUESSES", Rate(1000, 1000))
    monkeypatch.setattr(identity, "ALL_GUESSES", Rate(3, 0.01))
    async with httpx2.AsyncClient(base_url=await serve(site), timeout=60) as client:
        answers = [await client.get(RUNS, headers=bearer(f"guess{number}")) for number in range(4)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]


async def test_requests_with_one_token_are_limited(
    serve, site: Site, store: ScoresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "REQUESTS", Rate(2, 0.01))
    ann, bob = make(store), make(store, name="bob")
    async with httpx2.AsyncClient(base_url=await serve(site), timeout=60) as client:
        answers = [await client.get(RUNS, headers=bearer(token)) for token in (ann, ann, ann, bob)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 200]


async def log_in(client: httpx2.AsyncClient, token: str, next: str = "/runs", **headers: str) -> httpx2.Response:
    origin = {"origin": str(client.base_url).rstrip("/")}
    return await client.post("/login", data={"token": token, "next": next}, headers={**origin, **headers})


async def test_users_log_in_with_a_token_and_out_again(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    token = make(store)
    answer = await log_in(client, token)
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs")
    cookie = SimpleCookie(answer.headers["set-cookie"])[identity.SESSION]
    assert (cookie["httponly"], cookie["samesite"].lower(), cookie["path"]) == (True, "strict", "/")
    assert not cookie["secure"]
    assert token not in cookie.value
    assert (await client.get(RUNS)).status_code == 200
    kept = dict(client.cookies)
    out = await client.post("/logout", headers={"origin": str(client.base_url).rstrip("/")})
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    client.cookies.update(kept)
    assert (await client.get(RUNS)).status_code == 401


async def test_the_cookie_is_sent_over_https_only_where_there_is_https(
    client: httpx2.AsyncClient, store: ScoresStore
) -> None:
    answer = await log_in(client, make(store), **{"x-forwarded-proto": "https"})
    assert "Secure" in answer.headers["set-cookie"]


async def test_a_session_ends_with_its_token(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    await log_in(client, make(store))
    assert (await client.get(RUNS)).status_code == 200
    store.tokens.revoke("ann")
    assert (await client.get(RUNS)).status_code == 401
    assert (await client.get("/runs")).headers["location"].startswith("/login")


async def test_a_wrong_token_at_the_login_is_reported_and_throttled(client: httpx2.AsyncClient) -> None:
    answers = [await log_in(client, f"guess{number}") for number in range(11)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429]
    assert "unknown, expired or revoked" in answers[0].text and "guess0" not in answers[0].text
    assert "set-cookie" not in answers[0].headers


async def test_no_cross_origin_page_can_log_a_user_in(client: httpx2.AsyncClient, store: ScoresStore) -> None:
    answer = await client.post("/login", data={"token": make(store)}, headers={"origin": "https://evil.example"})
    assert refusal(answer) == (403, "ForeignOrigin")


@pytest.mark.parametrize(
    "next", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb", ""]
)
async def test_the_login_does_not_redirect_to_another_site(
    client: httpx2.AsyncClient, store: ScoresStore, next: str
) -> None:
    assert (await log_in(client, make(store), next)).headers["location"] == "/"
    assert "evil" not in (await client.get("/login", params={"next": next})).text


@pytest.mark.parametrize("place", ["{}", "/runs/{}", "/runs?token={}"])
async def test_a_token_in_an_address_is_refused(client: httpx2.AsyncClient, store: ScoresStore, place: str) -> None:
    answer = await client.get("/api/v1/" + place.format(make(store)))
    assert refusal(answer) == (400, "TokenInAddress")


def holding(folder: Path, secret: str) -> list[Path]:
    return [path for path in folder.glob("scores*") if path.is_file() and secret.encode() in path.read_bytes()]


async def test_no_token_is_in_any_answer_log_or_file(
    client: httpx2.AsyncClient, store: ScoresStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = make(store, "admin")
    broken = token[:-1]
    answers = [
        await client.get(f"/api/v1/runs/{token}"),
        await client.get(RUNS, headers=bearer(broken)),
        await client.get(RUNS, headers=bearer(token)),
        await client.get("/nowhere", headers=bearer(token)),
        await client.post("/nowhere", headers=bearer(token), json={"token": token}),
        await log_in(client, broken),
        await log_in(client, token),
        await client.get("/login", params={"next": "/"}),
    ]
    said = [part for answer in answers for part in (answer.text, str(answer.headers))]
    secret = token[-20:]
    assert not [part for part in said if secret in part]
    assert not [each for each in caplog.records if secret in each.getMessage() and each.name.startswith("convex_evals")]
    assert not holding(tmp_path, secret)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_and_then_a_fixed_rate() -> None:
    clock = Clock()
    throttle = Throttle(Rate(3, 0.5), clock)
    for _ in range(3):
        assert throttle.wait("a") == 0
        throttle.take("a")
    assert throttle.wait("a") == 2 and throttle.wait("b") == 0
    clock.now += 1.9
    assert throttle.wait("a") == 1
    clock.now += 0.2
    assert throttle.wait("a") == 0


def test_a_bucket_is_never_more_than_full() -> None:
    clock = Clock()
    throttle = Throttle(Rate(2, 1), clock)
    throttle.take("a")
    clock.now += 1000
    throttle.take("a")
    throttle.take("a")
    assert throttle.wait("a") == 1


def test_only_the_most_recent_clients_are_remembered() -> None:
    throttle = Throttle(Rate(1, 0.001), Clock())
    for key in range(MOST_KEYS + 1):
        throttle.take(key)
    assert throttle.wait(0) == 0 and throttle.wait(1) > 0
