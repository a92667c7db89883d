"""Projects that the real `convex` CLIs deploy to a real deployment."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from convex_evals.backend.deployment import Deployment
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import Node, PackageSet, PackageStore, find_node

CLIS = Path(__file__).parents[2] / "toolchain" / "convex-clis"
PATIENCE = 60.0


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

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def use(self, version: str) -> None:
        """From now on the project has this version of `convex`, and its CLI is the one that runs."""
        self.version = version
        link = self.folder / "node_modules" / "convex"
        link.unlink(missing_ok=True)
        link.symlink_to(self.clis.packages / f"convex-{version}")

    async def convex(self, *arguments: str) -> Answer:
        script = self.folder / "node_modules/convex/bin/main.js"
        target = ["--url", self.deployment.url, "--admin-key", self.deployment.admin_key]
        result = await run(
            [self.clis.node.executable, script, *arguments, *target],
            cwd=self.folder,
            timeout=PATIENCE,
            environment=base_environment(self.folder, {"CI": "1"}),
            separate_errors=True,
        )
        assert not result.timed_out, f"convex {arguments[0]} hangs: {result.output.text}{result.errors}"
        stdout = result.output.text
        return Answer(result.exit_code, stdout + (result.errors.text if result.errors else ""), stdout)

    async def push(self, *options: str) -> Answer:
        """Without the type check, which is not the deployment's business and takes most of the time."""
        return await self.convex("dev", "--once", "--tail-logs", "disable", "--typecheck", "disable", *options)


@pytest.fixture(scope="session")
def clis() -> Clis:
    async def install() -> Clis:
        settings = read_settings()
        node = await find_node(settings)
        store = PackageStore(settings.cache_folder / "tests", node, settings)
        packages = await store.install(PackageSet.from_folder(CLIS, "the convex CLIs of the tests"))
        return Clis(node, packages.folder / "node_modules")

    return asyncio.run(install())


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with Deployment.start() as started:
        yield started


@pytest.fixture
def project(tmp_path: Path, clis: Clis, deployment: Deployment) -> Project:
    """An empty project."""
    project = Project(tmp_path, clis, deployment)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "typescript").symlink_to(clis.packages / "typescript")
    project.write({"package.json": json.dumps({"private": True, "dependencies": {"convex": "*"}})})
    project.use("1-44")
    return project
