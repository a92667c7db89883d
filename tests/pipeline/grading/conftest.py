"""Graders and what they grade: `deploy` puts a project on a deployment that runs in a thread of its own, because
graders wait for it; `grade` runs a grader of our own writing against it.
"""

import asyncio
import shutil
import textwrap
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import Toolchain, prepare_toolchain
from convex_evals.pipeline.grading import GradedDeployment, GraderResult, OrderOfTests
from convex_evals.pipeline.grading.kit.contents import clean
from convex_evals.pipeline.grading.kit.deployment import Deployment as GraderDeployment
from convex_evals.pipeline.grading.kit.transport import Clock, Transport
from convex_evals.pipeline.grading.run import run_grader
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import GradingOptions
from convex_evals.pipeline.workspace import Workspace
from convex_evals.suite import Eval, load_suite

APP = Path(__file__).parent / "app"
PUSH_SECONDS = 120.0
COMPILED = str(read_settings().cache_folder / "tests" / "compiled")  # or Node compiles the CLI each time

Deploy = Callable[[Path], GradedDeployment]
Grade = Callable[..., Awaitable[GraderResult]]


@contextmanager
def running_deployment(project: Path, toolchain: Toolchain) -> Iterator[GradedDeployment]:
    """A deployment in another thread, with the project on it: the real CLI put it there."""
    started: asyncio.Queue[GradedDeployment | BaseException] = asyncio.Queue()
    ready, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with Deployment.run(
            DeploymentSettings(accept_local_key=True, simulation=True)
        ) as deployment:  # vitest graders know no other
            graded = GradedDeployment(deployment.url, deployment.site_url, deployment.admin_key)
            try:
                await _push(project, graded, toolchain)
                started.put_nowait(graded)
            except BaseException as error:
                started.put_nowait(error)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(PUSH_SECONDS), "the deployment did not start"
        graded = started.get_nowait()
        if isinstance(graded, BaseException):
            raise graded
        yield graded
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _push(project: Path, target: GradedDeployment, toolchain: Toolchain) -> None:
    options = ["--once", "--typecheck=disable", "--tail-logs=disable"]
    result = await run(
        [*toolchain.node_command("convex"), "dev", *options, "--url", target.url, "--admin-key", target.admin_key],
        cwd=project,
        timeout=PUSH_SECONDS,
        environment=base_environment(project, {"CI": "1", "NODE_COMPILE_CACHE": COMPILED}),
    )
    assert result.ok, result.output.text


@pytest.fixture(scope="session")
def grading_toolchain() -> Toolchain:
    return asyncio.run(prepare_toolchain(read_settings()))


@pytest.fixture(scope="session")
def deploy(grading_toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    """Each project is deployed once, however many tests ask for it."""
    deployed: dict[Path, GradedDeployment] = {}
    with ExitStack() as stack:

        def deploy_once(source: Path) -> GradedDeployment:
            if source not in deployed:
                project = tmp_path_factory.mktemp("project") / "project"
                shutil.copytree(source, project)
                (project / "node_modules").symlink_to(grading_toolchain.packages.node_modules)
                deployed[source] = stack.enter_context(running_deployment(project, grading_toolchain))
            return deployed[source]

        yield deploy_once


@pytest.fixture(scope="session")
def graded(deploy: Deploy) -> GradedDeployment:
    """The app of these tests, deployed."""
    return deploy(APP)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def transport(graded: GradedDeployment, clock: Clock) -> Transport:
    transport = Transport("project", graded.url, graded.site_url, graded.admin_key, clock)
    clean(transport)
    return transport


@pytest.fixture
def project(transport: Transport) -> GraderDeployment:
    """As graders have it."""
    return GraderDeployment(transport)


@pytest.fixture
def tools(shared_tools: Tools, tmp_path: Path) -> Tools:
    """One warm process serves all tests of a worker; each test has a cache of its own."""
    return replace(shared_tools, settings=replace(shared_tools.settings, cache_folder=tmp_path / "cache"))


@pytest.fixture
def write_eval(tmp_path: Path) -> Callable[[str | Mapping[str, str]], Eval]:
    """A suite of one eval, made of a `grader.py`, or of files by name."""

    def write(files: str | Mapping[str, str]) -> Eval:
        folder = tmp_path / "evals/000-made/000-up"
        given = {"grader.py": files} if isinstance(files, str) else files
        everything = {"TASK.txt": "Do it.", "answer/package.json": "{}", **given}
        for name, text in everything.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return load_suite(tmp_path / "evals").evals[0]

    return write


@pytest.fixture
def grade(tools: Tools, tmp_path: Path) -> Grade:
    """Runs the grader of an eval."""

    async def grade(
        eval: Eval,
        project: GradedDeployment | None = None,
        answer: GradedDeployment | None = None,
        files: Path = APP,
        order: OrderOfTests | None = None,
        **options: float,
    ) -> GraderResult:
        workspace = Workspace(tmp_path / "workspace")
        workspace.prepare()
        return await run_grader(
            eval,
            project=project,
            answer=answer,
            files=files,
            workspace=workspace,
            options=GradingOptions(**options),  # type: ignore[arg-type]
            tools=tools,
            order=order,
        )

    return grade
