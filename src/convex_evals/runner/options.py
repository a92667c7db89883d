"""Grading options of a run: recorded with the run, read back when it is resumed."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from convex_evals import __version__
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.pipeline.types import GradingOptions

_SECRET = "admin_key"


def options_json(options: GradingOptions) -> dict[str, Any]:
    """For the record of the run: everything but the key."""
    plain: dict[str, Any] = to_plain(options)
    return {name: value for name, value in plain.items() if name != _SECRET}


def options_from_json(recorded: Mapping[str, Any], admin_key: str | None) -> GradingOptions:
    plain = {**to_plain(GradingOptions()), **recorded, _SECRET: admin_key}
    return from_plain(GradingOptions, plain)


def pipeline_fingerprint(options: GradingOptions) -> str:
    """Two results with the same one were graded by the same program with the same options."""
    text = json.dumps({"version": __version__, **options_json(options)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
