from collections.abc import Sequence

import pytest

from convex_evals.backend.auth.providers import (
    CustomJwtProvider,
    OidcProvider,
    Provider,
    canonical_issuer,
    first_match,
    provider_of,
)

OIDC = OidcProvider("https://a.example", "convex")
CUSTOM = CustomJwtProvider("https://b.example", "data:,", "ES256", "convex")
OPEN = CustomJwtProvider("https://b.example", "data:,", "ES256")


@pytest.mark.parametrize(
    ("stored", "provider"),
    [
        ({"applicationID": "convex", "domain": "https://a.example"}, OIDC),
        (
            {
                "type": "customJwt",
                "applicationID": "convex",
                "issuer": "https://b.example",
                "jwks": "data:,",
                "algorithm": "ES256",
            },
            CUSTOM,
        ),
        (
            {
                "type": "customJwt",
                "applicationID": None,
                "issuer": "https://b.example",
                "jwks": "data:,",
                "algorithm": "ES256",
            },
            OPEN,
        ),
    ],
)
def test_a_provider_is_read_from_its_stored_form(stored: dict[str, object], provider: Provider) -> None:
    assert provider_of(stored) == provider


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("https://a.example", "https://a.example"),
        ("https://a.example/", "https://a.example"),
        ("a.example", "https://a.example"),
        ("http://127.0.0.1:3211", "http://127.0.0.1:3211"),
        ("https://a.example/tenant/", "https://a.example/tenant"),
    ],
)
def test_issuers_are_compared_with_scheme_and_without_trailing_slash(given: str, canonical: str) -> None:
    assert canonical_issuer(given) == canonical


@pytest.mark.parametrize(
    ("issuer", "audiences", "chosen"),
    [
        ("https://a.example", ["convex"], OIDC),
        ("https://a.example/", ["other", "convex"], OIDC),
        ("a.example", ["convex"], OIDC),
        ("http://a.example", ["convex"], None),
        ("https://a.example", ["other"], None),
        ("https://a.example", [], None),
        ("https://b.example", ["convex"], CUSTOM),
        ("https://b.example", ["other"], OPEN),
        ("https://b.example", [], OPEN),
        ("https://c.example", ["convex"], None),
    ],
)
def test_the_first_provider_with_this_issuer_and_audience_is_asked(
    issuer: str, audiences: Sequence[str], chosen: Provider | None
) -> None:
    assert first_match([OIDC, CUSTOM, OPEN], issuer, audiences) == chosen


def test_providers_are_named_in_messages() -> None:
    assert str(OIDC) == "OIDC(domain=https://a.example, app_id=convex)"
    assert str(CUSTOM) == "CustomJWT(issuer=https://b.example, app_id=convex)"
    assert str(OPEN) == "CustomJWT(issuer=https://b.example, app_id=none)"
