"""JWTs as they were sent: readable, but nothing in them is proven."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

import orjson

from convex_evals.backend.auth.errors import missing_issuer, not_a_jwt, not_an_id_token
from convex_evals.backend.values import Value, nesting_of

LONGEST_TOKEN: Final = 64 * 1024
DEEPEST_CLAIM: Final = 128
BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+={0,2}")

STRINGS: Final = {
    "name": "name",
    "given_name": "givenName",
    "family_name": "familyName",
    "nickname": "nickname",
    "preferred_username": "preferredUsername",
    "profile": "profileUrl",
    "picture": "pictureUrl",
    "website": "websiteUrl",
    "email": "email",
    "gender": "gender",
    "birthdate": "birthday",
    "zoneinfo": "timezone",
    "locale": "language",
    "phone_number": "phoneNumber",
}
BOOLEANS: Final = {"email_verified": "emailVerified", "phone_number_verified": "phoneNumberVerified"}
STANDARD_CLAIMS: Final = frozenset({*STRINGS, *BOOLEANS, "address", "updated_at"})
BOOKKEEPING_CLAIMS: Final = frozenset(
    {
        "iss",
        "sub",
        "aud",
        "exp",
        "iat",
        "nbf",
        "jti",
        "nonce",
        "azp",
        "auth_time",
        "acr",
        "amr",
        "at_hash",
        "c_hash",
        "fva",
    }
)
SPELLED_BOOLEANS: Final = {"true": True, "false": False}  # how AWS Cognito writes them


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


@dataclass(frozen=True, slots=True)
class IdToken:
    attributes: dict[str, object]
    expires_at: float

    @classmethod
    def parse(cls, token: Jwt) -> "IdToken":
        """Raises RequestError (401) when claims are missing or of the wrong type."""
        expires_at = token.moment("exp")
        if token.algorithm is None or token.subject is None or expires_at is None or token.moment("iat") is None:
            raise not_an_id_token()
        try:
            standard = _standard_attributes(token.claims)
        except ValueError as error:
            raise not_an_id_token() from error
        custom = {
            name: value
            for name, value in token.claims.items()
            if name not in STANDARD_CLAIMS and name not in BOOKKEEPING_CLAIMS
        }
        proven = {
            "tokenIdentifier": f"{token.issuer}|{token.subject}",
            "issuer": token.issuer,
            "subject": token.subject,
        }
        return cls({**custom, **standard, **proven}, expires_at)


def _standard_attributes(claims: Mapping[str, object]) -> dict[str, object]:
    """Raises ValueError. A null claim is an absent one."""
    given = {name: claims[name] for name in STANDARD_CLAIMS if claims.get(name) is not None}
    attributes: dict[str, object] = {STRINGS[name]: _text(given[name]) for name in STRINGS if name in given}
    attributes |= {BOOLEANS[name]: _boolean(given[name]) for name in BOOLEANS if name in given}
    if "address" in given and (address := _formatted(given["address"])) is not None:
        attributes["address"] = address
    if "updated_at" in given:
        attributes["updatedAt"] = _rfc3339(_moment(given["updated_at"]))
    return attributes


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a string")
    return value


def _boolean(value: object) -> bool:
    decoded = SPELLED_BOOLEANS.get(value) if isinstance(value, str) else value
    if not isinstance(decoded, bool):
        raise ValueError("expected a boolean")
    return decoded


def _formatted(address: object) -> str | None:
    if not isinstance(address, dict):
        raise ValueError("expected an address object")
    formatted = address.get("formatted")
    return None if formatted is None else _text(formatted)


def _moment(value: object) -> datetime:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError) as error:
            raise ValueError("expected a moment in seconds") from error
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError("expected a moment with its time zone")
    return moment.astimezone(UTC)


def _rfc3339(moment: datetime) -> str:
    if moment.microsecond == 0:
        return moment.isoformat(timespec="seconds")
    return moment.isoformat(timespec="milliseconds" if moment.microsecond % 1000 == 0 else "microseconds")
