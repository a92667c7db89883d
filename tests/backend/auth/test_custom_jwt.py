import asyncio
import socket
from collections.abc import Callable
from typing import Any

import jwt
import orjson
import pytest

from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.auth.tokens import Jwt
from convex_evals.backend.auth.verifier import CustomJwtProvider, check_claims
from convex_evals.backend.errors import RequestError
from convex_evals.backend.identity import User

Issuer = Any
SigningKey = Any
Clock = Any
Verifier = Callable[..., JwtVerifier]

JWKS = "/keys"
NO_SUCH_KEY = (
    "Could not decode token. The JWT's 'kid' (key ID) header is '{}', does this key match any key in the "
    "provider's JWKS?"
)


async def refusal(verifier: JwtVerifier, token: str) -> RequestError:
    with pytest.raises(RequestError) as refused:
        await verifier.verify(token)
    return refused.value


async def test_a_valid_token_is_its_user(issuer: Issuer, verifier: Verifier, clock: Clock) -> None:
    token = issuer.token()
    attributes = {"tokenIdentifier": f"{issuer.origin}|ada", "issuer": issuer.origin, "subject": "ada"}
    assert await verifier(issuer.custom()).verify(token) == User(attributes, token, clock.now + 600)


async def test_keys_may_be_written_into_the_config(issuer: Issuer, verifier: Verifier) -> None:
    user = await verifier(issuer.custom(jwks=issuer.data_url)).verify(issuer.token())
    assert user.attributes["subject"] == "ada"
    assert not issuer.asked


async def test_es256_is_the_other_algorithm(issuer: Issuer, verifier: Verifier, ec_key: SigningKey) -> None:
    issuer.keys = [ec_key]
    user = await verifier(issuer.custom("ES256")).verify(issuer.token())
    assert user.attributes["subject"] == "ada"
    error = await refusal(verifier(issuer.custom("RS256")), issuer.token())
    assert error.message == NO_SUCH_KEY.format("e1")


async def test_claims_keep_their_names_and_nested_ones_get_dotted_names(issuer: Issuer, verifier: Verifier) -> None:
    token = issuer.token(
        given_name="Ada",
        props={"role": "x", "deep": {"er": [{"a": 1}]}, "none": {}},
        nothing=False,
        nonce="kept",
        jti="1",
        nbf=1,
        tokenIdentifier="eve",
        subject="eve",
    )
    assert (await verifier(issuer.custom()).verify(token)).attributes == {
        "tokenIdentifier": f"{issuer.origin}|ada",
        "issuer": issuer.origin,
        "subject": "ada",
        "given_name": "Ada",
        "props.role": "x",
        "props.deep.er": [{"a": 1}],
        "nothing": False,
        "nonce": "kept",
    }


async def test_without_an_application_id_any_audience_will_do(issuer: Issuer, verifier: Verifier) -> None:
    anyone = verifier(issuer.custom(applicationID=None))
    for audience in (None, "other", ["a", "b"]):
        assert (await anyone.verify(issuer.token(aud=audience))).attributes["subject"] == "ada"


async def test_several_audiences_are_fine_when_the_application_is_among_them(
    issuer: Issuer, verifier: Verifier
) -> None:
    assert await verifier(issuer.custom()).verify(issuer.token(aud=["other", "my-app"]))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"exp": 1_800_000_000 - 6}, "the token expired 6 seconds ago"),
        ({"exp": None}, "the claim 'exp' is required, but it is missing"),
        ({"exp": "soon"}, "the claim 'exp' is required, but it is missing"),
        ({"sub": None}, "the claim 'sub' is required, but it is missing"),
        ({"nbf": 1_800_000_000 + 60}, "the token will be valid in 60 seconds"),
    ],
)
async def test_a_token_that_is_not_in_force_is_refused(
    changes: dict[str, object], why: str, issuer: Issuer, rsa_key: SigningKey, verifier: Verifier
) -> None:
    token = jwt.PyJWS().encode(orjson.dumps(issuer.claims(**changes)), rsa_key.private, "RS256", {"kid": "k1"})
    error = await refusal(verifier(issuer.custom()), token)
    assert (error.status, error.code) == (401, "InvalidAuthHeader")
    assert error.message == f"Could not validate token: {why}"


