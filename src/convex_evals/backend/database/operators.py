"""The operators of a query: filters and limits, applied in the order they were written."""

from collections.abc import Callable
from dataclasses import dataclass

from convex_evals.backend.database.documents import Document
from convex_evals.backend.database.expressions import compile_predicate
from convex_evals.backend.errors import DeveloperError

MAX_OPERATORS = 256

Filter = Callable[[Document], bool]


@dataclass(slots=True)
class Limit:
    remaining: int


class Operators:
    """One run of a lazy pipeline."""

    def __init__(self, json: object) -> None:
        if not isinstance(json, list):
            raise DeveloperError("Invalid query: `operators` must be an array")
        if len(json) > MAX_OPERATORS:
            raise DeveloperError(f"Can't construct query with more than {MAX_OPERATORS} operators")
        self._operators = [_compile(operator) for operator in json]
        self._limits = [operator for operator in self._operators if isinstance(operator, Limit)]

    @property
    def limit_reached(self) -> bool:
        """No further row may be read."""
        return any(limit.remaining <= 0 for limit in self._limits)

    def accept(self, document: Document) -> bool:
        """Whether the document comes out at the end. If a filter raises, no limit has counted the document."""
        passed: list[Limit] = []
        accepted = True
        for operator in self._operators:
            if isinstance(operator, Limit):
                passed.append(operator)
            elif not operator(document):
                accepted = False
                break
        for limit in passed:
            limit.remaining -= 1
        return accepted


def _compile(json: object) -> Filter | Limit:
    match json:
        case {"filter": expression}:
            return compile_predicate(expression)
        case {"limit": int() | float() as limit}:
            return Limit(int(limit))
        case _:
            raise DeveloperError("Invalid query: an operator is a filter or a limit")
