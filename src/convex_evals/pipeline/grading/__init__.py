"""The step `tests`: an eval's grader runs in a process of its own, and its verdict is checked three ways.

    async with GraderTools.open(toolchain, cache_folder) as tools:
        result = await run_grader(
            eval, project=…, answer=…, files=…, workspace=…, options=…, tools=tools
        )
"""

from convex_evals.pipeline.grading.types import GradedDeployment, GraderResult

__all__ = ["GradedDeployment", "GraderResult"]
