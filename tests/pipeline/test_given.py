"""An eval with given files, graded for real: what an answer may leave out and must not touch, and both versions of the
project on the same data."""

from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.pipeline import Assignment, Grade, GradingOptions
from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.grading import deploys_the_given_project
from convex_evals.pipeline.tools import Tools
from convex_evals.suite import Eval, read_answer

SCHEMA = """import {{ defineSchema, defineTable }} from "convex/server";
import {{ v }} from "convex/values";

export default defineSchema({{ tasks: defineTable({{ title: v.string(){fields} }}) }});
"""
TASKS = """import {{ v }} from "convex/values";
import {{ mutation, query }} from "./_generated/server";

export const add = mutation({{
  args: {{ title: v.string() }},
  handler: async (ctx, {{ title }}) => await ctx.db.insert("tasks", {{ title{more} }}),
}});

export const titles = query({{
  args: {{}},
  handler: async (ctx) => (await ctx.db.query("tasks").collect()).map((task) => task.title{after}),
}});
"""
GIVEN = {
    "package.json": '{"private": true, "dependencies": {"convex": "1.44.0"}}\n',
    "convex/schema.ts": SCHEMA.format(fields=""),
    "convex/tasks.ts": TASKS.format(more="", after=""),
    "convex/notes.ts": "export const NOTE = 1;\n",
}
LOUD = TASKS.format(more="", after=".toUpperCase()")
GRADER = """
from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment


def test_new_tasks_are_loud(project: Deployment) -> None:
    project.mutation("tasks:add", title="new")
    assert project.query("tasks:titles") == ["NEW"]


def test_old_tasks_become_loud(given: GivenDeployment) -> None:
    given.mutation("tasks:add", title="old")
    with given.subscribe("tasks:titles") as live:
        assert live.value == ["old"]
        project = given.upgrade()
        assert live.wait_until(lambda titles: titles == ["OLD"], seconds=50) == ["OLD"]
    assert project.query("tasks:titles") == ["OLD"]


def test_every_test_begins_with_the_given_code_and_no_data(given: GivenDeployment) -> None:
    assert given.query("tasks:titles") == []
    given.mutation("tasks:add", title="old")
    assert given.query("tasks:titles") == ["old"]
"""


@pytest.fixture(scope="module")
def asked(write_eval: Callable[..., Eval]) -> Eval:
    beside = {f"evals/000-tests/000-one/given/{path}": text for path, text in GIVEN.items()}
    return write_eval(
        {"convex/tasks.ts": LOUD},
        grader=GRADER,
        settings='{"mayChange": ["convex/tasks.ts", "convex/schema.ts"]}',
        beside=beside,
    )


async def graded(asked: Eval, files: dict[str, str], tools: Tools, tmp_path: Path) -> Grade:
    return await grade(Assignment(asked, files, GradingOptions(), tmp_path / "workspace"), tools)


@pytest.mark.timeout(300)
@pytest.mark.asyncio(loop_scope="session")
async def test_an_answer_needs_only_the_files_it_changes(asked: Eval, shared_tools: Tools, tmp_path: Path) -> None:
    result = await graded(asked, {"convex/tasks.ts": LOUD}, shared_tools, tmp_path)
    assert (result.status, result.tests and result.tests.total) == ("passed", 3), result.steps
    assert (tmp_path / "workspace/project/convex/notes.ts").read_text() == GIVEN["convex/notes.ts"]
    assert read_answer(asked).keys() == GIVEN.keys()


@pytest.mark.timeout(300)
@pytest.mark.asyncio(loop_scope="session")
async def test_documents_that_do_not_fit_the_new_schema_fail_the_test(
    asked: Eval, shared_tools: Tools, tmp_path: Path
) -> None:
    files = {
        "convex/tasks.ts": TASKS.format(more=", isDone: false", after=".toUpperCase()"),
        "convex/schema.ts": SCHEMA.format(fields=", isDone: v.boolean()"),
    }
    result = await graded(asked, files, shared_tools, tmp_path)
    assert (result.status, result.failed_tests) == ("failed", ("test_old_tasks_become_loud",))
    step = result.step("tests")
    assert step is not None
    assert "the project cannot be deployed over the given one and its documents" in step.excerpt
    assert "isDone" in step.excerpt


@pytest.mark.parametrize(("text", "verb"), [("export const NOTE = 2;\n", "changes"), ("", "deletes")])
async def test_a_file_that_must_stay_is_named(asked: Eval, tools: Tools, tmp_path: Path, text: str, verb: str) -> None:
    result = await graded(asked, {"convex/tasks.ts": LOUD, "convex/notes.ts": text}, tools, tmp_path)
    step = result.step("filesystem")
    assert step is not None
    assert (result.failed_step, step.failure) == ("filesystem", "given-changed")
    assert step.excerpt == (
        f"convex/notes.ts: this given file must stay as it is, and the answer {verb} it "
        "(it may change convex/tasks.ts, convex/schema.ts)"
    )


@pytest.mark.parametrize(
    ("grader", "deployed"),
    [
        (GRADER, True),
        ("def test_it(\n    project,\n    given,\n): ...\n", True),
        ('def test_no_name_is_given(project): assert "a given name" != {"given": 1}\n', False),
    ],
)
def test_the_given_project_is_deployed_only_for_a_grader_that_asks_for_it(
    write_eval: Callable[..., Eval], grader: str, deployed: bool
) -> None:
    beside = {"evals/000-tests/000-one/given/convex/notes.ts": GIVEN["convex/notes.ts"]}
    assert deploys_the_given_project(write_eval({"convex/tasks.ts": LOUD}, grader=grader, beside=beside)) is deployed
