"""A push that was started and may be finished."""

from dataclasses import dataclass, field

from convex_evals.backend.push.analysis import Analysis
from convex_evals.backend.schema import IndexDiff


@dataclass(slots=True)
class SchemaChange:
    """What a push does to each mounted component's tables, by component path."""

    allocated_component_ids: dict[str, str] = field(default_factory=dict)
    schema_ids: dict[str, str | None] = field(default_factory=dict)
    index_diffs: dict[str, IndexDiff] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        return {
            "allocatedComponentIds": self.allocated_component_ids,
            "schemaIds": self.schema_ids,
            "indexDiffs": {path: diff.to_json() for path, diff in self.index_diffs.items()},
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """Everything in it can be thrown away. The CLI carries `token` back in all it sends about this push."""

    token: str
    analysis: Analysis
    change: SchemaChange
    node_version: str | None
    is_dry_run: bool
