"""Who is calling: nobody, a user, an administrator, or an administrator acting as a user."""

from dataclasses import dataclass, field


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
