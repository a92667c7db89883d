import base64
import json

import pytest

from convex_evals.backend.admin_keys import AdminKeys
from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.deployed import CurrentApplication
from convex_evals.backend.errors import RequestError
from convex_evals.backend.identity import ADMIN, ANONYMOUS, ActingAdmin, Authenticator, Identity, User, require_admin

KEYS = AdminKeys("local", "secret")
KEY = KEYS.issue()
SECRET = KEY.partition("|")[2]
AUTHENTICATOR = Authenticator(KEYS, JwtVerifier(CurrentApplication()))
ADA = {"issuer": "https://auth.example", "subject": "ada", "role": "editor"}


def encoded(attributes: object) -> str:
    return base64.b64encode(json.dumps(attributes).encode()).decode()


def jwt(claims: object) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{payload}.c2ln"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, ANONYMOUS),
        (f"Convex {KEY}", ADMIN),
        (f"convex {KEY}", ADMIN),
        (f"CONVEX dev:local|{SECRET}", ADMIN),
    ],
)
async def test_the_header_says_who_calls(header: str | None, expected: Identity) -> None:
    assert await AUTHENTICATOR.authenticate(header) == expected


@pytest.mark.parametrize(
    ("header", "status", "code", "message"),
    [
        ("Convex", 400, "InvalidHeaderFailure", "Invalid authentication header"),
        ("Basic abcdef", 400, "InvalidAdminKey", "Invalid admin key"),
        ("Convex wrong", 401, "BadAdminKey", "The provided admin key was invalid for this instance"),
        (f"Convex {KEY}:%%%", 400, "HeaderParseFailure", "Malformed Authorization header."),
        (f"Convex {KEY}:{encoded([])}", 400, "HeaderParseFailure", "Malformed Authorization header."),
        (
            f"Convex {KEY}:{encoded({'name': 'A'})}",
            400,
            "HeaderParseFailure",
            "Malformed Authorization header.",
        ),
        (
            f"Convex {KEY}:{encoded(ADA | {'emailVerified': 'yes'})}",
            400,
            "HeaderParseFailure",
            "Malformed Authorization header.",
        ),
        (
            "Bearer nonsense",
            401,
            "InvalidAuthHeader",
            "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts "
            "separated by dots.",
        ),
        (
            f"Bearer {jwt({})}",
            401,
            "InvalidAuthHeader",
            "Missing issuer claim ('iss') in JWT payload. The JWT must include an 'iss' claim that matches one of your "
            "configured auth providers.",
        ),
        (
            f"bearer {jwt({'iss': 'https://auth.example'})}",
            401,
            "NoAuthProvider",
            "No auth provider found matching the given token (no providers configured). Check convex/auth.config.ts.",
        ),
    ],
)
async def test_a_header_that_proves_nothing_is_refused(header: str, status: int, code: str, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        await AUTHENTICATOR.authenticate(header)
    assert (refused.value.status, refused.value.code, refused.value.message) == (status, code, message)


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (ADA, ADA | {"tokenIdentifier": "https://auth.example|ada"}),
        ({"tokenIdentifier": "custom", "name": "Ada"}, {"tokenIdentifier": "custom", "name": "Ada"}),
    ],
)
async def test_an_admin_may_act_as_a_user(given: dict[str, object], seen: dict[str, object]) -> None:
    expected = ActingAdmin(User(seen))
    assert await AUTHENTICATOR.authenticate(f"Convex {KEY}:{encoded(given)}") == expected
    assert AUTHENTICATOR.admin(KEY, given) == expected


@pytest.mark.parametrize("identity", [ANONYMOUS, User({"subject": "ada"})])
def test_admin_routes_refuse_everyone_else(identity: Identity) -> None:
    with pytest.raises(RequestError) as refused:
        require_admin(identity)
    assert (refused.value.status, refused.value.code) == (403, "BadDeployKey")


def test_admin_routes_let_administrators_pass_even_when_they_act_as_a_user() -> None:
    require_admin(ADMIN)
    require_admin(ActingAdmin(User(dict(ADA))))
