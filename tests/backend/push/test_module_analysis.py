from typing import Any

import orjson
import pytest

from convex_evals.backend.deployed import AnalyzedFunction, AnalyzedModule, CronSpec, Environment, Module, UdfType
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.facts import CronsFacts, ModuleFacts
from convex_evals.backend.push.module_analysis import analyze_crons, analyze_module, check_targets

PREFIX = "Loading the pushed modules encountered the following\n    error:\n"

UNEXPECTED = (
    "The `getRoutes()` method of Router did not return the expected type. `getRoutes()` should be a function returning "
    "an array of entries of the form [path: string, method: string, handler: HttpAction] "
)
MINUTE = {"type": "interval", "minutes": 1}


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
def test_markers_show_type_and_visibility(markers: str, expected: tuple[str, str | None] | None) -> None:
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
def test_an_invalid_router_is_refused(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        analyze(path="http.js", router=facts)
    assert (refusal.value.code, refusal.value.message) == ("InvalidModules", PREFIX + message)


def analyze_jobs(jobs: dict[str, Any] | str) -> tuple[CronSpec, ...]:
    text = jobs if isinstance(jobs, str) else orjson.dumps(jobs).decode()
    return analyze_crons(CronsFacts.parse({"exported": True, "isCrons": True, "export": {"text": text}}))


def job(name: str = "messages:clean", schedule: dict[str, Any] = MINUTE) -> dict[str, Any]:
    return {"name": name, "args": [{"a": 1}], "schedule": schedule}


def test_jobs_are_sorted_by_identifier_and_canonical() -> None:
    assert analyze_jobs({"b": job(), "a": job("dir/m")}) == (
        CronSpec("a", "dir/m.js:default", '[{"a":1}]', {"type": "interval", "seconds": 60}),
        CronSpec("b", "messages.js:clean", '[{"a":1}]', {"type": "interval", "seconds": 60}),
    )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"exported": False}, "`convex/crons.js` must have a default export of a Crons object."),
        ({"exported": True}, "The default export of `convex/crons.js` is not a Crons object."),
        ({"exported": True, "isCrons": True}, ".export property on Crons object not found"),
    ],
)
def test_the_default_export_must_be_a_crons_object(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        analyze_crons(CronsFacts.parse(facts))
    assert refusal.value.code == "InvalidModules"
    assert refusal.value.message.endswith(message)


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("{", "Invalid JSON"),
        ({"a": job(schedule={"type": "interval"})}, "Exactly one of (seconds, minutes, hours) should be specified"),
        (
            {"a": job(schedule={"type": "cron", "cron": "0 0 31 2 *"})},
            'The cron spec "0 0 31 2 *" will never match any time',
        ),
        ({"ä": job()}, "CronIdentifier ä has invalid character 'ä': CronIdentifiers can only contain ASCII letters"),
    ],
)
def test_a_job_that_cannot_be_scheduled_is_refused(jobs: dict[str, Any] | str, message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        analyze_jobs(jobs)
    assert refusal.value.code == "InvalidCron"
    assert refusal.value.message.startswith(message)


def analysis(udf_type: UdfType) -> dict[str, AnalyzedModule]:
    function = AnalyzedFunction("clean", udf_type, "internal", "{}", "null")
    return {
        "messages.js": AnalyzedModule((function,)),
        "crons.js": AnalyzedModule(cron_specs=analyze_jobs({"tidy": job()})),
    }


def test_mutations_and_actions_can_be_scheduled() -> None:
    check_targets(analysis("Mutation"))
    check_targets(analysis("Action"))


def test_a_query_cannot_be_scheduled() -> None:
    with pytest.raises(RequestError) as refusal:
        check_targets(analysis("Query"))
    assert refusal.value.message == (
        "The cron job 'tidy' schedules a query function, only actions and mutations can be scheduled: messages.js:clean"
    )


def test_a_missing_function_cannot_be_scheduled() -> None:
    with pytest.raises(RequestError) as refusal:
        check_targets({**analysis("Mutation"), "messages.js": AnalyzedModule()})
    assert refusal.value.code == "Error"
    assert refusal.value.message == ("The cron job 'tidy' schedules a function that does not exist: messages.js:clean")
