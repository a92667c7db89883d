"""Users who prove who they are with a token."""

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import rsa

pytestmark = pytest.mark.asyncio(loop_scope="module")

App = Any
Deployment = Any
NodeClients = Any
PushApp = Any

ISSUER = "https://auth.example"


@pytest.fixture(scope="session")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def auth_config(key: rsa.RSAPrivateKey) -> str:
    public = {**jwt.get_algorithm_by_name("RS256").to_jwk(key.public_key(), as_dict=True), "kid": "k1", "alg": "RS256"}
    keys = base64.b64encode(json.dumps({"keys": [public]}).encode()).decode()
    provider = {
        "type": "customJwt",
        "issuer": ISSUER,
        "jwks": f"data:text/plain;charset=utf-8;base64,{keys}",
        "algorithm": "RS256",
    }
    return f"export default {{ providers: [{json.dumps(provider)}] }};"


def token(key: rsa.RSAPrivateKey, name: str, issuer: str = ISSUER, seconds: float = 3600) -> str:
    now = time.time()
    claims = {"iss": issuer, "sub": name.lower(), "name": name, "iat": now, "exp": now + seconds}
    return jwt.encode(claims, key, "RS256", {"kid": "k1"})


@pytest_asyncio.fixture(loop_scope="module")
async def with_auth(deployment: Deployment, app: App, push_app: PushApp, key: rsa.RSAPrivateKey) -> Deployment:
    await push_app(deployment, app.with_module("auth.config.js", auth_config(key)))
    return deployment


@pytest.mark.parametrize("kind", ["browser", "react"])
async def test_a_token_makes_the_user_known_to_queries(
    node: NodeClients, with_auth: Deployment, key: rsa.RSAPrivateKey, kind: str
) -> None:
    client = await node.open(kind, with_auth.url)
    whoami = await client.subscribe("notes:whoami")
    assert await whoami.next() is None
    assert await client.set_auth(token(key, "Ada")) is True
    assert await whoami.next() == "Ada"
    assert await client.set_auth(token(key, "Grace")) is True
    assert await whoami.next() == "Grace"


async def test_a_token_is_not_an_admin_key(node: NodeClients, with_auth: Deployment, key: rsa.RSAPrivateKey) -> None:
    client = await node.open("browser", with_auth.url)
    assert await client.set_auth(token(key, "Ada")) is True
    with pytest.raises(Exception, match="Could not find public function for 'notes:secret'"):
        await client.mutation("notes:secret")
    with pytest.raises(Exception, match="Operation query not permitted"):
        await client.query("_system/frontend/tableSize", tableName="notes")


@pytest.mark.parametrize("wrong", [{"issuer": "https://other.example"}, {"seconds": -60}])
async def test_a_token_that_proves_nothing_leaves_the_client_unauthenticated(
    node: NodeClients, with_auth: Deployment, key: rsa.RSAPrivateKey, wrong: Any
) -> None:
    client = await node.open("browser", with_auth.url)
    assert await client.set_auth(token(key, "Ada", **wrong)) is False
    assert await client.query("notes:whoami") is None


@pytest.mark.parametrize("kind", ["browser", "react"])
async def test_logging_out_runs_queries_again_without_the_user(
    node: NodeClients, with_auth: Deployment, key: rsa.RSAPrivateKey, kind: str
) -> None:
    client = await node.open(kind, with_auth.url)
    assert await client.set_auth(token(key, "Ada")) is True
    whoami = await client.subscribe("notes:whoami")
    assert await whoami.next() == "Ada"
    await client.clear_auth()
    assert await whoami.next() is None


async def test_a_client_swaps_its_first_token_for_a_fresh_one(
    node: NodeClients, with_auth: Deployment, key: rsa.RSAPrivateKey
) -> None:
    client = await node.open("browser", with_auth.url)
    whoami = await client.subscribe("notes:whoami")
    assert await client.set_auth(token(key, "Ada"), token(key, "Ada Lovelace")) is True
    assert await whoami.until(lambda name: name == "Ada Lovelace")


async def test_a_client_whose_token_expired_shows_a_new_one_and_loses_nothing(
    node: NodeClients, with_auth: Deployment, key: rsa.RSAPrivateKey, believe_later: Callable[[float], None]
) -> None:
    client = await node.open("browser", with_auth.url)
    short = token(key, "Ada", seconds=600)
    assert await client.set_auth(short, short, token(key, "Grace")) is True
    whoami = await client.subscribe("notes:whoami")
    assert await whoami.next() == "Ada"
    believe_later(600)
    await client.mutation("notes:add", topic="late", text="hello")
    assert await whoami.next() == "Grace"
    assert await client.query("notes:list", topic="late") == ["hello"]
