"""From a JWT to the user it proves, by the auth providers of the deployed application."""

import time
from collections.abc import Callable

from convex_evals.backend.auth.custom_jwt import CustomJwtVerifier
from convex_evals.backend.auth.errors import no_provider
from convex_evals.backend.auth.fetcher import TIMEOUT_SECONDS, Answers, Fetcher
from convex_evals.backend.auth.oidc import OidcVerifier
from convex_evals.backend.auth.providers import CustomJwtProvider, OidcProvider, first_match, provider_of
from convex_evals.backend.auth.tokens import Jwt
from convex_evals.backend.deployed import CurrentApplication
from convex_evals.backend.identity import User
from convex_evals.backend.runtime import Network, NetworkPolicy


class JwtVerifier:
    """One per deployment. `network` says where providers may be asked."""

    def __init__(
        self,
        current: CurrentApplication,
        *,
        network: NetworkPolicy = Network.LOOPBACK,
        redact: bool = False,
        timeout: float = TIMEOUT_SECONDS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._current = current
        self._redact = redact
        answers = Answers(Fetcher(network, timeout, now).fetch, now)
        self._oidc = OidcVerifier(answers, now)
        self._custom = CustomJwtVerifier(answers, now)

    async def verify(self, token: str) -> User:
        """Raises RequestError: below 500 and not 429 when the token is refused, else when the provider has trouble."""
        parsed = Jwt.parse(token)
        application = self._current.application
        providers = [] if application is None else [provider_of(stored) for stored in application.auth_providers]
        match first_match(providers, parsed.issuer, parsed.audiences):
            case OidcProvider() as provider:
                return await self._oidc.verify(provider, parsed)
            case CustomJwtProvider() as provider:
                return await self._custom.verify(provider, parsed)
            case None:
                raise no_provider(providers, self._redact)
