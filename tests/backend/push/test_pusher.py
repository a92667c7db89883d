from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.deployment import Deployment
from convex_evals.backend.environment import VariableChange
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.request import ModuleHash

PUSHING = "Hit an error while pushing:\n"


def table(name: str, *indexes: str, **fields: str) -> dict[str, object]:
    return {
        "tableName": name,
        "indexes": [{"indexDescriptor": f"by_{field}", "fields": [field]} for field in indexes],
        "documentType": {
            "type": "object",
            "value": {field: {"fieldType": {"type": kind}, "optional": False} for field, kind in fields.items()},
        },
    }


def use(path: str, name: str | None = None, **env: object) -> dict[str, object]:
    return {"name": name or path, "path": path, "args": [], "env": list(env.items())}


def declares(*names: str) -> list[object]:
    return [[name, {"type": "value", "value": '{"type":"string"}', "optional": False}] for name in names]


async def insert(deployment: Deployment, name: str, value: dict[str, object]) -> None:
    transaction = deployment.database.begin()
    transaction.insert("", name, value)
    deployment.database.commit(transaction)


async def test_a_finished_push_is_what_is_deployed(deployment: Deployment, deploy: Any, new_push: Any) -> None:
    diff = await deploy(new_push().module("m.js", "Query list", "Mutation send").tables(table("t", "a", a="string")))
    assert diff["componentDiffs"][""]["diffType"] == {"type": "modify"}
    assert diff["componentDiffs"][""]["moduleDiff"] == {"added": ["m.js"], "removed": []}
    assert diff["componentDiffs"][""]["indexDiff"]["added_indexes"][0]["name"] == "t.by_a"
    assert deployment.application is not None
    assert deployment.application.version == 1
    assert (await deployment.query("m:list")).succeeded


async def test_a_push_that_is_never_finished_changes_nothing(
    deployment: Deployment, deploy: Any, new_push: Any
) -> None:
    await deploy(new_push().module("m.js", "Query list").tables(table("t", a="string")))
    before = deployment.application
    await deployment.pusher.start(
        new_push().module("other.js", "Query f").tables(table("t", "b", b="string")).request()
    )
    assert deployment.application is before
    await insert(deployment, "t", {"a": "still the old schema"})
    assert (await deployment.query("m:list")).succeeded


async def test_of_two_pushes_with_different_schemas_the_later_one_wins(deployment: Deployment, new_push: Any) -> None:
    first = await deployment.pusher.start(new_push().module("a.js", "Query f").tables(table("t", a="string")).request())
    second = await deployment.pusher.start(
        new_push().module("b.js", "Query f").tables(table("t", b="string")).request()
    )
    assert await deployment.pusher.schema_status(first["schemaChange"]) == {"type": "raceDetected"}
    with pytest.raises(RequestError) as refusal:
        await deployment.pusher.finish(first, dry_run=False)
    assert (refusal.value.status, refusal.value.code) == (400, "SchemaAlreadyOverwritten")
    await deployment.pusher.finish(second, dry_run=False)
    assert deployment.application is not None
    assert list(deployment.application.definitions[""].modules) == ["b.js"]


async def test_two_pushes_with_the_same_schema_both_finish(deployment: Deployment, new_push: Any) -> None:
    pushes = [new_push().module(path, "Query f").tables(table("t", a="string")) for path in ("a.js", "b.js")]
    started = [await deployment.pusher.start(push.request()) for push in pushes]
    for push in started:
        await deployment.pusher.finish(push, dry_run=False)
    assert deployment.application is not None
    assert (deployment.application.version, list(deployment.application.definitions[""].modules)) == (2, ["b.js"])


async def test_a_push_can_be_finished_once(deployment: Deployment, new_push: Any) -> None:
    started = await deployment.pusher.start(new_push().module("m.js", "Query f").request())
    await deployment.pusher.finish(started, dry_run=False)
    with pytest.raises(RequestError) as refusal:
        await deployment.pusher.finish(started, dry_run=False)
    assert refusal.value.code == "RaceDetected"


async def test_variables_that_change_during_a_push_make_the_cli_start_again(
    deployment: Deployment, new_push: Any
) -> None:
    started = await deployment.pusher.start(new_push().module("m.js", "Query f").request())
    await deployment.variables.update([VariableChange("A", "1")])
    with pytest.raises(RequestError) as refusal:
        await deployment.pusher.finish(started, dry_run=False)
    assert refusal.value.code == "RaceDetected"
    assert refusal.value.message == PUSHING + "Environment variables have changed during push"


