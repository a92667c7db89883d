"""Projects of models, graded for real: `graded` grades one of `projects/` once and keeps its workspace."""

import asyncio
import json
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from convex_evals.core.settings import read_settings
from convex_evals.core.verdicts import StepName
from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.tools import Tools, open_tools
from convex_evals.pipeline.types import Assignment, Grade, GradingOptions
from convex_evals.pipeline.workspace import Workspace
from convex_evals.suite import Eval, load_suite

PROJECTS = Path(__file__).parent / "projects"
PACKAGES_BEFORE = "2026-11-01"
ANSWER = {
    "package.json": '{"private": true, "dependencies": {"convex": "1.44.0"}}',
    "convex/index.ts": (
        'import { query } from "./_generated/server";\n'
        "export const nothing = query({ args: {}, handler: () => null });\n"
    ),
}

Files = Mapping[str, str]


@dataclass(frozen=True)
class Graded:
    grade: Grade
    workspace: Workspace
    expected: dict[str, Any]
    files: Files


def project_files(name: str) -> dict[str, str]:
    folder = PROJECTS / name
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "expected.json"]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


@pytest.fixture(scope="session")
def tools() -> Tools:
    """For gradings without a grader: those are run by a process that belongs to the event loop of a test."""

    async def prepare() -> Tools:
        async with open_tools(read_settings()) as opened:
            return opened

    return asyncio.run(prepare())


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_tools() -> AsyncIterator[Tools]:
    """With graders, for tests that run in the loop of the session."""
    async with open_tools(read_settings()) as opened:
        yield opened


@pytest.fixture
async def grading_tools() -> AsyncIterator[Tools]:
    async with open_tools(read_settings()) as opened:
        yield opened


@pytest.fixture(scope="session")
def write_eval(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Eval]:
    """An eval in a suite of its own: with this answer, grader, eval.json and files beside `evals/`."""

    def write(answer: Files = ANSWER, *, grader: str = "", settings: str = "", beside: Files | None = None) -> Eval:
        root = tmp_path_factory.mktemp("suite")
        folder = root / "evals/000-tests/000-one"
        texts = {f"evals/000-tests/000-one/answer/{name}": text for name, text in answer.items()}
        texts |= {"evals/suite.json": json.dumps({"packagesBefore": PACKAGES_BEFORE}), **(beside or {})}
        for name, text in texts.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (folder / "TASK.txt").write_text("Write something.")
        if grader:
            (folder / "grader.py").write_text(textwrap.dedent(grader))
        if settings:
            (folder / "eval.json").write_text(settings)
        suite = load_suite(root / "evals")
        assert not suite.problems
        return suite.evals[0]

    return write


@pytest.fixture(scope="session")
def an_eval(write_eval: Callable[..., Eval]) -> Eval:
    return write_eval()


@pytest.fixture
def grade_files(tools: Tools, an_eval: Eval, tmp_path: Path) -> Callable[..., Awaitable[Grade]]:
    """`await grade_files({"convex/index.ts": …})`; with `eval` and `options` other ones, with `only` up to a step."""

    async def run(
        files: Files, eval: Eval = an_eval, options: GradingOptions | None = None, only: StepName | None = None
    ) -> Grade:
        given = Assignment(eval, files, options or GradingOptions(), tmp_path / "workspace", only)
        return await grade(given, tools)

    return run


@pytest.fixture(scope="session")
def graded(
    tools: Tools, an_eval: Eval, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Awaitable[Graded]]]:
    done: dict[str, Graded] = {}

    async def once(name: str) -> Graded:
        if name not in done:
            folder = tmp_path_factory.mktemp(name)
            files = project_files(name)
            result = await grade(Assignment(an_eval, files, GradingOptions(), folder), tools)
            expected = json.loads((PROJECTS / name / "expected.json").read_text())
            done[name] = Graded(result, Workspace(folder), expected, files)
        return done[name]

    yield once
