"""From a pushed project to everything that is known about it before anything is stored.

The steps are in the order that decides which of several errors a user sees: functions, crons, auth config, schemas,
component definitions, the tree of components.
"""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import urandom
from typing import Any, cast

import orjson

from convex_evals.backend.deployed import (
    AnalyzedModule,
    ComponentDefinition,
    Environment,
    Module,
    NodePackage,
    UdfConfig,
)
from convex_evals.backend.environment import BUILT_IN
from convex_evals.backend.push.configs import (
    Provider,
    invalid_auth_config,
    missing_variable,
    parse_providers,
    parse_schema,
)
from convex_evals.backend.push.definitions import (
    Definition,
    Metadata,
    complete_metadata,
    default_name,
    evaluation_order,
)
from convex_evals.backend.push.errors import failed_to_analyze, refused, uncaught
from convex_evals.backend.push.facts import Exported, Json, ModuleFacts, Thrown
from convex_evals.backend.push.module_analysis import analyze_module, check_targets
from convex_evals.backend.push.request import (
    AUTH_CONFIG_PATH,
    CRONS_PATH,
    HTTP_PATH,
    PushedComponent,
    PushRequest,
    path_order,
    resolve_modules,
)
from convex_evals.backend.push.tree import MountedComponent, TreeBuilder, public_functions
from convex_evals.backend.runtime import (
    Evaluated,
    Evaluation,
    ImportableDefinition,
    ModuleEvaluator,
    ProtocolError,
    runtime_fingerprint,
)
from convex_evals.backend.schema import Schema

FUNCTION_SECONDS = 4.0
CONFIG_SECONDS = 1.0

Known = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Variables:
    """Environment variables at the time of the push: what users set, and the deployment's own addresses."""

    user: Mapping[str, str]
    system: Mapping[str, str]

    @property
    def all(self) -> dict[str, str]:
        return {**self.system, **self.user}


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a push would deploy. `app` is the root of the tree of mounted components."""

    definitions: dict[str, ComponentDefinition]
    schemas: dict[str, Schema | None]  # by definition path
    app: MountedComponent
    auth_providers: tuple[Provider, ...]
    udf_config: UdfConfig
    variables: dict[str, str]  # the users' own


class Analyzer:
    def __init__(self, evaluator: ModuleEvaluator) -> None:
        self._evaluator = evaluator

    async def analyze(
        self,
        request: PushRequest,
        stored: Mapping[str, Module],
        previous: UdfConfig | None,
        variables: Variables,
    ) -> Analysis:
        """`stored` are the app's modules now, `previous` its configuration. Raises RequestError."""
        udf_config = _udf_config(request.app.udf_server_version, previous)
        push = _PushInProgress(self._evaluator, udf_config, variables, request.node_packages)
        modules = resolve_modules(request.app, stored)
        functions = {"": await push.functions(modules, is_app=True)}
        providers = await push.auth_providers(modules.get(AUTH_CONFIG_PATH))
        schemas = {"": await push.schema(request.app)}
        component_modules = {"": modules}
        for component in request.components:
            component_modules[component.path] = resolve_modules(component, {})
            functions[component.path] = await push.functions(component_modules[component.path], is_app=False)
            schemas[component.path] = await push.schema(component)
        metadata = await push.definitions(request)
        parsed = {path: Definition.parse(found) for path, found in metadata.items()}
        for path in metadata.keys() - {""}:
            metadata[path]["exports"] = public_functions(functions[path]).to_metadata()
        return Analysis(
            definitions={
                path: ComponentDefinition(
                    path, component_modules[path], functions[path], _text(schemas[path]), metadata[path]
                )
                for path in functions
            },
            schemas=schemas,
            app=TreeBuilder(parsed, functions, request.for_codegen).build(),
            auth_providers=providers,
            udf_config=udf_config,
            variables=dict(variables.user),
        )

    async def analyze_alone(
        self, module: Module, modules: Mapping[str, Module], udf_config: UdfConfig, env: Mapping[str, str]
    ) -> AnalyzedModule:
        """One module that is not part of a push, with the modules it may import. Raises RequestError."""
        (result,) = await self._evaluator.evaluate(
            Evaluation(
                subject="functions",
                paths=(module.path,),
                modules=modules,
                environment="isolate",
                env=env,
                seed=udf_config.import_phase_seed,
                now_ms=udf_config.import_phase_ms,
                user_seconds=FUNCTION_SECONDS,
            )
        )
        return _analyzed(module, result)

    async def auth_providers(
        self, module: Module | None, udf_config: UdfConfig, variables: Variables
    ) -> tuple[Provider, ...]:
        """The auth config alone, as it is evaluated again when environment variables change."""
        return await _PushInProgress(self._evaluator, udf_config, variables).auth_providers(module)


