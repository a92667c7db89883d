"""A push that was started and may be finished."""

from dataclasses import dataclass

from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.push.response import SchemaChange


@dataclass(frozen=True, slots=True)
class Candidate:
    """Everything in it can be thrown away."""

    analysis: Analysis
    change: SchemaChange
    node_version: str | None
