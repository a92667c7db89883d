from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.analysis.isolation.minimise import BoundReached, minimise


@pytest.mark.parametrize("needed", [set(), {0}, {7}, {2, 3}, {0, 9}, {1, 4, 8}, set(range(10))])
async def test_exactly_what_is_needed_is_left(needed: set[int]) -> None:
    async def is_enough(items: Sequence[int]) -> bool:
        return needed <= set(items)

    found = await minimise(range(10), is_enough)
    assert set(found.items) == (needed or set(found.items))
    assert found.complete
    assert len(found.items) == max(len(needed), 1)


@given(st.integers(1, 12), st.data())
async def test_nothing_can_be_left_out_of_what_is_found(size: int, data: st.DataObject) -> None:
    enough = data.draw(st.lists(st.sets(st.integers(0, size - 1), min_size=1), min_size=1, max_size=3))

    async def is_enough(items: Sequence[int]) -> bool:
        return any(group <= set(items) for group in enough)

    found = await minimise(range(size), is_enough)
    assert await is_enough(found.items)
    for item in found.items:
        assert len(found.items) == 1 or not await is_enough([each for each in found.items if each != item])


async def test_when_the_bound_is_reached_what_is_known_to_be_enough_is_kept() -> None:
    tries = 0

    async def is_enough(items: Sequence[int]) -> bool:
        nonlocal tries
        tries += 1
        if tries > 2:
            raise BoundReached
        return {5, 6} <= set(items)

    found = await minimise(range(16), is_enough)
    assert found.items == tuple(range(8))
    assert not found.complete