async def test_a_dry_run_reports_but_stores_nothing(deployment: Deployment, new_push: Any) -> None:
    await insert(deployment, "t", {"a": 1.0})
    push = new_push().module("m.js", "Query f").tables(table("t", "a", a="string")).with_options(dryRun=True)
    started = await deployment.pusher.start(push.request())
    assert started["schemaChange"]["indexDiffs"][""]["added_indexes"][0]["name"] == "t.by_a"
    status = await deployment.pusher.schema_status(started["schemaChange"])
    assert (status["type"], status["tableName"]) == ("failed", "t")
    assert await deployment.pusher.finish(started, dry_run=True) == {
        "authDiff": {"added": [], "removed": []},
        "definitionDiffs": {},
        "componentDiffs": {},
    }
    assert deployment.application is None
    assert not deployment.database.begin().catalog("").schemas


async def test_evaluating_a_push_reports_what_would_happen_to_indexes(
    deployment: Deployment, deploy: Any, new_push: Any
) -> None:
    await deploy(new_push().tables(table("t", "a", a="string")))
    answer = await deployment.pusher.evaluate(new_push().tables(table("t", "b", b="string")).request())
    diff = answer["schemaChange"]["indexDiffs"][""]
    assert [index["name"] for index in diff["removed_indexes"]] == ["t.by_a"]
    assert [index["name"] for index in diff["added_indexes"]] == ["t.by_b"]


async def test_documents_that_violate_the_schema_fail_the_push(
    deployment: Deployment, deploy: Any, new_push: Any
) -> None:
    await insert(deployment, "t", {"a": 1.0})
    started = await deployment.pusher.start(new_push().tables(table("t", a="string")).request())
    status = await deployment.pusher.schema_status(started["schemaChange"])
    assert (status["type"], status["componentPath"], status["tableName"]) == ("failed", "", "t")
    assert "does not match the schema: Value does not match validator.\nPath: .a\nValue: 1.0" in status["error"]
    with pytest.raises(RequestError) as refusal:
        await deployment.pusher.finish(started, dry_run=False)
    assert refusal.value.code == "SchemaAlreadyFailed"


async def test_unchanged_modules_need_not_be_sent_again(deployment: Deployment, deploy: Any, new_push: Any) -> None:
    await deploy(new_push().module("kept.js", "Query f").module("gone.js", "Query f"))
    (known,) = [entry for entry in deployment.pusher.config_hashes()["moduleHashes"] if entry["path"] == "kept.js"]
    request = new_push().module("new.js", "Query f").request()
    unchanged = ModuleHash("kept.js", "isolate", known["hash"])
    request = replace(request, app=replace(request.app, unchanged=(unchanged,)))
    started = await deployment.pusher.start(request)
    diff = await deployment.pusher.finish(started, dry_run=False)
    assert diff["componentDiffs"][""]["moduleDiff"] == {"added": ["new.js"], "removed": ["gone.js"]}
    assert (await deployment.query("kept:f")).succeeded


async def test_components_are_mounted_unmounted_and_come_back_with_their_data(
    deployment: Deployment, deploy: Any, new_push: Any
) -> None:
    def app(*children: dict[str, object]) -> Any:
        counter = new_push().module("public.js", "Query get").tables(table("counters", n="number"))
        return new_push().defines(childComponents=list(children)).component("counter", counter)

    def kinds(diff: Any) -> dict[str, str]:
        return {path: change["diffType"]["type"] for path, change in diff["componentDiffs"].items()}

    diff = await deploy(app(use("counter"), use("counter", "second")))
    assert kinds(diff) == {"": "modify", "counter": "create", "second": "create"}
    assert deployment.application is not None
    ids = {path: instance.id for path, instance in deployment.application.instances.items()}
    assert len(set(ids.values())) == 3
    assert deployment.application.function(FunctionPath("public.js", "get", "second")) is not None

    assert kinds(await deploy(app(use("counter")))) == {"": "modify", "counter": "modify", "second": "unmount"}
    assert deployment.application.function(FunctionPath("public.js", "get", "second")) is None

    assert kinds(await deploy(app(use("counter")))) == {"": "modify", "counter": "modify"}
    assert kinds(await deploy(app(use("counter", "second")))) == {
        "": "modify",
        "counter": "unmount",
        "second": "remount",
    }
    assert {path: instance.id for path, instance in deployment.application.instances.items()} == ids


async def test_required_variables_must_be_set_when_a_push_is_finished(
    deployment: Deployment, deploy: Any, new_push: Any
) -> None:
    push = new_push().module("m.js", "Query f").defines(envVars=declares("KEY", "API"))
    with pytest.raises(RequestError) as refusal:
        await deploy(push)
    assert refusal.value.code == "MissingEnvironmentVariables"
    assert refusal.value.message.startswith(PUSHING + "Required environment variables are not set: API, KEY.")
    await deployment.variables.update([VariableChange("KEY", "1"), VariableChange("API", "2")])
    await deploy(push)
    with pytest.raises(RequestError) as refusal:
        await deployment.variables.update([VariableChange("KEY", None)])
    assert refusal.value.code == "RequiredEnvironmentVariable"


AUTH = """
export default { providers: [{ domain: process.env.ISSUER, applicationID: "app" }] };
"""


