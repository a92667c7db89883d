import pytest
from starlette.datastructures import Headers
from starlette.requests import Request

from convex_evals.backend.admin_keys import AdminKeys
from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.deployed import CurrentApplication
from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.clients import (
    ClientVersion,
    identify,
    identify_admin,
    identify_for_http_action,
    scheme_of,
)
from convex_evals.backend.identity import ADMIN, ANONYMOUS, Anonymous, Authenticator, Identity

KEYS = AdminKeys("local", "secret")
KEY = KEYS.issue()
AUTHENTICATOR = Authenticator(KEYS, JwtVerifier(CurrentApplication()))
NOT_A_JWT = (
    "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts "
    "separated by dots."
)


@pytest.mark.parametrize(
    ("header", "client"),
    [
        ("python-0.8.1", ClientVersion("python", (0, 8, 1))),
        ("npm-cli-1.44.0", ClientVersion("npm-cli", (1, 44, 0))),
        ("NPM-1.28.0-alpha.3", ClientVersion("npm", (1, 28, 0))),
        ("python-convex-0.5.0", ClientVersion("python-convex", (0, 5, 0))),
        ("something", ClientVersion()),
        ("some-thing", ClientVersion()),
        (None, ClientVersion()),
    ],
)
def test_the_longest_version_at_the_end_of_the_header_counts(header: str | None, client: ClientVersion) -> None:
    assert ClientVersion.of_header(header) == client


@pytest.mark.parametrize(
    ("client", "joins"),
    [
        (ClientVersion.of_path("1.44.0"), True),
        (ClientVersion.of_path("1.28.0"), True),
        (ClientVersion.of_path("1.27.9"), False),
        (ClientVersion.of_path("latest"), False),
        (ClientVersion.of_header("python-2.0.0"), False),
        (ClientVersion.of_header(None), False),
    ],
)
def test_only_recent_npm_clients_join_chunks(client: ClientVersion, joins: bool) -> None:
    assert client.joins_chunks is joins


def request(authorization: str | None = None) -> Request:
    headers = [] if authorization is None else [(b"authorization", authorization.encode())]
    return Request({"type": "http", "headers": headers, "query_string": b""})


async def test_a_request_has_the_identity_of_its_sender() -> None:
    assert await identify(AUTHENTICATOR, request()) == ANONYMOUS
    assert await identify(AUTHENTICATOR, request(f"Convex {KEY}")) == ADMIN


async def test_routes_for_administrators_refuse_everyone_else() -> None:
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
async def test_an_http_action_runs_with_any_authorization_header(authorization: str | None, identity: Identity) -> None:
    assert await identify_for_http_action(AUTHENTICATOR, request(authorization)) == identity


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [
        ({}, "http"),
        ({"X-Forwarded-Proto": "https"}, "https"),
        ({"X-Forwarded-Proto": "HTTPS, http"}, "https"),
        ({"Forwarded": "for=192.0.2.60;proto=https;by=203.0.113.43"}, "https"),
        ({"Forwarded": 'Proto="https", proto=http'}, "https"),
        ({"Forwarded": "for=192.0.2.60, proto=https"}, "http"),
        ({"X-Forwarded-Proto": "http", "Forwarded": "proto=https"}, "http"),
        ({"X-Forwarded-Proto": "javascript"}, "http"),
    ],
)
def test_the_scheme_is_what_the_nearest_proxy_saw(headers: dict[str, str], scheme: str) -> None:
    assert scheme_of(Headers(headers)) == scheme
