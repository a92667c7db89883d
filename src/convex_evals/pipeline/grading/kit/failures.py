"""Calls that must fail."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from convex_evals.pipeline.grading.kit.comparing import assert_same
from convex_evals.pipeline.grading.kit.errors import CallFailed


class Anything:
    def __repr__(self) -> str:
        return "ANYTHING"


ANYTHING: Final = Anything()


@dataclass
class ExpectedFailure:
    """After the block, `error` is the failure: its `message` and, of a ConvexError, its `data`."""

    text: str
    expected_data: object = ANYTHING
    _error: CallFailed | None = field(default=None, init=False)

    @property
    def error(self) -> CallFailed:
        assert self._error is not None, "the failure is known only after the block"
        return self._error

    @property
    def message(self) -> str:
        return self.error.message

    @property
    def data(self) -> object:
        return self.error.data

    @contextmanager
    def watch(self) -> Iterator[None]:
        try:
            yield
        except CallFailed as error:
            self._error = error
            self._check(error)
        else:
            raise AssertionError(f"expected a call to fail{self._reason()}, but all calls succeeded")

    def _reason(self) -> str:
        return f" with {self.text!r}" if self.text else ""

    def _check(self, error: CallFailed) -> None:
        if self.text not in error.message:
            raise AssertionError(
                f"{error.path} failed, as it must, but for another reason\n"
                f"expected: an error with {self.text!r}\nreceived: {error.text}"
            ) from error
        if self.expected_data is ANYTHING:
            return
        if not error.has_data:
            raise AssertionError(
                f"{error.path} must throw a ConvexError\nexpected: data {self.expected_data!r}\nreceived: {error.text}"
            ) from error
        assert_same(error.data, self.expected_data, what=f"the data of the ConvexError of {error.path}")
