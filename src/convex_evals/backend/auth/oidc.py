"""ID tokens of an OpenID Connect provider."""

import time
from collections.abc import Callable
from typing import Final

from convex_evals.backend.auth.answers import Answers
from convex_evals.backend.auth.discovery import configuration_url, key_set, keys_url
from convex_evals.backend.auth.errors import unverified_id_token
from convex_evals.backend.auth.id_tokens import IdToken
from convex_evals.backend.auth.key_sources import find_key
from convex_evals.backend.auth.providers import OidcProvider
from convex_evals.backend.auth.tokens import Jwt
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
