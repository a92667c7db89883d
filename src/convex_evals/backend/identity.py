"""Who is calling: nobody, a user, an administrator, or an administrator acting as a user; and how they prove it."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from convex_evals.backend.admin_keys import AdminCredential, AdminKeys
from convex_evals.backend.errors import RequestError

MIN_HEADER_LENGTH = 7

STRING_ATTRIBUTES = frozenset(
    {
        "tokenIdentifier",
        "issuer",
        "subject",
        "name",
        "givenName",
        "familyName",
        "nickname",
        "preferredUsername",
        "profileUrl",
        "pictureUrl",
        "websiteUrl",
        "email",
        "gender",
        "birthday",
        "timezone",
        "language",
        "phoneNumber",
        "address",
        "updatedAt",
    }
)
BOOLEAN_ATTRIBUTES = frozenset({"emailVerified", "phoneNumberVerified"})


@dataclass(frozen=True, slots=True)
class Anonymous:
    """No token was given, or (with `auth_error`) an HTTP action was called with one that is not valid."""

    auth_error: str | None = None


@dataclass(frozen=True, slots=True)
class User:
    """`attributes` is what `ctx.auth.getUserIdentity()` returns: plain JSON, camel-cased."""

    attributes: dict[str, object] = field(hash=False)
    token: str | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Admin:
    pass


@dataclass(frozen=True, slots=True)
class ActingAdmin:
    """An administrator impersonating a user: may call internal functions, but no system functions."""

    user: User


Identity = Anonymous | User | Admin | ActingAdmin

ANONYMOUS = Anonymous()
ADMIN = Admin()


def may_call_internal(identity: Identity) -> bool:
    return isinstance(identity, Admin | ActingAdmin)


def may_call_system(identity: Identity) -> bool:
    return isinstance(identity, Admin)


def user_of(identity: Identity) -> User | None:
    match identity:
        case User():
            return identity
        case ActingAdmin(user):
            return user
        case _:
            return None


def cache_key(identity: Identity) -> str:
    """Equal for identities that a query cannot tell apart."""
    user = user_of(identity)
    return "" if user is None else repr(sorted(user.attributes.items(), key=lambda item: item[0]))


class TokenVerifier(Protocol):
    async def verify(self, token: str) -> User:
        """Raises RequestError: 500 and above, or 429, if the token cannot be checked now; below if it is invalid."""
        ...


class Authenticator:
    """Without `keys` no credential makes its caller an administrator."""

    def __init__(self, keys: AdminKeys | None, tokens: TokenVerifier) -> None:
        self._keys = keys
        self.tokens = tokens

    async def authenticate(self, header: str | None) -> Identity:
        """Who sent a request with this `Authorization` header."""
        if header is None:
            return ANONYMOUS
        if len(header) < MIN_HEADER_LENGTH:
            raise RequestError(400, "InvalidHeaderFailure", "Invalid authentication header")
        scheme, _, credential = header.partition(" ")
        match scheme.lower():
            case "convex":
                return self._from_key(credential.strip())
            case "bearer":
                return await self.user(credential.strip())
            case _:
                raise RequestError(400, "InvalidAdminKey", "Invalid admin key")

    async def user(self, token: str) -> User:
        return await self.tokens.verify(token)

    def admin(self, key: str, acting_as: dict[str, object] | None = None) -> Identity:
        """An administrator, or with `acting_as` (identity attributes) one who impersonates that user."""
        if self._keys is None or not self._keys.accept(AdminCredential.parse(key)):
            raise RequestError(401, "BadAdminKey", "The provided admin key was invalid for this instance")
        return ADMIN if acting_as is None else ActingAdmin(impersonated(acting_as))

    def _from_key(self, text: str) -> Identity:
        identity = self.admin(text)
        payload = AdminCredential.parse(text).payload
        return identity if payload is None else ActingAdmin(impersonated(_decode_attributes(payload)))


def require_admin(identity: Identity) -> None:
    if not may_call_internal(identity):
        raise RequestError(
            403,
            "BadDeployKey",
            "The provided deploy key was invalid for this deployment. Double check that the environment this key was "
            "generated for matches the desired deployment.",
        )


def impersonated(attributes: dict[str, object]) -> User:
    """The user with these identity attributes (camel-cased, unknown ones are custom claims)."""
    complete = dict(attributes)
    if "tokenIdentifier" not in complete:
        issuer, subject = complete.get("issuer"), complete.get("subject")
        if not isinstance(issuer, str) or not isinstance(subject, str):
            raise _malformed()
        complete["tokenIdentifier"] = f"{issuer}|{subject}"
    for name, value in complete.items():
        if not _has_right_type(name, value):
            raise _malformed()
    return User(complete)


def _has_right_type(name: str, value: object) -> bool:
    if name in STRING_ATTRIBUTES:
        return isinstance(value, str)
    return name not in BOOLEAN_ATTRIBUTES or isinstance(value, bool)


def _decode_attributes(payload: str) -> dict[str, object]:
    try:
        attributes = orjson.loads(base64.b64decode(payload, validate=True))
    except (ValueError, binascii.Error) as error:
        raise _malformed() from error
    if not isinstance(attributes, dict):
        raise _malformed()
    return attributes


def _malformed() -> RequestError:
    return RequestError(400, "HeaderParseFailure", "Malformed Authorization header.")
