"""Steps of an upgrade that the migrations component runs, and what operators can do with them."""

import random
from collections import Counter
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment, at_once, wait_until

STEPS = ["emails", "cents", "dues"]
FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "upgrade:start": ("mutation", {}),
    "upgrade:progress": ("query", {}),
    "upgrade:preview": ("mutation", {"step": "emails", "size": 5}),
    "upgrade:stop": ("mutation", {}),
    "upgrade:restart": ("mutation", {}),
    "upgrade:finish": ("action", {"step": "emails"}),
}
GIVEN = {"members:join": "mutation", "members:correctEmail": "mutation", "members:historyOf": "query"}


def seed(
    deployment: Deployment,
    members: int,
    *,
    bad: int | None = None,
    invoices: int = 0,
    chance: random.Random | None = None,
) -> list[str]:
    """Every third address is right already; the one with the number `bad` has no @."""
    spellings = ["m{}@club.org", "  M{}@Club.ORG", "m{}@CLUB.org "]
    rows = [
        {"name": f"member {number}", "email": "nobody" if number == bad else spellings[number % 3].format(number)}
        for number in range(members)
    ]
    ids = deployment.insert_many("members", rows)
    chance = chance or random.Random(0)
    deployment.insert_many(
        "invoices",
        [
            {
                "member": chance.choice(ids),
                "amount": chance.randrange(1, 20_000) / 100,
                "state": chance.choice(["open", "paid", "void", "paid"]),
            }
            for _ in range(invoices)
        ],
    )
    return ids


def progress(project: Deployment) -> dict[str, tuple[str, int]]:
    received = project.query("upgrade:progress")
    assert [each["step"] for each in received] == STEPS
    for each in received:
        assert set(each) == {"step", "state", "processed", "error"}
        assert (each["error"] is None) == (each["state"] != "failed")
    return {each["step"]: (each["state"], each["processed"]) for each in received}


def start(project: Deployment) -> None:
    assert project.mutation("upgrade:start") is None


def wait(project: Deployment, **expected: str) -> dict[str, tuple[str, int]]:
    def reached() -> dict[str, tuple[str, int]]:
        now = progress(project)
        assert {step: now[step][0] for step in expected} == expected
        return now

    return wait_until(reached, f"the steps to be {expected}", seconds=12)


def wait_for_all(project: Deployment) -> dict[str, tuple[str, int]]:
    return wait(project, emails="done", cents="done", dues="done")


def emails(project: Deployment) -> list[str]:
    return [each["email"] for each in project.documents("members")]


def histories(project: Deployment) -> dict[str, int]:
    return Counter(each["member"] for each in project.documents("history"))


def due_of(project: Deployment, member: str) -> int:
    due: int = (project.get(member) or {})["due"]
    return due


def is_right(email: str) -> bool:
    return email == email.strip().lower()


def assert_upgraded(project: Deployment, before: dict[str, list[dict[str, Any]]]) -> None:
    due = dict.fromkeys((each["_id"] for each in before["members"]), 0)
    invoices = {each["_id"]: each for each in project.documents("invoices")}
    for old in before["invoices"]:
        expected = dict(old)
        if old["state"] == "open":
            expected["cents"] = round(expected.pop("amount") * 100)
            due[old["member"]] += expected["cents"]
        assert invoices[old["_id"]] == expected
    members = {each["_id"]: each for each in project.documents("members")}
    for old in before["members"]:
        assert members[old["_id"]] == {**old, "email": old["email"].strip().lower(), "due": due[old["_id"]]}


def stored(project: Deployment) -> dict[str, list[dict[str, Any]]]:
    return {table: project.documents(table) for table in ("members", "invoices")}


def kept_by_the_component(project: Deployment) -> dict[str, tuple[bool, int]]:
    rows = project.documents("migrations", component="migrations")
    return {each["name"]: (each["isDone"], each["processed"]) for each in rows}


