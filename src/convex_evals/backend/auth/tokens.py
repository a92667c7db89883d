"""A JWT as it was sent: readable, but nothing in it is proven."""

import base64
import re
from dataclasses import dataclass
from typing import Final, cast

import orjson

from convex_evals.backend.auth.errors import missing_issuer, not_a_jwt
from convex_evals.backend.values import Value, nesting_of

LONGEST_TOKEN: Final = 64 * 1024
DEEPEST_CLAIM: Final = 128
BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+={0,2}")


@dataclass(frozen=True, slots=True)
class Jwt:
    text: str
    header: dict[str, object]
    claims: dict[str, object]
    issuer: str

    @classmethod
    def parse(cls, text: str) -> "Jwt":
        """Raises RequestError (401)."""
        parts = text.split(".")
        if len(parts) != 3 or len(text) > LONGEST_TOKEN:
            raise not_a_jwt()
        header, claims = _json_object(parts[0]), _json_object(parts[1])
        issuer = claims.get("iss")
        if not isinstance(issuer, str) or not issuer:
            raise missing_issuer()
        return cls(text, header, claims, issuer)

    @property
    def algorithm(self) -> str | None:
        return _text_or_none(self.header.get("alg"))

    @property
    def key_id(self) -> str | None:
        return _text_or_none(self.header.get("kid"))

    @property
    def subject(self) -> str | None:
        return _text_or_none(self.claims.get("sub"))

    @property
    def audiences(self) -> tuple[str, ...]:
        """None when the claim is malformed: such a token is meant for nobody."""
        given = self.claims.get("aud")
        listed = given if isinstance(given, list) else [given]
        audiences = tuple(audience for audience in listed if isinstance(audience, str))
        return audiences if len(audiences) == len(listed) else ()

    def moment(self, claim: str) -> float | None:
        """A claim in seconds since 1970, such as `exp`."""
        given = self.claims.get(claim)
        return float(given) if isinstance(given, int | float) and not isinstance(given, bool) else None


def _json_object(part: str) -> dict[str, object]:
    if not BASE64URL.fullmatch(part):
        raise not_a_jwt()
    bare = part.rstrip("=")
    try:
        value = orjson.loads(base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)))
    except ValueError as error:
        raise not_a_jwt() from error
    if not isinstance(value, dict) or nesting_of(cast(Value, value)) > DEEPEST_CLAIM:
        raise not_a_jwt()
    return value


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
