"""Tokens of a `customJwt` provider."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from convex_evals.backend.auth.errors import (
    keys_not_fetched,
    missing_audience,
    not_a_key_set,
    not_decoded,
    not_valid,
    quoted,
    wrong_audience,
    wrong_issuer,
)
from convex_evals.backend.auth.fetcher import Answer, Answers, Unanswered
from convex_evals.backend.auth.keys import KeySet, VerificationKey, data_of, find_key, is_data_url
from convex_evals.backend.auth.providers import CustomJwtProvider, canonical_issuer
from convex_evals.backend.auth.tokens import Jwt
from convex_evals.backend.identity import User

TOLERANCE_SECONDS: Final = 5.0
MEDIA_TYPES: Final = ("application/json", "application/jwk-set+json")
REGISTERED_CLAIMS: Final = frozenset({"iss", "sub", "aud", "exp", "nbf", "iat", "jti"})


class CustomJwtVerifier:
    def __init__(self, answers: Answers, now: Callable[[], float] = time.time) -> None:
        self._answers = answers
        self._now = now

    async def verify(self, provider: CustomJwtProvider, token: Jwt) -> User:
        """Raises RequestError."""
        if token.key_id is None:
            raise not_decoded(None)
        key = await self._key(provider, token.key_id)
        if key is None or not key.signed(token):
            raise not_decoded(token.key_id)
        check_claims(provider, token, self._now())
        return User(attributes_of(token), token.text, token.moment("exp"))

    async def _key(self, provider: CustomJwtProvider, key_id: str) -> VerificationKey | None:
        url = provider.jwks
        if is_data_url(url):
            return _read_data_url(url).find(provider.algorithm, key_id)
        return await find_key(self._answers, url, lambda answer: _read(url, answer), provider.algorithm, key_id)


def check_claims(provider: CustomJwtProvider, token: Jwt, now: float) -> None:
    """What a signature alone does not prove: that the token is in force, and meant for this application."""
    _check_times(token, now)
    if token.subject is None:
        raise not_valid("the claim 'sub' is required, but it is missing")
    if canonical_issuer(token.issuer) != canonical_issuer(provider.issuer):
        raise wrong_issuer(token.issuer, provider.issuer)
    if provider.application_id is None:
        return
    if not token.audiences:
        raise missing_audience()
    if provider.application_id not in token.audiences:
        raise wrong_audience(provider.application_id, token.audiences)


def _check_times(token: Jwt, now: float) -> None:
    expires, begins = token.moment("exp"), token.moment("nbf")
    if expires is None:
        raise not_valid("the claim 'exp' is required, but it is missing")
    if now - expires > TOLERANCE_SECONDS:
        raise not_valid(f"the token expired {now - expires:.0f} seconds ago")
    if begins is not None and begins - now > TOLERANCE_SECONDS:
        raise not_valid(f"the token will be valid in {begins - now:.0f} seconds")


def attributes_of(token: Jwt) -> dict[str, object]:
    """Claims under their own names; those of nested objects are reached by dotted names."""
    claims = {name: value for name, value in token.claims.items() if name not in REGISTERED_CLAIMS}
    proven = {
        "tokenIdentifier": f"{token.issuer}|{token.subject}",
        "issuer": token.issuer,
        "subject": token.subject,
    }
    return {**dict(_flattened("", claims)), **proven}


def _flattened(prefix: str, claims: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in claims.items():
        if isinstance(value, dict):
            yield from _flattened(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def _read(url: str, answer: Answer) -> KeySet:
    if isinstance(answer, Unanswered):
        raise keys_not_fetched(url, answer.reason)
    if not answer.ok:
        upstream = answer.status if answer.asks_to_retry else None
        raise keys_not_fetched(url, f"{answer.status} {quoted(answer.text)}".rstrip(), upstream)
    media_type = answer.content_type.partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        raise keys_not_fetched(
            url, f"the content type must be {' or '.join(MEDIA_TYPES)}, not '{quoted(answer.content_type)}'"
        )
    try:
        return KeySet.parse(answer.body)
    except ValueError as error:
        raise not_a_key_set(url, str(error)) from error


def _read_data_url(url: str) -> KeySet:
    try:
        return KeySet.parse(data_of(url))
    except ValueError as error:
        raise not_a_key_set(url, str(error)) from error
