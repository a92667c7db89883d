"""From facts about a module to its functions, HTTP routes and cron jobs: what counts, and what is refused."""

from collections.abc import Mapping
from typing import TypeVar

import orjson

from convex_evals.backend.crons import parse_schedule
from convex_evals.backend.deployed import (
    AnalyzedFunction,
    AnalyzedModule,
    CronSpec,
    FunctionPath,
    HttpRoute,
    Module,
    Position,
    UdfType,
    Visibility,
)
from convex_evals.backend.errors import RequestError
from convex_evals.backend.names import identifier_error
from convex_evals.backend.push.errors import invalid_modules, refused, uncaught
from convex_evals.backend.push.facts import (
    CronsFacts,
    Exported,
    ExportFacts,
    ModuleFacts,
    RouteFacts,
    RouterFacts,
    SourcePosition,
)
from convex_evals.backend.push.request import CRONS_PATH
from convex_evals.backend.validators import parse_args_validator, parse_validator

UDF_TYPES: dict[str, UdfType] = {"isQuery": "Query", "isMutation": "Mutation", "isAction": "Action"}
VISIBILITIES: dict[str, Visibility] = {"isPublic": "public", "isInternal": "internal"}
T = TypeVar("T")

ANY = '{"type":"any"}'
NO_RETURNS = "null"

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")


def analyze_module(module: Module, facts: ModuleFacts) -> AnalyzedModule:
    """Raises RequestError for the first export that breaks a rule."""
    functions = [found for export in facts.exports if (found := _analyze_export(module, export)) is not None]
    return AnalyzedModule(
        functions=tuple(sorted(functions, key=lambda function: _order(function.position))),
        http_routes=None if facts.router is None else analyze_routes(module.path, facts.router),
        cron_specs=None if facts.crons is None else analyze_crons(facts.crons),
    )


def _analyze_export(module: Module, export: ExportFacts) -> AnalyzedFunction | None:
    udf_type = _only(UDF_TYPES, export)
    if udf_type is None or {"isPublic", "isInternal"} <= export.markers:
        return None
    args = _validator_text(module.path, export, "exportArgs", export.args)
    returns = _validator_text(module.path, export, "exportReturns", export.returns)
    _check_handler(module.path, export)
    _check_name(module.path, export.name)
    if module.environment == "node" and udf_type != "Action":
        raise invalid_modules(
            f"`{export.name}` defined in `{module.path}` is a {udf_type} function. Only actions can be defined in "
            "Node.js. See https://docs.convex.dev/functions/actions for more details."
        )
    return AnalyzedFunction(
        name=export.name,
        udf_type=udf_type,
        visibility=_only(VISIBILITIES, export),
        args=args or ANY,
        returns=returns or NO_RETURNS,
        position=position_in(module.path, export.position),
    )


def position_in(path: str, position: SourcePosition | None) -> Position | None:
    return None if position is None else Position(path, position.line, position.column)


def _order(position: Position | None) -> tuple[int, int]:
    """Functions without a position come first; ties keep the order of the exports."""
    return (-1, -1) if position is None else (position.start_lineno, position.start_col)


def _only(meanings: dict[str, T], export: ExportFacts) -> T | None:
    found = [meaning for marker, meaning in meanings.items() if marker in export.markers]
    return found[0] if len(found) == 1 else None


def _validator_text(path: str, export: ExportFacts, method: str, exported: Exported) -> str | None:
    """The validator written again: keys sorted, normalized. Code generation depends on that order."""
    place = f"{path}:{export.name}.{method}"
    if exported.thrown is not None:
        raise uncaught(exported.thrown)
    if exported.problem == "notFunction":
        raise invalid_modules(f"{place} is not a function or `undefined`.")
    if exported.problem == "notString":
        raise invalid_modules(f"Invalid {method} return value: {place}() didn't return a string.")
    if exported.text is None:
        return None
    try:
        return _normalized(exported.text, method)
    except (orjson.JSONDecodeError, RequestError) as error:
        why = error.message if isinstance(error, RequestError) else error
        raise invalid_modules(f"Invalid JSON returned from {place}(): {why}") from error


def _normalized(text: str, method: str) -> str | None:
    json = orjson.loads(text)
    if method == "exportArgs":
        return parse_args_validator(json).to_text()
    return None if json is None else parse_validator(json).to_text()


def _check_handler(path: str, export: ExportFacts) -> None:
    if export.handler == "invalid":
        raise invalid_modules(f"{path}:{export.name}.handler is not a function.")
    if export.handler == "absent" and not export.callable:
        raise invalid_modules(f"{path}:{export.name} is not a function.")


