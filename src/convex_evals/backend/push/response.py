"""The answer to start_push, in the shape the CLI checks and later sends back."""

from typing import Any

from convex_evals.backend.deployed import UdfConfig
from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.push.candidate import Candidate
from convex_evals.backend.push.exports import public_functions
from convex_evals.backend.push.module_records import module_to_json
from convex_evals.backend.push.tree import MountedComponent
from convex_evals.backend.values import encode

Json = dict[str, Any]


def start_push_response(candidate: Candidate) -> Json:
    """The token is in the packages for finish_push and in the schema change for wait_for_schema."""
    analysis, node_version = candidate.analysis, candidate.node_version
    return {
        "environmentVariables": analysis.variables,
        "externalDepsId": None,
        "componentDefinitionPackages": {
            path: _package(candidate.token, None if path else node_version) for path in analysis.definitions
        },
        "appAuth": list(analysis.auth_providers),
        "analysis": {path: _definition(analysis, path) for path in analysis.definitions},
        "app": _mounted(analysis, analysis.app),
        "schemaChange": {**candidate.change.to_json(), "push": candidate.token},
    }


def token_of(echo: object) -> str | None:
    """The token in an answer of start_push, or in its `schemaChange`, that the CLI sent back."""
    match echo:
        case {"componentDefinitionPackages": {"": {"storageKey": str(token)}}} | {"push": str(token)}:
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
