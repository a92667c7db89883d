import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.backend.auth.tokens import LONGEST_TOKEN, Jwt
from convex_evals.backend.errors import RequestError

NOT_A_JWT = (
    "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts "
    "separated by dots."
)
NO_ISSUER = (
    "Missing issuer claim ('iss') in JWT payload. The JWT must include an 'iss' claim that matches one of your "
    "configured auth providers."
)
ISSUER = "https://issuer.example"


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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=10,
)


@given(
    st.text() | st.lists(st.text() | json_values.map(part), min_size=3, max_size=3).map(lambda parts: ".".join(parts))
)
def test_any_text_is_a_jwt_or_refused(text: str) -> None:
    try:
        assert Jwt.parse(text).issuer
    except RequestError as refused:
        assert refused.message in (NOT_A_JWT, NO_ISSUER)
