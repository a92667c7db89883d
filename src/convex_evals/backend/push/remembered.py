"""Evaluations that need not be done again: of code that is trusted, never changes and is pushed again and again."""

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

from convex_evals.backend.environment import BUILT_IN
from convex_evals.backend.runtime import Evaluated, Evaluation, ModuleEvaluator, runtime_fingerprint

Known = dict[str, list[dict[str, Any]]]


class RememberedEvaluations:
    """An evaluator that asks another one for what it does not know yet.

    The moment and the addresses of the deployment are not part of what an evaluation is known by. So results in which
    an address appears are not remembered, nor is what throws; auth configs, which are made from addresses, never are.
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
    what = [
        runtime_fingerprint(),
        evaluation.subject,
        evaluation.paths,
        evaluation.environment,
        {path: module.sha256 for path, module in evaluation.modules.items()},
        None if evaluation.env is None else _own(evaluation.env),
        [[each.path, each.default_name, each.metadata] for each in evaluation.definitions],
        [[package.name, package.version] for package in evaluation.packages],
    ]
    return hashlib.sha256(orjson.dumps(what, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _own(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name not in BUILT_IN}


def _is_lasting(evaluation: Evaluation, results: Evaluated) -> bool:
    if evaluation.subject == "auth" or any("thrown" in result for result in results):
        return False
    text = orjson.dumps(results).decode()
    addresses = [value for name, value in (evaluation.env or {}).items() if name in BUILT_IN and value]
    return not any(address in text for address in addresses)
