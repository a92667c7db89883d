import json
import socket
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.errors import RequestError
from convex_evals.backend.identity import User

Issuer = Any
SigningKey = Any
Clock = Any
Verifier = Callable[..., JwtVerifier]

DISCOVERY = "/.well-known/openid-configuration"
JWKS = "/keys"
NOT_VERIFIED = (
    "Could not verify OIDC token claim. Check that the token signature is valid and the token hasn't expired."
)


async def refusal(verifier: JwtVerifier, token: str) -> RequestError:
    with pytest.raises(RequestError) as refused:
        await verifier.verify(token)
    return refused.value


async def test_a_valid_token_is_its_user_with_renamed_claims(issuer: Issuer, verifier: Verifier, clock: Clock) -> None:
    token = issuer.token(given_name="Ada", email_verified=True, role="editor", nonce="n")
    attributes = {
        "tokenIdentifier": f"{issuer.origin}|ada",
        "issuer": issuer.origin,
        "subject": "ada",
        "givenName": "Ada",
        "emailVerified": True,
        "role": "editor",
    }
    assert await verifier(issuer.oidc).verify(token) == User(attributes, token, clock.now + 600)


async def test_eddsa_is_the_other_algorithm(issuer: Issuer, verifier: Verifier, ed_key: SigningKey) -> None:
    issuer.keys = [ed_key]
    assert await verifier(issuer.oidc).verify(issuer.token())


async def test_trailing_slashes_do_not_matter_and_stay_in_the_identifier(
    issuer: Issuer, verifier: Verifier, reply: Any
) -> None:
    document = json.dumps({"issuer": f"{issuer.origin}/", "jwks_uri": f"{issuer.origin}{JWKS}"}).encode()
    issuer.replies[DISCOVERY] = reply(document)
    user = await verifier(issuer.oidc).verify(issuer.token(iss=f"{issuer.origin}/"))
    assert user.attributes["tokenIdentifier"] == f"{issuer.origin}/|ada"
    assert issuer.asked[DISCOVERY] == 1


async def test_a_token_without_key_id_is_checked_with_the_only_key(
    issuer: Issuer, verifier: Verifier, rsa_key: SigningKey, other_rsa_key: SigningKey
) -> None:
    token = jwt.encode(issuer.claims(), rsa_key.private, "RS256")
    assert await verifier(issuer.oidc).verify(token)
    issuer.keys = [rsa_key, other_rsa_key]
    assert (await refusal(verifier(issuer.oidc), token)).message == NOT_VERIFIED


async def test_what_is_not_proven_is_refused(
    issuer: Issuer, verifier: Verifier, clock: Clock, rsa_key: SigningKey, other_rsa_key: SigningKey, ec_key: SigningKey
) -> None:
    claims = issuer.claims()
    head, _, signature = issuer.token().split(".")
    other_payload = issuer.token(sub="eve").split(".")[1]
    issuer.keys = [rsa_key, ec_key]
    cases = {
        "changed": f"{head}.{other_payload}.{signature}",
        "signed by someone else": other_rsa_key.sign(claims, kid="k1"),
        "unknown key": other_rsa_key.sign(claims),
        "unsigned": jwt.encode(claims, "", "none", {"kid": "k1"}),
        "public key as secret": rsa_key.sign_with_public_key(claims),
        "algorithm of custom tokens": ec_key.sign(claims),
        "expired": issuer.token(exp=int(clock.now)),
        "several audiences": issuer.token(aud=["my-app", "other"]),
    }
    refusing = verifier(issuer.oidc)
    for name, token in cases.items():
        error = await refusal(refusing, token)
        assert (error.status, error.code, error.message) == (401, "Unauthenticated", NOT_VERIFIED), name
    assert await refusing.verify(issuer.token(aud=["my-app"]))


async def test_a_token_that_is_not_an_id_token_is_recognised(issuer: Issuer, verifier: Verifier) -> None:
    for changes in ({"sub": None}, {"iat": None}, {"exp": None}, {"name": 7}):
        error = await refusal(verifier(issuer.oidc), issuer.token(**changes))
        assert (error.status, error.code) == (401, "InvalidAuthHeader")
        assert error.message == "Could not parse as OIDC ID token. Token might not be an OIDC-compliant JWT."


