"""From the files a model wrote to a verdict: the six steps in their order."""

import asyncio
import errno
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.steps import StepResult, TestCounts
from convex_evals.core.verdicts import GATES, STEPS, StepName
from convex_evals.pipeline.bounds import MOST_BYTES, MOST_FILES, bounded, usage_of
from convex_evals.pipeline.deploy import (
    AnswerFailure,
    Backend,
    add_missing_tsconfig,
    deploy_answer,
    deploy_project,
    open_answer_backend,
    open_backend,
    prepare_pushes,
)
from convex_evals.pipeline.failures import FAILURES
from convex_evals.pipeline.filesystem import write_project
from convex_evals.pipeline.grading import (
    GivenProject,
    GraderNetwork,
    OrderOfTests,
    deploys_the_given_project,
    run_grader,
)
from convex_evals.pipeline.install import install_packages, outage
from convex_evals.pipeline.lint import lint
from convex_evals.pipeline.step import RunningStep
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.typecheck import CheckedCopy, check_types, make_checked_copy
from convex_evals.pipeline.types import Assignment, Grade, OnStep, ignore_step, status_of
from convex_evals.pipeline.workspace import Workspace
from convex_evals.suite import GraderKind, Pipeline, read_given


async def grade(assignment: Assignment, tools: Tools, on_step: OnStep = ignore_step) -> Grade:
    """Grades an answer in the assignment's folder, which stays the caller's: logs and files are in it.

    `on_step` is told of every step that ran, as soon as it is over.

    Never raises for what a model wrote. What goes wrong by accident is a step with the status "infrastructure"; whose
    doing that is, the runner finds out.
    """
    folders = Workspace(assignment.folder)
    folders.prepare()
    started, cpu = time.perf_counter(), time.process_time()
    grading = Grading(assignment, folders, tools, on_step)
    await grading.run()
    own_cpu_ms = (time.process_time() - cpu) * 1000
    return grading.verdict((time.perf_counter() - started) * 1000, own_cpu_ms)


@dataclass(frozen=True, slots=True)
class Backends:
    """Where the project and the reference answer run."""

    project: Backend
    answer: Backend
    given: Backend | None = None  # for graders that deploy the given project first


