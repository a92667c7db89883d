"""Auth and metadata."""

import base64
import json
import time
import uuid
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

ISSUER = "https://issuer.conformance.example"


class _Issuer:
    """Signs tokens; its keys travel in the auth config as a data URL, so that no network is needed."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def config(self) -> str:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
        keys = json.dumps({"keys": [{**public, "kid": "k1", "alg": "RS256", "use": "sig"}]})
        provider = {
            "type": "customJwt",
            "applicationID": "conformance",
            "issuer": ISSUER,
            "jwks": "data:text/plain;base64," + base64.b64encode(keys.encode()).decode(),
            "algorithm": "RS256",
        }
        return f"export default {json.dumps({'providers': [provider]})};\n"

    def token(self, **claims: Any) -> str:
        now = int(time.time())
        payload = {"iss": ISSUER, "sub": "user_7", "aud": "conformance", "iat": now, "exp": now + 600, **claims}
        return jwt.encode(payload, self._key, "RS256", headers={"kid": "k1"})


@check(91, "Without a token there is no identity", p1=True)
async def no_identity(t: Target) -> None:
    for kind in ("query", "mutation", "action"):
        expect.equal((await t.client.call(kind, f"identity:in{kind.capitalize()}")).value, None)


@check(92, "A valid JWT gives its identity with standard and custom claims", p1=True, owns_deployment=True)
async def valid_token(t: Target) -> None:
    issuer = _Issuer()
    pushed = await t.push({"convex/auth.config.ts": issuer.config})
    expect.true(pushed.ok, pushed.output)
    user = t.client.with_token(issuer.token(name="Ada", email="ada@example.com", role="editor"))
    identity = await user.query("identity:inQuery")
    expect.equal(identity["tokenIdentifier"], f"{ISSUER}|user_7")
    expect.equal((identity["issuer"], identity["subject"]), (ISSUER, "user_7"))
    expect.equal((identity["name"], identity["email"], identity["role"]), ("Ada", "ada@example.com", "editor"))
    acted = await t.acting_as(givenName="Ada", custom={"a": 1}).query("identity:inQuery")
    expect.equal((acted["givenName"], acted["custom"]), ("Ada", {"a": 1.0}))


@check(93, "Nested calls of the app see the identity")
async def nested_identity(t: Target) -> None:
    user = t.acting_as(subject="nested")
    expect.equal(await user.mutation("identity:nestedInMutation"), "nested")
    expect.equal(await user.action("identity:nestedInAction"), ["nested"] * 3)


@check(94, "Scheduled functions have no identity, whoever scheduled them", p1=True)
async def scheduled_identity(t: Target) -> None:
    name = uuid.uuid4().hex
    await t.acting_as().mutation("scheduling:asUser", {"name": name})

    async def ran() -> bool:
        return bool(await t.query("scheduling:runs", {"name": name}))

    await expect.eventually(ran, "the job runs")
    expect.equal((await t.query("scheduling:runs", {"name": name}))[0]["identity"], False)


@check(95, "An HTTP action with a bad Authorization header runs; only asking for the identity throws")
async def bad_authorization(t: Target) -> None:
    headers = {"Authorization": "Bearer not.a.token"}
    calm = await t.http.get(f"{t.site_url}/whoami?look=no", headers=headers)
    expect.equal((calm.status_code, calm.text), (200, "did not look"))
    expect.equal((await t.http.get(f"{t.site_url}/whoami", headers=headers)).status_code, 500)
    expect.equal((await t.http.get(f"{t.site_url}/whoami")).json(), None)


@check(96, "getFunctionMetadata tells name and component")
async def function_metadata(t: Target) -> None:
    found = await t.query("identity:functionMetadata")
    expect.equal((found["name"], found["componentPath"]), ("identity:functionMetadata", ""))


@check(97, "getRequestMetadata is refused in queries and has a request id in mutations")
async def request_metadata(t: Target) -> None:
    failure = await expect.failure(t.query("identity:requestMetadataInQuery"))
    expect.equal(failure.plain, "Cannot get request metadata in a Query")
    expect.true((await t.mutation("identity:requestMetadata"))["requestId"], "no request id")


@check(98, "getTransactionMetrics counts one get as one document and one query")
async def metrics(t: Target) -> None:
    found = await t.query("identity:metrics", {"id": await t.mutation("identity:addDocument")})
    expect.equal((found["documentsRead"]["used"], found["databaseQueries"]["used"]), (1.0, 1.0))
