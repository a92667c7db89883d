"""From a JWT to the user it proves, by the auth providers of the deployed application: `oidc` or `customJwt`."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from convex_evals.backend.auth.errors import (
    discovery_failed,
    keys_not_fetched,
    missing_audience,
    no_provider,
    not_a_key_set,
    not_decoded,
    not_valid,
    quoted,
    unverified_id_token,
    wrong_audience,
    wrong_issuer,
)
from convex_evals.backend.auth.fetcher import TIMEOUT_SECONDS, Answer, Answered, Answers, Fetcher, Unanswered
from convex_evals.backend.auth.keys import KeySet, VerificationKey, data_of, find_key, is_data_url
from convex_evals.backend.auth.tokens import IdToken, Jwt
from convex_evals.backend.deployed import CurrentApplication
from convex_evals.backend.identity import User
from convex_evals.backend.runtime import Network, NetworkPolicy

OIDC_ALGORITHMS: Final = ("RS256", "EdDSA")

TOLERANCE_SECONDS: Final = 5.0
JWKS_MEDIA_TYPES: Final = ("application/json", "application/jwk-set+json")
REGISTERED_CLAIMS: Final = frozenset({"iss", "sub", "aud", "exp", "nbf", "iat", "jti"})


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


@dataclass(frozen=True, slots=True)
class OidcProvider:
    domain: str
    application_id: str

    def matches(self, issuer: str, audiences: Sequence[str]) -> bool:
        return canonical_issuer(issuer) == canonical_issuer(self.domain) and self.application_id in audiences

    def __str__(self) -> str:
        return f"OIDC(domain={self.domain}, app_id={self.application_id})"


@dataclass(frozen=True, slots=True)
class CustomJwtProvider:
    issuer: str
    jwks: str
    algorithm: str
    application_id: str | None = None

    def matches(self, issuer: str, audiences: Sequence[str]) -> bool:
        if canonical_issuer(issuer) != canonical_issuer(self.issuer):
            return False
        return self.application_id is None or self.application_id in audiences

    def __str__(self) -> str:
        return f"CustomJWT(issuer={self.issuer}, app_id={self.application_id or 'none'})"


Provider = OidcProvider | CustomJwtProvider


def provider_of(stored: Mapping[str, object]) -> Provider:
    """From the form in which push checked and stored it."""
    application_id = stored["applicationID"]
    if stored.get("type") == "customJwt":
        return CustomJwtProvider(
            str(stored["issuer"]),
            str(stored["jwks"]),
            str(stored["algorithm"]),
            None if application_id is None else str(application_id),
        )
    return OidcProvider(str(stored["domain"]), str(application_id))


def first_match(providers: Iterable[Provider], issuer: str, audiences: Sequence[str]) -> Provider | None:
    return next((provider for provider in providers if provider.matches(issuer, audiences)), None)


def canonical_issuer(issuer: str) -> str:
    """Providers, their tokens and the people who configure them disagree about trailing slashes and the scheme."""
    return (issuer if "://" in issuer else f"https://{issuer}").rstrip("/")


class OidcVerifier:
    def __init__(self, answers: Answers, now: Callable[[], float] = time.time) -> None:
        self._answers = answers
        self._now = now

    async def verify(self, provider: OidcProvider, token: Jwt) -> User:
        """Raises RequestError."""
        url = oidc_keys_url(token.issuer, await self._answers.get(configuration_url(token.issuer)))
        id_token = IdToken.parse(token)
        # A token that is also meant for others could have been handed on by one of them.
        meant_for_us_alone = set(token.audiences) == {provider.application_id}
        if not await self._is_signed(token, url) or not meant_for_us_alone or id_token.expires_at <= self._now():
            raise unverified_id_token()
        return User(id_token.attributes, token.text, id_token.expires_at)

    async def _is_signed(self, token: Jwt, url: str) -> bool:
        if token.algorithm not in OIDC_ALGORITHMS:
            return False
        issuer = token.issuer
        key = await find_key(
            self._answers, url, lambda answer: oidc_key_set(issuer, answer), token.algorithm, token.key_id
        )
        return key is not None and key.signed(token)


def configuration_url(issuer: str) -> str:
    return f"{canonical_issuer(issuer)}/.well-known/openid-configuration"


def oidc_keys_url(issuer: str, answer: Answer) -> str:
    """`answer` is what the configuration URL gave. Raises RequestError."""
    try:
        document = orjson.loads(_successful(issuer, answer).body)
    except ValueError as error:
        raise discovery_failed(issuer) from error
    url = document.get("jwks_uri") if isinstance(document, dict) else None
    if not isinstance(url, str) or not _speaks_for(document, issuer):
        raise discovery_failed(issuer)
    return url


def oidc_key_set(issuer: str, answer: Answer) -> KeySet:
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
        return User(custom_attributes(token), token.text, token.moment("exp"))

    async def _key(self, provider: CustomJwtProvider, key_id: str) -> VerificationKey | None:
        url = provider.jwks
        if is_data_url(url):
            return _inline_key_set(url).find(provider.algorithm, key_id)
        return await find_key(
            self._answers, url, lambda answer: _custom_key_set(url, answer), provider.algorithm, key_id
        )


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


def custom_attributes(token: Jwt) -> dict[str, object]:
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


def _custom_key_set(url: str, answer: Answer) -> KeySet:
    if isinstance(answer, Unanswered):
        raise keys_not_fetched(url, answer.reason)
    if not answer.ok:
        upstream = answer.status if answer.asks_to_retry else None
        raise keys_not_fetched(url, f"{answer.status} {quoted(answer.text)}".rstrip(), upstream)
    media_type = answer.content_type.partition(";")[0].strip().lower()
    if media_type not in JWKS_MEDIA_TYPES:
        raise keys_not_fetched(
            url, f"the content type must be {' or '.join(JWKS_MEDIA_TYPES)}, not '{quoted(answer.content_type)}'"
        )
    try:
        return KeySet.parse(answer.body)
    except ValueError as error:
        raise not_a_key_set(url, str(error)) from error


def _inline_key_set(url: str) -> KeySet:
    try:
        return KeySet.parse(data_of(url))
    except ValueError as error:
        raise not_a_key_set(url, str(error)) from error
