from typing import Any

import pytest

from convex_evals.backend.deployed import Environment, Module
from convex_evals.backend.deployed.functions import AnalyzedModule
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.facts import ModuleFacts
from convex_evals.backend.push.module_analysis import analyze_module

PREFIX = "Loading the pushed modules encountered the following\n    error:\n"


def export(name: str = "f", markers: str = "isQuery isPublic", **facts: Any) -> dict[str, Any]:
    defaults = {"args": None, "returns": None, "handler": "function", "callable": True, "position": None}
    return {"name": name, "markers": markers.split(), **defaults, **facts}


def analyze(
    *exports: dict[str, Any], path: str = "messages.js", environment: Environment = "isolate", **facts: Any
) -> AnalyzedModule:
    module = Module(path, "", None, environment)
    return analyze_module(module, ModuleFacts.parse({"exports": list(exports), **facts}))


@pytest.mark.parametrize(
    ("markers", "expected"),
    [
        ("isQuery isPublic", ("Query", "public")),
        ("isMutation isInternal", ("Mutation", "internal")),
        ("isAction", ("Action", None)),
        ("isPublic", None),
        ("isQuery isMutation", None),
        ("isQuery isPublic isInternal", None),
    ],
)
def test_markers_tell_type_and_visibility(markers: str, expected: tuple[str, str | None] | None) -> None:
    functions = analyze(export(markers=markers)).functions
    assert [(found.udf_type, found.visibility) for found in functions] == ([expected] if expected else [])


def test_validators_are_written_again_with_sorted_keys() -> None:
    args = (
        '{"type":"object","value":{"b":{"fieldType":{"type":"string"},"optional":false},'
        '"a":{"optional":true,"fieldType":{"type":"number"}}}}'
    )
    (function,) = analyze(export(args={"text": args}, returns={"text": '{"type":"null"}'})).functions
    assert function.args == (
        '{"type":"object","value":{"a":{"fieldType":{"type":"number"},"optional":true},'
        '"b":{"fieldType":{"type":"string"},"optional":false}}}'
    )
    assert function.returns == '{"type":"null"}'


def test_a_function_without_validators_accepts_anything() -> None:
    (function,) = analyze(export(returns={"text": "null"})).functions
    assert (function.args, function.returns) == ('{"type":"any"}', "null")


def test_functions_come_in_source_order_and_those_without_a_position_first() -> None:
    lines = {"a": 9, "b": 2, "c": None, "d": 2}
    exports = [export(name, position=line and {"line": line, "column": 4}) for name, line in lines.items()]
    assert [found.name for found in analyze(*exports).functions] == ["c", "b", "d", "a"]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"args": {"problem": "notFunction"}}, "messages.js:f.exportArgs is not a function or `undefined`."),
        (
            {"returns": {"problem": "notString"}},
            "Invalid exportReturns return value: messages.js:f.exportReturns() didn't return a string.",
        ),
        (
            {"args": {"text": '{"type":"string"}'}},
            "Invalid JSON returned from messages.js:f.exportArgs(): Args validator must be an object or any",
        ),
        ({"handler": "invalid"}, "messages.js:f.handler is not a function."),
        ({"handler": "absent", "callable": False}, "messages.js:f is not a function."),
    ],
)
def test_a_malformed_function_is_refused(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        analyze(export(**facts))
    assert (refusal.value.code, refusal.value.message) == ("InvalidModules", PREFIX + message)


def test_an_exception_from_a_validator_is_shown_as_it_is() -> None:
    text = 'Uncaught Error: A validator is undefined for field "x"\n    at a (../convex/m.ts:1:1)\n'
    with pytest.raises(RequestError) as refusal:
        analyze(export(args={"thrown": {"text": text}}))
    assert (refusal.value.code, refusal.value.message) == ("Error", text)


def test_a_name_must_be_an_identifier() -> None:
    with pytest.raises(RequestError) as refusal:
        analyze(export("foo$"))
    assert refusal.value.code == "InvalidFunctionName"
    assert refusal.value.message.startswith("Invalid function name used in `messages.js`: Identifier foo$ has invalid")


def test_only_actions_can_be_defined_in_node() -> None:
    assert analyze(export(markers="isAction isPublic"), environment="node").functions[0].udf_type == "Action"
    with pytest.raises(RequestError) as refusal:
        analyze(export(), path="nodeact.js", environment="node")
    assert refusal.value.message == PREFIX + (
        "`f` defined in `nodeact.js` is a Query function. Only actions can be defined in Node.js. "
        "See https://docs.convex.dev/functions/actions for more details."
    )


def route(**facts: Any) -> dict[str, Any]:
    defaults = {"isEntry": True, "path": "/hi", "method": "GET", "isAction": True, "hasHandler": True, "position": None}
    return defaults | facts


def router(*routes: dict[str, Any]) -> dict[str, Any]:
    return {"exported": True, "isRouter": True, "hasRoutes": True, "routes": list(routes)}


def test_routes_are_kept_in_the_order_of_the_router() -> None:
    module = analyze(path="http.js", router=router(route(), route(path="/pre/*", method="POST")))
    assert [(found.path, found.method) for found in module.http_routes or ()] == [("/hi", "GET"), ("/pre/*", "POST")]


UNEXPECTED = (
    "The `getRoutes()` method of Router did not return the expected type. `getRoutes()` should be a function returning "
    "an array of entries of the form [path: string, method: string, handler: HttpAction] "
)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"exported": False}, "`convex/http.js` must have a default export of a Router."),
        ({"exported": True}, "The default export of `convex/http.js` is not a Router."),
        ({"exported": True, "isRouter": True}, ".getRoutes property on Router not found"),
        (
            {"exported": True, "isRouter": True, "hasRoutes": True, "routes": None},
            UNEXPECTED + "(return value is not an array)",
        ),
        (router(route(path=None)), UNEXPECTED + "(arr[0][0] is not a string)"),
        (
            router(route(method="HEAD")),
            UNEXPECTED + "('HEAD' is not not a routable method (one of GET, POST, PUT, DELETE, PATCH, OPTIONS))",
        ),
        (router(route(), route(isAction=False)), UNEXPECTED + "(arr[1][2] not an HttpAction)"),
        (router(route(hasHandler=False)), "arr[0][2].handler is not a function"),
    ],
)
def test_a_router_that_is_none_is_refused(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        analyze(path="http.js", router=facts)
    assert (refusal.value.code, refusal.value.message) == ("InvalidModules", PREFIX + message)
