"""Who may vouch for users: the providers of `auth.config`, and which of them a token names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


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
