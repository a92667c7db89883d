"""Evaluations of trusted code that need not be done again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.processes import below_this_one, command

from convex_evals.backend.deployed import Module, NodePackage
from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.backend.push import RememberedEvaluations
from convex_evals.backend.push.remembered import key_of
from convex_evals.backend.runtime import Evaluation, ImportableDefinition

MODULE = Module("a.js", "export const a = 1;", None, "isolate")
URLS = {"CONVEX_CLOUD_URL": "http://127.0.0.1:1234", "CONVEX_SITE_URL": "http://127.0.0.1:1235"}
EVALUATION = Evaluation("functions", ("a.js",), {"a.js": MODULE}, "isolate", URLS, b"seed", 1)


class Counting:
    """Stands for the worker: what it answers is up to the test."""

    def __init__(self, result: Mapping[str, object]) -> None:
        self.result, self.times = result, 0

    async def evaluate(self, evaluation: Evaluation) -> list[Mapping[str, object]]:
        self.times += 1
        return [self.result]


@pytest.mark.parametrize(
    ("result", "evaluation", "times"),
    [
        ({"exports": []}, EVALUATION, 1),
        ({"exports": []}, replace(EVALUATION, env=None), 1),
        ({"thrown": {"text": "no", "logs": []}}, EVALUATION, 2),
        ({"exports": [URLS["CONVEX_SITE_URL"]]}, EVALUATION, 2),
        ({"exported": "{}"}, replace(EVALUATION, subject="auth"), 2),
    ],
    ids=["lasting", "without variables", "thrown", "with an address", "auth config"],
)
async def test_only_what_lasts_is_remembered(result: dict[str, object], evaluation: Evaluation, times: int) -> None:
    counting = Counting(result)
    remembered = RememberedEvaluations(counting)
    assert [await remembered.evaluate(evaluation), await remembered.evaluate(evaluation)] == [[result], [result]]
    assert counting.times == times


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "schema"},
        {"paths": ("b.js",)},
        {"environment": "node"},
        {"modules": {"a.js": replace(MODULE, source="export const a = 2;")}},
        {"env": {**URLS, "MODE": "test"}},
        {"env": None},
        {"definitions": (ImportableDefinition("c", "c", {}),)},
        {"packages": (NodePackage("left-pad", "1.0.0"),)},
    ],
)
def test_an_evaluation_is_known_by_all_that_matters(change: dict[str, Any]) -> None:
    assert key_of(replace(EVALUATION, **change)) != key_of(EVALUATION)


@pytest.mark.parametrize("change", [{"seed": b"other"}, {"now_ms": 2}, {"env": {**URLS, "CONVEX_SITE_URL": "x"}}])
def test_the_moment_and_the_addresses_do_not_matter(change: dict[str, Any]) -> None:
    assert key_of(replace(EVALUATION, **change)) == key_of(EVALUATION)


async def test_a_deployment_that_knows_what_is_pushed_has_no_worker_before_a_function_is_called(new_push: Any) -> None:
    request = new_push().module("messages.js", "Query list").request()
    async with Deployment.run(DeploymentSettings(warm=False)) as first:
        await first.pusher.finish(await first.pusher.start(request), dry_run=False)
        assert first.evaluations is not None
        known = first.evaluations.known
        analysis = first.application
    assert known
    others = _workers()
    async with Deployment.run(DeploymentSettings(warm=False)) as second:
        assert second.evaluations is not None
        second.evaluations.known = dict(known)
        await second.pusher.finish(await second.pusher.start(request), dry_run=False)
        assert _workers() <= others
        assert analysis is not None and second.application is not None
        assert second.application.definitions[""].analysis == analysis.definitions[""].analysis
        await second.query("messages:list", {})
        assert _workers() - others


def _workers() -> set[int]:
    return {each.pid for each in below_this_one(lambda process: "functions.mjs" in " ".join(command(process)))}
