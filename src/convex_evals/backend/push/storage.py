"""The deployed application in private tables of the app's namespace, so that a restart finds it again.

| table | one row per |
| --- | --- |
| `_udf_config` | deployment: version of the library, seed and clock of the import phase; rewritten by every push |
| `_source_packages` | module text in use, named by its hash |
| `_component_definitions` | definition: metadata, schema, modules (by hash) with their analysis |
| `_components` | mounted component except the app; its id is the namespace of its tables |
| `_auth` | auth provider |
"""

from collections.abc import Mapping
from typing import Literal, cast

import orjson

from convex_evals.backend.database import Transaction
from convex_evals.backend.deployed import (
    ROOT,
    AnalyzedModule,
    Application,
    ComponentDefinition,
    ComponentInstance,
    Environment,
    Module,
    NodePackage,
    UdfConfig,
)
from convex_evals.backend.values import Value

CONFIG, SOURCES, DEFINITIONS = "_udf_config", "_source_packages", "_component_definitions"
COMPONENTS, AUTH = "_components", "_auth"

Row = dict[str, Value]


def store_application(transaction: Transaction, application: Application) -> None:
    """Makes the tables describe `application`; rows that already do are left alone."""
    modules = [module for definition in application.definitions.values() for module in definition.modules.values()]
    _sync(transaction, SOURCES, "sha256", {module.sha256: _source_row(module) for module in modules})
    definitions = {path: _definition_row(found) for path, found in application.definitions.items()}
    _sync(transaction, DEFINITIONS, "path", definitions)
    _store_components(transaction, application)
    providers = {orjson.dumps(provider).decode(): provider for provider in application.auth_providers}
    _sync(transaction, AUTH, "provider", {text: {"provider": text} for text in providers})
    for row in transaction.system.scan(ROOT, CONFIG):
        transaction.system.delete(ROOT, CONFIG, row.id)
    transaction.system.insert(ROOT, CONFIG, _config_row(application))


def load_application(transaction: Transaction) -> Application | None:
    """None before the first push."""
    system = transaction.system
    config = system.first(ROOT, CONFIG)
    if config is None:
        return None
    sources = {str(row.value["sha256"]): row.value for row in system.scan(ROOT, SOURCES)}
    definitions = [_load_definition(row.value, sources) for row in system.scan(ROOT, DEFINITIONS)]
    instances = [_load_instance(row.id, row.value) for row in system.scan(ROOT, COMPONENTS)]
    app = _load_root(config.value)
    node_version = config.value["nodeVersion"]
    return Application(
        version=cast(int, config.value["version"]),
        udf_config=UdfConfig(
            str(config.value["serverVersion"]),
            cast(bytes, config.value["importPhaseRngSeed"]),
            cast(int, config.value["importPhaseUnixTimestamp"]) // 1_000_000,
        ),
        definitions={definition.path: definition for definition in definitions},
        instances={instance.path: instance for instance in (app, *instances)},
        auth_providers=tuple(orjson.loads(str(row.value["provider"])) for row in system.scan(ROOT, AUTH)),
        node_version=None if node_version is None else str(node_version),
        node_packages=_load_packages(config.value),
    )


def _sync(transaction: Transaction, table: str, key: str, wanted: Mapping[str, Row]) -> None:
    rows = {str(row.value[key]): row for row in transaction.system.scan(ROOT, table)}
    for name in rows.keys() - wanted.keys():
        transaction.system.delete(ROOT, table, rows[name].id)
    for name, fields in wanted.items():
        if name not in rows:
            transaction.system.insert(ROOT, table, fields)
        elif rows[name].fields != fields:
            transaction.system.replace(ROOT, table, rows[name].id, fields)


