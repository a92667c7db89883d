from collections.abc import Callable, Sequence
from typing import Any

import pytest

from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.auth.verifier import (
    CustomJwtProvider,
    OidcProvider,
    Provider,
    canonical_issuer,
    first_match,
    provider_of,
)
from convex_evals.backend.deployed import Application, CurrentApplication, UdfConfig
from convex_evals.backend.errors import RequestError

Issuer = Any
Verifier = Callable[..., JwtVerifier]

SENTENCE = "No auth provider found matching the given token"

OIDC = OidcProvider("https://a.example", "convex")
CUSTOM = CustomJwtProvider("https://b.example", "data:,", "ES256", "convex")
OPEN = CustomJwtProvider("https://b.example", "data:,", "ES256")


async def refusal(verifier: JwtVerifier, token: str) -> tuple[int, str, str]:
    with pytest.raises(RequestError) as refused:
        await verifier.verify(token)
    return refused.value.status, refused.value.code, refused.value.message


async def test_without_providers_every_token_is_refused(issuer: Issuer, verifier: Verifier) -> None:
    expected = (401, "NoAuthProvider", f"{SENTENCE} (no providers configured). Check convex/auth.config.ts.")
    assert await refusal(JwtVerifier(CurrentApplication()), issuer.token()) == expected
    assert await refusal(verifier(), issuer.token()) == expected
    assert await refusal(verifier(redact=True), issuer.token()) == expected


async def test_a_token_of_an_unknown_issuer_lists_the_known_ones(issuer: Issuer, verifier: Verifier) -> None:
    providers = (
        {"applicationID": "convex", "domain": "https://a.example"},
        issuer.custom(issuer="https://b.example", applicationID=None),
    )
    listed = "[OIDC(domain=https://a.example, app_id=convex), CustomJWT(issuer=https://b.example, app_id=none)]"
    assert await refusal(verifier(*providers), issuer.token()) == (
        401,
        "NoAuthProvider",
        f"{SENTENCE}. Check that your JWT's issuer and audience match one of your configured providers: {listed}",
    )
    assert await refusal(verifier(*providers, redact=True), issuer.token()) == (401, "NoAuthProvider", SENTENCE)


@pytest.mark.parametrize("audience", [None, "other", ["other"]])
async def test_a_token_for_another_application_matches_no_provider(
    audience: object, issuer: Issuer, verifier: Verifier
) -> None:
    for provider in (issuer.oidc, issuer.custom()):
        assert (await refusal(verifier(provider), issuer.token(aud=audience)))[1] == "NoAuthProvider"
    assert not issuer.asked


async def test_one_issuer_may_serve_several_applications(issuer: Issuer, verifier: Verifier) -> None:
    both = verifier({**issuer.oidc, "applicationID": "web"}, issuer.custom(applicationID="cli"))
    web = await both.verify(issuer.token(aud="web", given_name="Ada"))
    cli = await both.verify(issuer.token(aud="cli", given_name="Ada"))
    assert (web.attributes["givenName"], cli.attributes["given_name"]) == ("Ada", "Ada")


async def test_a_push_changes_who_is_trusted(issuer: Issuer) -> None:
    def application(*providers: dict[str, object]) -> Application:
        return Application(1, UdfConfig("1.44.0", b"", 0), {}, {}, auth_providers=providers)

    current = CurrentApplication(application())
    verifier = JwtVerifier(current)
    token = issuer.fresh_token()
    assert (await refusal(verifier, token))[1] == "NoAuthProvider"
    current.replace(application(issuer.oidc))
    assert (await verifier.verify(token)).attributes["subject"] == "ada"
    current.replace(application())
    assert (await refusal(verifier, token))[1] == "NoAuthProvider"


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
