from datetime import timedelta
from typing import Any

import pytest

from convex_evals.core.errors import LeaseError
from convex_evals.scores import ScoresStore
from convex_evals.scores.leases import Holder, Leases

DESK = Holder("desk", "desk.example.com")
LAPTOP = Holder("laptop", "laptop.example.com")
OVER = timedelta(seconds=-1)


@pytest.fixture
def short(store: ScoresStore) -> Leases:
    """Leases that are over when they begin."""
    return Leases(store._database, OVER)


def test_a_run_whose_runner_is_gone_says_so(scene: Any, short: Leases) -> None:
    run_id = scene.run()
    short.renew([run_id], DESK)
    assert short.end_overdue() == (run_id,)
    run = scene.store.find_run(run_id)
    assert run.status == "stopped"
    assert run.reason.startswith("nothing was heard from its runner (desk.example.com) since 20")
    assert short.end_overdue() == ()


def test_a_runner_that_comes_back_continues(scene: Any, short: Leases) -> None:
    run_id = scene.run()
    before = scene.store.outbox.records(run_id)
    short.renew([run_id], DESK)
    short.end_overdue()
    scene.store.leases.renew([run_id], DESK)
    assert scene.store.outbox.records(run_id) == before
    assert scene.store.leases.end_overdue() == ()


def test_what_the_runner_says_later_wins_over_the_mark(scene: Any, team: ScoresStore) -> None:
    run_id = scene.run()
    team.intake.take_in(run_id, scene.store.outbox.records(run_id), DESK)
    Leases(team._database, OVER).renew([run_id], DESK)
    assert team.leases.end_overdue() == (run_id,)
    scene.store.finish_run(run_id, "completed")
    told = scene.store.outbox.records(run_id)
    team.intake.take_in(run_id, told)
    assert team.outbox.records(run_id) == told


def test_another_runner_can_continue_when_a_lease_has_expired(scene: Any, short: Leases) -> None:
    run_id = scene.run()
    scene.store.leases.renew([run_id], DESK)
    with pytest.raises(LeaseError):
        short.renew([run_id], LAPTOP)
    short.renew([run_id], DESK)
    scene.store.leases.renew([run_id], LAPTOP)


def test_a_run_that_is_over_needs_no_lease(scene: Any, team: ScoresStore, short: Leases) -> None:
    run_id = scene.run()
    scene.store.finish_run(run_id, "completed")
    team.intake.take_in(run_id, scene.store.outbox.records(run_id), DESK)
    team.intake.take_in(run_id, scene.store.outbox.records(run_id), LAPTOP)
    short.renew([run_id], DESK)
    assert short.end_overdue() == ()
    assert scene.store.find_run(run_id).status == "completed"
