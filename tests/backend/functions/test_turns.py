"""Those that meet go on in the order in which they came; a gate holds back the first."""

import asyncio

import pytest

from convex_evals.backend.functions import Gate, Rendezvous


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


async def test_a_gate_holds_back_the_first_until_it_opens() -> None:
    gate = Gate()
    await gate.wait()
    gate.close(seconds=60)
    first = asyncio.create_task(gate.wait())
    await asyncio.sleep(0)
    await asyncio.wait_for(gate.wait(), 5)
    assert gate.is_holding and not first.done()
    gate.open()
    await asyncio.wait_for(first, 5)
    assert not gate.is_holding and not gate.is_closed


async def test_a_gate_that_nobody_opens_opens_by_itself() -> None:
    gate = Gate()
    gate.close(seconds=0.01)
    await asyncio.wait_for(gate.wait(), 5)
    assert not gate.is_closed
