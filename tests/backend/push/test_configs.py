import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.configs import parse_providers

CUSTOM = {"type": "customJwt", "issuer": "https://i.example.com", "jwks": "data:x", "algorithm": "RS256"}

LIST = "auth config file must include a list of provider credentials: "


@pytest.mark.parametrize(
    ("provider", "stored"),
    [
        (
            {"applicationID": "convex", "domain": "https://a.example.com", "extra": 1},
            {"applicationID": "convex", "domain": "https://a.example.com"},
        ),
        (
            {"type": "oidc", "applicationID": "convex", "domain": "a.example.com"},
            {"applicationID": "convex", "domain": "https://a.example.com"},
        ),
        (
            {"applicationID": "convex", "domain": "http://127.0.0.1:3211"},
            {"applicationID": "convex", "domain": "http://127.0.0.1:3211"},
        ),
        (CUSTOM, {**CUSTOM, "applicationID": None}),
    ],
)
def test_providers_are_stored_in_canonical_form(provider: object, stored: dict[str, object]) -> None:
    assert parse_providers({"providers": [provider]}) == (stored,)


@pytest.mark.parametrize(
    ("exported", "why"),
    [
        ({}, f"{LIST}missing field `providers`"),
        (
            {"providers": [{"applicationId": "x", "domain": "a.example.com"}]},
            f"{LIST}Provider at index 0 must have applicationID property spelled lowercase 'application', capital I, "
            "capital D.",
        ),
        ({"providers": [{"type": "x"}]}, f"{LIST}Provider at index 0 has unexpected 'type' value 'x'"),
        (
            {"providers": [{**CUSTOM, "domain": "d"}]},
            f"{LIST}Provider at index 0 is a customJwt so cannot have a 'domain' specified",
        ),
        (
            {"providers": [{"applicationID": "x", "issuer": "i"}]},
            f"{LIST}Provider at index 0 is oidc so cannot have an 'issuer' specified.",
        ),
        (
            {"providers": [{"applicationID": "x", "domain": "ftp://a"}]},
            'Invalid provider domain URL "ftp://a": the scheme must be http or https',
        ),
        (
            {"providers": [{"applicationID": "x", "domain": "intranet"}]},
            'Invalid provider domain URL "intranet": the host has no known top-level domain',
        ),
    ],
)
def test_a_wrong_provider_is_named(exported: object, why: str) -> None:
    with pytest.raises(RequestError) as refusal:
        parse_providers(exported)
    assert refusal.value.code == "InvalidAuthConfig"
    assert refusal.value.message == f"The pushed auth config is invalid: {why}"
