"""Projects with components, deployed by the real CLI. `apps/` has their sources, `packages/` what they install."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.backend.environment import VariableChange
from convex_evals.backend.functions.calls import Call, CallOutcome
from convex_evals.backend.functions.targets import parse_path
from convex_evals.backend.identity import ADMIN, Identity
from convex_evals.backend.values import Value, encode
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import InstalledPackages, PackageSet, PackageStore, Toolchain, prepare_toolchain

APPS = Path(__file__).parent / "apps"
PACKAGES = Path(__file__).parent / "packages"
PATIENCE = 100.0
COMPILED = str(read_settings().cache_folder / "tests" / "compiled")  # or Node compiles the CLI each time
READY = "Convex functions ready!"

Json = Any
OpenProject = Callable[..., AbstractAsyncContextManager["Project"]]


@dataclass(frozen=True)
class Tools:
    toolchain: Toolchain
    packages: InstalledPackages


@dataclass(frozen=True)
class Answer:
    """Of a program: what it printed, standard error included."""

    exit_code: int | None
    output: str

    @property
    def is_push(self) -> bool:
        return self.exit_code == 0 and READY in self.output


@dataclass(frozen=True)
class Project:
    """A folder with a deployment of its own; `http` reaches its HTTP actions by path, anything else by address."""

    folder: Path
    tools: Tools
    deployment: Deployment
    http: httpx2.AsyncClient

    def write(self, files: Mapping[str, str]) -> None:
        """`files` are texts by path below `convex/`."""
        for name, text in files.items():
            path = self.folder / "convex" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    async def push(self, typecheck: Literal["enable", "disable"] = "disable") -> Answer:
        return await self.convex("dev", "--once", "--tail-logs", "disable", "--typecheck", typecheck)

    async def convex(self, *arguments: str) -> Answer:
        script = self.tools.packages.node_script("convex")
        target = ["--url", self.deployment.url, "--admin-key", self.deployment.admin_key]
        return await self._run([str(self.tools.toolchain.node.executable), str(script), *arguments, *target])

    async def check_types(self) -> Answer:
        return await self._run([str(self.tools.toolchain.binary("tsc")), "--noEmit", "--project", "convex"])

    async def _run(self, command: list[str]) -> Answer:
        environment = base_environment(self.folder, {"CI": "1", "NODE_COMPILE_CACHE": COMPILED})
        result = await run(command, cwd=self.folder, timeout=PATIENCE, environment=environment)
        assert not result.timed_out, f"{command} hangs: {result.output.text}"
        return Answer(result.exit_code, result.output.text)

    async def call(self, path: str, /, component: str = "", identity: Identity = ADMIN, **args: Value) -> CallOutcome:
        call = Call(parse_path(path, component), [encode(args)], identity=identity, caller="Tester")
        return await self.deployment.functions.run_any(call)

    async def run(self, path: str, /, component: str = "", identity: Identity = ADMIN, **args: Value) -> Json:
        """The value of a function that succeeds."""
        return _value(await self.call(path, component, identity, **args))

    async def failure(self, path: str, /, component: str = "", identity: Identity = ADMIN, **args: Value) -> str:
        """The message of a function that fails."""
        outcome = await self.call(path, component, identity, **args)
        assert outcome.failure is not None, outcome.value
        return outcome.failure.message

    async def until(self, condition: Callable[[], Awaitable[Json]], seconds: float = PATIENCE) -> Json:
        """What `condition` returns as soon as that is true."""
        async with asyncio.timeout(seconds):
            while not (found := await condition()):  # noqa: ASYNC110 - conditions are questions of any kind
                await asyncio.sleep(0.05)
        return found

    async def query_system(self, path: str, /, **args: Value) -> Json:
        """The value of a `_system` query, as the dashboard asks for it."""
        return _value(await self.deployment.query(f"_system/{path}", args))


def _value(outcome: CallOutcome) -> Json:
    assert outcome.failure is None, outcome.failure.message
    assert outcome.value is not None
    return json.loads(outcome.value)


@pytest.fixture(scope="session")
def tools() -> Tools:
    async def prepare() -> Tools:
        settings = read_settings()
        toolchain = await prepare_toolchain(settings)
        store = PackageStore(settings.cache_folder / "tests", toolchain.node, settings)
        packages = await store.install(PackageSet.from_folder(PACKAGES, "the published components"))
        return Tools(toolchain, packages)

    return asyncio.run(prepare())


@pytest.fixture(scope="session")
def open_project(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> OpenProject:
    """`async with open_project("tiny") as project` copies that app, or a project's folder with all it has deployed."""

    @asynccontextmanager
    async def opened(source: str | Path, variables: Mapping[str, str] | None = None) -> AsyncIterator[Project]:
        folder = tmp_path_factory.mktemp("project")
        shutil.copytree(APPS / source, folder, dirs_exist_ok=True, symlinks=True)
        if not (folder / "node_modules").exists():
            (folder / "node_modules").symlink_to(tools.packages.node_modules)
            shutil.copy(PACKAGES / "package.json", folder)
        settings = DeploymentSettings(database=folder / "deployment.db", sdk=tools.packages.package("convex"))
        async with (
            Deployment.run(settings) as deployment,
            httpx2.AsyncClient(base_url=deployment.site_url, timeout=PATIENCE) as http,
        ):
            await deployment.variables.update(VariableChange(name, value) for name, value in (variables or {}).items())
            yield Project(folder, tools, deployment, http)

    return opened


@pytest.fixture(scope="session")
def pushed_local(open_project: OpenProject) -> Path:
    """The folder of the app in `apps/local` with its deployment, for copies of both."""

    async def push() -> Path:
        async with open_project("local", {"PLAN": "paid", "API_KEY": "s3cret"}) as project:
            answer = await project.push()
            assert answer.is_push, answer.output
            return project.folder

    return asyncio.run(push())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def local(open_project: OpenProject, pushed_local: Path) -> AsyncIterator[Project]:
    """A component mounted twice, and once more inside another: a fresh copy for every file of tests."""
    async with open_project(pushed_local) as project:
        yield project


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def published(open_project: OpenProject) -> AsyncIterator[Project]:
    """The app in `apps/published`, pushed: one file for every published component."""
    async with open_project("published") as project:
        answer = await project.push()
        assert answer.is_push, answer.output
        yield project
