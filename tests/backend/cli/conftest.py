"""Projects that the real `convex` CLIs deploy to a real deployment."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import Node, PackageSet, PackageStore, find_node

CLIS = Path(__file__).parents[2] / "toolchain" / "convex-clis"
PATIENCE = 120.0
COMPILED = str(read_settings().cache_folder / "tests" / "compiled")  # or Node compiles the CLI each time


@dataclass(frozen=True)
class Clis:
    """Every CLI version side by side: `convex-1-44` and so on."""

    node: Node
    packages: Path  # a node_modules folder


@dataclass(frozen=True)
class Answer:
    exit_code: int | None
    output: str  # standard output and standard error
    stdout: str


@dataclass
class Project:
    folder: Path
    clis: Clis
    deployment: Deployment
    version: str = "1-44"

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def remove(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink()

    def use(self, version: str) -> None:
        """From now on the project has this version of `convex`, and its CLI is the one that runs."""
        self.version = version
        link = self.folder / "node_modules" / "convex"
        link.unlink(missing_ok=True)
        link.symlink_to(self.clis.packages / f"convex-{version}")

    async def convex(self, *arguments: str, admin_key: str | None = None) -> Answer:
        result = await run(
            self._command(*arguments, admin_key=admin_key),
            cwd=self.folder,
            timeout=PATIENCE,
            environment=self._environment,
            separate_errors=True,
        )
        assert not result.timed_out, f"convex {arguments[0]} hangs: {result.output.text}{result.errors}"
        stdout = result.output.text
        return Answer(result.exit_code, stdout + (result.errors.text if result.errors else ""), stdout)

    async def logs_until(self, text: str) -> None:
        """`convex logs` never ends by itself: it is stopped when it has shown what was waited for."""
        command = self._command("logs", "--history", "50", "--success")
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder,
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(PATIENCE):
                while text not in (line := (await process.stdout.readline()).decode()):
                    assert line, "convex logs ended"
        finally:
            process.kill()
            await process.communicate()

    async def push(self, admin_key: str | None = None) -> Answer:
        """Without the type check, which is not the deployment's business and takes most of the time."""
        command = ["dev", "--once", "--tail-logs", "disable", "--typecheck", "disable"]
        return await self.convex(*command, admin_key=admin_key)

    def _command(self, *arguments: str, admin_key: str | None = None) -> list[str]:
        script = self.folder / "node_modules/convex/bin/main.js"
        target = ["--url", self.deployment.url, "--admin-key", admin_key or self.deployment.admin_key]
        return [str(self.clis.node.executable), str(script), *arguments, *target]

    @property
    def _environment(self) -> dict[str, str]:
        return base_environment(self.folder, {"CI": "1", "NODE_COMPILE_CACHE": COMPILED})


@pytest.fixture(scope="session")
def clis() -> Clis:
    async def install() -> Clis:
        settings = read_settings()
        node = await find_node(settings)
        store = PackageStore(settings.cache_folder / "tests", node, settings)
        packages = await store.install(PackageSet.from_folder(CLIS, "the convex CLIs of the tests"))
        return Clis(node, packages.folder / "node_modules")

    return asyncio.run(install())


@asynccontextmanager
async def empty_project(folder: Path, clis: Clis) -> AsyncIterator[Project]:
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "typescript").symlink_to(clis.packages / "typescript")
    async with Deployment.run(DeploymentSettings(sdk=clis.packages / "convex-1-44")) as deployment:
        project = Project(folder, clis, deployment)
        project.write({"package.json": json.dumps({"private": True, "dependencies": {"convex": "*"}})})
        project.use("1-44")
        yield project


@pytest.fixture
async def project(tmp_path: Path, clis: Clis) -> AsyncIterator[Project]:
    """An empty project with a deployment of its own."""
    async with empty_project(tmp_path, clis) as created:
        yield created


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_project(tmp_path_factory: pytest.TempPathFactory, clis: Clis) -> AsyncIterator[Project]:
    """One for all tests of a file."""
    async with empty_project(tmp_path_factory.mktemp("project"), clis) as created:
        yield created
