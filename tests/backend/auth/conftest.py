"""A real issuer on this machine: a web server with a discovery document and keys, and tokens signed with them."""

import asyncio
import base64
import hmac
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.utils import base64url_encode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.auth import JwtVerifier
from convex_evals.backend.deployed import Application, CurrentApplication, UdfConfig
from convex_evals.core.http import LoopbackServer

NOW = 1_800_000_000
APPLICATION = "my-app"
DISCOVERY = "/.well-known/openid-configuration"
JWKS = "/keys"


@dataclass(frozen=True)
class SigningKey:
    kid: str
    algorithm: str
    private: Any

    @property
    def jwk(self) -> dict[str, Any]:
        algorithm = jwt.get_algorithm_by_name(self.algorithm)
        public: dict[str, Any] = algorithm.to_jwk(self.private.public_key(), as_dict=True)
        return {**public, "kid": self.kid, "alg": self.algorithm, "use": "sig"}

    def sign(self, claims: Mapping[str, object], **header: object) -> str:
        return jwt.encode(dict(claims), self.private, self.algorithm, {"kid": self.kid, **header})

    def sign_with_public_key(self, claims: Mapping[str, object]) -> str:
        """What an attacker would do who hopes that the public key is taken for a shared secret."""
        secret = self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        parts = (json.dumps({"alg": "HS256", "kid": self.kid}), json.dumps(dict(claims)))
        signed = b".".join(base64url_encode(part.encode()) for part in parts)
        return b".".join((signed, base64url_encode(hmac.digest(secret, signed, "sha256")))).decode()


@pytest.fixture(scope="session")
def rsa_key() -> SigningKey:
    return SigningKey("k1", "RS256", rsa.generate_private_key(65537, 2048))


@pytest.fixture(scope="session")
def other_rsa_key() -> SigningKey:
    return SigningKey("k2", "RS256", rsa.generate_private_key(65537, 2048))


@pytest.fixture(scope="session")
def ec_key() -> SigningKey:
    return SigningKey("e1", "ES256", ec.generate_private_key(ec.SECP256R1()))


@pytest.fixture(scope="session")
def ed_key() -> SigningKey:
    return SigningKey("d1", "EdDSA", ed25519.Ed25519PrivateKey.generate())


@dataclass
class Reply:
    content: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


@dataclass
class Issuer:
    """`replies` takes the place of what a path answers; while `open` is not set, every request waits."""

    origin: str
    keys: list[SigningKey]
    cache_control: str | None = None
    replies: dict[str, Reply] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    open: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        self.asked[path] += 1
        self.reached.set()
        await self.open.wait()
        reply = self.replies.get(path) or Reply(json.dumps(self._document(path)).encode())
        cached = {"cache-control": self.cache_control} if self.cache_control else {}
        return Response(reply.content, reply.status, {**reply.headers, **cached})

    def _document(self, path: str) -> dict[str, Any]:
        if path == DISCOVERY:
            return {"issuer": self.origin, "jwks_uri": f"{self.origin}{JWKS}"}
        return {"keys": [key.jwk for key in self.keys]}

    @property
    def oidc(self) -> dict[str, object]:
        return {"applicationID": APPLICATION, "domain": self.origin}

    def custom(self, algorithm: str = "RS256", **changes: object) -> dict[str, object]:
        return {
            "type": "customJwt",
            "applicationID": APPLICATION,
            "issuer": self.origin,
            "jwks": f"{self.origin}{JWKS}",
            "algorithm": algorithm,
            **changes,
        }

    def claims(self, **changes: object) -> dict[str, Any]:
        """Valid ones at the moment `NOW`; a change to None leaves the claim out."""
        usual = {"iss": self.origin, "sub": "ada", "aud": APPLICATION, "iat": NOW - 60, "exp": NOW + 600}
        return {name: value for name, value in {**usual, **changes}.items() if value is not None}

    def token(self, **changes: object) -> str:
        return self.keys[0].sign(self.claims(**changes))

    def fresh_token(self, **changes: object) -> str:
        """Valid by the clock of the machine, not of the test."""
        now = int(time.time())
        return self.token(**{"iat": now, "exp": now + 600, **changes})

    @property
    def data_url(self) -> str:
        return "data:text/plain;base64," + base64.b64encode(json.dumps(self._document(JWKS)).encode()).decode()


@pytest.fixture
async def issuer(rsa_key: SigningKey) -> AsyncIterator[Issuer]:
    server = LoopbackServer()
    issuer = Issuer(server.origin, [rsa_key])
    issuer.open.set()
    await server.start(Starlette(routes=[Route("/{path:path}", issuer.answer)]))
    yield issuer
    issuer.open.set()
    await server.stop()


class Clock:
    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(clock: Clock) -> Callable[..., JwtVerifier]:
    """`verifier(provider, …, option=…)`: that of a deployment with these providers."""

    def verifier(*providers: dict[str, object], **options: Any) -> JwtVerifier:
        application = Application(1, UdfConfig("1.44.0", b"", 0), {}, {}, auth_providers=providers)
        return JwtVerifier(CurrentApplication(application), now=clock, **options)

    return verifier


@pytest.fixture
def reply() -> type[Reply]:
    return Reply
