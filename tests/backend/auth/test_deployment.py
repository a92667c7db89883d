"""Users of a running deployment, over HTTP and over the socket."""

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio
import websockets
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.backend.auth.conftest import Issuer, SigningKey

from convex_evals.backend.deployment import Deployment
from convex_evals.core.http import LoopbackServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

Deploy = Any
DeploymentOf = Any
Json = dict[str, Any]

JWKS = "/keys"

FUNCTIONS = """
import {
  actionGeneric as action,
  makeFunctionReference,
  mutationGeneric as mutation,
  queryGeneric as query,
} from "convex/server";

export const inQuery = query(async (ctx) => await ctx.auth.getUserIdentity());
export const inMutation = mutation(async (ctx) => await ctx.auth.getUserIdentity());
export const inAction = action(async (ctx) => [
  await ctx.auth.getUserIdentity(),
  await ctx.runQuery(makeFunctionReference("whoami:inQuery")),
  await ctx.runMutation(makeFunctionReference("whoami:inMutation")),
]);
"""


def app(*providers: Json) -> dict[str, str]:
    return {"whoami.ts": FUNCTIONS, "auth.config.ts": f"export default {json.dumps({'providers': providers})};"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def issuers(rsa_key: SigningKey) -> AsyncIterator[Callable[[], Issuer]]:
    """New ones at the same address, so that the app that trusts them is the same and is pushed once."""
    made: list[Issuer] = []

    def make() -> Issuer:
        made.append(Issuer(server.origin, [rsa_key]))
        made[-1].open.set()
        return made[-1]

    async def answer(request: Request) -> Response:
        return await made[-1].answer(request)

    async with LoopbackServer() as server:
        await server.start(Starlette(routes=[Route("/{path:path}", answer)]))
        yield make


@pytest.fixture
def issuer(issuers: Callable[[], Issuer]) -> Iterator[Issuer]:
    made = issuers()
    yield made
    made.open.set()


@pytest_asyncio.fixture(loop_scope="module")
async def deployment(deployment_of: DeploymentOf, issuer: Issuer) -> AsyncIterator[Deployment]:
    """Trusts the issuer's ID tokens, and its other tokens when they are for "other-app"."""
    async with deployment_of(app(issuer.oidc, issuer.custom(applicationID="other-app"))) as running:
        yield running


async def call(deployment: Deployment, authorization: str, kind: str = "query") -> httpx2.Response:
    body = {"path": f"whoami:in{kind.capitalize()}", "args": {}}
    async with httpx2.AsyncClient(base_url=deployment.url, timeout=60) as client:
        return await client.post(f"/api/{kind}", json=body, headers={"Authorization": authorization})


async def test_every_kind_of_function_sees_the_user(deployment: Deployment, issuer: Issuer) -> None:
    token = issuer.fresh_token(given_name="Ada", level=3)
    ada = {
        "tokenIdentifier": f"{issuer.origin}|ada",
        "issuer": issuer.origin,
        "subject": "ada",
        "givenName": "Ada",
        "level": 3.0,
    }
    for kind, seen in (("query", ada), ("mutation", ada), ("action", [ada] * 3)):
        assert (await call(deployment, f"Bearer {token}", kind)).json()["value"] == seen


async def test_the_audience_chooses_among_the_providers_of_one_issuer(deployment: Deployment, issuer: Issuer) -> None:
    token = issuer.fresh_token(aud="other-app", given_name="Ada", org={"id": "o1"})
    seen = (await call(deployment, f"bearer {token}")).json()["value"]
    assert (seen["given_name"], seen["org.id"]) == ("Ada", "o1")


async def test_refused_tokens_are_401_with_the_reason(
    deployment: Deployment, issuer: Issuer, other_rsa_key: SigningKey
) -> None:
    now = int(time.time())
    cases = [
        ("nonsense", "InvalidAuthHeader", "Could not parse JWT payload."),
        (issuer.fresh_token(aud="third-app"), "NoAuthProvider", "No auth provider found matching the given token."),
        (issuer.fresh_token(exp=now - 1), "Unauthenticated", "Could not verify OIDC token claim."),
        (issuer.fresh_token(aud="other-app", exp=now - 60), "InvalidAuthHeader", "Could not validate token: the token"),
        (other_rsa_key.sign(issuer.claims(exp=now + 600)), "Unauthenticated", "Could not verify OIDC token claim."),
    ]
    for token, code, message in cases:
        response = await call(deployment, f"Bearer {token}")
        assert (response.status_code, response.json()["code"]) == (401, code)
        assert response.json()["message"].startswith(message)


async def test_provider_errors_are_passed_on(deployment: Deployment, issuer: Issuer, reply: Any) -> None:
    issuer.replies[JWKS] = reply(b"", 503)
    response = await call(deployment, f"Bearer {issuer.fresh_token()}")
    assert (response.status_code, response.json()) == (
        503,
        {"code": "AuthProviderDiscoveryFailed", "message": f"Auth provider discovery of {issuer.origin} failed: 503"},
    )


async def test_administrators_can_act_as_any_user(deployment: Deployment) -> None:
    attributes = {"issuer": "https://x.example", "subject": "eve", "emailVerified": True, "org": {"id": 7}}
    payload = base64.b64encode(json.dumps(attributes).encode()).decode()
    response = await call(deployment, f"Convex {deployment.admin_key}:{payload}", "action")
    assert (
        response.json()["value"] == [{**attributes, "tokenIdentifier": "https://x.example|eve", "org": {"id": 7.0}}] * 3
    )
    assert (await call(deployment, f"Convex {deployment.admin_key}")).json()["value"] is None


async def test_a_push_replaces_the_providers(deployment: Deployment, issuer: Issuer, deploy: Deploy) -> None:
    token = issuer.fresh_token()
    await deploy(deployment, app())
    assert (await call(deployment, f"Bearer {token}")).json()["code"] == "NoAuthProvider"
    await deploy(deployment, app(issuer.oidc))
    assert (await call(deployment, f"Bearer {token}")).status_code == 200


# HTTP actions

ROUTES = """
import { httpActionGeneric as httpAction, httpRouter } from "convex/server";

const http = httpRouter();
const json = (value) => new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } });
const get = (path, handler) => http.route({ path, method: "GET", handler: httpAction(handler) });
get("/whoami", async (ctx) => json(await ctx.auth.getUserIdentity()));
get("/calm", async () => json("did not look"));
get("/.well-known/openid-configuration", async () => {
  const issuer = process.env.CONVEX_SITE_URL;
  return json({ issuer, jwks_uri: `${issuer}/keys` });
});
get("/keys", async () => new Response(process.env.JWKS));
export default http;
"""
OWN_ISSUER = "export default { providers: [{ domain: process.env.CONVEX_SITE_URL, applicationID: 'my-app' }] };"


async def visit(deployment: Deployment, path: str, authorization: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=deployment.site_url, timeout=60) as client:
        return await client.get(path, headers={"Authorization": authorization})


async def test_an_http_action_knows_the_user_and_runs_without_one(
    deployment: Deployment, issuer: Issuer, deploy: Deploy
) -> None:
    await deploy(deployment, {**app(issuer.oidc), "http.ts": ROUTES})
    assert (await visit(deployment, "/whoami", f"Bearer {issuer.fresh_token()}")).json()["subject"] == "ada"
    expired = f"Bearer {issuer.fresh_token(exp=1)}"
    assert (await visit(deployment, "/calm", expired)).json() == "did not look"
    asked = await visit(deployment, "/whoami", expired)
    assert asked.status_code == 500
    assert "Could not verify OIDC token claim." in asked.json()["code"]


async def test_an_app_can_issue_its_own_tokens(deployment: Deployment, deploy: Deploy, rsa_key: SigningKey) -> None:
    await set_variable(deployment, "JWKS", json.dumps({"keys": [rsa_key.jwk]}))
    await deploy(deployment, {"whoami.ts": FUNCTIONS, "http.ts": ROUTES, "auth.config.ts": OWN_ISSUER})
    now = int(time.time())
    claims = {"iss": deployment.site_url, "sub": "ada", "aud": "my-app", "iat": now, "exp": now + 60}
    token = rsa_key.sign(claims)
    assert (await call(deployment, f"Bearer {token}")).json()["value"]["subject"] == "ada"
    assert (await visit(deployment, "/whoami", f"Bearer {token}")).json()["subject"] == "ada"
    async with connected(deployment) as socket:
        await socket.authenticate(0, token)
        assert await socket.subject() == ["ada"]


async def test_a_variable_can_name_the_provider(deployment: Deployment, issuer: Issuer, deploy: Deploy) -> None:
    config = "export default { providers: [{ domain: process.env.ISSUER, applicationID: 'my-app' }] };"
    await set_variable(deployment, "ISSUER", "https://elsewhere.example")
    await deploy(deployment, {"whoami.ts": FUNCTIONS, "auth.config.ts": config})
    token = issuer.fresh_token()
    assert (await call(deployment, f"Bearer {token}")).json()["code"] == "NoAuthProvider"
    await set_variable(deployment, "ISSUER", issuer.origin)
    assert (await call(deployment, f"Bearer {token}")).json()["value"]["subject"] == "ada"


async def set_variable(deployment: Deployment, name: str, value: str) -> None:
    headers = {"Authorization": f"Convex {deployment.admin_key}"}
    async with httpx2.AsyncClient(base_url=deployment.url, headers=headers, timeout=60) as client:
        changes = {"changes": [{"name": name, "value": value}]}
        assert (await client.post("/api/update_environment_variables", json=changes)).status_code == 200


# The socket


class Socket:
    def __init__(self, connection: websockets.ClientConnection) -> None:
        self._connection = connection

    async def say(self, **message: object) -> None:
        await self._connection.send(json.dumps(message))

    async def authenticate(self, base_version: int, token: str | None) -> None:
        credential = {"tokenType": "None"} if token is None else {"tokenType": "User", "value": token}
        await self.say(type="Authenticate", baseVersion=base_version, **credential)

    async def hear(self, kind: str) -> Json:
        """The next message of this kind."""
        async with asyncio.timeout(60):
            async for text in self._connection:
                message: Json = json.loads(text)
                if message["type"] == kind:
                    return message
        raise AssertionError(f"closed without {kind}")

    async def subject(self) -> Any:
        """Of the user that the one subscribed query sees, in the next transition."""
        transition = await self.hear("Transition")
        return [(change["value"] or {}).get("subject") for change in transition["modifications"]]

    async def closed(self) -> int | None:
        await asyncio.wait_for(self._connection.wait_closed(), 60)
        return self._connection.close_code


@contextlib.asynccontextmanager
async def connected(deployment: Deployment) -> AsyncIterator[Socket]:
    async with websockets.connect(f"{deployment.url.replace('http', 'ws')}/api/1.44.0/sync") as connection:
        socket = Socket(connection)
        await socket.say(
            type="Connect", sessionId="b831f486-43ac-4d02-976e-a1a6000c618a", connectionCount=0, lastCloseReason=None
        )
        query = {"type": "Add", "queryId": 0, "udfPath": "whoami:inQuery", "args": [{}]}
        await socket.say(type="ModifyQuerySet", baseVersion=0, newVersion=1, modifications=[query])
        assert await socket.subject() == [None]
        yield socket


async def test_users_log_in_and_out_on_one_socket(deployment: Deployment, issuer: Issuer) -> None:
    async with connected(deployment) as socket:
        for version, subject in enumerate(["ada", "bob", None, "ada"]):
            await socket.authenticate(version, subject and issuer.fresh_token(sub=subject))
            assert await socket.subject() == [subject]


async def test_a_fresh_token_of_the_same_user_changes_no_result(deployment: Deployment, issuer: Issuer) -> None:
    async with connected(deployment) as socket:
        await socket.authenticate(0, issuer.fresh_token())
        assert await socket.subject() == ["ada"]
        await socket.authenticate(1, issuer.fresh_token(iat=1))
        transition = await socket.hear("Transition")
        assert (transition["endVersion"]["identity"], transition["modifications"]) == (2, [])


async def test_a_refused_token_ends_the_socket(deployment: Deployment, issuer: Issuer) -> None:
    async with connected(deployment) as socket:
        await socket.authenticate(0, issuer.fresh_token(exp=1))
        assert await socket.hear("AuthError") == {
            "type": "AuthError",
            "error": "Could not verify OIDC token claim. Check that the token signature is valid and the token hasn't "
            "expired.",
            "baseVersion": 0,
            "authUpdateAttempted": True,
        }
        assert await socket.closed() == 1005


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_provider_in_trouble_closes_the_socket_for_another_attempt(
    status: int, deployment: Deployment, issuer: Issuer, reply: Any
) -> None:
    issuer.replies[JWKS] = reply(b"", status)
    for audience in ("my-app", "other-app"):
        async with connected(deployment) as socket:
            await socket.authenticate(0, issuer.fresh_token(aud=audience))
            assert await socket.closed() == 1013


async def test_an_identity_ends_with_its_token(
    deployment: Deployment, issuer: Issuer, believe_later: Callable[[float], None]
) -> None:
    async with connected(deployment) as socket:
        await socket.authenticate(0, issuer.fresh_token(exp=time.time() + 600))
        assert await socket.subject() == ["ada"]
        believe_later(600)
        await socket.say(type="Mutation", requestId=0, udfPath="whoami:inMutation", args=[{}])
        assert await socket.hear("AuthError") == {
            "type": "AuthError",
            "error": "Convex token identity expired",
            "baseVersion": 1,
            "authUpdateAttempted": False,
        }
        assert await socket.closed() == 1005


async def test_a_slow_provider_holds_up_one_socket_and_no_other(deployment: Deployment, issuer: Issuer) -> None:
    issuer.open.clear()
    async with connected(deployment) as waiting:
        await waiting.authenticate(0, issuer.fresh_token())
        await issuer.reached.wait()
        async with connected(deployment):
            pass
        issuer.open.set()
        assert await waiting.subject() == ["ada"]