async def test_the_auth_config_follows_the_variables(deployment: Deployment, deploy: Any, new_push: Any) -> None:
    await deployment.variables.update([VariableChange("ISSUER", "https://a.example.com")])
    diff = await deploy(new_push().source("auth.config.js", AUTH))
    assert diff["authDiff"]["added"] == ['{"applicationID":"app","domain":"https://a.example.com"}']
    await deployment.variables.update([VariableChange("ISSUER", "https://b.example.com")])
    assert deployment.application is not None
    assert [provider["domain"] for provider in deployment.application.auth_providers] == ["https://b.example.com"]
    with pytest.raises(RequestError) as refusal:
        await deployment.variables.update([VariableChange("ISSUER", None)])
    assert refusal.value.code == "AuthConfigMissingEnvironmentVariable"
    assert refusal.value.message.startswith("This change would make the auth config invalid: ")
    assert deployment.variables.all() == {"ISSUER": "https://b.example.com"}


async def test_the_first_of_several_errors_is_the_one_that_is_shown(deployment: Deployment, new_push: Any) -> None:
    push = new_push().source("m.js", "throw new Error('functions')").source("auth.config.js", "throw 1")
    push.schema = "throw new Error('schema')"
    repairs: list[tuple[str, Callable[[], object]]] = [
        ("InvalidModules", lambda: push.source("m.js", "export {}")),
        ("InvalidAuthConfig", lambda: push.modules.pop("auth.config.js")),
        ("Error", lambda: push.tables()),
    ]
    for code, repair in repairs:
        with pytest.raises(RequestError) as refusal:
            await deployment.pusher.start(push.request())
        assert (refusal.value.status, refusal.value.code) == (400, code)
        assert refusal.value.message.startswith(PUSHING)
        repair()
    await deployment.pusher.start(push.request())


@pytest.mark.parametrize(
    ("sources", "code", "text"),
    [
        (
            {"m.js": "import './missing.js';"},
            "InvalidModules",
            "Failed to analyze m.js: Couldn't find JavaScript module 'missing.js'. Did you forget to run",
        ),
        (
            {"m.js": "await new Promise(() => {});"},
            "InvalidModules",
            "Top-level awaits in source files are unsupported",
        ),
        (
            {"m.js": "console.log('before'); fetch('http://x');"},
            "InvalidModules",
            "Failed to analyze m.js: Uncaught Error: fetch() unsupported at import time",
        ),
        ({"m.js": "console.log('before', 1); throw new Error('x');"}, "InvalidModules", "\n[LOG] 'before' 1"),
        ({"m.js": "export const a = 1"}, None, ""),
        ({"_deps/a.js": "throw new Error('never evaluated alone');"}, None, ""),
    ],
)
async def test_what_happens_while_modules_are_imported(
    deployment: Deployment, new_push: Any, sources: dict[str, str], code: str | None, text: str
) -> None:
    push = new_push()
    for path, source in sources.items():
        push.source(path, source)
    if code is None:
        await deployment.pusher.start(push.request())
        return
    with pytest.raises(RequestError) as refusal:
        await deployment.pusher.start(push.request())
    assert (refusal.value.code, text in refusal.value.message) == (code, True), refusal.value.message


async def test_only_the_newest_unfinished_pushes_are_remembered(deployment: Deployment, new_push: Any) -> None:
    started = [await deployment.pusher.start(new_push().module("m.js", "Query f").request()) for _ in range(10)]
    with pytest.raises(RequestError) as refusal:
        await deployment.pusher.finish(started[0], dry_run=False)
    assert refusal.value.code == "RaceDetected"
    await deployment.pusher.finish(started[-1], dry_run=False)


THROWING = """function check() { throw new TypeError("list is not a function"); }
check();
"""


async def test_a_refusal_is_known_with_its_code_module_and_message(deployment: Deployment, new_push: Any) -> None:
    push = new_push().source("messages.js", THROWING)
    with pytest.raises(RequestError, match="Hit an error while pushing"):
        await deployment.pusher.start(push.request())
    refusal = deployment.pusher.take_refusal()
    assert refusal is not None
    assert (refusal.code, refusal.module) == ("InvalidModules", "messages.js")
    assert refusal.message.startswith("Uncaught TypeError: list is not a function")
    assert deployment.pusher.take_refusal() is None


async def test_what_is_wrong_with_a_schema_comes_from_its_module(deployment: Deployment, new_push: Any) -> None:
    index = {"indexDescriptor": "by_time", "fields": ["_creationTime"]}
    table = {"tableName": "notes", "indexes": [index], "searchIndexes": [], "vectorIndexes": [], "documentType": None}
    with pytest.raises(RequestError, match="Hit an error while evaluating your schema"):
        await deployment.pusher.start(new_push().tables(table).request())
    refusal = deployment.pusher.take_refusal()
    assert refusal is not None
    assert (refusal.code, refusal.module) == ("IndexFieldsContainCreationTime", "schema.js")
    assert not refusal.message.startswith("Hit an error")
