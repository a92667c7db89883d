import json
from dataclasses import replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa

from convex_evals.backend.auth.keys import KeySet, data_of, is_data_url
from convex_evals.backend.auth.tokens import Jwt

SigningKey = Any
CLAIMS = {"iss": "https://issuer.example"}


def key_set(*jwks: object) -> KeySet:
    return KeySet.parse(json.dumps({"keys": jwks}).encode())


@pytest.mark.parametrize("name", ["rsa_key", "ec_key", "ed_key"])
def test_a_key_recognizes_its_own_signature(name: str, request: pytest.FixtureRequest) -> None:
    signer = request.getfixturevalue(name)
    key = key_set(signer.jwk).find(signer.algorithm, signer.kid)
    assert key is not None
    token = signer.sign(CLAIMS)
    assert key.signed(Jwt.parse(token))
    head, claims, signature = token.split(".")
    changed = jwt.utils.base64url_encode(json.dumps({**CLAIMS, "sub": "eve"}).encode()).decode()
    for text in (f"{head}.{changed}.{signature}", f"{head}.{claims}.", f"{head}.{claims}.AAAA", token[:-4]):
        assert not key.signed(replace(Jwt.parse(token), text=text))


def test_a_header_does_not_choose_the_algorithm(rsa_key: SigningKey) -> None:
    key = key_set(rsa_key.jwk).find("RS256", "k1")
    assert key is not None
    none = jwt.encode(CLAIMS, "", "none", {"kid": "k1"})
    confused = rsa_key.sign_with_public_key(CLAIMS)
    stronger = jwt.encode(CLAIMS, rsa_key.private, "RS512", {"kid": "k1"})
    assert [key.signed(Jwt.parse(token)) for token in (none, confused, stronger)] == [False] * 3


def test_a_header_that_must_be_understood_and_is_not_refuses_the_token(rsa_key: SigningKey) -> None:
    key = key_set(rsa_key.jwk).find("RS256", "k1")
    assert key is not None
    assert not key.signed(Jwt.parse(rsa_key.sign(CLAIMS, crit=["exp"], exp=1)))


def test_the_key_id_selects_the_key(rsa_key: SigningKey, other_rsa_key: SigningKey) -> None:
    both = key_set(rsa_key.jwk, other_rsa_key.jwk)
    second = both.find("RS256", "k2")
    assert second is not None
    assert second.signed(Jwt.parse(other_rsa_key.sign(CLAIMS)))
    assert both.find("RS256", "k3") is None
    assert both.find("RS256", None) is None  # several could be meant
    assert key_set(rsa_key.jwk).find("RS256", None) is not None
    assert key_set(rsa_key.jwk, {**other_rsa_key.jwk, "kid": "k1"}).find("RS256", "k1") is None


def test_a_private_key_is_only_used_to_verify(rsa_key: SigningKey) -> None:
    published: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key.private, as_dict=True)
    key = key_set({**published, "kid": "k1"}).find("RS256", "k1")
    assert key is not None
    assert key.signed(Jwt.parse(rsa_key.sign(CLAIMS)))


def test_unsuitable_keys_are_left_aside(rsa_key: SigningKey, ec_key: SigningKey) -> None:
    short = jwt.algorithms.RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 1024).public_key(), as_dict=True)
    p384 = jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP384R1()).public_key(), as_dict=True)
    curve448 = jwt.algorithms.OKPAlgorithm.to_jwk(ed448.Ed448PrivateKey.generate().public_key(), as_dict=True)
    cases: list[tuple[str, object]] = [
        ("RS256", {**short, "kid": "k1"}),
        ("RS256", {**rsa_key.jwk, "use": "enc"}),
        ("RS256", {**rsa_key.jwk, "alg": "RS512"}),
        ("RS256", {"kty": "RSA", "kid": "k1"}),
        ("RS256", {"kty": "RSA", "kid": "k1", "n": "!", "e": 3}),
        ("RS256", {**ec_key.jwk, "kid": "k1"}),
        ("ES256", {**p384, "kid": "k1"}),
        ("ES256", {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "k1"}),
        ("EdDSA", {**curve448, "kid": "k1"}),
        ("HS256", {"kty": "oct", "k": "AAAA", "kid": "k1"}),
        ("RS256", "k1"),
    ]
    assert [key_set(jwk).find(algorithm, "k1") for algorithm, jwk in cases] == [None] * len(cases)


@pytest.mark.parametrize("text", [b"", b"<html>", b"[]", b"{}", b'{"keys": {}}'])
def test_what_is_not_a_key_set_is_an_error(text: bytes) -> None:
    with pytest.raises(ValueError):
        KeySet.parse(text)


@pytest.mark.parametrize(
    ("url", "data"),
    [
        ("data:text/plain;base64,eyJrZXlzIjpbXX0=", b'{"keys":[]}'),
        ("data:text/plain;base64,eyJrZXlzIjpbXX0", b'{"keys":[]}'),
        ("data:text/plain;charset=utf-8;base64,eyJrZXlzIjpbXX0%3D", b'{"keys":[]}'),
        ("data:application/json,%7B%22keys%22%3A%5B%5D%7D", b'{"keys":[]}'),
        ('DATA:,{"keys":[]}', b'{"keys":[]}'),
    ],
)
def test_data_is_read_from_the_url_itself(url: str, data: bytes) -> None:
    assert is_data_url(url)
    assert data_of(url) == data


@pytest.mark.parametrize("url", ["data:text/plain", "data:;base64,!!!!"])
def test_a_broken_data_url_is_an_error(url: str) -> None:
    with pytest.raises(ValueError, match=r"comma|base64"):
        data_of(url)


def test_other_urls_are_fetched() -> None:
    assert not is_data_url("https://issuer.example/data:")