def test_old_data_is_upgraded_step_by_step(given: GivenDeployment) -> None:
    ids = seed(given, 24, invoices=150)
    given.mutation("members:correctEmail", member=ids[0], email=" New@Club.org")
    before = stored(given)
    written = histories(given)
    project = given.upgrade()
    assert progress(project) == dict.fromkeys(STEPS, ("waiting", 0))
    start(project)
    done = wait_for_all(project)
    count = sum(each["state"] == "open" for each in before["invoices"])
    assert done == {"emails": ("done", 24), "cents": ("done", count), "dues": ("done", 24)}
    assert_upgraded(project, before)
    for member in before["members"]:
        changes = 1 if is_right(member["email"]) else 2
        assert histories(project)[member["_id"]] == written.get(member["_id"], 0) + changes
    assert project.query("members:historyOf", member=ids[1]) == ["update"] * 2
    assert kept_by_the_component(project) == {
        "steps:emails": (True, 24),
        "steps:cents": (True, count),
        "steps:dues": (True, 24),
    }


@pytest.mark.parametrize("seed_number", range(2))
def test_whatever_operators_do_every_step_is_done_once_at_the_end(project: Deployment, seed_number: int) -> None:
    chance = random.Random(seed_number)
    seed(project, 45, bad=33, invoices=120, chance=chance)
    bad = next(each["_id"] for each in project.documents("members") if each["email"] == "nobody")
    before = stored(project)
    count = sum(each["state"] == "open" for each in before["invoices"])
    total, done = {"emails": 45, "cents": count, "dues": 45}, []
    for _ in range(8):
        operation = chance.choice(["start", "stop", "preview", "finish cents", "finish emails"])
        done.append(operation)
        match operation:
            case "start":
                start(project)
                wait(project, emails="failed")
            case "stop":
                assert project.mutation("upgrade:stop") is None
            case "preview":
                now = progress(project)
                shown = project.mutation("upgrade:preview", step="cents", size=7)
                state, processed = now["cents"]
                seen = count if state == "done" else min(processed + 7, count)
                assert (shown["processed"], shown["error"]) == (seen, None), f"after {done}"
                assert progress(project) == now, f"after {done}"
            case "finish cents":
                assert project.action("upgrade:finish", step="cents") == count, f"after {done}"
            case "finish emails":
                with project.fails("Bad address: nobody"):
                    project.action("upgrade:finish", step="emails")
        now = progress(project)
        tried = {"start", "finish emails"} & set(done)
        assert now["emails"] == (("failed", 30) if tried else ("waiting", 0)), f"after {done}"
        assert now["cents"] == (("done", count) if "finish cents" in done else ("waiting", 0)), f"after {done}"
        assert now["dues"] == ("waiting", 0), f"after {done}"
        old = [each["email"] for each in before["members"]]
        expected = [each.strip().lower() for each in old[:30]] + old[30:] if tried else old
        assert emails(project) == expected, f"after {done}"
    project.mutation("members:correctEmail", member=bad, email=" fixed@club.org")
    start(project)
    assert wait_for_all(project) == {step: ("done", total[step]) for step in STEPS}
    before["members"][33]["email"] = "fixed@club.org"
    assert_upgraded(project, before)


def test_a_failed_batch_leaves_nothing_behind_and_stops_the_series(project: Deployment) -> None:
    ids = seed(project, 30, bad=14, invoices=30)
    old = emails(project)
    start(project)
    assert wait(project, emails="failed") == {"emails": ("failed", 10), "cents": ("waiting", 0), "dues": ("waiting", 0)}
    assert "Bad address: nobody" in project.query("upgrade:progress")[0]["error"]
    assert emails(project) == [each.strip().lower() for each in old[:10]] + old[10:]
    start(project)
    assert wait(project, emails="failed")["emails"] == ("failed", 10)
    for member in ids[10:]:
        assert histories(project).get(member, 0) == 0
    project.mutation("members:correctEmail", member=ids[14], email="Ada@Club.org")
    project.mutation("members:correctEmail", member=ids[3], email="LATE@club.org")
    start(project)
    assert wait_for_all(project)["emails"] == ("done", 30)
    assert emails(project)[14] == "ada@club.org"
    assert emails(project)[3] == "LATE@club.org", "a batch that was done was done again"