@dataclass(frozen=True, slots=True)
class _PushInProgress:
    evaluator: ModuleEvaluator
    udf_config: UdfConfig
    variables: Variables
    packages: tuple[NodePackage, ...] = ()

    async def functions(self, modules: Mapping[str, Module], is_app: bool) -> dict[str, AnalyzedModule]:
        found: dict[str, AnalyzedModule] = {}
        env = self.variables.all if is_app else dict(self.variables.system)
        for environment in ("isolate", "node"):
            found |= await self._functions_of(modules, environment, env)
        if AUTH_CONFIG_PATH in modules and is_app:
            found[AUTH_CONFIG_PATH] = AnalyzedModule()
        analysis = dict(sorted(found.items(), key=lambda item: path_order(item[0])))
        check_targets(analysis)
        return analysis

    async def _functions_of(
        self, modules: Mapping[str, Module], environment: Environment, env: dict[str, str]
    ) -> dict[str, AnalyzedModule]:
        own = {path: module for path, module in modules.items() if module.environment == environment}
        paths = tuple(path for path, module in own.items() if not module.is_dependency and path != AUTH_CONFIG_PATH)
        if not paths:
            return {}
        results = await self.evaluator.evaluate(
            Evaluation(
                subject="functions",
                paths=paths,
                modules=own,
                environment=environment,
                env=env,
                seed=self.udf_config.import_phase_seed,
                now_ms=self.udf_config.import_phase_ms,
                user_seconds=FUNCTION_SECONDS,
                packages=self.packages if environment == "node" else (),
            )
        )
        analyzed = {path: _analyzed(own[path], result) for path, result in zip(paths, results, strict=False)}
        if len(results) != len(paths):
            raise ProtocolError(f"{len(results)} results for {len(paths)} modules, none of which failed")
        return analyzed

    async def auth_providers(self, module: Module | None) -> tuple[Provider, ...]:
        if module is None:
            return ()
        facts = await self._config("auth", module, self.variables.all)
        exported = _thrown_or_exported(facts)
        if exported.thrown is not None and exported.thrown.missing_variable is not None:
            raise missing_variable(exported.thrown.missing_variable)
        if exported.thrown is not None:
            raise invalid_auth_config(exported.thrown.text)
        if not facts["exported"]:
            raise invalid_auth_config(
                "auth config file is missing default export. "
                "To learn more, see the auth documentation at https://docs.convex.dev/auth."
            )
        if exported.text is None:
            raise invalid_auth_config("auth config file can only contain strings, lists and objects")
        return parse_providers(orjson.loads(exported.text))

    async def schema(self, pushed: PushedComponent) -> Schema | None:
        if pushed.schema is None:
            return None
        facts = await self._config("schema", pushed.schema, None)
        return parse_schema(facts, is_app=pushed.path == "")

    async def definitions(self, request: PushRequest) -> dict[str, Metadata]:
        found: dict[str, Metadata] = {}
        for pushed in evaluation_order(request.app, request.components):
            found[pushed.path] = await self._definition(pushed, found)
        return found

    async def _definition(self, pushed: PushedComponent, known: Mapping[str, Metadata]) -> Metadata:
        if pushed.definition is None:
            return complete_metadata(pushed.path, {})
        importable = tuple(
            ImportableDefinition(path, default_name(known[path]), known[path]) for path in pushed.dependencies
        )
        env = self.variables.all if pushed.path == "" else None
        facts = await self._config("definition", pushed.definition, env, importable)
        exported = _thrown_or_exported(facts)
        if exported.thrown is not None:
            raise uncaught(exported.thrown, "InvalidConvexConfig")
        if exported.text is None:
            raise _invalid_definition(pushed.path, str(facts["problem"]))
        return complete_metadata(pushed.path, orjson.loads(exported.text))

    async def _config(
        self,
        subject: str,
        module: Module,
        env: dict[str, str] | None,
        definitions: tuple[ImportableDefinition, ...] = (),
    ) -> Mapping[str, object]:
        results = await self.evaluator.evaluate(
            Evaluation(
                subject=subject,  # type: ignore[arg-type]
                paths=(module.path,),
                modules={module.path: module},
                environment="isolate",
                env=env,
                seed=self.udf_config.import_phase_seed,
                now_ms=self.udf_config.import_phase_ms,
                user_seconds=CONFIG_SECONDS,
                definitions=definitions,
            )
        )
        if len(results) != 1:
            raise ProtocolError(f"{len(results)} results for one module")
        return results[0]


