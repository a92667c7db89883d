from typing import Any

import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.modules import ModuleHash
from convex_evals.backend.push.request import PushRequest


def module(path: str = "messages.js", **fields: object) -> dict[str, object]:
    return {"path": path, "source": "export {}", "environment": "isolate", **fields}


def body(**fields: object) -> dict[str, Any]:
    app = {
        "definition": module("convex.config.js"),
        "dependencies": [],
        "schema": None,
        "changedModules": [module()],
        "unchangedModuleHashes": [],
        "udfServerVersion": "1.44.0",
    }
    return {"adminKey": "k", "dryRun": False, "functions": "convex/", "appDefinition": app, **fields}


def component(**fields: object) -> dict[str, object]:
    return {
        "definitionPath": "counter",
        "definition": module("convex.config.js"),
        "dependencies": [],
        "schema": None,
        "functions": [module("public.js")],
        "udfServerVersion": "1.44.0",
        **fields,
    }


def test_a_push_is_read_with_its_components() -> None:
    request = PushRequest.parse(body(componentDefinitions=[component()], nodeVersion="22", forCodegen=True))
    assert [found.path for found in request.app.modules] == ["messages.js"]
    assert request.app.udf_server_version == "1.44.0"
    assert [found.path for found in request.components] == ["counter"]
    assert (request.node_version, request.for_codegen, request.dry_run) == ("22", True, False)


def test_old_clis_send_their_modules_as_functions() -> None:
    sent = body()
    sent["appDefinition"]["functions"] = sent["appDefinition"].pop("changedModules")
    assert [found.path for found in PushRequest.parse(sent).app.modules] == ["messages.js"]


def test_unchanged_modules_come_as_hashes() -> None:
    sent = body()
    sent["appDefinition"]["unchangedModuleHashes"] = [
        {"path": "http.js", "environment": "isolate", "sha256": "AB" * 32}
    ]
    assert PushRequest.parse(sent).app.unchanged == (ModuleHash("http.js", "isolate", "ab" * 32),)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"appDefinition": None}, "BadJsonBody"),
        ({"functions": 1}, "BadJsonBody"),
        ({"nodeVersion": "18"}, "InvalidConfig"),
        ({"nodeVersion": "21"}, "InvalidConfig"),
        ({"nodeDependencies": [{"name": "../../etc", "version": "1.0.0"}]}, "InvalidConfig"),
        ({"nodeDependencies": [{"name": ".bin", "version": "1.0.0"}]}, "InvalidConfig"),
        ({"nodeDependencies": [{"name": "sharp"}]}, "BadJsonBody"),
        ({"componentDefinitions": [component(functions=[module("a.js", environment="node")])]}, "InvalidConfig"),
        ({"componentDefinitions": [component(functions=[module("a-b.js")])]}, "InvalidConfig"),
        ({"componentDefinitions": [component(functions=[module(environment="deno")])]}, "InvalidConfig"),
        ({"componentDefinitions": [component(functions=[{"path": "a.js"}])]}, "BadJsonBody"),
    ],
)
def test_a_body_that_is_not_a_push_is_refused(change: dict[str, object], code: str) -> None:
    with pytest.raises(RequestError) as refusal:
        PushRequest.parse(body(**change))
    assert (refusal.value.status, refusal.value.code) == (400, code)


def test_node_modules_in_components_are_refused_by_name() -> None:
    with pytest.raises(RequestError, match="Node actions are not supported in components"):
        PushRequest.parse(body(componentDefinitions=[component(functions=[module("a.js", environment="node")])]))