async def test_clocks_may_differ_by_five_seconds(issuer: Issuer, verifier: Verifier, clock: Clock) -> None:
    now = int(clock.now)
    assert await verifier(issuer.custom()).verify(issuer.token(exp=now - 5, nbf=now + 5))


async def test_forgeries_are_refused(
    issuer: Issuer, verifier: Verifier, rsa_key: SigningKey, other_rsa_key: SigningKey, ec_key: SigningKey
) -> None:
    claims = issuer.claims()
    head, payload, signature = issuer.token().split(".")
    other_payload = issuer.token(sub="eve").split(".")[1]
    cases = [
        (f"{head}.{other_payload}.{signature}", "k1"),
        (f"{head}.{payload}.", "k1"),
        (other_rsa_key.sign(claims, kid="k1"), "k1"),
        (other_rsa_key.sign(claims), "k2"),
        (ec_key.sign(claims, kid="k1"), "k1"),
        (rsa_key.sign_with_public_key(claims), "k1"),
        (jwt.encode(claims, "", "none", {"kid": "k1"}), "k1"),
        (jwt.encode(claims, rsa_key.private, "PS256", {"kid": "k1"}), "k1"),
        (rsa_key.sign(claims, jwk=other_rsa_key.jwk, kid="k9"), "k9"),
    ]
    refused = verifier(issuer.custom())
    for token, key_id in cases:
        error = await refusal(refused, token)
        assert (error.status, error.code, error.message) == (401, "InvalidAuthHeader", NO_SUCH_KEY.format(key_id))


async def test_a_token_must_name_its_key(issuer: Issuer, verifier: Verifier, rsa_key: SigningKey) -> None:
    token = jwt.encode(issuer.claims(), rsa_key.private, "RS256")
    error = await refusal(verifier(issuer.custom()), token)
    assert error.message == "Could not decode token. JWT may be missing a 'kid' (key ID) header."


# Keys that change


async def test_a_new_key_is_found_although_the_old_ones_are_kept(
    issuer: Issuer, verifier: Verifier, other_rsa_key: SigningKey
) -> None:
    issuer.cache_control = "max-age=3600"
    verifying = verifier(issuer.custom())
    old = issuer.token()
    assert await verifying.verify(old)
    issuer.keys = [other_rsa_key]
    assert await verifying.verify(issuer.token())
    assert (await refusal(verifying, old)).message == NO_SUCH_KEY.format("k1")


async def test_unknown_keys_do_not_make_the_deployment_ask_without_end(
    issuer: Issuer, verifier: Verifier, other_rsa_key: SigningKey
) -> None:
    issuer.cache_control = "max-age=3600"
    verifying = verifier(issuer.custom())
    unknown = other_rsa_key.sign(issuer.claims())
    for _ in range(20):
        await refusal(verifying, unknown)
    assert issuer.asked[JWKS] == 6
    assert await verifying.verify(issuer.token())


async def test_known_keys_stay_good_while_the_issuer_is_down(
    issuer: Issuer, verifier: Verifier, other_rsa_key: SigningKey, reply: Any
) -> None:
    issuer.cache_control = "max-age=3600"
    verifying = verifier(issuer.custom())
    assert await verifying.verify(issuer.token())
    issuer.replies[JWKS] = reply(b"down", 500)
    await refusal(verifying, other_rsa_key.sign(issuer.claims()))
    assert await verifying.verify(issuer.token())


async def test_tokens_at_the_same_time_cost_one_fetch(issuer: Issuer, verifier: Verifier) -> None:
    issuer.open.clear()
    verifying = verifier(issuer.custom())
    waiting = [asyncio.create_task(verifying.verify(issuer.token(sub=f"user{n}"))) for n in range(10)]
    await issuer.reached.wait()
    issuer.open.set()
    assert {user.attributes["subject"] for user in await asyncio.gather(*waiting)} == {f"user{n}" for n in range(10)}
    assert issuer.asked[JWKS] == 1


# Keys that cannot be had


