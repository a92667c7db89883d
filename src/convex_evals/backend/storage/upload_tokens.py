"""The tokens in upload URLs: whoever has one may store files in one component for an hour."""

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Final

import orjson

from convex_evals.backend.errors import RequestError

VALID_SECONDS: Final = 3600
_SIGNATURE_SIZE: Final = 32


class UploadTokens:
    """Tokens are signed with a key derived from the deployment's `secret`, and stored nowhere."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        self._key = hmac.digest(secret.encode(), b"upload token", hashlib.sha256)
        self._clock = clock

    def issue(self, component_id: str) -> str:
        grant = orjson.dumps({"component": component_id, "expires": self._clock() + VALID_SECONDS})
        return base64.urlsafe_b64encode(self._sign(grant) + grant).decode().rstrip("=")

    def component_of(self, token: str) -> str:
        """The id of the component that files may be stored in. Raises RequestError."""
        grant = self._verified(token)
        if grant is None:
            raise RequestError(401, "StorageTokenInvalid", "Couldn't decode the StoreFileAuthorization token")
        fields = orjson.loads(grant)
        if fields["expires"] <= self._clock():
            raise RequestError(401, "StorageTokenExpired", "Store File Authorization expired")
        return str(fields["component"])

    def _verified(self, token: str) -> bytes | None:
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except ValueError:
            return None
        signature, grant = data[:_SIGNATURE_SIZE], data[_SIGNATURE_SIZE:]
        return grant if hmac.compare_digest(signature, self._sign(grant)) else None

    def _sign(self, grant: bytes) -> bytes:
        return hmac.digest(self._key, grant, hashlib.sha256)
