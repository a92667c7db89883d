"""Fits src/convex_evals/analysis/classification/confidence.json to labelled sets, and says what it is worth.

    .venv/bin/python scripts/fit-confidence.py [--dry-run] [LABELS...]

Default: development.json, report.json and reported.json; never test.json. Cases that we graded
count twice: with all their evidence, and with as little as a person's report has.

A logistic regression with a ridge on everything but the bias: what was seen rarely stays close to the mean. Rules agree
more often with the sets that they were made with than with others, so an agreement there counts as `ELSEWHERE` of one.
Everything printed is cross-validated: evals are split into ten folds, and a case is judged by weights that no case of
its eval had a part in. The threshold of "unsure" follows from it by a rule that was fixed before there were figures:
the lowest one at which 95 % of the verdicts above it are right, but no more than 10 % of all verdicts are below it.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from convex_evals.analysis.classification.confidence import WEIGHTS, likelihood
from convex_evals.analysis.classification.rules import RulesEngine, weigh
from convex_evals.analysis.classification.rules.features import BIAS
from convex_evals.analysis.scoring import area_under_curve, case_evidence, read_cases
from convex_evals.analysis.surface import read_surface
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.analysis.perturbations import as_reported

LABELLED = Path(__file__).parents[1] / "tests" / "analysis" / "labelled"
DEFAULT = tuple(LABELLED / f"{name}.json" for name in ("development", "report", "reported"))
RIDGE = 1.0
ELSEWHERE = 0.97
"""Of these cases 0.91 agree. Of cases that the rules had not seen 0.84 to 0.87 did, but those were harder than real
runs are: 0.88 lies between."""
STEPS = 50
FOLDS = 10
KEPT_RIGHT = 0.95
MOST_UNSURE = 0.10


class Seen(NamedTuple):
    eval: str
    features: Mapping[str, float]
    agrees: bool

    @property
    def fold(self) -> int:
        return hashlib.sha256(self.eval.encode()).digest()[0] % FOLDS


async def observations(paths: Sequence[Path]) -> list[Seen]:
    """The features of every case, and whether the rules say what people say."""
    settings = read_settings()
    toolchain = await prepare_toolchain(settings, print)
    surface = await read_surface(toolchain.packages.package("convex"), toolchain, settings)
    found = []
    cases = [case for path in paths for case in read_cases(path)]
    for case in (*cases, *(as_reported(case) for case in cases if case.diagnostics)):
        evidence = case_evidence(case, surface)
        got = await RulesEngine().classify(evidence)
        agrees = got.failure_class == case.failure_class
        found.append(Seen(case.eval, weigh(evidence).features, agrees))
    return found


def fitted(seen: Sequence[Seen]) -> dict[str, float]:
    names = [BIAS, *sorted({name for each in seen for name in each.features} - {BIAS})]
    table = np.array([[each.features.get(name, 0.0) for name in names] for each in seen])
    right = np.array([ELSEWHERE * each.agrees for each in seen])
    ridge = np.diag([0.0, *[RIDGE] * (len(names) - 1)])
    weights = np.zeros(len(names))
    for _ in range(STEPS):  # Newton's method
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (right - likely) - ridge @ weights
        curve = (table * (likely * (1 - likely))[:, None]).T @ table + ridge
        weights = weights + np.linalg.solve(curve, slope)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def cross_validated(seen: Sequence[Seen]) -> list[float]:
    """The confidence of each case by weights that were fitted without its eval's fold."""
    weights = {fold: fitted([each for each in seen if each.fold != fold]) for fold in {each.fold for each in seen}}
    return [likelihood(each.features, weights[each.fold]) for each in seen]


def threshold(confidences: Sequence[float], seen: Sequence[Seen]) -> float:
    """By the rule above, in steps of one per cent."""
    for percent in range(100):
        kept = [each.agrees for each, sure in zip(seen, confidences, strict=True) if sure >= percent / 100]
        if len(kept) < (1 - MOST_UNSURE) * len(seen):
            return (percent - 1) / 100
        if sum(kept) >= KEPT_RIGHT * len(kept):
            return percent / 100
    return 0.0


def report(confidences: Sequence[float], seen: Sequence[Seen], limit: float) -> None:
    agrees = [each.agrees for each in seen]
    kept = [right for right, sure in zip(agrees, confidences, strict=True) if sure >= limit]
    left = [right for right, sure in zip(agrees, confidences, strict=True) if sure < limit]
    print(f"{len(seen)} cases, {sum(agrees)} agree. Cross-validated by eval:")
    print(f"  area under the curve of confidence against agreement: {area_under_curve(confidences, agrees):.2f}")
    print(f"  unsure below {limit:.2f}: {sum(kept)} of {len(kept)} kept agree, {sum(left)} of {len(left)} unsure agree")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", nargs="*", type=Path, default=DEFAULT)
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    asked = parser.parse_args()
    seen = asyncio.run(observations(asked.labels))
    confidences = cross_validated(seen)
    limit = threshold(confidences, seen)
    report(confidences, seen, limit)
    fit = {
        "fitted to": [path.name for path in asked.labels],
        "cases": len(seen),
        "unsure below": limit,
        "weights": fitted(seen),
    }
    if asked.dry_run:
        print(json.dumps(fit, indent=1))
    else:
        WEIGHTS.write_text(json.dumps(fit, indent=1) + "\n")


if __name__ == "__main__":
    main()
