"""The page about graders names everything that graders can use, and its first example works."""

import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from convex_evals.core.distribution import checkout_root
from convex_evals.pipeline.grading import GradedDeployment, GraderResult, kit
from convex_evals.pipeline.grading.kit.caller import HttpEndpoints, Page
from convex_evals.pipeline.grading.kit.client import Client, LiveQuery
from convex_evals.pipeline.grading.kit.contents import CronJob, Environment, ScheduledFunction, Storage
from convex_evals.pipeline.grading.kit.declarations import FunctionSpec, Schema, Table
from convex_evals.pipeline.grading.kit.sources import Chain, Module
from convex_evals.pipeline.grading.kit.trace import TracedCall, Work
from convex_evals.pipeline.grading.kit.transport import Response
from convex_evals.pipeline.grading.python.fixtures import AppFixture, Fixtures
from convex_evals.suite import Eval

DESCRIBED = (
    *(
        kit.App,
        kit.Deployment,
        kit.GivenDeployment,
        kit.Sources,
        kit.WebRequest,
        kit.Reply,
        HttpEndpoints,
        Environment,
        FunctionSpec,
        CronJob,
    ),
    *(
        ScheduledFunction,
        Client,
        LiveQuery,
        Module,
        Page,
        Response,
        Schema,
        Table,
        Storage,
        Chain,
        TracedCall,
        Work,
        Fixtures,
        AppFixture,
    ),
)
# What is there for the machinery, or said in other words.
NOT_FOR_AUTHORS = {
    *("transport", "authorization", "acting_as", "open", "node", "url", "site_url", "root", "path", "name", "id"),
    *("is_enforced", "chromium", "pytest_runtest_call", "scheduled_for", "scheduled_at", "clear", "headers"),
    *("receive", "wait", "project_push"),
}


@pytest.fixture(scope="module")
def page() -> str:
    root = checkout_root()
    assert root is not None
    return (root / "docs/graders.md").read_text()


def members(kind: type) -> Iterator[str]:
    declared = {*dir(kind), *getattr(kind, "__annotations__", {})}
    return (name for name in sorted(declared) if not name.startswith("_") and name not in NOT_FOR_AUTHORS)


@pytest.mark.parametrize("kind", DESCRIBED, ids=lambda kind: kind.__name__)
def test_every_member_is_on_the_page(page: str, kind: type) -> None:
    assert [name for name in members(kind) if not re.search(rf"\b{name}\b", page)] == []


def test_every_name_to_import_is_on_the_page(page: str) -> None:
    assert [name for name in kit.__all__ if f"`{name}`" not in page] == []


@pytest.mark.asyncio(loop_scope="session")
async def test_the_first_example_is_a_working_grader(
    page: str,
    write_eval: Callable[[str], Eval],
    grade: Callable[..., Awaitable[GraderResult]],
    graded: GradedDeployment,
) -> None:
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example is not None
    result = await grade(write_eval(example[1]), graded, files=Path("/nonexistent"))
    assert (result.step.status, result.tests.total) == ("passed", 2), result.step.excerpt