async def test_discovery_and_keys_are_fetched_once_while_they_are_fresh(
    issuer: Issuer, verifier: Verifier, clock: Clock, other_rsa_key: SigningKey
) -> None:
    issuer.cache_control = "public, max-age=60"
    verifying = verifier(issuer.oidc)
    for _ in range(3):
        await verifying.verify(issuer.token())
    assert issuer.asked == {DISCOVERY: 1, JWKS: 1}
    issuer.keys = [other_rsa_key]
    assert await verifying.verify(issuer.token())
    assert issuer.asked == {DISCOVERY: 1, JWKS: 2}
    clock.now += 60
    assert await verifying.verify(issuer.token())
    assert issuer.asked == {DISCOVERY: 2, JWKS: 3}


@pytest.mark.parametrize("path", [DISCOVERY, JWKS])
@pytest.mark.parametrize(
    ("content", "status", "seen_status", "rest"),
    [
        (b"not here", 404, 404, ": 404 not here"),
        (b"", 301, 400, ": 301"),
        (b"x" * 600, 400, 400, f": 400 {'x' * 500}…"),
        (b"slow down", 429, 429, ": 429 slow down"),
        (b"oops", 500, 500, ": 500 oops"),
        (b"", 503, 503, ": 503"),
        (b"<html>", 200, 400, ""),
        (b"[]", 200, 400, ""),
        (b"{}", 200, 400, ""),
    ],
)
async def test_failed_discovery_carries_what_the_provider_said(
    path: str, content: bytes, status: int, seen_status: int, rest: str, issuer: Issuer, verifier: Verifier, reply: Any
) -> None:
    issuer.replies[path] = reply(content, status)
    error = await refusal(verifier(issuer.oidc), issuer.token())
    assert (error.status, error.code) == (seen_status, "AuthProviderDiscoveryFailed")
    assert error.message == f"Auth provider discovery of {issuer.origin} failed{rest}"


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://other.example", "jwks_uri": "{origin}/keys"},
        {"jwks_uri": "{origin}/keys"},
        {"issuer": "{origin}"},
    ],
)
async def test_a_discovery_document_must_speak_for_the_issuer(
    document: dict[str, str], issuer: Issuer, verifier: Verifier, reply: Any
) -> None:
    issuer.replies[DISCOVERY] = reply(json.dumps(document).replace("{origin}", issuer.origin).encode())
    error = await refusal(verifier(issuer.oidc), issuer.token())
    assert error.message == f"Auth provider discovery of {issuer.origin} failed"
    assert issuer.asked[JWKS] == 0


async def test_a_provider_that_is_down_or_slow_fails_discovery(issuer: Issuer, verifier: Verifier) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        down = f"http://127.0.0.1:{unused.getsockname()[1]}"
        provider = {"applicationID": "my-app", "domain": down}
        error = await refusal(verifier(provider), issuer.token(iss=down))
    assert (error.status, error.message) == (400, f"Auth provider discovery of {down} failed")
    issuer.open.clear()
    error = await refusal(verifier(issuer.oidc, timeout=0.05), issuer.token())
    assert (error.status, error.message) == (400, f"Auth provider discovery of {issuer.origin} failed")


async def test_a_remote_provider_is_not_asked_and_that_is_reported(
    issuer: Issuer, verifier: Verifier, reply: Any
) -> None:
    far = "https://far.example"
    why = "this deployment may only connect to localhost and 127.0.0.1, not to far.example"
    error = await refusal(verifier({"applicationID": "my-app", "domain": far}), issuer.token(iss="far.example"))
    assert (error.status, error.message) == (400, f"Auth provider discovery of far.example failed: {why}")
    issuer.replies[DISCOVERY] = reply(json.dumps({"issuer": issuer.origin, "jwks_uri": f"{far}/keys"}).encode())
    error = await refusal(verifier(issuer.oidc), issuer.token())
    assert error.message == f"Auth provider discovery of {issuer.origin} failed: {why}"
