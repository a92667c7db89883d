"""The answers to start_push and finish_push, in the shape that the CLI checks, prints and sends back."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from convex_evals.backend.deployed import Application, ComponentDefinition, UdfConfig
from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.push.candidate import Candidate
from convex_evals.backend.push.tree import DiffType, MountedComponent, public_functions
from convex_evals.backend.schema import IndexDiff
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
        "functions": {path: module.to_json() for path, module in definition.analysis.items()},
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


@dataclass(slots=True)
class CronDiff:
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def to_json(self) -> Json:
        return {"added": self.added, "updated": self.updated, "deleted": self.deleted}


@dataclass(slots=True)
class ComponentDiff:
    """What happened to one mounted component. The definitions are those before and after; None without one."""

    type: DiffType
    before: ComponentDefinition | None
    after: ComponentDefinition | None
    crons: CronDiff = field(default_factory=CronDiff)
    indexes: IndexDiff = field(default_factory=IndexDiff)

    def to_json(self, versions: tuple[str | None, str]) -> Json:
        return {
            "diffType": {"type": self.type},
            "moduleDiff": {
                "added": _missing(self.after, self.before),
                "removed": _missing(self.before, self.after),
            },
            "udfConfigDiff": _version_diff(*versions) if self.before is not None else None,
            "cronDiff": self.crons.to_json(),
            "indexDiff": self.indexes.to_json(),
            "schemaDiff": self._schema_diff(),
        }

    def _schema_diff(self) -> Json | None:
        before = self.before.schema if self.before else None
        after = self.after.schema if self.after else None
        return None if before == after else {"previous_schema": before, "next_schema": after}


def finish_push_response(before: Application | None, after: Application, components: dict[str, ComponentDiff]) -> Json:
    old = [] if before is None else [_serialized(provider) for provider in before.auth_providers]
    new = [_serialized(provider) for provider in after.auth_providers]
    versions = (before.udf_config.server_version if before else None, after.udf_config.server_version)
    return {
        "authDiff": {
            "added": [provider for provider in new if provider not in old],
            "removed": [provider for provider in old if provider not in new],
        },
        "definitionDiffs": {path: {} for path in after.definitions},
        "componentDiffs": {path: diff.to_json(versions) for path, diff in components.items()},
    }


def nothing_changed() -> Json:
    return {"authDiff": {"added": [], "removed": []}, "definitionDiffs": {}, "componentDiffs": {}}


def _missing(of: ComponentDefinition | None, within: ComponentDefinition | None) -> list[str]:
    """Modules of one definition that the other lacks, without shared chunks."""
    known = within.modules if within else {}
    return [
        path for path, module in (of.modules if of else {}).items() if path not in known and not module.is_dependency
    ]


def _version_diff(previous: str | None, following: str) -> Json | None:
    if previous is None or previous == following:
        return None
    return {"previous_version": previous, "next_version": following}


def _serialized(provider: dict[str, object]) -> str:
    return orjson.dumps(provider).decode()
