"""How often people would say the same: a logistic over a few features, fitted by scripts/fit-confidence.py."""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from convex_evals.analysis.evidence import Evidence, GapMatch
from convex_evals.analysis.gaps import closest_gap

WEIGHTS: Final = Path(__file__).with_name("confidence.json")
BIAS: Final = "bias"
LEAST, MOST = 0.05, 0.97


def features_of(evidence: Evidence, rule: str, gap: GapMatch | None) -> Mapping[str, float]:
    """By name; what is not there counts as 0."""
    cause = evidence.cause
    said = any(each.place or each.name or each.expected for each in evidence.failed_diagnostics)
    known = {
        BIAS: 1.0,
        f"rule {rule}": 1.0,
        "share of the gap": gap.score if gap else 0.0,
        "the gap blames the model": float(gap is not None and gap.blames == "model"),
        "the step gives a place, a name or a value": float(said),
        "both snippets are known": float(bool(cause.model_snippet.strip() and cause.expected_snippet.strip())),
        "gaps are known, but not this one": float(bool(evidence.gaps.strip()) and gap is None),
        "the gap shares only words": float(gap is not None and not gap.certain),
        "a gap is close": closest_gap(evidence) if gap is None and evidence.gaps.strip() else 0.0,
    }
    return {name: value for name, value in known.items() if value}


def confidence_of(features: Mapping[str, float]) -> float:
    weights = read_weights()
    total = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return round(min(MOST, max(LEAST, 1 / (1 + math.exp(-total)))), 2)


@cache
def read_weights() -> Mapping[str, float]:
    weights: dict[str, float] = json.loads(WEIGHTS.read_bytes())["weights"]
    return weights
