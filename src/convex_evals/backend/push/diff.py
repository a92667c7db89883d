"""What a finished push changed, as the CLI prints it."""

from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from convex_evals.backend.deployed import Application, ComponentDefinition
from convex_evals.backend.schema import IndexDiff

Json = dict[str, Any]
DiffType = Literal["create", "modify", "unmount", "remount"]


@dataclass(slots=True)
class CronDiff:
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def to_json(self) -> Json:
        return {"added": self.added, "updated": self.updated, "deleted": self.deleted}


@dataclass(slots=True)
class ComponentDiff:
    """What happened to one mounted component. The definitions are those before and after; None without one."""

    type: DiffType
    before: ComponentDefinition | None
    after: ComponentDefinition | None
    crons: CronDiff = field(default_factory=CronDiff)
    indexes: IndexDiff = field(default_factory=IndexDiff)

    def to_json(self, versions: tuple[str | None, str]) -> Json:
        return {
            "diffType": {"type": self.type},
            "moduleDiff": {
                "added": _missing(self.after, self.before),
                "removed": _missing(self.before, self.after),
            },
            "udfConfigDiff": _version_diff(*versions) if self.before is not None else None,
            "cronDiff": self.crons.to_json(),
            "indexDiff": self.indexes.to_json(),
            "schemaDiff": self._schema_diff(),
        }

    def _schema_diff(self) -> Json | None:
        before = self.before.schema if self.before else None
        after = self.after.schema if self.after else None
        return None if before == after else {"previous_schema": before, "next_schema": after}


def finish_push_response(before: Application | None, after: Application, components: dict[str, ComponentDiff]) -> Json:
    old = [] if before is None else [_serialized(provider) for provider in before.auth_providers]
    new = [_serialized(provider) for provider in after.auth_providers]
    versions = (before.udf_config.server_version if before else None, after.udf_config.server_version)
    return {
        "authDiff": {
            "added": [provider for provider in new if provider not in old],
            "removed": [provider for provider in old if provider not in new],
        },
        "definitionDiffs": {path: {} for path in after.definitions},
        "componentDiffs": {path: diff.to_json(versions) for path, diff in components.items()},
    }


def nothing_changed() -> Json:
    return {"authDiff": {"added": [], "removed": []}, "definitionDiffs": {}, "componentDiffs": {}}


def _missing(of: ComponentDefinition | None, within: ComponentDefinition | None) -> list[str]:
    """Modules of the one that the other lacks. Shared chunks are nobody's concern."""
    known = within.modules if within else {}
    return [
        path for path, module in (of.modules if of else {}).items() if path not in known and not module.is_dependency
    ]


def _version_diff(previous: str | None, following: str) -> Json | None:
    if previous is None or previous == following:
        return None
    return {"previous_version": previous, "next_version": following}


def _serialized(provider: dict[str, object]) -> str:
    return orjson.dumps(provider).decode()
