"""Config files, evaluated by the real function worker."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.processes import below_this_one, command

from convex_evals.backend.deployed import Module, NodePackage
from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push import PushRequest, RememberedEvaluations
from convex_evals.backend.push.analysis import key_of
from convex_evals.backend.runtime import Evaluation, ImportableDefinition

APP = "The default export of `convex.config.ts` in your app has an invalid value "

MODULE = Module("a.js", "export const a = 1;", None, "isolate")
URLS = {"CONVEX_CLOUD_URL": "http://127.0.0.1:1234", "CONVEX_SITE_URL": "http://127.0.0.1:1235"}
EVALUATION = Evaluation("functions", ("a.js",), {"a.js": MODULE}, "isolate", URLS, b"seed", 1)


def with_config(request: PushRequest, source: str) -> PushRequest:
    return replace(request, app=replace(request.app, definition=Module("convex.config.js", source, None, "isolate")))


async def refusal_of(deployment: Deployment, request: PushRequest) -> tuple[str, str]:
    with pytest.raises(RequestError) as refusal:
        await deployment.pusher.start(request)
    assert refusal.value.status == 400
    return refusal.value.code, refusal.value.message.removeprefix("Hit an error while pushing:\n")


@pytest.mark.parametrize(
    ("source", "code", "text"),
    [
        ("export const a = 1;", "InvalidDefinition", APP + "(missing default export)"),
        ("export default 1;", "InvalidDefinition", APP + "(the default export is not an object)"),
        (
            "export default {}; export const a = 1;",
            "InvalidDefinition",
            APP + "(`convex.config.ts` has more than one export)",
        ),
        (
            "export default {};",
            "InvalidDefinition",
            APP + "(missing `export` property on the default export of `convex.config.ts`)",
        ),
        ("throw new Error('boom');", "InvalidConvexConfig", "Uncaught Error: boom"),
        ("export default { export() { throw new Error('late'); } };", "InvalidConvexConfig", "Uncaught Error: late"),
        ("import './messages.js'; export default {};", "InvalidConvexConfig", ""),
        ("export default { export: () => ({ childComponents: [1] }) };", "InvalidDefinition", ""),
        (
            "export default { export: () => ({ childComponents: [{ name: 'a', path: 'nowhere' }] }) };",
            "TypecheckError",
            "Component definition nowhere not found",
        ),
    ],
)
async def test_a_convex_config_that_defines_nothing_is_refused(
    deployment: Deployment, new_push: Any, source: str, code: str, text: str
) -> None:
    found = await refusal_of(deployment, with_config(new_push().request(), source))
    assert (found[0], found[1].startswith(text)) == (code, True), found


async def test_the_app_may_read_variables_in_its_config_but_a_component_may_not(
    deployment: Deployment, new_push: Any
) -> None:
    source = "const used = process.env.ANY; export default { export: () => ({ childComponents: [] }) };"
    await deployment.pusher.start(with_config(new_push().request(), source))
    request = new_push().component("counter", new_push()).request()
    config = Module("convex.config.js", source, None, "isolate")
    request = replace(request, components=(replace(request.components[0], definition=config),))
    code, text = await refusal_of(deployment, request)
    assert code == "InvalidConvexConfig"
    assert "Environment variables are only supported in the app's convex.config.ts." in text


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("export const a = 1;", "auth config file is missing default export."),
        ("export default () => 1;", "auth config file can only contain strings"),
        ("export default { providers: 1 };", "auth config file must include a list of provider credentials: "),
        ("throw new Error('boom');", "Uncaught Error: boom"),
    ],
)
async def test_an_auth_config_without_providers_is_refused(
    deployment: Deployment, new_push: Any, source: str, why: str
) -> None:
    code, text = await refusal_of(deployment, new_push().source("auth.config.js", source).request())
    assert code == "InvalidAuthConfig"
    assert text.startswith(f"The pushed auth config is invalid: {why}")


@pytest.mark.parametrize(
    ("source", "code", "text"),
    [
        ("export default null;", "MissingSchemaExportError", "Schema file missing default export."),
        (
            "export default { export: 1 };",
            "InvalidSchemaExport",
            "Default export from schema file isn't a Convex schema.",
        ),
        ("export default { export: () => 1 };", "InvalidSchemaExport", ""),
        ("export default { export: () => '{' };", "InvalidSchema", ""),
        ("export default { export: () => '{}' };", "InvalidSchema", ""),
        (
            "process.env.A; export default {};",
            "Error",
            "Uncaught Error: Environment variables unsupported when evaluating schema",
        ),
    ],
)
async def test_an_invalid_schema_is_refused(
    deployment: Deployment, new_push: Any, source: str, code: str, text: str
) -> None:
    push = new_push()
    push.schema = source
    found = await refusal_of(deployment, push.request())
    prefix = "Hit an error while evaluating your schema:\n"
    assert (found[0], found[1].startswith(prefix + text)) == (code, True), found


async def test_an_exception_in_a_components_schema_has_its_own_code(deployment: Deployment, new_push: Any) -> None:
    component = new_push()
    component.schema = "throw new Error('boom');"
    code, _ = await refusal_of(deployment, new_push().component("counter", component).request())
    assert code == "InvalidSchema"


async def test_functions_see_variables_and_the_deployments_addresses_while_they_are_imported(
    deployment: Deployment, new_push: Any
) -> None:
    source = f"if (process.env.CONVEX_CLOUD_URL !== {deployment.url!r}) throw new Error(process.env.CONVEX_CLOUD_URL);"
    await deployment.pusher.start(new_push().source("m.js", source).request())


async def test_the_seed_of_the_import_phase_is_kept_until_the_library_changes(
    deployment: Deployment, deploy: Any, new_push: Any
) -> None:
    await deploy(new_push())
    before = deployment.application
    await deploy(new_push().module("m.js", "Query f"))
    assert before is not None
    assert deployment.application is not None
    assert deployment.application.udf_config == before.udf_config
    request = new_push().request()
    newer = replace(request, app=replace(request.app, udf_server_version="1.48.0"))
    await deployment.pusher.finish(await deployment.pusher.start(newer), dry_run=False)
    assert deployment.application.udf_config.import_phase_seed != before.udf_config.import_phase_seed


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
