"""Two ways to deploy. `deploy` is the fast one: it bundles TypeScript as the CLI does, with the toolchain's esbuild.
`deployment_of` is a deployment of an app that was pushed once, for tests that need one of their own.

`copy_project` makes a project whose tools, the real CLI among them, can be run.
"""

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest

from convex_evals.backend.deployment import Deployment
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import Toolchain, prepare_toolchain

APP = Path(__file__).parent / "app" / "convex"
ALONE = {"schema.ts": "schema", "auth.config.ts": "auth"}  # bundles of their own, which share no chunks with functions

TOOL_SECONDS = 120.0
COMPILED = str(read_settings().cache_folder / "tests" / "compiled")  # or Node compiles the CLI each time

Modules = list[dict[str, str | None]]
Deploy = Callable[..., Awaitable[None]]
DeploymentOf = Callable[..., AbstractAsyncContextManager[Deployment]]


@pytest.fixture(scope="session")
def esbuild_toolchain() -> Toolchain:
    return asyncio.run(prepare_toolchain(read_settings()))


@pytest.fixture(scope="session")
def bundle(
    esbuild_toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Mapping[str, str]], Modules]:
    """From sources by path below `convex/` to modules as a push carries them. Equal sources are bundled once."""
    bundled: dict[str, Modules] = {}

    def bundle_once(files: Mapping[str, str]) -> Modules:
        key = json.dumps(files, sort_keys=True)
        if key not in bundled:
            bundled[key] = _bundle(esbuild_toolchain, tmp_path_factory.mktemp("bundle"), files)
        return bundled[key]

    return bundle_once


def _bundle(toolchain: Toolchain, folder: Path, files: Mapping[str, str]) -> Modules:
    for name, text in files.items():
        path = folder / "convex" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "node_modules").symlink_to(toolchain.packages.node_modules)
    entries: dict[str, list[str]] = {"schema": [], "auth": [], "isolate": [], "node": []}
    for name, text in files.items():
        usual = "node" if text.startswith('"use node"') else "isolate"
        entries[ALONE.get(name, usual)].append(f"convex/{name}")
    return [module for kind in entries if entries[kind] for module in _run(toolchain, folder, kind, entries[kind])]


