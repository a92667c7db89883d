"""Those that meet go on in the order in which they came."""

import asyncio

import pytest

from convex_evals.backend.functions import Rendezvous


@pytest.mark.parametrize("size", [2, 5])
async def test_all_wait_for_the_last_and_go_on_in_order(size: int) -> None:
    meeting, gone = Rendezvous(once=True), list[int]()
    meeting.expect(size)

    async def come(number: int) -> None:
        await meeting.wait()
        gone.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(size - 1):
            group.create_task(come(number))
        await asyncio.sleep(0)
        assert gone == []
        group.create_task(come(size - 1))
    assert gone == [*range(size)]


async def test_nobody_waits_longer_than_agreed() -> None:
    meeting = Rendezvous()
    meeting.expect(3, seconds=0.01)
    await asyncio.wait_for(asyncio.gather(meeting.wait(), meeting.wait()), 5)
    assert meeting.is_expected
