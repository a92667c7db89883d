"""Fast queries that return what the slow ones did: before, during and after the migration of old documents."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment

ADDRESSES = [f"{name}@example.com" for name in ("ada", "ben", "cyd", "dot", "eve", "fay")]
AGENTS = ("Kim", "Lee", "Max", "Ann")
STATUSES = ("open", "open", "waiting", "closed")


def capitalized(address: str, chance: random.Random) -> str:
    return "".join(letter.upper() if chance.random() < 0.4 else letter for letter in address)


class Helpdesk:
    """What is stored, as the deployment has it, and what the queries return for it."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.agents = deployment.documents("agents")

    def expected(self) -> dict[str, Any]:
        self.customers, self.tickets, self.comments = map(
            self.deployment.documents, ("customers", "tickets", "comments")
        )
        return {
            **{f"byEmail {address}": self._by_email(address) for address in ADDRESSES},
            **{f"inbox {agent['name']}": self._inbox(agent["_id"]) for agent in self.agents},
            **{f"unassigned {limit}": self._unassigned()[:limit] for limit in (1, 7, 50)},
            "workload": self._workload(),
        }

    def received(self) -> dict[str, Any]:
        query = self.deployment.query
        return {
            **{f"byEmail {address}": query("customers:byEmail", email=address.title()) for address in ADDRESSES},
            **{f"inbox {agent['name']}": query("tickets:inbox", agentId=agent["_id"]) for agent in self.agents},
            **{f"unassigned {limit}": query("tickets:unassigned", limit=limit) for limit in (1, 7, 50)},
            "workload": query("agents:workload"),
        }

    def check(self, when: str) -> None:
        expected, received = self.expected(), self.received()
        for name, value in expected.items():
            assert received[name] == value, f"{name}, {when}"

    def _by_email(self, address: str) -> Any:
        found = next((each for each in self.customers if each["email"].lower() == address), None)
        return found and {key: found[key] for key in ("_id", "_creationTime", "name", "email")}

    def _inbox(self, agent: str) -> list[Any]:
        return self._described(self._active(agent))

    def _active(self, agent: str) -> list[Any]:
        return [each for each in self.tickets if each.get("agentId") == agent and each["status"] != "closed"]

    def _unassigned(self) -> list[Any]:
        return self._described(each for each in self.tickets if each["status"] == "open" and not each.get("agentId"))

    def _workload(self) -> list[Any]:
        counts = [{"name": each["name"], "active": len(self._active(each["_id"]))} for each in self.agents]
        return sorted(counts, key=lambda each: (-each["active"], each["name"]))

    def _described(self, tickets: Iterable[Any]) -> list[Any]:
        names = {each["_id"]: each["name"] for each in self.customers}
        last = {each["ticketId"]: each["text"] for each in self.comments}
        return [
            {
                "id": each["_id"],
                "subject": each["subject"],
                "customer": names.get(each["customerId"], "(deleted)"),
                "lastComment": last.get(each["_id"]),
            }
            for each in sorted(tickets, key=lambda each: (-each.get("priority", 0), each["_creationTime"]))
        ]


def seed(given: Deployment, chance: random.Random, customers: int = 24, tickets: int = 80, closed: int = 0) -> None:
    agents = given.insert_many("agents", [{"name": name} for name in AGENTS])
    addresses = [capitalized(chance.choice(ADDRESSES[:-1]), chance) for _ in range(customers)]
    people = given.insert_many("customers", [{"name": f"c{i}", "email": text} for i, text in enumerate(addresses)])
    stored = []
    for number in range(tickets + closed):
        ticket: dict[str, Any] = {"customerId": chance.choice(people), "subject": f"t{number}"}
        ticket["status"] = chance.choice(STATUSES) if number < tickets else "closed"
        if chance.random() < 0.7:
            ticket["priority"] = chance.randrange(5)
        if chance.random() < 0.6 or number >= tickets:
            ticket["agentId"] = chance.choice([*agents, *agents, None, None, None])
        stored.append(ticket)
    ids = given.insert_many("tickets", stored)
    comments = [{"ticketId": chance.choice(ids), "text": f"x{number}"} for number in range(len(ids))]
    given.insert_many("comments", comments)
    given.delete("customers", *chance.sample(people, 3))


def migrate(project: Deployment) -> None:
    for _ in range(300):
        if project.admin.mutation("migrations:run"):
            return
    raise AssertionError("migrations:run has not returned true after 300 calls")


def act(project: Deployment, chance: random.Random) -> None:
    """Something that an agent or a customer does."""

    def some(table: str) -> str:
        return str(chance.choice(project.documents(table))["_id"])

    address = capitalized(chance.choice(ADDRESSES), chance)
    free = [None, *(each["_id"] for each in project.documents("agents"))]
    does: dict[str, Callable[[], dict[str, Any]]] = {
        "customers:create": lambda: {"name": "new", "email": address},
        "customers:changeEmail": lambda: {"customerId": some("customers"), "email": address},
        "tickets:create": lambda: {
            "customerId": some("customers"),
            "subject": "new",
            "priority": chance.randrange(5),
        },
        "tickets:assign": lambda: {"ticketId": some("tickets"), "agentId": chance.choice(free)},
        "tickets:update": lambda: {
            "ticketId": some("tickets"),
            **chance.choice([{"status": chance.choice(STATUSES)}, {"priority": chance.randrange(5)}]),
        },
        "tickets:comment": lambda: {"ticketId": some("tickets"), "text": "new"},
    }
    name = chance.choice(list(does))
    project.mutation(name, does[name]())


