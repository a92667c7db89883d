"""A React app, built and deployed once; every test gets a deployment of its own that starts from there."""

import asyncio
import base64
import json
import shutil
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from convex_evals.backend.deployment import Deployment
from convex_evals.core.http import LoopbackServer

APP = Path(__file__).parent / "app"
ISSUER = "https://guestbook.example"

CopiedProject = Any


class Keys:
    """Signs tokens as the server of a page does. Mallory's are signed with a key that nobody knows."""

    def __init__(self) -> None:
        self._key, self._forged = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))

    @property
    def jwks(self) -> str:
        public = jwt.get_algorithm_by_name("ES256").to_jwk(self._key.public_key(), as_dict=True)
        document = json.dumps({"keys": [{**public, "kid": "page", "alg": "ES256", "use": "sig"}]})
        return "data:application/json;base64," + base64.b64encode(document.encode()).decode()

    def token(self, user: str) -> str:
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": "guestbook", "sub": user.lower(), "name": user, "iat": now, "exp": now + 600}
        return jwt.encode(claims, self._forged if user == "Mallory" else self._key, "ES256", {"kid": "page"})


@dataclass(frozen=True)
class BuiltApp:
    """`database` is the file of a deployment to which the app was pushed, `site` what Vite made of its pages."""

    project: CopiedProject
    keys: Keys

    @property
    def database(self) -> Path:
        return Path(self.project.folder / "deployment.db")

    @property
    def site(self) -> Path:
        return Path(self.project.folder / "dist")

    async def build(self) -> None:
        async with Deployment.start(database=self.database) as deployment:
            await _set_variables(deployment, ISSUER=ISSUER, JWKS=self.keys.jwks)
            await self.project.push(deployment)  # generates code that the pages import
        vite = self.project.toolchain.node_command("vite")
        await self.project.run(*vite, "build", "--logLevel=warn")


async def _set_variables(deployment: Deployment, **variables: str) -> None:
    changes = [{"name": name, "value": value} for name, value in variables.items()]
    headers = {"Authorization": f"Convex {deployment.admin_key}"}
    async with httpx2.AsyncClient(base_url=deployment.url, headers=headers, timeout=60) as client:
        answer = await client.post("/api/update_environment_variables", json={"changes": changes})
    assert answer.status_code == 200, answer.text


@pytest.fixture(scope="session")
def built_app(copy_project: Callable[[Path], CopiedProject]) -> BuiltApp:
    app = BuiltApp(copy_project(APP), Keys())
    asyncio.run(app.build())
    return app


@dataclass(frozen=True)
class Guestbook:
    """The app, running: `url` is the page's address."""

    deployment: Deployment
    url: str

    async def fill(self, messages: int) -> None:
        assert (await self.deployment.mutation("messages:fill", {"messages": float(messages)})).succeeded

    async def count(self) -> int:
        """What the server knows, whatever pages show."""
        return int(float((await self.deployment.query("messages:count")).value or "nan"))


@pytest_asyncio.fixture(loop_scope="session")
async def guestbook(built_app: BuiltApp, tmp_path: Path) -> AsyncIterator[Guestbook]:
    async def token(request: Request) -> Response:
        return Response(built_app.keys.token(request.query_params["user"]))

    database = tmp_path / "deployment.db"
    shutil.copy(built_app.database, database)
    async with Deployment.start(database=database) as deployment, LoopbackServer() as server:
        site = StaticFiles(directory=built_app.site, html=True)
        await server.start(Starlette(routes=[Route("/token", token), Mount("/", site)]))
        yield Guestbook(deployment, f"{server.origin}/?deployment={deployment.url}")
