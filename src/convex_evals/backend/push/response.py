"""The answer to start_push, in the shape the CLI checks and later sends back."""

from dataclasses import dataclass, field

from convex_evals.backend.deployed import UdfConfig
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.push.exports import public_functions
from convex_evals.backend.push.module_records import module_to_json
from convex_evals.backend.push.tree import MountedComponent
from convex_evals.backend.schema import IndexDiff
from convex_evals.backend.values import encode

Json = dict[str, object]


@dataclass(slots=True)
class SchemaChange:
    """What a push does to each mounted component's tables, by component path."""

    allocated_component_ids: dict[str, str] = field(default_factory=dict)
    schema_ids: dict[str, str | None] = field(default_factory=dict)
    index_diffs: dict[str, IndexDiff] = field(default_factory=dict)

    @classmethod
    def parse(cls, json: object) -> "SchemaChange":
        """From what a CLI sent back. The index diffs are not needed any more."""
        match json:
            case {"allocatedComponentIds": dict(allocated), "schemaIds": dict(schemas)}:
                return cls(allocated, schemas)
            case _:
                raise RequestError(400, "BadJsonBody", "schemaChange: expected what start_push answered")

    def to_json(self) -> Json:
        return {
            "allocatedComponentIds": self.allocated_component_ids,
            "schemaIds": self.schema_ids,
            "indexDiffs": {path: diff.to_json() for path, diff in self.index_diffs.items()},
        }


def start_push_response(token: str, analysis: Analysis, change: SchemaChange, node_version: str | None) -> Json:
    return {
        "environmentVariables": analysis.variables,
        "externalDepsId": None,
        "componentDefinitionPackages": {
            path: _package(token, node_version if path == "" else None) for path in analysis.definitions
        },
        "appAuth": list(analysis.auth_providers),
        "analysis": {path: _definition(analysis, path) for path in analysis.definitions},
        "app": _mounted(analysis, analysis.app),
        "schemaChange": change.to_json(),
    }


def token_of(response: object) -> str | None:
    """The token in the start_push answer that a CLI sent back."""
    match response:
        case {"componentDefinitionPackages": {"": {"storageKey": str(token)}}}:
            return token
        case _:
            return None


def _package(token: str, node_version: str | None) -> Json:
    size = {"zippedSizeBytes": encode(0), "unzippedSizeBytes": encode(0)}
    return {
        "storageKey": token,
        "sha256": encode(b""),
        "externalPackageId": None,
        "packageSize": size,
        "nodeVersion": node_version,
    }


def _definition(analysis: Analysis, path: str) -> Json:
    definition, schema = analysis.definitions[path], analysis.schemas[path]
    return {
        "definition": definition.metadata,
        "schema": None if schema is None else schema.to_json(),
        "functions": {path: module_to_json(module) for path, module in definition.analysis.items()},
        "udfConfig": _udf_config(analysis.udf_config),
    }


def _udf_config(config: UdfConfig) -> Json:
    return {
        "serverVersion": config.server_version,
        "importPhaseRngSeed": encode(config.import_phase_seed),
        "importPhaseUnixTimestamp": encode(config.import_phase_ms * 1_000_000),
    }


def _mounted(analysis: Analysis, mounted: MountedComponent) -> Json:
    routes = mounted.http_routes
    functions = analysis.definitions[mounted.definition.path].analysis
    return {
        "definitionPath": mounted.definition.path,
        "componentPath": mounted.path,
        "httpPrefix": mounted.http_prefix,
        "args": {},
        "env": {name: binding.to_json() for name, binding in mounted.env.items()},
        "childComponents": {name: _mounted(analysis, child) for name, child in mounted.children.items()},
        "httpRoutes": {
            "httpModuleRoutes": None if routes is None else [{"path": r.path, "method": r.method} for r in routes],
            "mounts": list(mounted.definition.http_mounts),
        },
        "exports": public_functions(functions).resources(mounted.path),
    }