@pytest.mark.parametrize("seed_number", range(2))
def test_results_are_right_before_during_and_after_the_migration(given: GivenDeployment, seed_number: int) -> None:
    chance = random.Random(seed_number)
    seed(given, chance)
    helpdesk = Helpdesk(given)
    before = helpdesk.received()
    assert before == helpdesk.expected(), "the grader's own model"
    helpdesk = Helpdesk(given.upgrade())
    assert helpdesk.received() == before
    for step in range(3):
        for _ in range(5):
            act(helpdesk.deployment, chance)
        helpdesk.check(f"after step {step}")
        if step == 1:
            migrate(helpdesk.deployment)
            helpdesk.check("after the migration")


def test_a_long_migration_goes_step_by_step_and_changes_no_result(given: GivenDeployment) -> None:
    chance = random.Random(7)
    seed(given, chance, customers=1300, tickets=40)
    project = given.upgrade()
    helpdesk = Helpdesk(project)
    oldest = project.documents("customers")[1200]
    is_done, calls = False, 0
    while not is_done and calls < 300:
        with project.trace() as work:
            is_done = project.admin.mutation("migrations:run")
        assert isinstance(is_done, bool)
        assert work.documents_written <= 200, f"one call changed {work.documents_written} documents"
        assert work.documents_read <= 1000, f"one call read {work.documents_read} documents"
        if calls == 0:
            # One that is probably still to be migrated, and one that need not be.
            project.mutation("customers:changeEmail", customerId=oldest["_id"], email="FAY@example.com")
            project.mutation("customers:create", name="younger", email="fay@Example.com")
        if calls < 4:
            helpdesk.check(f"after {calls + 1} calls of migrations:run")
        calls += 1
    assert is_done, "migrations:run has not returned true after 300 calls"
    helpdesk.check("after the migration")
    assert project.admin.mutation("migrations:run") is True


def test_a_migrated_deployment_reads_few_documents(given: GivenDeployment) -> None:
    chance = random.Random(11)
    seed(given, chance, customers=300, tickets=300, closed=300)
    project = given.upgrade()
    migrate(project)
    helpdesk = Helpdesk(project)
    expected = helpdesk.expected()
    active = sum(each["active"] for each in expected["workload"])
    budgets = {
        **{f"byEmail {address}": 5 for address in ADDRESSES},
        **{name: 3 * len(value) for name, value in expected.items() if name.startswith("inbox")},
        **{f"unassigned {limit}": 10 * limit for limit in (1, 7, 50)},
        "workload": len(AGENTS) + active,
    }
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        **{f"byEmail {address}": ("customers:byEmail", {"email": address.upper()}) for address in ADDRESSES},
        **{f"inbox {agent['name']}": ("tickets:inbox", {"agentId": agent["_id"]}) for agent in helpdesk.agents},
        **{f"unassigned {limit}": ("tickets:unassigned", {"limit": limit}) for limit in (1, 7, 50)},
        "workload": ("agents:workload", {}),
    }
    for name, (function, arguments) in calls.items():
        with project.trace() as work:
            assert project.query(function, arguments) == expected[name], name
        read, allowed = work.documents_read, budgets[name]
        assert read <= allowed, f"{name} read {read} documents, and may read {allowed}"


def test_an_inbox_without_tickets_and_a_help_desk_without_anything_are_empty(project: Deployment) -> None:
    migrate(project)
    assert project.query("agents:workload") == []
    assert project.query("tickets:unassigned", limit=5) == []
    assert project.query("customers:byEmail", email="ada@example.com") is None
    agent = project.mutation("agents:create", name="Kim")
    assert project.query("tickets:inbox", agentId=agent) == []
    assert project.query("agents:workload") == [{"name": "Kim", "active": 0}]


def test_new_documents_are_found_at_once(project: Deployment) -> None:
    customer = project.mutation("customers:create", name="Ada", email="Ada@Example.com")
    ticket = project.mutation("tickets:create", customerId=customer, subject="Help", priority=2)
    comment = project.mutation("tickets:comment", ticketId=ticket, text="Soon")
    assert project.get(comment) is not None
    found = {"id": ticket, "subject": "Help", "customer": "Ada", "lastComment": "Soon"}
    assert project.query("tickets:unassigned", limit=5) == [found]
    assert project.query("customers:byEmail", email="aDA@example.com")["_id"] == customer
    assert project.mutation("customers:changeEmail", customerId=customer, email="new@example.com") is None
    assert project.query("customers:byEmail", email="ada@example.com") is None


def test_the_functions_are_the_old_ones_and_the_migration(project: Deployment, given: GivenDeployment) -> None:
    functions = project.functions()
    for name, spec in given.functions().items():
        assert name in functions, f"{name} is gone"
        new = functions[name]
        assert (new.kind, new.visibility, new.arguments) == (spec.kind, spec.visibility, spec.arguments), name
    run = functions["migrations:run"]
    assert (run.kind, run.is_public, run.arguments) == ("mutation", False, {})
