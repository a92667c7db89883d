"""What a push changes in a component's indexes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from convex_evals.backend.schema.indexes import Index


@dataclass(frozen=True, slots=True)
class NamedIndex:
    table: str
    index: Index

    @property
    def full_name(self) -> str:
        return f"{self.table}.{self.index.name}"

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.full_name,
            "type": self.index.type,
            **self.index.definition,
            "staged": self.index.staged,
        }

    def same_spec(self, other: "NamedIndex") -> bool:
        """Same kind and same fields, whether staged or not."""
        return replace(self.index, staged=other.index.staged) == other.index


@dataclass(slots=True)
class IndexDiff:
    """Each list is sorted by full name. Changed indexes are in `removed` (old) and `added` (new)."""

    added: list[NamedIndex] = field(default_factory=list)
    removed: list[NamedIndex] = field(default_factory=list)
    enabled: list[NamedIndex] = field(default_factory=list)
    disabled: list[NamedIndex] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.enabled or self.disabled)

    def to_json(self) -> dict[str, object]:
        lists = {"added": self.added, "removed": self.removed, "enabled": self.enabled, "disabled": self.disabled}
        return {f"{name}_indexes": [index.to_json() for index in indexes] for name, indexes in lists.items()}


def diff_indexes(existing: Iterable[NamedIndex], new: Iterable[NamedIndex]) -> IndexDiff:
    """`existing` are the component's enabled and staged indexes, without `by_id` and `by_creation_time`."""
    before, after = _by_name(existing), _by_name(new)
    diff = IndexDiff()
    for name in sorted(before.keys() | after.keys()):
        old, current = before.get(name), after.get(name)
        if old is not None and current is not None and old.same_spec(current):
            if old.index.staged != current.index.staged:
                (diff.disabled if current.index.staged else diff.enabled).append(current)
            continue
        if old is not None:
            diff.removed.append(old)
        if current is not None:
            diff.added.append(current)
    return diff


def _by_name(indexes: Iterable[NamedIndex]) -> Mapping[str, NamedIndex]:
    return {index.full_name: index for index in indexes}
