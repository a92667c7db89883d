"""Keys that make a caller an administrator of one deployment."""

import hashlib
import hmac
from dataclasses import dataclass

LOCAL_ADMIN_KEY = (
    "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f"
    "4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd"
)

NAMELESS_KINDS = frozenset({"preview", "project"})


@dataclass(frozen=True, slots=True)
class AdminCredential:
    """`[kind:]name|secret[:payload]`, or a bare `secret[:payload]`, taken apart."""

    name: str | None  # None when the key is not bound to a deployment's name
    secret: str
    payload: str | None  # base64 JSON of the identity to act as

    @classmethod
    def parse(cls, text: str) -> "AdminCredential":
        before, bar, after = text.partition("|")
        secret, colon, payload = (after if bar else text).partition(":")
        return cls(_name_of(before) if bar else None, secret, payload if colon else None)


def _name_of(text: str) -> str | None:
    kind, colon, name = text.partition(":")
    if not colon:
        return text
    return None if kind in NAMELESS_KINDS else name


class AdminKeys:
    """Issues and checks the keys of the deployment called `instance_name`."""

    def __init__(self, instance_name: str, instance_secret: str) -> None:
        self._name = instance_name
        self._secret = hmac.new(instance_secret.encode(), instance_name.encode(), hashlib.sha256).hexdigest()

    def issue(self) -> str:
        return f"{self._name}|{self._secret}"

    def accept(self, credential: AdminCredential) -> bool:
        """The well-known local key opens every deployment; others only the one they were issued for."""
        if credential.name not in (None, self._name):
            return False
        given = credential.secret.encode()
        return any(hmac.compare_digest(given, known.encode()) for known in (self._secret, LOCAL_ADMIN_KEY))
