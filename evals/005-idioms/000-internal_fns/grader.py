"""What clients can do, and what they cannot reach, though the backend itself and its schedules can."""

import pytest

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec, same_schema, wait_until

PUBLIC = {"index:balance", "index:spend", "index:redeem", "index:join"}
INTERNAL = {"index:grant", "index:total", "index:report"}


@pytest.fixture
def accounts(project: Deployment) -> Deployment:
    """A project in which Ada has 40 credits and Bob 20."""
    project.insert_many("accounts", [{"user": "ada", "credits": 40}, {"user": "bob", "credits": 20}])
    return project


def credits(project: Deployment) -> list[tuple[str, float]]:
    return [(account["user"], account["credits"]) for account in project.documents("accounts")]


def test_clients_see_balances_and_spend_credits(accounts: Deployment) -> None:
    assert [accounts.query("index:balance", user=user) for user in ("ada", "bob", "eve")] == [40, 20, 0]
    assert accounts.mutation("index:spend", user="ada", amount=0.5) == 39.5
    assert accounts.mutation("index:spend", user="bob", amount=20) == 0
    assert credits(accounts) == [("ada", 39.5), ("bob", 0)]


@pytest.mark.parametrize(("user", "amount"), [("bob", 20.5), ("ada", 0), ("ada", -5), ("eve", 1)])
def test_nobody_spends_what_they_do_not_have(accounts: Deployment, user: str, amount: float) -> None:
    with accounts.fails():
        accounts.mutation("index:spend", user=user, amount=amount)
    assert credits(accounts) == [("ada", 40), ("bob", 20)]


def test_a_code_grants_credits_through_the_internal_mutation(accounts: Deployment) -> None:
    with accounts.trace() as work:
        assert accounts.action("index:redeem", user="bob", code="WELCOME") == 70
        assert accounts.action("index:redeem", user="eve", code="WELCOME") == 50
    assert [call.function for call in work.nested_calls] == ["index:grant", "index:grant"]
    assert credits(accounts) == [("ada", 40), ("bob", 70), ("eve", 50)]


@pytest.mark.parametrize("code", ["welcome", "", "WELCOME2"])
def test_another_code_grants_nothing(accounts: Deployment, code: str) -> None:
    with accounts.fails():
        accounts.action("index:redeem", user="bob", code=code)
    assert credits(accounts) == [("ada", 40), ("bob", 20)]


def test_joining_schedules_the_internal_mutation(accounts: Deployment) -> None:
    with accounts.trace() as work:
        assert accounts.mutation("index:join", user="eve") is None
    assert work.documents_written == 0, "join must leave the table to grant"
    [job] = accounts.scheduled()
    assert (job.function, job.args) == ("index:grant", {"user": "eve", "amount": 10})
    assert abs(job.delay_ms) < 1000
    wait_until(lambda: credits(accounts) == [("ada", 40), ("bob", 20), ("eve", 10)], "the granted credits")


def test_administrators_call_what_clients_cannot(accounts: Deployment) -> None:
    assert accounts.admin.mutation("index:grant", user="ada", amount=2) == 42
    assert accounts.admin.mutation("index:grant", user="eve", amount=0.5) == 0.5
    assert credits(accounts) == [("ada", 42), ("bob", 20), ("eve", 0.5)]
    assert accounts.admin.query("index:total") == 62.5
    with accounts.trace() as work:
        assert accounts.admin.action("index:report") == "62.5 credits"
    assert [call.function for call in work.nested_calls] == ["index:total"]


def test_there_is_nothing_in_an_empty_backend(project: Deployment) -> None:
    assert project.admin.query("index:total") == 0
    assert project.admin.action("index:report") == "0 credits"


def test_clients_cannot_reach_internal_functions(accounts: Deployment) -> None:
    with accounts.fails("Could not find public function"):
        accounts.mutation("index:grant", user="ada", amount=1000)
    with accounts.fails("Could not find public function"):
        accounts.query("index:total")
    with accounts.fails("Could not find public function"):
        accounts.action("index:report")
    assert credits(accounts) == [("ada", 40), ("bob", 20)]


def test_other_accounts_are_not_read(project: Deployment) -> None:
    project.insert_many("accounts", [{"user": f"user {number}", "credits": 5} for number in range(50)])
    with project.trace() as work:
        project.query("index:balance", user="user 49")
        project.mutation("index:spend", user="user 49", amount=1)
        project.action("index:redeem", user="user 49", code="WELCOME")
    assert work.documents_read < 10


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, sorted(PUBLIC | INTERNAL))
    assert {name for name, spec in project.functions().items() if spec.is_public} == PUBLIC
    with project.fails("ArgumentValidationError"):
        project.mutation("index:spend", user="ada", amount="5")
