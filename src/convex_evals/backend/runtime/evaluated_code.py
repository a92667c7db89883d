"""The code of a push that is being evaluated: its modules, and the definitions that a `convex.config.js` can import."""

from base64 import urlsafe_b64encode

import orjson

from convex_evals.backend.deployed import Module
from convex_evals.backend.runtime.code import CodeBundle, missing_module
from convex_evals.backend.runtime.evaluation import Evaluation, ImportableDefinition


def evaluated_code(evaluation: Evaluation) -> CodeBundle:
    modules = dict(evaluation.modules)
    for definition in evaluation.definitions:
        synthetic = _definition_module(definition)
        modules[synthetic.path] = synthetic
    missing = _refused_import if evaluation.subject == "definition" else missing_module
    return CodeBundle(modules, evaluation.seed, evaluation.now_ms, missing)


def _definition_module(definition: ImportableDefinition) -> Module:
    name = urlsafe_b64encode(definition.path.encode()).decode().rstrip("=")
    metadata, path, default_name = (
        orjson.dumps(part).decode() for part in (definition.metadata, definition.path, definition.default_name)
    )
    source = (
        "export default { "
        f"export: () => ({metadata}), componentDefinitionPath: {path}, defaultName: {default_name} }};"
    )
    return Module(f"_componentDeps/{name}", source, None, "isolate")


def _refused_import(path: str) -> str:
    return f"Can't import {path} while evaluating app definition"
