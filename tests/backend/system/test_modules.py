from typing import Any

System = Any

PUBLIC = {"kind": "public"}
INTERNAL = {"kind": "internal"}


async def test_before_the_first_push_there_is_no_code(system: System) -> None:
    assert await system.call("frontend/modules:list") == []
    assert await system.call("frontend/modules:listForAllComponents") == [[None, []]]
    assert await system.call("cli/modules:apiSpec") == []
    assert await system.call("frontend/getVersion") is None
    assert await system.call("frontend/modules:argsValidator", function="messages:send") is None


async def test_modules_are_listed_with_their_functions_routes_and_crons(deployed: System) -> None:
    modules = dict(await deployed.call("frontend/modules:list"))
    assert list(modules) == ["crons.js", "http.js", "messages/sub.js", "messages.js"]
    assert modules["messages.js"]["functions"] == [
        {"name": "send", "lineno": 12.0, "udfType": "Mutation", "visibility": PUBLIC},
        {"name": "clean", "udfType": "Mutation", "visibility": INTERNAL},
    ]
    assert [function["name"] for function in modules["http.js"]["functions"]] == ["GET /hi", "POST /pre/*"]
    assert modules["crons.js"]["cronSpecs"] == [
        [
            "clean up",
            {
                "udfPath": "messages.js:clean",
                "udfArgs": b"[{}]",
                "cronSchedule": {"type": "interval", "seconds": 60},
            },
        ]
    ]
    assert "cronSpecs" not in modules["messages.js"]


async def test_modules_of_components(deployed: System) -> None:
    (inside,) = await deployed.call("frontend/modules:list", componentId="counterid")
    assert inside[0] == "public.js"
    everywhere = await deployed.call("frontend/modules:listForAllComponents")
    assert [(component, len(modules)) for component, modules in everywhere] == [(None, 4), ("counterid", 1)]


async def test_the_function_spec(deployed: System) -> None:
    spec = await deployed.call("cli/modules:apiSpec")
    body = {"type": "object", "value": {"body": {"fieldType": {"type": "string"}, "optional": False}}}
    assert spec == [
        {"functionType": "HttpAction", "method": "GET", "path": "/hi"},
        {"functionType": "HttpAction", "method": "POST", "path": "/pre/*"},
        {
            "args": {"type": "any"},
            "functionType": "Query",
            "identifier": "messages/sub.js:default",
            "returns": None,
            "visibility": PUBLIC,
        },
        {
            "args": body,
            "functionType": "Mutation",
            "identifier": "messages.js:send",
            "returns": {"type": "null"},
            "visibility": PUBLIC,
        },
        {
            "args": {"type": "any"},
            "functionType": "Mutation",
            "identifier": "messages.js:clean",
            "returns": None,
            "visibility": INTERNAL,
        },
    ]
    inside = await deployed.call("cli/modules:apiSpec", component="counter")
    assert [function["identifier"] for function in inside] == ["public.js:get"]


async def test_the_validator_of_a_function_is_json_text(deployed: System) -> None:
    assert (await deployed.call("frontend/modules:argsValidator", function="messages:send")).startswith('{"type":"obj')
    assert await deployed.call("frontend/modules:argsValidator", function="messages.js:clean") == '{ "type": "any" }'
    assert await deployed.call("frontend/modules:argsValidator", function="nope:nope") is None


async def test_components_are_listed_with_the_app_first(deployed: System) -> None:
    mounted: dict[str, object] = {"args": {}, "state": "active", "httpPrefix": None}
    root, counter = await deployed.call("frontend/components:list")
    assert (root["path"], root["name"]) == ("", None)
    assert counter == {"id": "counterid", "name": "counter", "path": "counter", **mounted}


async def test_the_version_is_that_of_the_last_push(deployed: System) -> None:
    assert await deployed.call("frontend/getVersion") == "1.44.0"
