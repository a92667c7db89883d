"""A React app, built and deployed once; every test gets a deployment of its own that starts from there."""

import asyncio
import base64
import json
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
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
from convex_evals.backend.http.server import LoopbackServer
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import Toolchain, prepare_toolchain

APP = Path(__file__).parent / "app"
ISSUER = "https://guestbook.example"
PATIENCE = 60.0


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
class Project:
    """A copy of the app. `database` is the file of a deployment to which it was pushed, `site` what Vite made of it."""

    folder: Path
    toolchain: Toolchain
    keys: Keys

    @property
    def database(self) -> Path:
        return self.folder / "deployment.db"

    @property
    def site(self) -> Path:
        return self.folder / "dist"

    async def deploy(self) -> None:
        async with Deployment.start(database=self.database) as deployment:
            await self._set_variables(deployment, ISSUER=ISSUER, JWKS=self.keys.jwks)
            command = [*self.toolchain.node_command("convex"), "dev", "--once", "--typecheck=disable"]
            target = ["--tail-logs=disable", "--url", deployment.url, "--admin-key", deployment.admin_key]
            assert "Convex functions ready!" in await self.run(*command, *target)

    async def build(self) -> None:
        await self.run(*self.toolchain.node_command("vite"), "build", "--logLevel=warn")

    async def run(self, *command: str | Path) -> str:
        environment = base_environment(self.folder, {"CI": "1"})
        result = await run(command, cwd=self.folder, timeout=PATIENCE, environment=environment)
        assert result.ok, f"{result.ending}: {result.output.text}"
        return result.output.text

    @staticmethod
    async def _set_variables(deployment: Deployment, **variables: str) -> None:
        changes = [{"name": name, "value": value} for name, value in variables.items()]
        headers = {"Authorization": f"Convex {deployment.admin_key}"}
        async with httpx.AsyncClient(base_url=deployment.url, headers=headers) as client:
            answer = await client.post("/api/update_environment_variables", json={"changes": changes})
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("react") / "app"
    shutil.copytree(APP, folder)

    async def prepare() -> Project:
        toolchain = await prepare_toolchain(read_settings())
        (folder / "node_modules").symlink_to(toolchain.packages.node_modules)
        project = Project(folder, toolchain, Keys())
        await project.deploy()
        await project.build()
        return project

    return asyncio.run(prepare())


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
async def guestbook(project: Project, tmp_path: Path) -> AsyncIterator[Guestbook]:
    async def token(request: Request) -> Response:
        return Response(project.keys.token(request.query_params["user"]))

    database = tmp_path / "deployment.db"
    shutil.copy(project.database, database)
    async with Deployment.start(database=database) as deployment, LoopbackServer() as server:
        site = StaticFiles(directory=project.site, html=True)
        await server.start(Starlette(routes=[Route("/token", token), Mount("/", site)]))
        yield Guestbook(deployment, f"{server.origin}/?deployment={deployment.url}")
