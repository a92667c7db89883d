from typing import Any

import pytest

from convex_evals.backend.deployed import Module
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.request import (
    ModuleHash,
    PushedComponent,
    PushRequest,
    canonical_module_path,
    check_definition_path,
    resolve_modules,
)

STORED = Module("http.js", "export default 1", None, "isolate")


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


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("messages.js", "messages.js"),
        ("messages", "messages.js"),
        ("dir/sub/m.js", "dir/sub/m.js"),
        ("./m.js", "m.js"),
        ("_deps/L3MLRDXC.js", "_deps/L3MLRDXC.js"),
        ("auth.config.js", "auth.config.js"),
    ],
)
def test_module_paths_have_one_canonical_form(path: str, canonical: str) -> None:
    assert canonical_module_path(path) == canonical


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (
            "foo-bar.js",
            "Path component foo-bar.js can only contain alphanumeric characters, underscores, or periods.",
        ),
        ("", "Module path  doesn't have a filename."),
        ("m.ts", "Module path (m.ts) has an extension that isn't 'js'."),
        ("/m.js", "Module paths must be relative (/m.js is absolute)."),
        ("__/m.js", "Path component __ must have at least one alphanumeric character."),
        ("a" * 65, f"Path component is too long (65 > maximum 64): {'a' * 64}..."),
        ("../m.js", "Module path ../m.js must not contain '..'."),
        ("_system/m.js", "Modules under _system are reserved for the deployment itself."),
    ],
)
def test_a_path_that_no_module_can_have_is_refused_with_the_reason(path: str, reason: str) -> None:
    with pytest.raises(RequestError) as refusal:
        canonical_module_path(path)
    assert (refusal.value.status, refusal.value.code) == (400, "InvalidConfig")
    assert refusal.value.message == f"{path} is not a valid path to a Convex module. {reason}"


@pytest.mark.parametrize("path", ["counter", "../node_modules/@convex-dev/batch-worker/dist/component"])
def test_definition_paths_may_leave_the_functions_folder(path: str) -> None:
    assert check_definition_path(path) == path


@pytest.mark.parametrize("path", ["/abs", "a//b", "a\\b", "ü", "x" * 2049])
def test_other_definition_paths_are_refused(path: str) -> None:
    with pytest.raises(RequestError):
        check_definition_path(path)


def pushed(*modules: Module, unchanged: tuple[ModuleHash, ...] = ()) -> PushedComponent:
    return PushedComponent("", None, (), None, modules, unchanged, "1.44.0")


def test_sent_and_unchanged_modules_form_one_set_in_path_order() -> None:
    sent = [Module(path, "", None, "isolate") for path in ("b.js", "a.js", "a/b.js")]
    known = ModuleHash("http.js", "isolate", STORED.sha256)
    modules = resolve_modules(pushed(*sent, unchanged=(known,)), {"http.js": STORED})
    assert list(modules) == ["a/b.js", "a.js", "b.js", "http.js"]
    assert modules["http.js"] is STORED


@pytest.mark.parametrize(
    ("known", "code"),
    [
        (ModuleHash("other.js", "isolate", STORED.sha256), "MissingExistingModule"),
        (ModuleHash("http.js", "node", STORED.sha256), "ExistingModuleEnvConflict"),
        (ModuleHash("http.js", "isolate", "00" * 32), "ExistingModuleHashConflict"),
    ],
)
def test_a_hash_that_no_longer_matches_makes_the_cli_start_over(known: ModuleHash, code: str) -> None:
    with pytest.raises(RequestError) as refusal:
        resolve_modules(pushed(unchanged=(known,)), {"http.js": STORED})
    assert (refusal.value.status, refusal.value.code) == (409, code)


def test_too_many_files_are_refused_but_chunks_do_not_count() -> None:
    def modules(folder: str) -> list[Module]:
        return [Module(f"{folder}m{number}.js", "", None, "isolate") for number in range(4097)]

    resolve_modules(pushed(*modules("_deps/")), {})
    with pytest.raises(RequestError, match=r"Too many function files \(4097 > maximum 4096\) in \"convex/\"\."):
        resolve_modules(pushed(*modules("")), {})
