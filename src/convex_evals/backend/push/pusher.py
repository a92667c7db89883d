"""One deployment's pushes: start_push prepares a candidate, finish_push makes it what is deployed.

Responses have the shape that the CLI checks, prints and sends back.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import orjson

from convex_evals.backend.clock import DeploymentClock
from convex_evals.backend.database import Database, Transaction
from convex_evals.backend.deployed import Application, ComponentInstance, CurrentApplication, UdfConfig
from convex_evals.backend.environment import CanonicalUrls, read_variables
from convex_evals.backend.errors import RequestError, WorkerCrashed
from convex_evals.backend.push.analysis import Analysis, Analyzer, Variables
from convex_evals.backend.push.candidate import (
    OVERWRITTEN,
    Activation,
    Candidate,
    ComponentDiff,
    activate,
    describe_changes,
    prepare_changes,
    validate_changes,
    validate_dry_run,
)
from convex_evals.backend.push.definitions import check_variables
from convex_evals.backend.push.errors import PushRefusal, invalid_modules, refused, while_pushing
from convex_evals.backend.push.request import PushRequest
from convex_evals.backend.push.tree import MountedComponent, public_functions
from convex_evals.backend.runtime import ProtocolError
from convex_evals.backend.values import encode

KEPT_CANDIDATES = 8  # most pushes that are never finished are codegen runs

Json = dict[str, Any]
T = TypeVar("T")


class Pusher:
    def __init__(
        self,
        database: Database,
        current: CurrentApplication,
        analyzer: Analyzer,
        urls: CanonicalUrls,
        clock: DeploymentClock | None = None,
    ) -> None:
        self._database = database
        self._current = current
        self._analyzer = analyzer
        self._urls = urls
        self._clock = clock or DeploymentClock()
        self._candidates: dict[str, Candidate] = {}
        self._refusal: PushRefusal | None = None

    def take_refusal(self) -> PushRefusal | None:
        """Why a push was refused since the last call, for those who run the CLI and need more than its message."""
        refusal, self._refusal = self._refusal, None
        return refusal

    def config_hashes(self) -> Json:
        """Hashes of deployed modules, which the CLI need not send again."""
        application = self._current.application
        modules = application.definitions[""].modules.values() if application else ()
        return {
            "config": {"functions": "convex/"},
            "moduleHashes": [
                {"path": module.path, "hash": module.sha256, "environment": module.environment} for module in modules
            ],
            "udfServerVersion": application.udf_config.server_version if application else None,
            "nodeVersion": application.node_version if application else None,
        }

    async def start(self, request: PushRequest) -> Json:
        """Analyzes the project and prepares tables and indexes. Nothing that callers see changes."""
        is_dry_run = request.dry_run or request.for_codegen
        with self._pushing():
            analysis = await self._analyze(request)
            make = describe_changes if is_dry_run else prepare_changes
            change = self._in_transaction(lambda transaction: make(transaction, analysis, self._instances))
        token, packages = secrets.token_hex(16), request.node_packages
        candidate = Candidate(token, analysis, change, request.node_version, packages, is_dry_run)
        self._keep(candidate)
        return _start_response(candidate)

    async def evaluate(self, request: PushRequest) -> Json:
        """What a push would do to indexes; stores nothing."""
        with self._pushing():
            analysis = await self._analyze(request)
            change = describe_changes(self._database.begin(), analysis, self._instances)
        return {"schemaChange": change.to_json()}

    async def schema_status(self, schema_change: object) -> Json:
        """Validates existing documents against the prepared schemas, now: there is nothing to wait for."""
        candidate = self._candidates.get(_token_of(schema_change) or "")
        if candidate is None:
            return OVERWRITTEN
        validate = validate_dry_run if candidate.is_dry_run else validate_changes
        return self._in_transaction(lambda transaction: validate(transaction, candidate, self._instances))

    async def finish(self, start_push: object, *, dry_run: bool) -> Json:
        """The commit point."""
        with self._pushing():
            if dry_run:
                return {"authDiff": {"added": [], "removed": []}, "definitionDiffs": {}, "componentDiffs": {}}
            candidate = self._candidates.get(_token_of(start_push) or "")
            if candidate is None or candidate.is_dry_run:
                raise refused("RaceDetected", "This push is not known any more. Start it again.")
            response = self._finish(candidate)
        del self._candidates[candidate.token]
        return response

    def _keep(self, candidate: Candidate) -> None:
        self._candidates[candidate.token] = candidate
        for old in list(self._candidates)[:-KEPT_CANDIDATES]:
            del self._candidates[old]

    def _finish(self, candidate: Candidate) -> Json:
        before = self._current.application
        activation = self._in_transaction(lambda transaction: self._activate(transaction, candidate))
        self._current.replace(activation.application)
        return _finish_response(before, activation.application, activation.diffs)

    def _activate(self, transaction: Transaction, candidate: Candidate) -> Activation:
        analysis = candidate.analysis
        if read_variables(transaction) != analysis.variables:
            raise refused("RaceDetected", "Environment variables have changed during push")
        check_variables(analysis.app.definition.env, analysis.variables)
        return activate(transaction, self._current.application, candidate, self._clock.now_ns())

    async def _analyze(self, request: PushRequest) -> Analysis:
        transaction = self._database.begin()
        variables = Variables(read_variables(transaction), self._urls.overridden(transaction).variables)
        application = self._current.application
        stored = application.definitions[""].modules if application else {}
        try:
            return await self._analyzer.analyze(
                request, stored, application.udf_config if application else None, variables
            )
        except WorkerCrashed as error:
            # Evaluation is retried when a worker dies. When it dies each time, the code kills it.
            raise invalid_modules("The modules ended the process that evaluates them.") from error
        except ProtocolError as error:
            raise invalid_modules("The modules disturbed the process that evaluates them.") from error
        except (RecursionError, orjson.JSONEncodeError) as error:
            raise invalid_modules("A validator, schema or configuration is nested too deeply.") from error

    @property
    def _instances(self) -> dict[str, ComponentInstance]:
        application = self._current.application
        return application.instances if application else {}

    def _in_transaction(self, work: Callable[[Transaction], T]) -> T:
        """Runs `work` in a transaction of its own and commits it. Nothing else can commit in between."""
        transaction = self._database.begin()
        result = work(transaction)
        self._database.commit(transaction)
        return result

    @contextmanager
    def _pushing(self) -> Iterator[None]:
        """Words errors as errors of a push."""
        try:
            yield
        except RequestError as error:
            refused_push = while_pushing(error)
            self._refusal = refused_push.refusal
            raise refused_push from error


def _start_response(candidate: Candidate) -> Json:
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


def _token_of(echo: object) -> str | None:
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


def _finish_response(before: Application | None, after: Application, components: dict[str, ComponentDiff]) -> Json:
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


def _serialized(provider: dict[str, object]) -> str:
    return orjson.dumps(provider).decode()
