"""Keys that make a caller an administrator of one deployment."""

import hashlib
import hmac
from dataclasses import dataclass, field

LOCAL_ADMIN_KEY = (
    "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f"
    "4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd"
)

# The name and secret that the key above was made from; foreign suites and their graders know all three.
LOCAL_NAME = "carnitas"
LOCAL_SECRET = "4361726e697461732c206c69746572616c6c79206d65616e696e6720226c6974"

NAMELESS_KINDS = frozenset({"preview", "project"})


@dataclass(frozen=True, slots=True)
class AdminCredential:
    """`[kind:]name|secret[:payload]`, or a bare `secret[:payload]`, taken apart."""

    name: str | None  # None when the key is not bound to a deployment's name
    secret: str = field(repr=False)
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
    """Issues and checks the keys of the deployment called `instance_name`.

    `accept_local_key` says that the well-known key opens it, too. Everybody knows that key: it is for deployments that
    only live as long as a grader that cannot be given another one. A deployment with the name and the secret that the
    key was made from has it anyway.
    """

    def __init__(self, instance_name: str, instance_secret: str, *, accept_local_key: bool = False) -> None:
        self._name = instance_name
        own = hmac.new(instance_secret.encode(), instance_name.encode(), hashlib.sha256).hexdigest()
        self._is_local = (instance_name, instance_secret) == (LOCAL_NAME, LOCAL_SECRET)
        self._known = (own, LOCAL_ADMIN_KEY) if accept_local_key or self._is_local else (own,)

    def issue(self) -> str:
        return LOCAL_ADMIN_KEY if self._is_local else f"{self._name}|{self._known[0]}"

    def accept(self, credential: AdminCredential) -> bool:
        if credential.name not in (None, self._name):
            return False
        given = credential.secret.encode()
        matches = [hmac.compare_digest(given, known.encode()) for known in self._known]
        return any(matches)
