"""How often people would say the same: a logistic over a few features, fitted by scripts/fit-confidence.py."""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

WEIGHTS: Final = Path(__file__).with_name("confidence.json")
LEAST, MOST = 0.05, 0.97


def confidence_of(features: Mapping[str, float]) -> float:
    return round(min(MOST, max(LEAST, likelihood(features, read_fit()["weights"]))), 2)


def likelihood(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    total = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-total))


def unsure_below() -> float:
    """A class that is less likely than this to be what a person would say is a guess, and the report says so."""
    threshold: float = read_fit()["unsure below"]
    return threshold


@cache
def read_fit() -> Mapping[str, Any]:
    fit: dict[str, Any] = json.loads(WEIGHTS.read_bytes())
    return fit