def test_what_is_done_is_not_done_again_by_start_but_by_restart(project: Deployment) -> None:
    ids = seed(project, 12, invoices=20)
    start(project)
    wait_for_all(project)
    written = histories(project)
    start(project)
    project.advance(minutes=1)
    assert histories(project) == written
    project.mutation("members:correctEmail", member=ids[3], email="NEW@club.org")
    invoice = project.insert("invoices", member=ids[3], amount=1.25, state="open")
    before = {each["_id"]: each["due"] for each in project.documents("members")}
    assert project.mutation("upgrade:restart") is None
    count = sum(each["state"] == "open" for each in project.documents("invoices"))
    expected = {"emails": ("done", 12), "cents": ("done", count), "dues": ("done", 12)}
    wait_until(lambda: due_of(project, ids[3]) != before[ids[3]] and progress(project) == expected, "all steps")
    assert emails(project)[3] == "new@club.org"
    assert (project.get(invoice) or {})["cents"] == 125
    assert due_of(project, ids[3]) == before[ids[3]] + 125
    assert all(histories(project)[member] > written[member] for member in ids), "all steps run again"


def test_restart_after_a_failure_begins_with_the_first_document(project: Deployment) -> None:
    ids = seed(project, 25, bad=22)
    start(project)
    wait(project, emails="failed")
    project.mutation("members:correctEmail", member=ids[22], email="x@club.org")
    project.mutation("members:correctEmail", member=ids[1], email="Y@club.org")
    project.mutation("upgrade:restart")
    assert wait_for_all(project)["emails"] == ("done", 25)
    assert emails(project)[1] == "y@club.org"


def test_a_preview_shows_the_next_batch_and_changes_nothing(project: Deployment) -> None:
    seed(project, 26, bad=23, invoices=40)
    before = stored(project)
    shown = [project.mutation("upgrade:preview", step="emails", size=size) for size in (5, 23, 24, 100)]
    assert shown[:2] == [{"processed": count, "isDone": False, "error": None} for count in (5, 23)]
    for each in shown[2:]:
        assert (each["processed"], each["isDone"]) == (0, False)
        assert "Bad address: nobody" in each["error"]
    count = sum(each["state"] == "open" for each in before["invoices"])
    assert project.mutation("upgrade:preview", step="cents", size=200) == {
        "processed": count,
        "isDone": True,
        "error": None,
    }
    project.advance(minutes=1)
    assert stored(project) == before
    assert progress(project) == dict.fromkeys(STEPS, ("waiting", 0))
    assert kept_by_the_component(project) == {}
    assert project.documents("history") == []


def test_a_preview_goes_on_where_the_step_is_and_knows_what_is_done(project: Deployment) -> None:
    ids = seed(project, 26, bad=23, invoices=10)
    start(project)
    wait(project, emails="failed")
    shown = project.mutation("upgrade:preview", step="emails", size=3)
    assert (shown["processed"], shown["isDone"]) == (23, False)
    assert progress(project)["emails"] == ("failed", 20)
    project.mutation("members:correctEmail", member=ids[23], email="x@club.org")
    shown = project.mutation("upgrade:preview", step="emails", size=50)
    assert (shown["processed"], shown["isDone"]) == (26, True)
    start(project)
    wait_for_all(project)
    before = stored(project)
    assert project.mutation("upgrade:preview", step="dues", size=5) == {"processed": 26, "isDone": True, "error": None}
    assert stored(project) == before


def test_a_step_can_be_stopped_and_goes_on_later(project: Deployment) -> None:
    seed(project, 3000, invoices=10)
    start(project)
    wait_until(lambda: progress(project)["emails"][1] >= 30, "some batches")
    for path, arguments in (("preview", {"step": "dues", "size": 5}), ("restart", {})):
        with project.fails(data={"code": "RUNNING"}):
            project.mutation(f"upgrade:{path}", arguments)
    with project.fails(data={"code": "RUNNING"}):
        project.action("upgrade:finish", step="cents")
    start(project)
    assert project.mutation("upgrade:stop") == "emails"
    assert project.mutation("upgrade:stop") is None
    stopped = progress(project)
    assert stopped["emails"][0] == "stopped"
    assert 0 < stopped["emails"][1] < 3000
    project.advance(minutes=1)
    assert progress(project) == stopped
    assert stopped["cents"] == stopped["dues"] == ("waiting", 0)
    processed = stopped["emails"][1]
    assert [is_right(each) for each in emails(project)[:processed]] == [True] * processed
    assert not all(is_right(each) for each in emails(project)[processed:])
    assert project.mutation("upgrade:preview", step="emails", size=5)["processed"] == processed + 5
    late = project.documents("members")[0]
    project.replace(late["_id"], {"name": "late", "email": "LATE@club.org"})
    with project.subscribe("upgrade:progress") as live:
        start(project)
        states = live.wait_until(lambda value: value[0]["processed"] > processed)
        assert states[0]["state"] == "running"
        assert project.mutation("upgrade:stop") == "emails"
    assert emails(project)[0] == "LATE@club.org", "it goes on where it was stopped"


