"""Who can administer the deployments of a grading."""

from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.backend.admin_keys import LOCAL_ADMIN_KEY, AdminCredential
from convex_evals.backend.deployment import DeploymentSettings
from convex_evals.pipeline.grade import grade
from convex_evals.pipeline.grading.types import GradedDeployment
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.types import Assignment, GradingOptions
from convex_evals.suite import Eval, load_suite, read_answer

FOREIGN = Path(__file__).parents[1] / "grading/foreign_suite"
GRADER = f"""
import urllib.error
import urllib.request

import pytest


def administer(deployment, key):
    headers = {{"Authorization": f"Convex {{key}}"}}
    url = f"{{deployment.transport.url}}/api/check_admin_key"
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers)).status


def test_the_keys_of_the_grading(project, answer):
    assert project.transport.admin_key != answer.transport.admin_key
    for deployment in (project, answer):
        assert administer(deployment, deployment.transport.admin_key) == 200
        with pytest.raises(urllib.error.HTTPError, match="401"):
            administer(deployment, "{LOCAL_ADMIN_KEY}")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        administer(answer, project.transport.admin_key)
"""


@pytest.mark.asyncio(loop_scope="session")
async def test_a_python_grader_has_keys_that_nobody_else_knows(
    shared_tools: Tools, write_eval: Callable[..., Eval], tmp_path: Path
) -> None:
    eval = write_eval(grader=GRADER)
    graded = await grade(Assignment(eval, read_answer(eval), GradingOptions(), tmp_path), shared_tools)
    assert graded.status == "passed", [step.excerpt for step in graded.steps]


@pytest.mark.asyncio(loop_scope="session")
async def test_a_vitest_grader_finds_its_well_known_key_accepted(shared_tools: Tools, tmp_path: Path) -> None:
    eval = load_suite(FOREIGN / "evals").evals[0]
    graded = await grade(Assignment(eval, read_answer(eval), GradingOptions(), tmp_path), shared_tools)
    assert graded.status == "passed", [step.excerpt for step in graded.steps]
    assert not _files_with_the_key(tmp_path)


def _files_with_the_key(folder: Path) -> list[Path]:
    logs = list(folder.rglob("*.log"))
    assert logs
    return [path for path in logs if LOCAL_ADMIN_KEY in path.read_text(errors="replace")]


@pytest.mark.parametrize(
    "value",
    [
        GradedDeployment("http://127.0.0.1:1", "http://127.0.0.1:2", "name|hushed"),
        GradingOptions(admin_key="name|hushed"),
        DeploymentSettings(instance_secret="hushed"),
        AdminCredential.parse("name|hushed"),
    ],
)
def test_keys_are_not_shown_where_values_are_printed(value: object) -> None:
    assert "hushed" not in repr(value)