@pytest.mark.parametrize(
    ("content", "status", "content_type", "seen_status", "message"),
    [
        (b"gone", 404, "text/plain", 401, "Could not fetch JWKS from URL '{}': 404 gone"),
        (b"", 302, "text/plain", 401, "Could not fetch JWKS from URL '{}': 302"),
        (b"slow down", 429, "text/plain", 429, "Could not fetch JWKS from URL '{}': 429 slow down"),
        (b"oops", 500, "text/plain", 500, "Could not fetch JWKS from URL '{}': 500 oops"),
        (b"", 503, "text/plain", 503, "Could not fetch JWKS from URL '{}': 503"),
        (
            b"{}",
            200,
            "text/html",
            401,
            "Could not fetch JWKS from URL '{}': the content type must be application/json or "
            "application/jwk-set+json, not 'text/html'",
        ),
        (
            b"{}",
            200,
            "application/json",
            401,
            "Invalid JWKS response body from '{}'. a JWKS is an object with a list named 'keys'",
        ),
        (
            b"x" * 2_000_000,
            200,
            "application/json",
            401,
            "Could not fetch JWKS from URL '{}': the answer is larger than ",
        ),
    ],
)
async def test_a_bad_answer_is_reported_and_a_provider_error_asks_to_retry(
    content: bytes, status: int, content_type: str, seen_status: int, message: str,
    issuer: Issuer, verifier: Verifier, reply: Any,
) -> None:  # fmt: skip
    issuer.replies[JWKS] = reply(content, status, {"content-type": content_type})
    error = await refusal(verifier(issuer.custom()), issuer.token())
    assert (error.status, error.code) == (seen_status, "InvalidAuthHeader")
    assert error.message.startswith(message.format(f"{issuer.origin}{JWKS}"))


@pytest.mark.parametrize("content_type", ["application/jwk-set+json", "Application/JSON; charset=utf-8"])
async def test_both_types_of_key_sets_are_read(
    content_type: str, issuer: Issuer, verifier: Verifier, reply: Any
) -> None:
    document = orjson.dumps({"keys": [key.jwk for key in issuer.keys]})
    issuer.replies[JWKS] = reply(document, 200, {"content-type": content_type})
    assert await verifier(issuer.custom()).verify(issuer.token())


async def test_an_issuer_that_is_down_slow_or_remote_is_reported(issuer: Issuer, verifier: Verifier) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/keys"
        error = await refusal(verifier(issuer.custom(jwks=url)), issuer.token())
    assert (error.status, error.message) == (
        401, f"Could not fetch JWKS from URL '{url}': All connection attempts failed",
    )  # fmt: skip
    issuer.open.clear()
    error = await refusal(verifier(issuer.custom(), timeout=0.05), issuer.token())
    assert error.message == f"Could not fetch JWKS from URL '{issuer.origin}/keys': no answer within 0.05 seconds"
    error = await refusal(verifier(issuer.custom(jwks="https://far.example/keys")), issuer.token())
    assert error.message == (
        "Could not fetch JWKS from URL 'https://far.example/keys': this deployment may only connect to localhost and "
        "127.0.0.1, not to far.example"
    )


async def test_a_broken_data_url_is_reported(issuer: Issuer, verifier: Verifier) -> None:
    error = await refusal(verifier(issuer.custom(jwks="data:text/plain")), issuer.token())
    assert error.message == (
        "Invalid JWKS response body from 'data:text/plain'. a data URL has a comma before its data"
    )


# The rules for claims hold whoever chose the provider


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iss": "https://other.example"}, "Invalid issuer: https://other.example != {issuer}"),
        (
            {"aud": None},
            "Missing audience claim ('aud') in JWT payload. The JWT must include an 'aud' claim that matches your "
            "configured application ID.",
        ),
        ({"aud": "x"}, 'Invalid audience: my-app not in ["x"]'),
        ({"aud": ["x", "y"]}, 'Invalid audience: my-app not in ["x", "y"]'),
    ],
)
def test_a_token_for_someone_else_is_refused(
    changes: dict[str, object], message: str, issuer: Issuer, clock: Clock
) -> None:
    provider = CustomJwtProvider(issuer.origin, "", "RS256", "my-app")
    with pytest.raises(RequestError) as refused:
        check_claims(provider, Jwt.parse(issuer.token(**changes)), clock.now)
    assert (refused.value.code, refused.value.message) == ("InvalidAuthHeader", message.format(issuer=issuer.origin))
