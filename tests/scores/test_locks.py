import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.scores.other_processes import other_process
from tests.scores.other_work import hold

from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.scores import ScoresStore


@pytest.mark.both_engines
def test_a_run_is_held_by_one_at_a_time(scene: Any, where: str) -> None:
    run_id, other = scene.run(), scene.run()
    assert not scene.store.is_run_held(run_id)
    with scene.store.hold_run(run_id), ScoresStore.open(where) as second:
        assert second.is_run_held(run_id) and not second.is_run_held(other)
        with pytest.raises(UsageError) as raised, second.hold_run(run_id):
            pass
        assert str(raised.value) == (
            f"Another process is working on run {prefix(run_id)}; wait for it, or stop it first."
        )
        with second.hold_run(other):
            pass
    assert not scene.store.is_run_held(run_id)
    with scene.store.hold_run(run_id):
        assert scene.store.is_run_held(run_id)


@pytest.mark.both_engines
def test_a_hold_ends_with_its_process(scene: Any, where: str) -> None:
    run_id = scene.run()
    with other_process(hold, where, run_id) as holder:
        assert holder.hear() == "held"
        assert scene.store.is_run_held(run_id)
        holder.process.kill()
        holder.process.join()
    deadline = time.monotonic() + 60
    while scene.store.is_run_held(run_id) and time.monotonic() < deadline:
        time.sleep(0.05)  # the server needs a moment to notice
    with scene.store.hold_run(run_id):
        pass


@pytest.mark.both_engines
def test_one_of_many_competitors_gets_it_each_time(scene: Any) -> None:
    run_id = scene.run()
    inside: list[int] = []

    def try_to_hold(number: int) -> bool:
        try:
            with scene.store.hold_run(run_id):
                inside.append(number)
                alone = len(inside) == 1
                time.sleep(0.001)
                inside.remove(number)
                assert alone
                return True
        except UsageError:
            return False

    with ThreadPoolExecutor(4) as threads:
        assert any(threads.map(try_to_hold, range(60)))
    assert inside == []


def test_no_temporary_file_is_left_next_to_a_file(scene: Any, server: Any, where: str) -> None:
    with scene.store.hold_run(scene.run()):
        pass
    if server.name == "sqlite":
        assert list(Path(f"{where}-holds").iterdir()) == []
