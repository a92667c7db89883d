"""Public keys of providers (JSON Web Key Sets), where they are found, and whether one of them signed a token."""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

import orjson

from convex_evals.backend.auth.fetcher import Answer, Answered, Answers
from convex_evals.backend.auth.tokens import Jwt

if TYPE_CHECKING:
    from jwt import PyJWK

SMALLEST_RSA_KEY: Final = 2048

SCHEME: Final = "data:"


@dataclass(frozen=True, slots=True)
class KeyShape:
    """The members of a key that fits an algorithm. Without the private ones: only the public key is of use here."""

    kty: str
    crv: str | None
    members: tuple[str, ...]


SHAPES: Final = {
    "RS256": KeyShape("RSA", None, ("kty", "n", "e")),
    "ES256": KeyShape("EC", "P-256", ("kty", "crv", "x", "y")),
    "EdDSA": KeyShape("OKP", "Ed25519", ("kty", "crv", "x")),
}


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """Bound to one algorithm, whatever a token's header claims."""

    _key: "PyJWK"

    def signed(self, token: Jwt) -> bool:
        import jwt

        try:
            jwt.PyJWS().decode_complete(token.text, self._key, algorithms=[self._key.algorithm_name])
        except jwt.InvalidTokenError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class KeySet:
    _keys: tuple[Mapping[str, object], ...]

    @classmethod
    def parse(cls, text: bytes) -> "KeySet":
        """Raises ValueError. Keys of kinds that are not supported are left aside, not refused."""
        document = orjson.loads(text)
        keys = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(keys, list):
            raise ValueError("a JWKS is an object with a list named 'keys'")
        return cls(tuple(key for key in keys if isinstance(key, dict)))

    def find(self, algorithm: str, key_id: str | None) -> VerificationKey | None:
        """The one key for this algorithm with this id (any id for None). None when there is no such key, or several."""
        shape = SHAPES.get(algorithm)
        if shape is None:
            return None
        found = [key for key in self._keys if _fits(key, shape, algorithm) and key_id in (None, key.get("kid"))]
        return _load(found[0], shape, algorithm) if len(found) == 1 else None


def _fits(key: Mapping[str, object], shape: KeyShape, algorithm: str) -> bool:
    return (
        (key.get("kty"), key.get("crv")) == (shape.kty, shape.crv)
        and key.get("use") in (None, "sig")
        and key.get("alg") in (None, algorithm)
    )


def _load(key: Mapping[str, object], shape: KeyShape, algorithm: str) -> VerificationKey | None:
    import jwt
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    try:
        loaded = jwt.PyJWK({name: key[name] for name in shape.members if name in key}, algorithm)
    except (jwt.PyJWTError, ValueError):
        return None
    if isinstance(loaded.key, RSAPublicKey) and loaded.key.key_size < SMALLEST_RSA_KEY:
        return None
    return VerificationKey(loaded)


async def find_key(
    answers: Answers, url: str, read: Callable[[Answer], KeySet], algorithm: str, key_id: str | None
) -> VerificationKey | None:
    """A key that is not in the kept key set may be new, so the set is fetched once more before giving up."""
    answer = await answers.get(url)
    key = read(answer).find(algorithm, key_id)
    if key is None and isinstance(answer, Answered):
        key = read(await answers.newer(url, answer)).find(algorithm, key_id)
    return key


def is_data_url(url: str) -> bool:
    return url[: len(SCHEME)].lower() == SCHEME


def data_of(url: str) -> bytes:
    """Raises ValueError."""
    description, comma, text = url[len(SCHEME) :].partition(",")
    if not comma:
        raise ValueError("a data URL has a comma before its data")
    data = unquote_to_bytes(text)
    if not description.lower().replace(" ", "").endswith(";base64"):
        return data
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(f"the data is not base64: {error}") from error
