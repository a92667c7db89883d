import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.auth.tokens import LONGEST_TOKEN, IdToken, Jwt
from convex_evals.backend.errors import RequestError

NOT_A_JWT = (
    "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts "
    "separated by dots."
)
NO_ISSUER = (
    "Missing issuer claim ('iss') in JWT payload. The JWT must include an 'iss' claim that matches one of your "
    "configured auth providers."
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=10,
)
ISSUER = "https://issuer.example"
ID_ISSUER = "https://issuer.example/"
NEEDED = {"iss": ID_ISSUER, "sub": "ada", "aud": "app", "iat": 1, "exp": 2}
PROVEN = {"tokenIdentifier": "https://issuer.example/|ada", "issuer": ID_ISSUER, "subject": "ada"}


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def unsigned(claims: object, header: object = None) -> str:
    return f"{part(header or {})}.{part(claims)}.c2ln"


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("", NOT_A_JWT),
        ("nonsense", NOT_A_JWT),
        ("a.b", NOT_A_JWT),
        ("a.b.c.d", NOT_A_JWT),
        (f"{part({})}..c2ln", NOT_A_JWT),
        (f"{part({})}.!!!!.c2ln", NOT_A_JWT),
        (f"{part({})}.{part({'iss': ISSUER})}!.c2ln", NOT_A_JWT),
        (f"{part({})}.{part({'iss': ISSUER})}ä.c2ln", NOT_A_JWT),
        (f"{part('text')}.{part({'iss': ISSUER})}.c2ln", NOT_A_JWT),
        (f"{part({})}.aaaaa.c2ln", NOT_A_JWT),
        (unsigned([]), NOT_A_JWT),
        (unsigned({"iss": ISSUER, "deep": nested(200)}), NOT_A_JWT),
        (unsigned({"iss": ISSUER, "long": "x" * LONGEST_TOKEN}), NOT_A_JWT),
        (unsigned({"sub": "ada"}), NO_ISSUER),
        (unsigned({"iss": ""}), NO_ISSUER),
        (unsigned({"iss": 7}), NO_ISSUER),
    ],
)
def test_what_is_not_a_jwt_of_an_issuer_is_refused(token: str, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        Jwt.parse(token)
    assert (refused.value.status, refused.value.code, refused.value.message) == (401, "InvalidAuthHeader", message)


def test_a_jwt_is_readable_before_it_is_proven() -> None:
    token = Jwt.parse(unsigned({"iss": ISSUER, "sub": "ada", "exp": 12.5}, {"alg": "RS256", "kid": "k1"}))
    assert (token.issuer, token.subject, token.moment("exp")) == (ISSUER, "ada", 12.5)
    assert (token.algorithm, token.key_id) == ("RS256", "k1")


def test_padded_base64_is_read_too() -> None:
    padded = base64.urlsafe_b64encode(json.dumps({"iss": ISSUER, "x": 1}).encode()).decode()
    assert padded.endswith("=")
    assert Jwt.parse(f"{part({})}.{padded}.c2ln").issuer == ISSUER


@pytest.mark.parametrize(
    ("audience", "audiences"),
    [("a", ("a",)), (["a", "b"], ("a", "b")), (["a", 1], ()), ([], ()), (None, ()), (7, ())],
)
def test_the_audience_is_one_or_several(audience: object, audiences: tuple[str, ...]) -> None:
    assert Jwt.parse(unsigned({"iss": ISSUER, "aud": audience})).audiences == audiences


@pytest.mark.parametrize("given", ["12", True, None, [12]])
def test_only_numbers_are_moments(given: object) -> None:
    assert Jwt.parse(unsigned({"iss": ISSUER, "exp": given})).moment("exp") is None


@given(
    st.text() | st.lists(st.text() | json_values.map(part), min_size=3, max_size=3).map(lambda parts: ".".join(parts))
)
def test_any_text_is_a_jwt_or_refused(text: str) -> None:
    try:
        assert Jwt.parse(text).issuer
    except RequestError as refused:
        assert refused.message in (NOT_A_JWT, NO_ISSUER)


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
