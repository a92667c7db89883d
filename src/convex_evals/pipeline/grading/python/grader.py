"""A grader written in Python."""

from dataclasses import replace

from convex_evals.core.browser import find_chromium
from convex_evals.pipeline.grading.app_build import build_app
from convex_evals.pipeline.grading.network import TreeListeners
from convex_evals.pipeline.grading.python.job import Job
from convex_evals.pipeline.grading.report import read_report
from convex_evals.pipeline.grading.request import GraderRequest
from convex_evals.pipeline.grading.runner import GraderRun
from convex_evals.pipeline.tools import Tools


class PythonGrader:
    def __init__(self, request: GraderRequest, tools: Tools) -> None:
        self._request = request
        self._tools = tools

    async def collect(self) -> GraderRun:
        return await self._run(self._job("collected", collect_only=True))

    async def run(self, expected: tuple[str, ...]) -> GraderRun:
        site = await build_app(self._request, self._tools)
        return await self._run(replace(self._job("tests", collect_only=False), site=site))

    async def _run(self, job: Job) -> GraderRun:
        pid = await self._tools.graders.prepare()
        with self._request.network.reaching(TreeListeners(pid)):
            result = await self._tools.graders.run(job)
        return GraderRun(result, read_report(job.report))

    def _job(self, name: str, *, collect_only: bool) -> Job:
        request = self._request
        return Job(
            grader=request.grader.path,
            suite=request.suite,
            imports=request.shared,
            report=request.private / f"{name}.json",
            log=request.private / f"{name}.log",
            home=request.own_home,
            chromium=find_chromium(self._tools.settings),
            files=None if collect_only else request.files,
            project=None if collect_only else request.project,
            answer=None if collect_only else request.answer,
            test_seconds=request.options.test_seconds,
            grader_seconds=request.options.grader_seconds,
            collect_only=collect_only,
        )
