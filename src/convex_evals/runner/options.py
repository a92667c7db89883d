"""Grading options of a run: completed from the suite, recorded with the run, read back when it is resumed."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convex_evals import __version__
from convex_evals.core.plain import from_plain, to_plain
from convex_evals.pipeline.types import GradingOptions
from convex_evals.suite import SuiteSettings

_SECRET = "admin_key"


def complete_options(options: GradingOptions, suite: SuiteSettings) -> GradingOptions:
    """What was not said is what the suite says, written out, so that a run knows what it was graded with."""
    return replace(
        options,
        packages_before=options.packages_before or suite.packages_before,
        answer_files=options.answer_files or suite.answer_files,
    )


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