def _check_name(path: str, name: str) -> None:
    reason = identifier_error(name)
    if reason is not None:
        raise refused("InvalidFunctionName", f"Invalid function name used in `{path}`: {reason}")


def analyze_routes(path: str, router: RouterFacts) -> tuple[HttpRoute, ...]:
    """Raises RequestError when the default export is not a router, or a route is not one."""
    if not router.exported:
        raise invalid_modules(f"`convex/{path}` must have a default export of a Router.")
    if not router.is_router:
        raise invalid_modules(f"The default export of `convex/{path}` is not a Router.")
    if not router.has_routes:
        raise invalid_modules(".getRoutes property on Router not found")
    if router.thrown is not None:
        raise uncaught(router.thrown)
    if router.routes is None:
        raise _unexpected("return value is not an array")
    routes = [_analyze_route(path, index, route) for index, route in enumerate(router.routes)]
    return tuple(sorted(routes, key=lambda route: _order(route.position)))


def _analyze_route(module: str, index: int, route: RouteFacts) -> HttpRoute:
    place = f"arr[{index}]"
    if not route.is_entry:
        raise _unexpected(f"{place} is not an array")
    if route.path is None:
        raise _unexpected(f"{place}[0] is not a string")
    if route.method is None:
        raise _unexpected(f"{place}[1] is not a string")
    if route.method not in METHODS:
        raise _unexpected(f"'{route.method}' is not not a routable method (one of {', '.join(METHODS)})")
    if not route.is_action:
        raise _unexpected(f"{place}[2] not an HttpAction")
    if not route.has_handler:
        raise invalid_modules(f"{place}[2].handler is not a function")
    return HttpRoute(route.path, route.method, position_in(module, route.position))


def _unexpected(detail: str) -> Exception:
    return invalid_modules(
        "The `getRoutes()` method of Router did not return the expected type. `getRoutes()` should be a function "
        f"returning an array of entries of the form [path: string, method: string, handler: HttpAction] ({detail})"
    )


def analyze_crons(crons: CronsFacts) -> tuple[CronSpec, ...]:
    """Sorted by identifier. Raises RequestError when the default export is not a Crons object, or a job is not one."""
    if not crons.exported:
        raise invalid_modules(f"`convex/{CRONS_PATH}` must have a default export of a Crons object.")
    if not crons.is_crons:
        raise invalid_modules(f"The default export of `convex/{CRONS_PATH}` is not a Crons object.")
    if crons.export.thrown is not None:
        raise uncaught(crons.export.thrown)
    if crons.export.text is None:
        raise invalid_modules(".export property on Crons object not found")
    try:
        jobs = _parse_jobs(crons.export.text)
        return tuple(_parse_job(identifier, jobs[identifier]) for identifier in sorted(jobs))
    except ValueError as error:
        raise refused("InvalidCron", str(error)) from error


def check_targets(analysis: Mapping[str, AnalyzedModule]) -> None:
    """Every job must start a mutation or an action of its own component."""
    crons = analysis.get(CRONS_PATH)
    for spec in (crons and crons.cron_specs) or ():
        target = FunctionPath.parse(spec.udf_path)
        module = analysis.get(target.module)
        function = module.function(target.function) if module else None
        if function is None:
            raise refused(
                "Error", f"The cron job '{spec.identifier}' schedules a function that does not exist: {spec.udf_path}"
            )
        if function.udf_type == "Query":
            raise refused(
                "Error",
                f"The cron job '{spec.identifier}' schedules a query function, only actions and mutations can be "
                f"scheduled: {spec.udf_path}",
            )


def _parse_jobs(text: str) -> dict[str, object]:
    try:
        jobs = orjson.loads(text)
    except ValueError:
        raise ValueError("Invalid JSON") from None
    if not isinstance(jobs, dict):
        raise ValueError("Invalid JSON")
    return jobs


def _parse_job(identifier: str, job: object) -> CronSpec:
    _check_identifier(identifier)
    if not isinstance(job, dict) or not isinstance(job.get("name"), str) or not isinstance(job.get("schedule"), dict):
        raise ValueError("Invalid JSON")
    return CronSpec(
        identifier=identifier,
        udf_path=FunctionPath.parse(job["name"]).canonical,
        udf_args=orjson.dumps(job.get("args") or []).decode(),
        schedule=parse_schedule(job["schedule"]),
    )


def _check_identifier(identifier: str) -> None:
    wrong = next((character for character in identifier if not " " <= character <= "~"), None)
    if wrong is not None:
        raise ValueError(
            f"CronIdentifier {identifier} has invalid character '{wrong}': CronIdentifiers can only contain ASCII "
            "letters that are not control characters"
        )
