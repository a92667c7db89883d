"""Evaluating pushed modules to see what they export, without running any function.

`FunctionRuntime.evaluate(Evaluation)` imports each of `paths` in a fresh context of its own, one after the other, and
passes its namespace to the inspector of `js/analyze.mjs` that belongs to `subject`. The result has one element per
path, up to and including the first that failed: what the inspector returned, or `{"thrown": {"text", "logs"}}` when
the import itself threw (`text` as in `Failure.message`, `logs` the last 100 console lines).

| subject | inspector | while it is imported |
| --- | --- | --- |
| functions | `inspectFunctions(namespace, module, describe)` | import phase of ordinary modules |
| schema | `inspectSchema(namespace, describe)` | like functions, but no environment variables, no other modules |
| auth | `inspectAuthConfig(namespace, describe)` | no clock, no randomness; unset variables throw (`missingVariable`) |
| definition | `inspectDefinition(namespace, describe)` | no clock or randomness; `definitions` can be imported |
"""

import hashlib
import math
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

import orjson

from convex_evals.backend.deployed import Environment, Module, NodePackage
from convex_evals.backend.runtime.code import CodeBundle, missing_module
from convex_evals.backend.runtime.limits import timed_out
from convex_evals.backend.runtime.protocol import Message

Subject = Literal["functions", "schema", "auth", "definition"]

Evaluated = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class ImportableDefinition:
    """The synthetic module that `./_componentDeps/<base64url(path)>` gives to another `convex.config.js`."""

    path: str
    default_name: str | None
    metadata: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Evaluation:
    subject: Subject
    paths: tuple[str, ...]  # in this order
    modules: Mapping[str, Module] = field(hash=False)  # everything they may import, themselves included
    environment: Environment
    env: Mapping[str, str] | None = field(hash=False)  # None: reading any variable throws
    seed: bytes  # of the import phase
    now_ms: int
    user_seconds: float = 4.0  # for each path
    definitions: tuple[ImportableDefinition, ...] = ()
    packages: tuple[NodePackage, ...] = ()


def evaluation_message(evaluation: Evaluation, code: str) -> Message:
    return {
        "op": "evaluate",
        "subject": evaluation.subject,
        "paths": evaluation.paths,
        "code": code,
        "env": None if evaluation.env is None else dict(evaluation.env),
        "userMs": evaluation.user_seconds * 1000,
    }


def timed_out_result(evaluation: Evaluation) -> Mapping[str, object]:
    """The result of a module whose evaluation was ended from outside."""
    return {"thrown": {"text": timed_out(math.ceil(evaluation.user_seconds)), "logs": []}}


@cache
def runtime_fingerprint() -> str:
    """Of the code that evaluates: when it changes, results for the same module may change."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "js").rglob("*.*js")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


class ModuleEvaluator(Protocol):
    async def evaluate(self, evaluation: Evaluation) -> Evaluated:
        """Raises WorkerLost only when trying again did not help."""
        ...


def evaluated_code(evaluation: Evaluation) -> CodeBundle:
    modules = dict(evaluation.modules)
    for definition in evaluation.definitions:
        synthetic = _definition_module(definition)
        modules[synthetic.path] = synthetic
    missing = _refused_import if evaluation.subject == "definition" else missing_module
    return CodeBundle(modules, evaluation.seed, evaluation.now_ms, missing, evaluation.packages)


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
