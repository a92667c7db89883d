"""What an upload brings along: the token in its URL, the digest it promises, its content type."""

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Callable
from typing import Final

import orjson

from convex_evals.backend.errors import DeveloperError, RequestError

VALID_SECONDS: Final = 3600
_SIGNATURE_SIZE: Final = 32

DIGEST_SIZE = 32
_DIGEST_HEADER = re.compile(r"sha-256=(.+)", re.IGNORECASE)

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE = rf'(?:{_TOKEN}|"(?:[^"\\\x00-\x1f\x7f-\U0010ffff]|\\[\x20-\x7e])*")'
_PARAMETER = re.compile(rf"(\s*;\s*)({_TOKEN})=({_VALUE})")
_MEDIA_TYPE = re.compile(rf"({_TOKEN}/{_TOKEN})((?:\s*;\s*{_TOKEN}={_VALUE})*)\s*;?\s*")


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


class Sha256Mismatch(DeveloperError):
    def __init__(self, expected: bytes, actual: bytes) -> None:
        super().__init__(f"Sha256 mismatch. Expected: {to_base64(expected)} Actual: {to_base64(actual)}")


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def parse_base64_digest(text: str) -> bytes | None:
    """None unless the text is the base64 of a digest."""
    try:
        digest = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return digest if len(digest) == DIGEST_SIZE else None


def parse_digest_header(text: str) -> bytes | None:
    """`sha-256=<base64>`; None for anything else."""
    found = _DIGEST_HEADER.fullmatch(text.strip())
    return None if found is None else parse_base64_digest(found[1])


def normalize_media_type(text: str) -> str | None:
    """What does not depend on case in lower case; None unless the text is a media type."""
    found = _MEDIA_TYPE.fullmatch(text.strip())
    if found is None:
        return None
    parameters = [_normalize_parameter(parameter) for parameter in _PARAMETER.finditer(found[2])]
    return found[1].lower() + "".join(parameters)


def _normalize_parameter(parameter: re.Match[str]) -> str:
    separator, name, value = parameter[1], parameter[2].lower(), parameter[3]
    return f"{separator}{name}={value.lower() if name == 'charset' else value}"
