"""From facts about a module to its functions: which exports count, and which are refused."""

from typing import TypeVar

import orjson

from convex_evals.backend.deployed import AnalyzedFunction, AnalyzedModule, Module, UdfType, Visibility
from convex_evals.backend.deployed.functions import Position
from convex_evals.backend.errors import RequestError
from convex_evals.backend.names import identifier_error
from convex_evals.backend.push.crons import analyze_crons
from convex_evals.backend.push.errors import invalid_modules, refused, uncaught
from convex_evals.backend.push.facts import Exported, ExportFacts, ModuleFacts, SourcePosition
from convex_evals.backend.push.http_routes import analyze_routes
from convex_evals.backend.validators import parse_args_validator, parse_validator

UDF_TYPES: dict[str, UdfType] = {"isQuery": "Query", "isMutation": "Mutation", "isAction": "Action"}
VISIBILITIES: dict[str, Visibility] = {"isPublic": "public", "isInternal": "internal"}
T = TypeVar("T")

ANY = '{"type":"any"}'
NO_RETURNS = "null"


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
