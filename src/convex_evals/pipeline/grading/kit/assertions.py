"""Assertions of graders: that values are the same, and that something becomes true. A failure says where it differs."""

import difflib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from convex_evals.pipeline.grading.kit.errors import Mismatch
from convex_evals.pipeline.grading.kit.patience import PATIENCE

SYSTEM_FIELDS: Final = ("_id", "_creationTime")
MOST_CHARACTERS: Final = 1500

T = TypeVar("T")
SHORTEST_PAUSE: Final = 0.005
LONGEST_PAUSE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two values differ: `path` is like `[0].author.name`."""

    path: str
    expected: str
    received: str

    def __str__(self) -> str:
        return f"first difference: {self.path or 'at the top'}: expected {self.expected}, received {self.received}"


def assert_same(
    received: object,
    expected: object,
    *,
    ignore: Collection[str] = SYSTEM_FIELDS,
    ordered: bool = True,
    what: str = "",
) -> None:
    """Fails unless both are equal apart from fields named in `ignore`, at any depth.

    With `ordered=False` the order of the outermost list does not matter.
    """
    left, right = without(received, ignore), without(expected, ignore)
    if not ordered and isinstance(left, list) and isinstance(right, list):
        _assert_same_items(left, right, what)
        return
    found = difference(left, right)
    if found is not None:
        raise _mismatch(what, left, right, str(found))


def without(value: Any, fields: Collection[str] = SYSTEM_FIELDS) -> Any:
    """The value without those fields, at any depth."""
    if isinstance(value, dict):
        return {name: without(item, fields) for name, item in value.items() if name not in fields}
    if isinstance(value, list | tuple):
        return [without(item, fields) for item in value]
    return value


def difference(received: Any, expected: Any, path: str = "") -> Difference | None:
    """The first difference, or None. 1 and 1.0 are the same number; True and 1 are not, nor are Int64(1) and 1."""
    if isinstance(received, dict) and isinstance(expected, dict):
        return _difference_of_objects(received, expected, path)
    if isinstance(received, list) and isinstance(expected, list):
        return _difference_of_lists(received, expected, path)
    if isinstance(received, bool) != isinstance(expected, bool) or not _equal(received, expected):
        return Difference(path, show(expected), show(received))
    return None


def show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}… ({len(text)} characters)"


def _equal(received: Any, expected: Any) -> bool:
    are_nan = received != received and expected != expected
    return bool(received == expected) or are_nan


def _difference_of_objects(received: dict[str, Any], expected: dict[str, Any], path: str) -> Difference | None:
    for name in [*expected, *(name for name in received if name not in expected)]:
        place = f"{path}.{name}" if path else name
        if name not in received:
            return Difference(place, show(expected[name]), "nothing")
        if name not in expected:
            return Difference(place, "nothing", show(received[name]))
        found = difference(received[name], expected[name], place)
        if found is not None:
            return found
    return None


def _difference_of_lists(received: list[Any], expected: list[Any], path: str) -> Difference | None:
    for position, (left, right) in enumerate(zip(received, expected, strict=False)):
        found = difference(left, right, f"{path}[{position}]")
        if found is not None:
            return found
    if len(received) != len(expected):
        return Difference(path, f"{len(expected)} items", f"{len(received)} items")
    return None


def _assert_same_items(received: list[Any], expected: list[Any], what: str) -> None:
    surplus, missing = list(received), []
    for wanted in expected:
        position = next((i for i, item in enumerate(surplus) if difference(item, wanted) is None), None)
        if position is None:
            missing.append(wanted)
        else:
            del surplus[position]
    if surplus or missing:
        notes = [
            f"missing: {show(missing)}" if missing else "",
            f"not expected: {show(surplus)}" if surplus else "",
        ]
        raise _mismatch(what, received, expected, "in any order; " + "; ".join(filter(None, notes)))


def _mismatch(what: str, received: object, expected: object, note: str) -> Mismatch:
    wanted, found = show(expected), show(received)
    message = f"{what or 'the value'}: not as expected\nexpected: {wanted}\nreceived: {found}\n{note}"
    return Mismatch(message, wanted, found)


def closest(name: str, known: Collection[str]) -> str:
    """For messages about a missing name: what there is instead."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(known)) or 'none'}"


def wait_until(condition: Callable[[], T], what: str = "", *, seconds: float = 10.0) -> T:
    """Calls `condition()` until it is true, and returns its value. `what` names it in the failure.

    An `AssertionError` in the condition means "not yet"; after `seconds` the last one is the failure. On a busy machine
    they last longer (`patience`).
    """
    deadline = PATIENCE.now() + seconds
    pause = SHORTEST_PAUSE
    while True:
        failure: AssertionError | None = None
        try:
            result = condition()
            if result:
                return result
        except AssertionError as error:
            failure = error
        if PATIENCE.now() >= deadline:
            last = str(failure) if failure else f"it was {show(result)}"
            message = f"{what or 'the condition'} did not come true within {seconds:g} s: {last}"
            if isinstance(failure, Mismatch):
                raise Mismatch(message, failure.expected, failure.received)
            raise AssertionError(message)
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
