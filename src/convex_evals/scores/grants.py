"""What a token allows: plain values, without the database."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

Right = Literal["record", "read", "label", "admin"]
RIGHTS: Final[tuple[Right, ...]] = get_args(Right)
_INCLUDED: Final[dict[Right, frozenset[Right]]] = {
    "record": frozenset({"record"}),
    "read": frozenset({"read"}),
    "label": frozenset({"label", "read"}),
    "admin": frozenset(RIGHTS),
}
TOKEN_MARK: Final = "cevals_"
"""What tokens begin with, so that they are recognised where they should not be: in addresses, logs and files."""
UNMARKED: Final = "local"
"""The deployment of a database that nobody has marked."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What whoever sends a valid token may do, and in which deployment."""

    name: str
    rights: tuple[Right, ...]
    deployment: str
    expires_at: datetime | None = None

    def may(self, right: Right) -> bool:
        """Admins may do everything, and who labels may read."""
        return any(right in _INCLUDED[given] for given in self.rights)


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What is known of a token. The token itself is shown once, when it is made."""

    name: str
    rights: tuple[Right, ...]
    deployment: str
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None  # to the hour
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewToken:
    record: TokenRecord
    token: str
