"""ID tokens of an OpenID Connect provider, and the discovery of its keys."""

import time
from collections.abc import Callable
from typing import Final

import orjson

from convex_evals.backend.auth.errors import discovery_failed, quoted, unverified_id_token
from convex_evals.backend.auth.fetcher import Answer, Answered, Answers, Unanswered
from convex_evals.backend.auth.keys import KeySet, find_key
from convex_evals.backend.auth.providers import OidcProvider, canonical_issuer
from convex_evals.backend.auth.tokens import IdToken, Jwt
from convex_evals.backend.identity import User

ALGORITHMS: Final = ("RS256", "EdDSA")


class OidcVerifier:
    def __init__(self, answers: Answers, now: Callable[[], float] = time.time) -> None:
        self._answers = answers
        self._now = now

    async def verify(self, provider: OidcProvider, token: Jwt) -> User:
        """Raises RequestError."""
        url = keys_url(token.issuer, await self._answers.get(configuration_url(token.issuer)))
        id_token = IdToken.parse(token)
        # A token that is also meant for others could have been handed on by one of them.
        meant_for_us_alone = set(token.audiences) == {provider.application_id}
        if not await self._is_signed(token, url) or not meant_for_us_alone or id_token.expires_at <= self._now():
            raise unverified_id_token()
        return User(id_token.attributes, token.text, id_token.expires_at)

    async def _is_signed(self, token: Jwt, url: str) -> bool:
        if token.algorithm not in ALGORITHMS:
            return False
        issuer = token.issuer
        key = await find_key(self._answers, url, lambda answer: key_set(issuer, answer), token.algorithm, token.key_id)
        return key is not None and key.signed(token)


def configuration_url(issuer: str) -> str:
    return f"{canonical_issuer(issuer)}/.well-known/openid-configuration"


def keys_url(issuer: str, answer: Answer) -> str:
    """`answer` is what the configuration URL gave. Raises RequestError."""
    try:
        document = orjson.loads(_successful(issuer, answer).body)
    except ValueError as error:
        raise discovery_failed(issuer) from error
    url = document.get("jwks_uri") if isinstance(document, dict) else None
    if not isinstance(url, str) or not _speaks_for(document, issuer):
        raise discovery_failed(issuer)
    return url


def key_set(issuer: str, answer: Answer) -> KeySet:
    """`answer` is what the keys URL gave. Raises RequestError."""
    try:
        return KeySet.parse(_successful(issuer, answer).body)
    except ValueError as error:
        raise discovery_failed(issuer) from error


def _speaks_for(document: dict[str, object], issuer: str) -> bool:
    own = document.get("issuer")
    return isinstance(own, str) and canonical_issuer(own) == canonical_issuer(issuer)


def _successful(issuer: str, answer: Answer) -> Answered:
    if isinstance(answer, Unanswered):
        raise discovery_failed(issuer, answer.reason if answer.forbidden else None)
    if not answer.ok:
        raise discovery_failed(issuer, f"{answer.status} {quoted(answer.text)}".rstrip(), answer.status)
    return answer
