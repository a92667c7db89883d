"""One vector search: the vector, how many neighbours, and which documents may be among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.schema import VectorIndexSpec
from convex_evals.backend.values import decode, decode_field, sort_key

DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 256
MAX_CONDITIONS: Final = 64

Condition = tuple[str, bytes]  # field, sort key of the value


@dataclass(frozen=True, slots=True)
class VectorQuery:
    vector: tuple[float, ...]
    limit: int = DEFAULT_LIMIT
    conditions: frozenset[Condition] = frozenset()  # any of them; without conditions every document

    @classmethod
    def compile(cls, index: str, spec: VectorIndexSpec, query: Mapping[str, Any]) -> "VectorQuery":
        """From the `query` of the syscall; `index` is the full name `table.index`. Raises DeveloperError."""
        limit = DEFAULT_LIMIT if query.get("limit") is None else int(query["limit"])
        if limit > MAX_LIMIT:
            raise DeveloperError(f"Vector queries can fetch at most {MAX_LIMIT} results, requested {limit}.")
        vector = _parse_vector(query.get("vector"))
        if len(vector) != spec.dimensions:
            raise DeveloperError(f"Expected a vector with dimensions {spec.dimensions}, received {len(vector)}.")
        return cls(vector, limit, _conditions(index, spec, query.get("expressions")))

    def accepts(self, filters: Mapping[str, bytes]) -> bool:
        return not self.conditions or any(filters.get(field) == key for field, key in self.conditions)


def _parse_vector(json: object) -> tuple[float, ...]:
    vector = decode(json)
    if not isinstance(vector, list):
        raise DeveloperError("`vector` must be a non-empty Array in vectorSearch")
    return tuple(item for item in vector if isinstance(item, float))


def _conditions(index: str, spec: VectorIndexSpec, expression: object) -> frozenset[Condition]:
    conditions = frozenset() if expression is None else frozenset(_flattened(expression))
    for field, _ in conditions:
        if field not in spec.filter_fields:
            raise DeveloperError(
                f'Vector query against {index} contains a filter on "{field}" '
                "but that field isn't indexed for filtering in `filterFields`."
            )
    if len(conditions) > MAX_CONDITIONS:
        raise DeveloperError(
            f"Vector query against {index} has too many conditions. Max: {MAX_CONDITIONS} Actual: {len(conditions)}"
        )
    return conditions


def _flattened(expression: object) -> list[Condition]:
    match expression:
        case {"$or": [*alternatives]}:
            return [condition for alternative in alternatives for condition in _flattened(alternative)]
        case {"$eq": [{"$field": str(field)}, {"$literal": value}]}:
            return [(field, sort_key(decode_field(value)))]
        case {"$eq": _}:
            raise DeveloperError("`q.eq` must take a field path as its first argument and a value as its second")
        case _:
            raise DeveloperError("Filters should be a combination of `q.eq` and `q.or`.")
