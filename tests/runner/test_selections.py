"""What a run says about the choice of its evals, and the command that repeats it."""

from typing import Any

import pytest

from convex_evals.runner import address_of, repeat_command, selection_text
from convex_evals.scores import PlannedEval, RunPlan, RunRecord, ScoresStore

EVALS = ("000-basics/000-first", "000-basics/001-second")
SELECTED = "convex-evals run -m local/tiny"


def recorded(store: ScoresStore, **options: Any) -> RunRecord:
    plan = RunPlan("local/tiny", "local", "default", tuple(map(PlannedEval, EVALS)), options=options)
    return store.find_run(store.create_run(plan))


@pytest.mark.parametrize(
    ("selection", "flags"),
    [
        ({"categories": ["basics"], "pattern": "a b"}, "-c basics -f 'a b'"),
        ({"names": ["first", "second"], "tags": ["easy"]}, "--name first --name second --tag easy"),
        ({"sample": 2, "seed": 7}, "--sample 2 --seed 7"),
        ({"limit": 2}, "--limit 2"),
    ],
)
def test_a_run_says_what_selected_its_evals(store: ScoresStore, selection: dict[str, Any], flags: str) -> None:
    run = recorded(store, filtered=True, selection=selection)
    assert selection_text(run) == flags
    assert repeat_command(run, EVALS) == f"{SELECTED} {flags}"


@pytest.mark.parametrize("selection", [{"failed": True}, {"sample": 2}, None])
def test_what_would_select_other_evals_another_time_is_repeated_by_name(
    store: ScoresStore, selection: dict[str, Any] | None
) -> None:
    run = recorded(store, filtered=True, **({"selection": selection} if selection else {}))
    assert repeat_command(run, EVALS) == f"{SELECTED} --name {EVALS[0]} --name {EVALS[1]}"


def test_an_older_run_says_that_evals_were_selected(store: ScoresStore) -> None:
    said = selection_text(recorded(store, filtered=True))
    assert said == "some evals of the suite; how they were selected was not recorded"
    assert selection_text(recorded(store)) is None


def test_many_names_are_said_as_a_number(store: ScoresStore) -> None:
    names = [f"{number:03}" for number in range(66)]
    assert selection_text(recorded(store, filtered=True, selection={"names": names})) == "66 evals by name"


def test_an_address_is_repeated_without_user_and_password(store: ScoresStore) -> None:
    run = recorded(store, asking={"baseUrl": "http://me:secret@127.0.0.1:80/v1"})
    assert address_of(run) == "http://127.0.0.1:80/v1"
    assert repeat_command(run, EVALS) == f"{SELECTED} --base-url http://127.0.0.1:80/v1"
    assert repeat_command(run, EVALS, only=EVALS[0]).endswith(f"/v1 -f '^{EVALS[0]}$'")
