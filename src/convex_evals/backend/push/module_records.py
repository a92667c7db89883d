"""Analyzed modules as JSON, and back again. What the CLI is shown is also what is stored."""

from collections.abc import Mapping
from typing import cast

from convex_evals.backend.deployed import (
    AnalyzedFunction,
    AnalyzedModule,
    CronSpec,
    HttpRoute,
    UdfType,
    Visibility,
)
from convex_evals.backend.deployed.functions import Position

Json = dict[str, object]


def module_to_json(module: AnalyzedModule) -> Json:
    return {
        "functions": [_function_to_json(function) for function in module.functions],
        "httpRoutes": None if module.http_routes is None else [_route_to_json(route) for route in module.http_routes],
        "cronSpecs": None if module.cron_specs is None else [_cron_to_json(spec) for spec in module.cron_specs],
        "sourceMapped": None,
    }


def module_from_json(json: Mapping[str, object]) -> AnalyzedModule:
    routes, crons = cast("list[Json] | None", json["httpRoutes"]), cast("list[Json] | None", json["cronSpecs"])
    return AnalyzedModule(
        functions=tuple(_function_from_json(function) for function in cast("list[Json]", json["functions"])),
        http_routes=None if routes is None else tuple(_route_from_json(route) for route in routes),
        cron_specs=None if crons is None else tuple(_cron_from_json(spec) for spec in crons),
    )


def _function_to_json(function: AnalyzedFunction) -> Json:
    return {
        "name": function.name,
        "pos": _position_to_json(function.position),
        "udfType": function.udf_type,
        "visibility": None if function.visibility is None else {"kind": function.visibility},
        "args": function.args,
        "returns": function.returns,
    }


def _function_from_json(json: Json) -> AnalyzedFunction:
    visibility = cast("dict[str, Visibility] | None", json["visibility"])
    return AnalyzedFunction(
        name=str(json["name"]),
        udf_type=cast(UdfType, json["udfType"]),
        visibility=None if visibility is None else visibility["kind"],
        args=str(json["args"]),
        returns=str(json["returns"]),
        position=_position_from_json(json["pos"]),
    )


def _route_to_json(route: HttpRoute) -> Json:
    return {"route": {"path": route.path, "method": route.method}, "pos": _position_to_json(route.position)}


def _route_from_json(json: Json) -> HttpRoute:
    route = cast("dict[str, str]", json["route"])
    return HttpRoute(route["path"], route["method"], _position_from_json(json["pos"]))


def _cron_to_json(spec: CronSpec) -> Json:
    arguments = list(spec.udf_args.encode())
    return {
        "identifier": spec.identifier,
        "spec": {"udfPath": spec.udf_path, "udfArgs": arguments, "cronSchedule": spec.schedule},
    }


def _cron_from_json(json: Json) -> CronSpec:
    spec = cast(Json, json["spec"])
    arguments = bytes(cast("list[int]", spec["udfArgs"])).decode()
    return CronSpec(str(json["identifier"]), str(spec["udfPath"]), arguments, cast(Json, spec["cronSchedule"]))


def _position_to_json(position: Position | None) -> Json | None:
    if position is None:
        return None
    return {"path": position.path, "start_lineno": position.start_lineno, "start_col": position.start_col}


def _position_from_json(json: object) -> Position | None:
    if json is None:
        return None
    fields = cast(Json, json)
    return Position(str(fields["path"]), cast(int, fields["start_lineno"]), cast(int, fields["start_col"]))