class Grading:
    """One answer on its way through the steps."""

    def __init__(self, assignment: Assignment, workspace: Workspace, tools: Tools, on_step: OnStep) -> None:
        self._eval, self._files, self._only = assignment.eval, assignment.files, assignment.only
        self._cut_off = assignment.cut_off
        self._order = OrderOfTests(assignment.first_test, until_failure=assignment.until_failure)
        self._options = assignment.options.completed(assignment.eval.settings)
        self._workspace, self._tools, self._on_step = workspace, tools, on_step
        self._network = GraderNetwork()
        self._results: dict[StepName, StepResult] = {}
        self._tests: TestCounts | None = None
        self._broken: str | None = None
        self._failed_tests: tuple[str, ...] = ()

    async def run(self) -> None:
        written = await self._passes(
            "filesystem",
            lambda step: _at_once(write_project(step, self._files, read_given(self._eval), self._cut_off)),
        )
        if not written or self._only == "filesystem":
            return
        if self._eval.pipeline is Pipeline.STATIC:
            await self._run_check("tests", None)
            return
        async with AsyncExitStack() as opened:
            backends = await self._open(opened)
            if backends is None:
                return
            answer = asyncio.create_task(self._deploy_answer(backends.answer))
            opened.push_async_callback(_cancel, answer)
            installed = await self._passes("install", lambda step: install_packages(step, self._options))
            if installed and self._only != "install":
                deployed = await self._passes("deploy", lambda step: self._deploy(step, backends.project, answer))
                if deployed and self._only not in GATES:
                    await self._check(backends)

    def verdict(self, duration_ms: float, own_cpu_ms: float) -> Grade:
        """Every step is there; those that did not run are skipped."""
        steps = tuple(self._results.get(name) or self._skipped(name) for name in STEPS)
        status = status_of(steps)
        return Grade(
            eval=self._eval.id,
            status=status,
            steps=steps,
            tests=self._tests,
            duration_ms=duration_ms,
            cpu_ms=own_cpu_ms + sum(step.cpu_ms for step in steps),
            broken=self._broken if status == "infrastructure" else None,
            failed_tests=self._failed_tests,
        )

    async def _passes(self, name: StepName, work: Callable[[RunningStep], Awaitable[StepResult]]) -> bool:
        step = RunningStep(name, self._workspace, self._tools)
        result = bounded(await _guarded(step, work))
        self._results[name] = result = await asyncio.to_thread(_within_quota, step, result)
        await self._on_step(result)
        return result.status == "passed"

    async def _open(self, opened: AsyncExitStack) -> Backends | None:
        root, options, tools = self._workspace.root, self._options, self._tools
        grader = self._eval.grader
        foreign = grader is not None and grader.kind is GraderKind.VITEST  # has the well-known admin key in its code
        project = open_backend(options, tools, root / "backend", network=self._network, accept_local_key=foreign)
        answer = open_answer_backend(
            options, tools, root / "answers", network=self._network, accept_local_key=foreign, warm=False
        )
        try:
            backends = Backends(await opened.enter_async_context(project), await opened.enter_async_context(answer))
            if deploys_the_given_project(self._eval):
                given = open_answer_backend(options, tools, root / "given", network=self._network)
                backends = replace(backends, given=await opened.enter_async_context(given))
            return backends
        except (InfrastructureError, OSError) as error:
            failed = RunningStep("deploy", self._workspace, self._tools).failed("backend-failed", str(error))
            self._results["deploy"] = bounded(failed)
            return None

    async def _deploy_answer(self, backend: Backend) -> AnswerFailure | None:
        step = RunningStep("deploy", self._workspace, self._tools, log="answer")
        try:
            return await deploy_answer(step, self._eval, backend, self._options)
        except (InfrastructureError, OSError) as error:
            return AnswerFailure("tool-crashed", str(error))

    async def _deploy(
        self, step: RunningStep, backend: Backend, answer: "asyncio.Task[AnswerFailure | None]"
    ) -> StepResult:
        result = await deploy_project(step, backend, self._options)
        failure = await answer
        step.say((self._workspace.logs / "answer.log").read_text(errors="replace"))
        if failure is None or result.status == "failed":
            return result
        excerpt = f"The reference answer cannot be deployed:\n{failure.excerpt}"
        if not FAILURES[failure.kind].retried:
            self._broken = excerpt
        return step.failed(failure.kind, excerpt)

    async def _check(self, backends: Backends) -> None:
        """All of them, whether or not the others pass."""
        chosen = [name for name in CHECKS if self._only in (None, name)]
        await asyncio.gather(*(self._run_check(name, backends) for name in chosen))

    async def _run_check(self, name: StepName, backends: Backends | None) -> None:
        await self._passes(name, lambda step: CHECKS[name](self, step, backends))

    @cached_property
    def _checked(self) -> CheckedCopy:
        return make_checked_copy(self._workspace.project, self._workspace.checked)

    async def _check_types(self, step: RunningStep, backends: Backends | None) -> StepResult:
        return await check_types(step, self._checked, self._options.compiler)

    async def _lint(self, step: RunningStep, backends: Backends | None) -> StepResult:
        return await lint(step, self._eval, self._checked, self._options.linter)

    async def _run_tests(self, step: RunningStep, backends: Backends | None) -> StepResult:
        if self._eval.grader is None:
            step.note("the eval has no grader, so no test is required")
            self._tests = TestCounts(0, 0)
            return step.passed()
        if backends is not None:
            await self._complete_project(step)
        given: GivenProject | None = None
        if backends is not None and backends.given is not None:
            prepared = await prepare_pushes(step, self._eval, backends.given, self._options)
            if prepared.pushes is None:
                return self._not_prepared(step, prepared.failure)
            given = GivenProject(backends.given.target, prepared.pushes)
        graded = await run_grader(
            self._eval,
            project=backends.project.target if backends else None,
            answer=backends.answer.target if backends else None,
            files=self._workspace.project,
            workspace=self._workspace,
            options=self._options,
            tools=self._tools,
            network=self._network,
            given=given,
            order=self._order,
        )
        self._tests, self._broken = graded.tests, self._broken or graded.broken
        self._failed_tests = graded.failed
        return graded.step

    async def _complete_project(self, step: RunningStep) -> None:
        """Graders see the folder that people have. The checked copy comes first: it is of what the model wrote."""
        if self._only is None:
            self._checked  # noqa: B018 - made by whoever needs it first
        await add_missing_tsconfig(step, self._workspace.project)

    def _not_prepared(self, step: RunningStep, failure: AnswerFailure | None) -> StepResult:
        assert failure is not None, "either there are pushes or there is a reason"
        if not FAILURES[failure.kind].retried:
            self._broken = failure.excerpt
        return step.failed(failure.kind, failure.excerpt)

    def _skipped(self, name: StepName) -> StepResult:
        step = RunningStep(name, self._workspace, self._tools)
        return replace(step.passed(), status="skipped", duration_ms=0.0)


Check = Callable[[Grading, RunningStep, Backends | None], Awaitable[StepResult]]
CHECKS: Final[Mapping[StepName, Check]] = {
    "tsc": Grading._check_types,
    "eslint": Grading._lint,
    "tests": Grading._run_tests,
}
"""The steps after the gates, which run at the same time. One that is added stands here and, by name, in `STEPS`."""


async def _guarded(step: RunningStep, work: Callable[[RunningStep], Awaitable[StepResult]]) -> StepResult:
    """An error in our own code fails this step only; the others finish."""
    try:
        return await work(step)
    except InfrastructureError as error:
        return step.failed(outage(error) or "tool-missing", str(error))
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        return step.failed("disk-full" if full else "tool-crashed", str(error))
    except Exception as error:
        step.say(traceback.format_exc(limit=-20))
        return step.failed("grading-broke", f"Grading broke down ({type(error).__name__}: {error}).")


def _within_quota(step: RunningStep, result: StepResult) -> StepResult:
    """An answer whose tools or functions fill its folder has failed, whatever came of the step."""
    used = usage_of(step.workspace.root)
    if result.status == "failed" or (used.bytes <= MOST_BYTES and used.files <= MOST_FILES):
        return result
    most = f"{MOST_BYTES // 2**20} MiB and {MOST_FILES:,} files"
    found = f"{used.bytes // 2**20} MiB in {used.files:,} files"
    return step.failed("workspace-overflow", f"A grading may write {most}, and this one has written {found}.")


async def _at_once(result: StepResult) -> StepResult:
    return result


async def _cancel(task: "asyncio.Task[AnswerFailure | None]") -> None:
    task.cancel()
    await asyncio.wait({task})