def test_two_who_start_at_once_start_one_series(project: Deployment) -> None:
    ids = seed(project, 40)
    with project.clients(4) as clients:
        made = at_once([partial(each.mutation, "upgrade:start") for each in clients])
    assert made == [None] * 4
    assert wait_for_all(project)["dues"] == ("done", 40)
    project.advance(minutes=1)
    assert histories(project) == {member: 1 if number % 3 == 0 else 2 for number, member in enumerate(ids)}


def test_finish_runs_one_step_before_it_returns(project: Deployment) -> None:
    seed(project, 33, invoices=300)
    before = stored(project)
    count = sum(each["state"] == "open" for each in before["invoices"])
    assert project.action("upgrade:finish", step="cents") == count
    assert all("amount" not in each for each in project.documents("invoices") if each["state"] == "open")
    assert progress(project) == {"emails": ("waiting", 0), "cents": ("done", count), "dues": ("waiting", 0)}
    assert project.action("upgrade:finish", step="cents") == count
    assert project.action("upgrade:finish", step="emails") == 33
    project.advance(minutes=1)
    assert progress(project)["dues"] == ("waiting", 0)
    start(project)
    wait_for_all(project)
    assert_upgraded(project, before)


def test_finish_reports_a_failure_and_goes_on_after_the_last_batch(project: Deployment) -> None:
    ids = seed(project, 28, bad=25)
    with project.fails("Bad address: nobody"):
        project.action("upgrade:finish", step="emails")
    assert progress(project)["emails"] == ("failed", 20)
    project.mutation("members:correctEmail", member=ids[25], email="x@club.org")
    assert project.action("upgrade:finish", step="emails") == 28
    assert all(map(is_right, emails(project)))


def test_batches_have_their_size_and_only_open_invoices_are_read(project: Deployment) -> None:
    ids = seed(project, 5)
    states = ["open" if number % 20 == 0 else "paid" for number in range(900)]
    project.insert_many("invoices", [{"member": ids[0], "amount": 1, "state": state} for state in states])
    with project.trace() as work:
        assert project.action("upgrade:finish", step="cents") == 45
    assert work.documents_read <= 300
    assert max(call.documents_written for call in work.calls) <= 25
    assert sum(call.documents_written >= 20 for call in work.calls) == 2
    seed(project, 20)
    with project.trace() as work:
        assert project.action("upgrade:finish", step="dues") == 25
    assert work.documents_read <= 300
    assert max(call.documents_written for call in work.calls) <= 25


def test_operators_can_run_a_step_from_the_command_line(project: Deployment) -> None:
    seed(project, 15)
    project.admin.mutation("steps:emails", dryRun=True)
    assert progress(project)["emails"] == ("waiting", 0)
    project.admin.mutation("steps:emails")
    assert wait(project, emails="done")["emails"] == ("done", 15)
    for step in STEPS:
        with project.fails():
            project.mutation(f"steps:{step}")


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()} | GIVEN
    calls = {"query": project.query, "mutation": project.mutation, "action": project.action}
    for name, (kind, arguments) in FUNCTIONS.items():
        for rejected in [{**arguments, "more": 1}] + [
            value
            for argument in arguments
            for value in ({**arguments, argument: "names"}, {**arguments, argument: None})
        ]:
            with project.fails("ArgumentValidationError"):
                calls[kind](name, rejected)
        for argument in arguments:
            with project.fails("ArgumentValidationError"):
                calls[kind](name, {key: arguments[key] for key in arguments if key != argument})