def _run(toolchain: Toolchain, folder: Path, kind: str, entries: list[str]) -> Modules:
    out, platform = folder / kind, "node" if kind == "node" else "browser"
    options = ["--bundle", "--format=esm", "--target=esnext", "--outbase=convex", "--splitting", "--sourcemap"]
    options += ["--chunk-names=_deps/[hash]", "--conditions=convex,module", "--minify-syntax", "--keep-names"]
    command = [str(toolchain.binary("esbuild")), *entries, *options, f"--platform={platform}", f"--outdir={out}"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return [
        {
            "path": path.relative_to(out).as_posix(),
            "source": path.read_text(),
            "sourceMap": path.with_name(path.name + ".map").read_text(),
            "environment": "node" if kind == "node" else "isolate",
        }
        for path in sorted(out.rglob("*.js"))
    ]


@dataclass(frozen=True)
class HttpPush:
    """What the CLI sends to a deployment, without the CLI, which takes most of a second to begin."""

    url: str
    admin_key: str

    async def start(self, modules: Modules) -> httpx2.Response:
        app = {
            "definition": None,
            "dependencies": [],
            "schema": next((module for module in modules if module["path"] == "schema.js"), None),
            "changedModules": [module for module in modules if module["path"] != "schema.js"],
            "unchangedModuleHashes": [],
            "udfServerVersion": "1.44.0",
        }
        return await self._post(
            "start_push", functions="convex/", appDefinition=app, componentDefinitions=[], nodeDependencies=[]
        )

    async def refusal(self, modules: Modules) -> str:
        """Why the deployment does not take the modules; empty when they are deployed."""
        answer = await self.start(modules)
        if answer.status_code != 200:
            return _reason(answer)
        started = answer.json()
        schema = (await self._post("wait_for_schema", schemaChange=started["schemaChange"])).json()
        if schema["type"] != "complete":
            return str(schema["error"])
        finished = await self._post("finish_push", startPush=started)
        return "" if finished.status_code == 200 else finished.text

    async def _post(self, path: str, **body: object) -> httpx2.Response:
        headers = {"Authorization": f"Convex {self.admin_key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as client:
            return await client.post(
                f"{self.url}/api/deploy2/{path}", json={"adminKey": self.admin_key, "dryRun": False, **body}
            )


def _reason(answer: httpx2.Response) -> str:
    """A deployment that is being stopped answers in words."""
    try:
        return "{code}: {message}".format(**answer.json())
    except ValueError:
        return f"{answer.status_code}: {answer.text}"


@pytest.fixture(scope="session")
def http_push() -> type[HttpPush]:
    return HttpPush


@pytest.fixture(scope="session")
def deploy(bundle: Callable[[Mapping[str, str]], Modules]) -> Deploy:
    """`await deploy(deployment)` pushes the app in `app/convex`; with `files` those instead."""

    async def push(deployment: Deployment, files: Mapping[str, str] | None = None) -> None:
        sources = files or {path.relative_to(APP).as_posix(): path.read_text() for path in APP.rglob("*.ts")}
        assert await HttpPush(deployment.url, deployment.admin_key).refusal(bundle(sources)) == ""

    return push


@pytest.fixture(scope="session")
def deployment_of(deploy: Deploy, tmp_path_factory: pytest.TempPathFactory) -> DeploymentOf:
    """`async with deployment_of(files) as deployment`: equal files are pushed once, which takes three times as long as
    to start with a copy of what was deployed. The copy is at `database`, if that is named. No worker runs yet."""
    pushed: dict[str, Path] = {}

    async def push_once(files: Mapping[str, str] | None) -> Path:
        key = json.dumps(files, sort_keys=True)
        if key not in pushed:
            database = tmp_path_factory.mktemp("pushed") / "data.db"
            async with Deployment.start(database=database) as deployment:
                await deploy(deployment, files)
            pushed[key] = database
        return pushed[key]

    @asynccontextmanager
    async def start(files: Mapping[str, str] | None = None, database: Path | None = None) -> AsyncIterator[Deployment]:
        copy = database or tmp_path_factory.mktemp("deployment") / "data.db"
        shutil.copyfile(await push_once(files), copy)
        async with Deployment.start(database=copy) as deployment:
            yield deployment

    return start


@pytest.fixture
def believe_later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """From now on, tokens end so many seconds sooner for those who are connected."""

    def move(seconds: float) -> None:
        clock = SimpleNamespace(time=lambda: time.time() + seconds, time_ns=time.time_ns)
        monkeypatch.setattr("convex_evals.backend.sync.session.time", clock)

    return move


@dataclass(frozen=True)
class CopiedProject:
    folder: Path
    toolchain: Toolchain

    async def push(self, deployment: Deployment) -> None:
        target = ["--url", deployment.url, "--admin-key", deployment.admin_key]
        options = ["--once", "--typecheck=disable", "--tail-logs=disable"]
        printed = await self.run(*self.toolchain.node_command("convex"), "dev", *options, *target)
        assert "Convex functions ready!" in printed

    async def type_check(self) -> None:
        await self.run(self.toolchain.binary("tsc"), "--project", ".")

    async def run(self, *command: str | Path) -> str:
        """What a tool printed; it must succeed."""
        environment = base_environment(self.folder, {"CI": "1", "NODE_COMPILE_CACHE": COMPILED})
        result = await run(command, cwd=self.folder, timeout=TOOL_SECONDS, environment=environment)
        assert result.ok, f"{result.ending}: {result.output.text}"
        return result.output.text


@pytest.fixture(scope="session")
def copy_project(
    esbuild_toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], CopiedProject]:
    """Copies a folder with a package.json, which gets the packages named there, from the toolchain."""

    def copy(source: Path) -> CopiedProject:
        folder = tmp_path_factory.mktemp("project") / source.name
        shutil.copytree(source, folder)
        manifest = json.loads((folder / "package.json").read_bytes())
        for name in {**manifest["dependencies"], **manifest["devDependencies"]}:
            # Links in a folder of the project's own: Vite writes its caches there.
            link = folder / "node_modules" / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(esbuild_toolchain.packages.package(name))
        return CopiedProject(folder, esbuild_toolchain)

    return copy
