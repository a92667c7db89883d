import base64
import json

import pytest

from convex_evals.backend.auth.id_tokens import IdToken
from convex_evals.backend.auth.tokens import Jwt
from convex_evals.backend.errors import RequestError

ISSUER = "https://issuer.example/"
NEEDED = {"iss": ISSUER, "sub": "ada", "aud": "app", "iat": 1, "exp": 2}
PROVEN = {"tokenIdentifier": "https://issuer.example/|ada", "issuer": ISSUER, "subject": "ada"}


def token(claims: object, header: object = None) -> Jwt:
    parts = (json.dumps(header or {"alg": "RS256"}), json.dumps(claims), "sig")
    return Jwt.parse(".".join(base64.urlsafe_b64encode(text.encode()).decode() for text in parts))


@pytest.mark.parametrize(
    ("claims", "attributes"),
    [
        ({}, {}),
        (
            {"name": "Ada", "nickname": "A", "email": "a@x.example"},
            {"name": "Ada", "nickname": "A", "email": "a@x.example"},
        ),
        ({"given_name": "Ada", "family_name": "L"}, {"givenName": "Ada", "familyName": "L"}),
        ({"preferred_username": "ada"}, {"preferredUsername": "ada"}),
        (
            {"profile": "https://p", "picture": "https://i", "website": "https://w"},
            {"profileUrl": "https://p", "pictureUrl": "https://i", "websiteUrl": "https://w"},
        ),
        (
            {"email_verified": True, "phone_number_verified": False},
            {"emailVerified": True, "phoneNumberVerified": False},
        ),
        ({"email_verified": "true"}, {"emailVerified": True}),
        ({"gender": "f", "birthdate": "1815-12-10"}, {"gender": "f", "birthday": "1815-12-10"}),
        ({"zoneinfo": "Europe/London", "locale": "en"}, {"timezone": "Europe/London", "language": "en"}),
        ({"phone_number": "+44 1"}, {"phoneNumber": "+44 1"}),
        ({"address": {"formatted": "12 St James", "country": "UK"}}, {"address": "12 St James"}),
        ({"address": {"country": "UK"}}, {}),
        ({"updated_at": 1_700_000_000}, {"updatedAt": "2023-11-14T22:13:20+00:00"}),
        ({"updated_at": 1_700_000_000.5}, {"updatedAt": "2023-11-14T22:13:20.500+00:00"}),
        ({"updated_at": "2023-11-14T23:13:20.123Z"}, {"updatedAt": "2023-11-14T23:13:20.123+00:00"}),
        ({"updated_at": "2023-11-14T23:13:20+01:00"}, {"updatedAt": "2023-11-14T22:13:20+00:00"}),
        ({"name": None, "updated_at": None}, {}),
        (
            {"role": "admin", "org": {"id": 7, "tags": ["a"]}, "https://x.example/plan": None},
            {"role": "admin", "org": {"id": 7, "tags": ["a"]}, "https://x.example/plan": None},
        ),
        ({"jti": "1", "nbf": 1, "fva": [1, 2], "nonce": "n", "azp": "z", "auth_time": 1, "at_hash": "h"}, {}),
        (
            {"tokenIdentifier": "eve", "issuer": "eve", "subject": "eve", "givenName": "E", "given_name": "Ada"},
            {"givenName": "Ada"},
        ),
    ],
)
def test_claims_become_the_attributes_that_functions_see(
    claims: dict[str, object], attributes: dict[str, object]
) -> None:
    parsed = IdToken.parse(token({**NEEDED, **claims}))
    assert parsed == IdToken({**PROVEN, **attributes}, 2.0)


@pytest.mark.parametrize(
    ("claims", "header"),
    [
        ({**NEEDED, "sub": None}, None),
        ({**NEEDED, "sub": 7}, None),
        ({**NEEDED, "exp": None}, None),
        ({**NEEDED, "exp": "soon"}, None),
        ({**NEEDED, "iat": None}, None),
        ({**NEEDED, "name": 7}, None),
        ({**NEEDED, "email_verified": "perhaps"}, None),
        ({**NEEDED, "email_verified": 1}, None),
        ({**NEEDED, "address": "12 St James"}, None),
        ({**NEEDED, "address": {"formatted": 12}}, None),
        ({**NEEDED, "updated_at": "yesterday"}, None),
        ({**NEEDED, "updated_at": "2023-11-14T23:13:20"}, None),
        ({**NEEDED, "updated_at": 1e300}, None),
        ({**NEEDED, "updated_at": True}, None),
        (NEEDED, {"typ": "JWT"}),
    ],
)
def test_claims_that_break_the_standard_are_refused(claims: dict[str, object], header: object) -> None:
    with pytest.raises(RequestError) as refused:
        IdToken.parse(token(claims, header))
    assert (refused.value.status, refused.value.code) == (401, "InvalidAuthHeader")
    assert refused.value.message == "Could not parse as OIDC ID token. Token might not be an OIDC-compliant JWT."
