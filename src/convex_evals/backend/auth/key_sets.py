"""A provider's public keys (a JSON Web Key Set), and whether one of them signed a token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import orjson

from convex_evals.backend.auth.tokens import Jwt

if TYPE_CHECKING:
    from jwt import PyJWK

SMALLEST_RSA_KEY: Final = 2048


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