def _store_components(transaction: Transaction, application: Application) -> None:
    """Components are never deleted: unmounted ones keep their data."""
    rows = {row.id: row for row in transaction.system.scan(ROOT, COMPONENTS)}
    for instance in application.instances.values():
        if instance.path == ROOT:
            continue
        fields = _component_row(application, instance)
        if instance.id not in rows:
            transaction.system.insert(ROOT, COMPONENTS, fields, id=instance.id)
        elif rows[instance.id].fields != fields:
            transaction.system.replace(ROOT, COMPONENTS, instance.id, fields)


def _config_row(application: Application) -> Row:
    config, app = application.udf_config, application.instances[ROOT]
    return {
        "serverVersion": config.server_version,
        "importPhaseRngSeed": config.import_phase_seed,
        "importPhaseUnixTimestamp": config.import_phase_ms * 1_000_000,
        "version": application.version,
        "nodeVersion": application.node_version,
        "nodePackages": {package.name: package.version for package in application.node_packages},
        "httpPrefix": app.http_prefix,
        "children": cast(Value, app.children),
    }


def _source_row(module: Module) -> Row:
    return {"sha256": module.sha256, "source": module.source, "sourceMap": module.source_map}


def _definition_row(definition: ComponentDefinition) -> Row:
    modules = [{"path": m.path, "environment": m.environment, "sha256": m.sha256} for m in definition.modules.values()]
    analysis = {path: module.to_json() for path, module in definition.analysis.items()}
    return {
        "path": definition.path,
        "metadata": orjson.dumps(definition.metadata).decode(),
        "schema": definition.schema,
        "modules": orjson.dumps(modules).decode(),
        "analysis": orjson.dumps(analysis).decode(),
    }


def _load_definition(row: Mapping[str, Value], sources: Mapping[str, Mapping[str, Value]]) -> ComponentDefinition:
    modules = [_load_module(entry, sources[entry["sha256"]]) for entry in orjson.loads(str(row["modules"]))]
    analysis = orjson.loads(str(row["analysis"]))
    return ComponentDefinition(
        path=str(row["path"]),
        modules={module.path: module for module in modules},
        analysis={path: AnalyzedModule.from_json(json) for path, json in analysis.items()},
        schema=cast("str | None", row["schema"]),
        metadata=orjson.loads(str(row["metadata"])),
    )


def _load_module(entry: Mapping[str, str], source: Mapping[str, Value]) -> Module:
    return Module(
        path=entry["path"],
        source=str(source["source"]),
        source_map=cast("str | None", source["sourceMap"]),
        environment=cast(Environment, entry["environment"]),
    )


def _component_row(application: Application, instance: ComponentInstance) -> Row:
    parent, _, name = instance.path.rpartition("/")
    return {
        "parent": application.instances[parent].id or None,
        "name": name,
        "path": instance.path,
        "definitionPath": instance.definition_path,
        "children": cast(Value, instance.children),
        "env": cast(Value, instance.env),
        "httpPrefix": instance.http_prefix,
        "state": instance.state,
    }


def _load_packages(config: Mapping[str, Value]) -> tuple[NodePackage, ...]:
    """None in an application that was stored before packages were recorded."""
    stored = cast("dict[str, str]", config.get("nodePackages", {}))
    return tuple(NodePackage(name, version) for name, version in stored.items())


def _load_instance(id: str, row: Mapping[str, Value]) -> ComponentInstance:
    return ComponentInstance(
        id=id,
        path=str(row["path"]),
        definition_path=str(row["definitionPath"]),
        children=cast("dict[str, str]", row["children"]),
        env=cast("dict[str, dict[str, str]]", row["env"]),
        http_prefix=cast("str | None", row["httpPrefix"]),
        state=cast(Literal["active", "unmounted"], row["state"]),
    )


def _load_root(config: Mapping[str, Value]) -> ComponentInstance:
    return ComponentInstance(
        id=ROOT,
        path=ROOT,
        definition_path=ROOT,
        children=cast("dict[str, str]", config["children"]),
        http_prefix=cast("str | None", config["httpPrefix"]),
    )
