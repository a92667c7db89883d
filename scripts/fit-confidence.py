"""Fits src/convex_evals/analysis/classification/confidence.json to labelled sets, and says what it is worth.

    .venv/bin/python scripts/fit-confidence.py [--dry-run] [LABELS...]

Default: development.json, report.json, reported.json and the first-sight sets; never test.json. Cases that we graded
count twice: with all their evidence, and with as little as a person's report has.

A logistic regression with a ridge on everything but the bias: what was seen rarely stays close to the mean, and no
feature works against its meaning. Rules agree
more often with the sets that they were made with than with others. So each case counts a second time, with a smaller
weight, as it would be judged if the rule that decided it were missing: that is how cases look which no rule knows.
Where a set has what the rules said at first sight (`atFirstSight`), only that counts, and with a larger weight.
Everything printed is cross-validated: evals are split into ten folds, and a case is judged by weights that no case of
its eval had a part in. The threshold of "unsure" follows from it by a rule that was fixed before there were figures:
the lowest one at which 95 % of the verdicts above it are right, but no more than 15 % of all verdicts are below it.
Cases without their rule count for it, too: the sets that the rules were made with are 95 % right without any threshold.
"""

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from convex_evals.analysis.classification.rules import RULES, RulesEngine, engine, weigh
from convex_evals.analysis.classification.rules.engine import ACQUITTED, BIAS, RAISING
from convex_evals.analysis.classification.types import WEIGHTS, likelihood
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.scoring import LabelledCase, area_under_curve, case_evidence, read_cases
from convex_evals.analysis.surface import read_surface
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.analysis.perturbations import as_reported

LABELLED = Path(__file__).parents[1] / "tests" / "analysis" / "labelled"
DEFAULT = tuple(
    LABELLED / f"{name}.json"
    for name in ("development", "report", "reported", "first-sight", "first-sight-2", "first-sight-3", "first-sight-4")
)
RIDGE = 1.0
WITHOUT_ITS_RULE = 0.2
"""How much a case counts as it would be judged without the rule that decided it. Of first-sight cases that are not
simply the model's fault, the rules miss about every second."""
AT_FIRST_SIGHT = 2.0
"""How much a verdict counts that was recorded before the rules had seen its case: they alone are what the confidence is
about, but the sets are harder or easier than real runs."""
STEPS = 50
FOLDS = 10
KEPT_RIGHT = 0.95
MOST_UNSURE = 0.15


class Seen(NamedTuple):
    eval: str
    features: Mapping[str, float]
    agrees: bool
    weight: float = 1.0

    @property
    def fold(self) -> int:
        return hashlib.sha256(self.eval.encode()).digest()[0] % FOLDS


async def observations(paths: Sequence[Path]) -> list[Seen]:
    """The features of every case, and whether the rules say what people say."""
    # Without the rule that decided a case, it is one of those that the rules do not know.
    settings = read_settings()
    toolchain = await prepare_toolchain(settings, print)
    surface = await read_surface(toolchain.packages.package("convex"), toolchain, settings)
    found = [each for path in paths for each in at_first_sight(path)]
    cases = [case for path in paths if not at_first_sight(path) for case in read_cases(path)]
    for case in (*cases, *(as_reported(case) for case in cases if case.diagnostics)):
        evidence = case_evidence(case, surface)
        got = await RulesEngine().classify(evidence)
        found.append(Seen(case.eval, weigh(evidence).features, got.failure_class == case.failure_class))
        found.append(await unknown_to_the_rules(case, evidence, got.rule))
    return found


def at_first_sight(path: Path) -> list[Seen]:
    """What was recorded when the rules had not seen the set."""
    cases = [case for case in json.loads(path.read_bytes())["cases"] if "atFirstSight" in case]
    first = [(case, case["atFirstSight"]) for case in cases]
    return [Seen(case["eval"], _recorded(got), got["class"] == case["class"], AT_FIRST_SIGHT) for case, got in first]


def _recorded(got: Mapping[str, Any]) -> Mapping[str, float]:
    """With a feature that came later and follows from the class."""
    acquitted = got["class"] in ("OVERLY_STRICT", "AMBIGUOUS_TASK")
    return {**got["features"], ACQUITTED: 1.0} if acquitted else got["features"]


async def unknown_to_the_rules(case: LabelledCase, evidence: Evidence, decided: str) -> Seen:
    """The same without the rule that decided, or without the entry of GAPS.txt that did."""
    others = tuple(rule for rule in RULES if rule.__name__ != decided)
    known = replace(evidence, gap=None) if decided == "documented_gap" else evidence
    unmatched = patch.object(engine, "match_gap", return_value=None) if known is not evidence else nullcontext()
    with patch.object(engine, "RULES", others), unmatched:
        got = await RulesEngine().classify(known)
        return Seen(case.eval, weigh(known).features, got.failure_class == case.failure_class, WITHOUT_ITS_RULE)


def fitted(seen: Sequence[Seen]) -> dict[str, float]:
    """What would lower the confidence where it should raise it, or the reverse, is chance: it gets no weight."""
    names = {name for each in seen for name in each.features} - {BIAS}
    while True:
        weights = newton(seen, [BIAS, *sorted(names)])
        against = {name for name in names if weights[name] and (weights[name] > 0) != (name in RAISING)}
        if not against:
            return weights
        names -= against


def newton(seen: Sequence[Seen], names: Sequence[str]) -> dict[str, float]:
    table = np.array([[each.features.get(name, 0.0) for name in names] for each in seen])
    right = np.array([float(each.agrees) for each in seen])
    counts = np.array([each.weight for each in seen])
    ridge = np.diag([0.0, *[RIDGE] * (len(names) - 1)])
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (counts * (right - likely)) - ridge @ weights
        curve = (table * (counts * likely * (1 - likely))[:, None]).T @ table + ridge
        weights = weights + np.linalg.solve(curve, slope)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def cross_validated(seen: Sequence[Seen]) -> list[float]:
    """The confidence of each case by weights that were fitted without its eval's fold."""
    weights = {fold: fitted([each for each in seen if each.fold != fold]) for fold in {each.fold for each in seen}}
    return [likelihood(each.features, weights[each.fold]) for each in seen]


def threshold(confidences: Sequence[float], seen: Sequence[Seen]) -> float:
    """By the rule above, in steps of one per cent."""
    total = sum(each.weight for each in seen)
    for percent in range(100):
        kept = [each for each, sure in zip(seen, confidences, strict=True) if sure >= percent / 100]
        weight = sum(each.weight for each in kept)
        if weight < (1 - MOST_UNSURE) * total:
            return (percent - 1) / 100
        if sum(each.weight for each in kept if each.agrees) >= KEPT_RIGHT * weight:
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
    sure = cross_validated(seen)
    limit = threshold(sure, seen)
    judged = [(each, confidence) for each, confidence in zip(seen, sure, strict=True) if each.weight >= 1]
    real, confidences = [each for each, _ in judged], [confidence for _, confidence in judged]
    report(confidences, real, limit)
    fit = {
        "fitted to": [path.name for path in asked.labels],
        "cases": len(real),
        "unsure below": limit,
        "weights": fitted(seen),
    }
    if asked.dry_run:
        print(json.dumps(fit, indent=1))
    else:
        WEIGHTS.write_text(json.dumps(fit, indent=1) + "\n")


if __name__ == "__main__":
    main()
