"""The deployed code: modules, functions, components."""

import orjson

from convex_evals.backend.deployed import (
    AnalyzedFunction,
    AnalyzedModule,
    Application,
    ComponentDefinition,
    CronSpec,
    FunctionPath,
)
from convex_evals.backend.system.declarations import Context, Declarations
from convex_evals.backend.validators import STRING
from convex_evals.backend.values import Value, decode

functions = Declarations()

NOT_LISTED = frozenset({"schema.js", "auth.config.js", "convex.config.js"})
UNKNOWN_ARGS = '{ "type": "any" }'


@functions.query("frontend/modules:list")
def list_modules(context: Context) -> Value:
    return _modules(context.application, context.instance.path)


@functions.query("frontend/modules:listForAllComponents", in_component=False)
def list_for_all_components(context: Context) -> Value:
    application = context.application
    if application is None:
        return [[None, []]]
    return [
        [None if instance.id == "" else instance.id, _modules(application, path)]
        for path, instance in sorted(application.instances.items())
    ]


@functions.query("frontend/modules:argsValidator", function=STRING)
def args_validator(context: Context, function: str) -> Value:
    """The validator's JSON text, or null when there is no such function."""
    application = context.application
    found = application and application.function(FunctionPath.parse(function, context.instance.path))
    if not found:
        return None
    return UNKNOWN_ARGS if found.args == '{"type":"any"}' else found.args


@functions.query("cli/modules:apiSpec")
def api_spec(context: Context) -> Value:
    definition = _definition(context.application, context.instance.path)
    if definition is None:
        return []
    spec: list[Value] = []
    for path, module in _listed(definition):
        spec.extend(_function_spec(path, function) for function in module.functions)
        for route in module.http_routes or ():
            spec.append({"functionType": "HttpAction", "method": route.method, "path": route.path})
    return spec


@functions.query("frontend/components:list", in_component=False)
def list_components(context: Context) -> Value:
    application = context.application
    instances = application.instances if application else {}
    root: Value = {"id": "", "name": None, "path": "", "args": {}, "state": "active", "httpPrefix": None}
    mounted: list[Value] = [
        {
            "id": instance.id,
            "name": path.rpartition("/")[2],
            "path": path,
            "args": {},
            "state": instance.state,
            "httpPrefix": instance.http_prefix,
        }
        for path, instance in sorted(instances.items())
        if path != ""
    ]
    return [root, *mounted]


@functions.query("frontend/getVersion", in_component=False)
def get_version(context: Context) -> Value:
    return context.application.udf_config.server_version if context.application else None


@functions.query("frontend/node:version", in_component=False)
def node_version(context: Context) -> Value:
    return context.application.node_version if context.application else None


def _definition(application: Application | None, component: str) -> ComponentDefinition | None:
    return application.definition_of(component) if application else None


def _listed(definition: ComponentDefinition) -> list[tuple[str, AnalyzedModule]]:
    """Folder by folder: `a/b.js` stands before `a.js`."""
    paths = sorted(definition.analysis, key=lambda path: path.split("/"))
    return [(path, definition.analysis[path]) for path in paths if path not in NOT_LISTED]


def _modules(application: Application | None, component: str) -> Value:
    definition = _definition(application, component)
    if application is None or definition is None:
        return []
    package = f"push-{application.version}"
    return [[path, _module(module, package)] for path, module in _listed(definition)]


def _module(module: AnalyzedModule, package: str) -> Value:
    described: dict[str, Value] = {
        "functions": [_function(function) for function in module.functions] + _routes(module),
        "sourcePackageId": package,
    }
    if module.cron_specs is not None:
        described["cronSpecs"] = [[cron.identifier, _cron_spec(cron)] for cron in module.cron_specs]
    return described


def _function(function: AnalyzedFunction) -> Value:
    described: dict[str, Value] = {
        "name": function.name,
        "udfType": function.udf_type,
        "visibility": {"kind": function.visibility or "public"},
    }
    if function.position is not None:
        described["lineno"] = float(function.position.start_lineno)
    return described


def _routes(module: AnalyzedModule) -> list[Value]:
    described: list[Value] = []
    for route in module.http_routes or ():
        entry: dict[str, Value] = {
            "name": f"{route.method} {route.path}",
            "udfType": "HttpAction",
            "visibility": {"kind": "public"},
        }
        if route.position is not None:
            entry["lineno"] = float(route.position.start_lineno)
        described.append(entry)
    return described


def _cron_spec(cron: CronSpec) -> Value:
    return {
        "udfPath": cron.udf_path,
        "udfArgs": cron.udf_args.encode(),
        "cronSchedule": {name: _schedule_part(part) for name, part in cron.schedule.items()},
    }


def _schedule_part(part: object) -> Value:
    """Numbers in schedules are whole ones."""
    if isinstance(part, int | float):
        return int(part)
    return part if isinstance(part, str) else None


def _function_spec(path: str, function: AnalyzedFunction) -> Value:
    return {
        "args": decode(orjson.loads(function.args)),
        "functionType": function.udf_type,
        "identifier": f"{path}:{function.name}",
        "returns": decode(orjson.loads(function.returns)),
        "visibility": {"kind": function.visibility or "public"},
    }
