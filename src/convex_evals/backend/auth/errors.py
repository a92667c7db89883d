"""Why a token proves nothing. The texts are those of Convex: developers search for them."""

from collections.abc import Sequence
from typing import Final

from convex_evals.backend.errors import RequestError

UNAUTHENTICATED: Final = 401
BAD_REQUEST: Final = 400
LONGEST_QUOTE: Final = 500


def not_a_jwt() -> RequestError:
    return _invalid_header(
        "Could not parse JWT payload. Check that the token is a valid JWT format with three base64-encoded parts "
        "separated by dots."
    )


def missing_issuer() -> RequestError:
    return _invalid_header(
        "Missing issuer claim ('iss') in JWT payload. The JWT must include an 'iss' claim that matches one of your "
        "configured auth providers."
    )


def no_provider(configured: Sequence[object], redact: bool) -> RequestError:
    sentence = "No auth provider found matching the given token"
    if not configured:
        text = f"{sentence} (no providers configured). Check convex/auth.config.ts."
    elif redact:
        text = sentence
    else:
        listed = ", ".join(map(str, configured))
        text = (
            f"{sentence}. Check that your JWT's issuer and audience match one of your configured providers: [{listed}]"
        )
    return RequestError(UNAUTHENTICATED, "NoAuthProvider", text)


def discovery_failed(issuer: str, why: str | None = None, upstream: int | None = None) -> RequestError:
    """`upstream` is the status the provider answered with."""
    status = upstream if upstream is not None and upstream >= BAD_REQUEST else BAD_REQUEST
    text = f"Auth provider discovery of {issuer} failed"
    return RequestError(status, "AuthProviderDiscoveryFailed", f"{text}: {why}" if why else text)


def not_an_id_token() -> RequestError:
    return _invalid_header("Could not parse as OIDC ID token. Token might not be an OIDC-compliant JWT.")


def unverified_id_token() -> RequestError:
    return RequestError(
        UNAUTHENTICATED,
        "Unauthenticated",
        "Could not verify OIDC token claim. Check that the token signature is valid and the token hasn't expired.",
    )


def keys_not_fetched(url: str, why: str, upstream: int | None = None) -> RequestError:
    """`upstream` is the status of a provider that asks for another attempt later."""
    status = UNAUTHENTICATED if upstream is None else upstream
    return RequestError(status, "InvalidAuthHeader", f"Could not fetch JWKS from URL '{quoted(url)}': {why}")


def not_a_key_set(url: str, why: str) -> RequestError:
    return _invalid_header(f"Invalid JWKS response body from '{quoted(url)}'. {why}")


def not_decoded(key_id: str | None) -> RequestError:
    if key_id is None:
        return _invalid_header("Could not decode token. JWT may be missing a 'kid' (key ID) header.")
    return _invalid_header(
        f"Could not decode token. The JWT's 'kid' (key ID) header is '{key_id}', does this key match any key in the "
        "provider's JWKS?"
    )


def not_valid(why: str) -> RequestError:
    return _invalid_header(f"Could not validate token: {why}")


def wrong_issuer(given: str, expected: str) -> RequestError:
    return _invalid_header(f"Invalid issuer: {given} != {expected}")


def missing_audience() -> RequestError:
    return _invalid_header(
        "Missing audience claim ('aud') in JWT payload. The JWT must include an 'aud' claim that matches your "
        "configured application ID."
    )


def wrong_audience(application_id: str, audiences: Sequence[str]) -> RequestError:
    listed = ", ".join(f'"{audience}"' for audience in audiences)
    return _invalid_header(f"Invalid audience: {application_id} not in [{listed}]")


def quoted(text: str) -> str:
    """Text from outside, truncated to fit into a message."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _invalid_header(text: str) -> RequestError:
    return RequestError(UNAUTHENTICATED, "InvalidAuthHeader", text)
