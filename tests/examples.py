"""Cases for `pytest.mark.parametrize` of which the ordinary run takes examples; `test --all` takes all of them."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def exhaustively(*cases: Any) -> list[Any]:
    """Cases that only `test --all` runs; one with several arguments is a tuple of them."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive) for case in cases
    ]


def examples(cases: Iterable[Any], always: Collection[Any]) -> list[Any]:
    """All cases, in their order; those that are not to run always run exhaustively."""
    return [case if case in always else exhaustively(case)[0] for case in cases]
