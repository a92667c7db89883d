"""The first real grader: it accepts the reference answer and what is as good, and rejects what is not."""

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.examples import examples

from convex_evals.pipeline.grading import GradedDeployment, GraderResult
from convex_evals.suite import Eval, Selection, find_suite, load_suite, select

pytestmark = pytest.mark.asyncio(loop_scope="session")

Grade = Callable[..., Awaitable[GraderResult]]
Deploy = Callable[[Path], GradedDeployment]


@pytest.fixture(scope="module")
def empty_functions() -> Eval:
    [eval] = select(load_suite(find_suite()), Selection(names=["000-fundamentals/000-empty_functions"]))
    return eval


@dataclass(frozen=True)
class Change:
    """What a model wrote instead of a part of the reference answer, and the tests that must fail for it."""

    file: str
    old: str
    new: str
    caught_by: tuple[str, ...] = ()


FUNCTIONS = "convex/index.ts"
RIGHT: dict[str, Change] = {
    "the reference answer": Change(FUNCTIONS, "", ""),
    "asynchronous handlers": Change(FUNCTIONS, "handler: () => null", "handler: async () => { return null; }"),
    "an installed TypeScript": Change("package.json", "}\n}", '},\n "devDependencies": {"typescript": "5.9.3"}\n}'),
}
WRONG: dict[str, Change] = {
    "an internal function made public": Change(
        FUNCTIONS,
        "emptyInternalQuery = internalQuery",
        "emptyInternalQuery = query",
        ("test_only_the_deployment_can_call_internal_functions[emptyInternalQuery]", "test_kinds_visibility"),
    ),
    "a mutation for a query": Change(
        FUNCTIONS,
        "emptyQuery = query",
        "emptyQuery = mutation",
        (
            "test_clients_can_call_public_functions[emptyQuery]",
            "expected: a public query\n    received: a public mutation",
        ),
    ),
    "arguments that are not looked at": Change(
        FUNCTIONS, "action({\n  args: {},", "action({", ("test_arguments_are_rejected[emptyAction]",)
    ),
    "no declared return value": Change(FUNCTIONS, "  returns: v.null(),\n", "", ("index:emptyQuery returns",)),
    "something returned": Change(
        FUNCTIONS,
        "mutation({\n  args: {},\n  returns: v.null(),\n  handler: () => null",
        "mutation({\n  args: {},\n  returns: v.number(),\n  handler: () => 0",
        ("test_clients_can_call_public_functions[emptyMutation]",),
    ),
    "more dependencies": Change(
        "package.json", '"1.44.0"', '"1.44.0", "zod": "4.0.0"', ("test_convex_is_the_only_dependency",)
    ),
    "a lax compiler": Change("tsconfig.json", '"strict": true', '"strict": false', ("test_the_compiler_is_strict",)),
    "an unwanted schema": Change(
        "convex/schema.ts",
        "",
        'import { defineSchema } from "convex/server";\nexport default defineSchema({});\n',
        ("test_there_is_no_schema",),
    ),
}
ALWAYS = ("the reference answer", "an internal function made public")


@pytest.fixture
def written(empty_functions: Eval, tmp_path: Path) -> Callable[[Change], Path]:
    def write(change: Change) -> Path:
        project = tmp_path / "written"
        shutil.copytree(empty_functions.answer, project)
        file = project / change.file
        text = file.read_text() if file.exists() else ""
        assert change.old in text
        file.write_text(text.replace(change.old, change.new) if change.old else text + change.new)
        return project

    return write


@pytest.mark.parametrize("name", examples(RIGHT, ALWAYS))
async def test_right_answers_pass(
    empty_functions: Eval, written: Callable[[Change], Path], deploy: Deploy, grade: Grade, name: str
) -> None:
    project = written(RIGHT[name])
    result = await grade(empty_functions, deploy(project), deploy(empty_functions.answer), files=project)
    assert result.step.status == "passed", result.step.excerpt


@pytest.mark.parametrize("name", examples(WRONG, ALWAYS))
async def test_wrong_answers_fail_where_they_are_wrong(
    empty_functions: Eval, written: Callable[[Change], Path], deploy: Deploy, grade: Grade, name: str
) -> None:
    change = WRONG[name]
    project = written(change)
    result = await grade(empty_functions, deploy(project), deploy(empty_functions.answer), files=project)
    assert result.step.failure == "tests-failed", result.step.excerpt
    assert [part for part in change.caught_by if part not in result.step.excerpt] == [], result.step.excerpt