def _udf_config(version: str, previous: UdfConfig | None) -> UdfConfig:
    """The same version of the library keeps its seed and clock, so that a push alone changes nothing."""
    if previous is not None and previous.server_version == version:
        return previous
    return UdfConfig(version, urandom(32), int(time.time() * 1000))


def _analyzed(module: Module, result: Mapping[str, object]) -> AnalyzedModule:
    if "thrown" in result:
        raise failed_to_analyze(module.path, Thrown.parse(cast(Json, result["thrown"])))
    facts = ModuleFacts.parse(result)
    return analyze_module(
        module,
        replace(
            facts,
            router=facts.router if module.path == HTTP_PATH else None,
            crons=facts.crons if module.path == CRONS_PATH else None,
        ),
    )


def _thrown_or_exported(facts: Mapping[str, object]) -> Exported:
    if "thrown" in facts:
        return Exported(thrown=Thrown.parse(cast(Json, facts["thrown"])))
    return Exported.parse(cast("Json | None", facts["export"]))


def _invalid_definition(path: str, why: str) -> Exception:
    owner, builder = (f"component `{path}`", "defineComponent") if path else ("your app", "defineApp")
    return refused(
        "InvalidDefinition",
        f"The default export of `convex.config.ts` in {owner} has an invalid value ({why}). Please make sure that "
        f"you’re exporting the return value of `{builder}()` from `convex/server`.",
    )


def _text(schema: Schema | None) -> str | None:
    return None if schema is None else schema.dumps()


class RememberedEvaluations:
    """Evaluations that need not be repeated, for code that is trusted, never changes and is pushed again and again.

    Time and the deployment's addresses are not part of the key. Therefore results that contain an address are not
    remembered, nor are errors, nor auth configs, which are made from addresses.
    """

    def __init__(self, evaluator: ModuleEvaluator) -> None:
        self._evaluator = evaluator
        self.known: Known = {}

    async def evaluate(self, evaluation: Evaluation) -> Evaluated:
        """Raises WorkerLost only when trying again did not help."""
        key = key_of(evaluation)
        if key in self.known:
            return self.known[key]
        results = await self._evaluator.evaluate(evaluation)
        if _is_lasting(evaluation, results):
            self.known[key] = [dict(result) for result in results]
        return results


def key_of(evaluation: Evaluation) -> str:
    env = evaluation.env
    what = [
        runtime_fingerprint(),
        evaluation.subject,
        evaluation.paths,
        evaluation.environment,
        {path: module.sha256 for path, module in evaluation.modules.items()},
        None if env is None else {name: value for name, value in env.items() if name not in BUILT_IN},
        [[each.path, each.default_name, each.metadata] for each in evaluation.definitions],
        [[package.name, package.version] for package in evaluation.packages],
    ]
    return hashlib.sha256(orjson.dumps(what, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _is_lasting(evaluation: Evaluation, results: Evaluated) -> bool:
    if evaluation.subject == "auth" or any("thrown" in result for result in results):
        return False
    text = orjson.dumps(results).decode()
    addresses = [value for name, value in (evaluation.env or {}).items() if name in BUILT_IN and value]
    return not any(address in text for address in addresses)
