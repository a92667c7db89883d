"""Where an OpenID Connect provider publishes its keys."""

import orjson

from convex_evals.backend.auth.errors import discovery_failed, quoted
from convex_evals.backend.auth.fetching import Answer, Answered, Unanswered
from convex_evals.backend.auth.key_sets import KeySet
from convex_evals.backend.auth.providers import canonical_issuer


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
