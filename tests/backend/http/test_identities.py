import pytest
from starlette.requests import Request

from convex_evals.backend.admin_keys import AdminKeys
from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.deployed import CurrentApplication
from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.identities import identify, identify_admin, identify_for_http_action
from convex_evals.backend.identity import ADMIN, ANONYMOUS, Anonymous, Authenticator, Identity

KEYS = AdminKeys("local", "secret")
KEY = KEYS.issue()
AUTHENTICATOR = Authenticator(KEYS, JwtVerifier(CurrentApplication()))
NOT_A_JWT = (
    "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts "
    "separated by dots."
)


def request(authorization: str | None = None) -> Request:
    headers = [] if authorization is None else [(b"authorization", authorization.encode())]
    return Request({"type": "http", "headers": headers, "query_string": b""})


async def test_a_request_is_its_senders() -> None:
    assert await identify(AUTHENTICATOR, request()) == ANONYMOUS
    assert await identify(AUTHENTICATOR, request(f"Convex {KEY}")) == ADMIN


async def test_routes_for_administrators_refuse_everybody_else() -> None:
    assert await identify_admin(AUTHENTICATOR, request(f"Convex {KEY}")) == ADMIN
    with pytest.raises(RequestError, match="BadDeployKey"):
        await identify_admin(AUTHENTICATOR, request())


@pytest.mark.parametrize(
    ("authorization", "identity"),
    [
        (None, ANONYMOUS),
        (f"Convex {KEY}", ADMIN),
        ("Bearer not.a.token", Anonymous(auth_error=NOT_A_JWT)),
        ("Basic YTpi", Anonymous(auth_error="Invalid admin key")),
        ("x", Anonymous(auth_error="Invalid authentication header")),
    ],
)
async def test_an_http_action_runs_whatever_its_header_says(authorization: str | None, identity: Identity) -> None:
    assert await identify_for_http_action(AUTHENTICATOR, request(authorization)) == identity
