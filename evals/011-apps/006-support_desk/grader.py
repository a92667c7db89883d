"""A desk that assigns tickets by itself, and clocks that run in working hours."""

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment

HOUR = 3_600_000
DAY = 24 * HOUR
LIMITS = {"urgent": 2 * HOUR, "high": 8 * HOUR, "normal": 16 * HOUR, "low": 40 * HOUR}
PRIORITIES = list(LIMITS)
ORDER = ["opened", "merged", "split", "status", "priority", "overdue", "unassigned", "assigned"]


def date_of(time: float) -> str:
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d")


def works_on(midnight: int, holidays: set[str]) -> bool:
    return (midnight // DAY + 3) % 7 < 5 and date_of(midnight) not in holidays


def shifts(since: float, holidays: set[str]) -> Any:
    """The working hours from a moment on, as beginnings and ends."""
    midnight = int(since // DAY * DAY)
    while True:
        if works_on(midnight, holidays) and since < midnight + 17 * HOUR:
            yield max(since, midnight + 9 * HOUR), midnight + 17 * HOUR
        midnight += DAY


def worked(since: float, until: float, holidays: set[str]) -> float:
    total = 0.0
    for start, end in shifts(since, holidays):
        if start >= until:
            return total
        total += min(end, until) - start
    return total


def due_after(since: float, left: float, holidays: set[str]) -> float:
    for start, end in shifts(since, holidays):
        if end - start >= left:
            return start + left
        left -= end - start
    raise AssertionError


def words_of(text: str) -> set[str]:
    return set(re.findall("[a-z0-9]+", text.lower()))


@dataclass
class Message:
    author: str
    body: str
    internal: bool = False


@dataclass(eq=False)
class Ticket:
    id: str
    number: int
    customer: str
    subject: str
    priority: str
    since: float
    tags: set[str] = field(default_factory=set)
    status: str = "open"
    assignee: str | None = None
    overdue: bool = False
    used: float = 0
    into: "Ticket | None" = None
    messages: list[tuple[int, Message]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_active(self) -> bool:
        return self.status in ("open", "waiting")

    def record(self, at: float, by: str, what: str, detail: str | None = None) -> None:
        self.events.append({"at": at, "by": by, "what": what, "detail": detail})


@dataclass
class Truth:
    """The desk as TASK.txt describes it. `now` is the time of the call that is being carried out."""

    now: float = 0
    tickets: list[Ticket] = field(default_factory=list)
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    holidays: set[str] = field(default_factory=set)
    posted: int = 0

    def due(self, ticket: Ticket) -> float | None:
        if ticket.status != "open" or ticket.overdue:
            return None
        return due_after(ticket.since, LIMITS[ticket.priority] - ticket.used, self.holidays)

    def pass_to(self, now: float) -> None:
        for ticket in self.tickets:
            due = self.due(ticket)
            if due is not None and due <= now:
                ticket.overdue = True
                ticket.record(due, "system", "overdue")
            if ticket.status == "solved" and ticket.since + 72 * HOUR <= now:
                ticket.status = "closed"
                ticket.record(ticket.since + 72 * HOUR, "system", "status", "closed")
        self.now = now

    def stop_clock(self, ticket: Ticket) -> None:
        if ticket.status == "open":
            ticket.used += worked(ticket.since, self.now, self.holidays)
            ticket.since = self.now

    def set_status(self, ticket: Ticket, status: str, by: str) -> None:
        self.stop_clock(ticket)
        if ticket.status != status:
            ticket.status, ticket.since = status, self.now
            ticket.record(self.now, by, "status", status)

    def check_clock(self, ticket: Ticket) -> None:
        if ticket.is_active and not ticket.overdue and ticket.used >= LIMITS[ticket.priority]:
            ticket.overdue = True
            ticket.record(self.now, "system", "overdue")

    def load(self, name: str) -> int:
        return sum(ticket.assignee == name and ticket.is_active for ticket in self.tickets)

    def distribute(self) -> None:
        while True:
            names = [
                name for name, agent in self.agents.items() if agent["online"] and self.load(name) < agent["capacity"]
            ]
            waiting = [ticket for ticket in self.tickets if ticket.status == "open" and ticket.assignee is None]
            if not names or not waiting:
                return
            ticket = min(waiting, key=lambda each: (not each.overdue, PRIORITIES.index(each.priority), each.number))
            ticket.assignee = min(names, key=lambda name: (self.load(name), name))
            ticket.record(self.now, "system", "assigned", ticket.assignee)

    def target(self, ticket: Ticket) -> Ticket:
        return ticket if ticket.into is None else self.target(ticket.into)

    def post(self, ticket: Ticket, author: str, body: str, internal: bool = False) -> None:
        self.posted += 1
        ticket.messages.append((self.posted, Message(author, body, internal)))

    # The calls, each after it has been found to be allowed.

    def set_agent(self, agent: str, capacity: int, online: bool) -> None:
        self.agents[agent] = {"capacity": capacity, "online": online}
        self.distribute()

    def create(self, id: str, user: str, subject: str, priority: str, **fields: Any) -> Ticket:
        ticket = Ticket(id, len(self.tickets), user, subject, priority, self.now, **fields)
        self.tickets.append(ticket)
        return ticket

    def open(self, id: str, user: str, subject: str, body: str, priority: str) -> None:
        ticket = self.create(id, user, subject, priority)
        ticket.record(self.now, user, "opened")
        self.post(ticket, user, body)
        self.distribute()

    def reply(self, user: str, ticket: Ticket, body: str) -> None:
        ticket = self.target(ticket)
        self.post(ticket, user, body)
        if user == ticket.customer and ticket.status != "open":
            self.set_status(ticket, "open", user)
            if ticket.assignee is not None and not self.agents[ticket.assignee]["online"]:
                ticket.assignee = None
                ticket.record(self.now, "system", "unassigned")
            self.distribute()

    def ask(self, user: str, ticket: Ticket, body: str) -> None:
        self.post(ticket, user, body)
        self.set_status(ticket, "waiting", user)

    def solve(self, user: str, ticket: Ticket) -> None:
        self.set_status(ticket, "solved", user)
        self.distribute()

    def note(self, user: str, ticket: Ticket, body: str) -> None:
        self.post(self.target(ticket), user, body, internal=True)

    def prioritize(self, user: str, ticket: Ticket, priority: str) -> None:
        if ticket.priority != priority:
            self.stop_clock(ticket)
            ticket.priority = priority
            ticket.record(self.now, user, "priority", priority)
            self.check_clock(ticket)

    def tag(self, user: str, ticket: Ticket, tags: list[str]) -> None:
        ticket.tags = set(tags)

    def assign(self, user: str, ticket: Ticket, agent: str) -> None:
        if ticket.assignee != agent:
            ticket.assignee = agent
            ticket.record(self.now, user, "assigned", agent)
            self.distribute()

    def merge(self, user: str, ticket: Ticket, into: Ticket) -> None:
        self.stop_clock(into)
        self.set_status(ticket, "closed", user)
        ticket.into = into
        into.messages = sorted([*into.messages, *ticket.messages], key=lambda each: each[0])
        ticket.messages = []
        into.tags |= ticket.tags
        into.used = max(into.used, ticket.used)
        into.record(self.now, user, "merged", ticket.id)
        self.check_clock(into)
        self.distribute()

    def split(self, id: str, user: str, ticket: Ticket, indexes: list[int], subject: str) -> None:
        new = self.create(id, ticket.customer, subject, ticket.priority, tags=set(ticket.tags))
        new.messages = [ticket.messages[index] for index in indexes]
        ticket.messages = [each for index, each in enumerate(ticket.messages) if index not in indexes]
        new.record(self.now, user, "opened", ticket.id)
        ticket.record(self.now, user, "split", id)
        self.distribute()

    # What people see.

    def shown(self, ticket: Ticket, is_desk: bool = True) -> dict[str, Any]:
        return {
            "id": ticket.id,
            "customer": ticket.customer,
            "subject": ticket.subject,
            "priority": ticket.priority,
            "status": ticket.status,
            "tags": sorted(ticket.tags) if is_desk else [],
            "assignee": ticket.assignee if is_desk else None,
            "overdue": ticket.overdue,
            "due": self.due(ticket) if is_desk else None,
            "mergedInto": None if ticket.into is None else ticket.into.id,
        }

    def listed_agents(self) -> list[dict[str, Any]]:
        return [{"name": name, **self.agents[name], "load": self.load(name)} for name in sorted(self.agents)]

    def find(self, user: str, text: str, **filters: str) -> dict[str, Any]:
        is_desk = user in self.agents or user == "admin"

        def has_words(ticket: Ticket) -> bool:
            visible = [message.body for _, message in ticket.messages if is_desk or not message.internal]
            return words_of(text) <= set().union(*map(words_of, [ticket.subject, *visible]))

        def matches(ticket: Ticket, *names: str) -> bool:
            known = {"status": {ticket.status}, "priority": {ticket.priority}, "tag": ticket.tags if is_desk else set()}
            return all(filters[name] in known[name] for name in names if name in filters)

        seen = [ticket for ticket in self.tickets if ticket.into is None and (is_desk or ticket.customer == user)]
        seen = [ticket for ticket in seen if has_words(ticket)]
        found = [ticket.id for ticket in reversed(seen) if matches(ticket, "status", "priority", "tag")]
        facets = {
            "status": Counter(ticket.status for ticket in seen if matches(ticket, "priority", "tag")),
            "priority": Counter(ticket.priority for ticket in seen if matches(ticket, "status", "tag")),
            "tag": Counter(tag for ticket in seen if matches(ticket, "status", "priority") for tag in ticket.tags),
        }
        if not is_desk:
            facets["tag"] = Counter()
        listed = {
            name: [{"value": value, "count": count} for value, count in sorted(counts.items())]
            for name, counts in facets.items()
        }
        return {"total": len(found), "tickets": found[:20], "facets": listed}


@dataclass
class Desk:
    """Does the same at the desk and to the truth. The time of a call is what the deployment says it was."""

    project: Deployment
    truth: Truth = field(default_factory=Truth)
    done: list[Any] = field(default_factory=list)

    def call(self, what: str, **arguments: Any) -> Any:
        sent = {key: value.id if isinstance(value, Ticket) else value for key, value in arguments.items()}
        return self.project.mutation(f"desk:{what}", sent)

    def refused(self, code: str, what: str, **arguments: Any) -> None:
        with self.project.fails(data={"code": code}):
            self.call(what, **arguments)

    def events(self, ticket: str) -> list[dict[str, Any]]:
        return self.project.query("desk:events", user="admin", ticket=ticket)

    def time_of_call(self, *tickets: str) -> float:
        """Of the last event of one of these tickets, if it is of this call; otherwise it does not matter."""
        ends = [events[-1]["at"] for events in map(self.events, tickets) if events]
        return max([self.truth.now, *ends])

    def do(self, what: str, user: str, ticket: Ticket, **arguments: Any) -> None:
        self.done.append((what, user, ticket.number, arguments))
        before = self.project.now()
        assert self.call(what, user=user, ticket=ticket, **arguments) is None
        concerned = {ticket.id, self.truth.target(ticket).id}
        at = self.time_of_call(*concerned)
        assert at <= self.project.now(), f"{what} happened in the future"
        self.truth.pass_to(at if at >= before else before)
        getattr(self.truth, what)(user, ticket, **arguments)

    def open(self, user: str, subject: str = "Help", body: str = "please", priority: str = "normal") -> Ticket:
        self.done.append(("open", user, subject, priority))
        before = self.project.now()
        id = self.call("open", user=user, subject=subject, body=body, priority=priority)
        at = self.events(id)[0]["at"]
        assert before <= at <= self.project.now()
        self.truth.pass_to(at)
        self.truth.open(id, user, subject, body, priority)
        return self.truth.tickets[-1]

    def split(self, user: str, ticket: Ticket, indexes: list[int], subject: str) -> Ticket:
        self.done.append(("split", user, ticket.number, indexes))
        ids = [each["id"] for each in self.project.query("desk:messages", user=user, ticket=ticket.id)]
        id = self.call("split", user=user, ticket=ticket, messages=[ids[index] for index in indexes], subject=subject)
        self.truth.pass_to(self.events(id)[0]["at"])
        self.truth.split(id, user, ticket, indexes, subject)
        return self.truth.tickets[-1]

    def set_agent(self, agent: str, capacity: int, online: bool = True) -> None:
        self.done.append(("setAgent", agent, capacity, online))
        before = self.project.now()
        assert self.call("setAgent", user="admin", agent=agent, capacity=capacity, online=online) is None
        waiting = [ticket.id for ticket in self.truth.tickets if ticket.status == "open" and ticket.assignee is None]
        self.truth.pass_to(max(before, self.time_of_call(*waiting)))
        self.truth.set_agent(agent, capacity, online)

    def set_holiday(self, days: int, holiday: bool = True) -> None:
        date = date_of(self.project.now() + days * DAY)
        self.done.append(("setHoliday", date, holiday))
        self.truth.pass_to(self.project.now())
        assert self.call("setHoliday", user="admin", date=date, holiday=holiday) is None
        (self.truth.holidays.add if holiday else self.truth.holidays.discard)(date)

    def advance(self, **duration: int) -> None:
        self.done.append(("advance", duration))
        self.project.advance(**duration)
        self.truth.pass_to(self.project.now())

    def go_to(self, weekday: int, hour: int) -> None:
        """To the next such moment, tomorrow at the earliest."""
        now = datetime.fromtimestamp(self.project.now() / 1000, UTC)
        target = now.replace(hour=hour, minute=0, second=0, microsecond=0) + timedelta(days=1)
        target += timedelta(days=(weekday - target.weekday()) % 7)
        self.advance(seconds=int((target - now).total_seconds()) + 1)

    def check(self, *tickets: Ticket) -> None:
        for ticket in tickets or self.truth.tickets:
            seen = self.project.query("desk:ticket", user="admin", ticket=ticket.id)
            assert seen == self.truth.shown(ticket), f"ticket {ticket.number} after {self.done[-20:]}"
            events = self.events(ticket.id)
            assert events == ticket.events, f"events of ticket {ticket.number} after {self.done[-20:]}"
        assert self.project.query("desk:agents", user="admin") == self.truth.listed_agents(), f"after {self.done[-20:]}"

    def check_messages(self, ticket: Ticket) -> None:
        for user in ("admin", ticket.customer):
            seen = self.project.query("desk:messages", user=user, ticket=ticket.id)
            expected = [message for _, message in ticket.messages if user == "admin" or not message.internal]
            assert [Message(each["author"], each["body"], each["internal"]) for each in seen] == expected


def random_step(desk: Desk, chance: random.Random) -> list[Ticket]:
    truth, agent = desk.truth, chance.choice(sorted(desk.truth.agents))
    active = [ticket for ticket in truth.tickets if ticket.is_active]
    idle = [ticket for ticket in truth.tickets if ticket.status in ("waiting", "solved")]
    choice = chance.random()
    if (choice < 0.2 and len(truth.tickets) < 14) or not active:
        return [desk.open(chance.choice(["zoe", "yan"]), "Help", "please", chance.choice(PRIORITIES))]
    ticket = chance.choice(active)
    if choice < 0.32:
        desk.do("ask", agent, ticket, body="what?")
    elif choice < 0.42:
        desk.do("solve", agent, ticket)
    elif choice < 0.55 and idle:
        ticket = chance.choice(idle)
        desk.do("reply", ticket.customer, ticket, body="this")
    elif choice < 0.64:
        desk.do("prioritize", agent, ticket, priority=chance.choice(PRIORITIES))
    elif choice < 0.68:
        desk.do("assign", agent, ticket, agent=chance.choice(sorted(truth.agents)))
    elif choice < 0.76:
        desk.set_agent(agent, chance.choice([0, 1, 2, 3]), chance.random() < 0.7)
    elif choice < 0.84:
        others = [other for other in active if other is not ticket and other.customer == ticket.customer]
        if others:
            desk.do("merge", agent, ticket, into=chance.choice(others))
    elif choice < 0.87 and len(ticket.messages) > 1:
        return [ticket, desk.split(agent, ticket, [len(ticket.messages) - 1], "Other")]
    elif choice < 0.89:
        desk.set_holiday(chance.randint(1, 4), chance.random() < 0.7)
    else:
        desk.advance(hours=chance.choice([1, 3, 9, 20, 30]), minutes=chance.randrange(60))
    return [ticket]


@pytest.mark.parametrize("seed", range(3))
def test_the_desk_does_what_its_rules_say(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    desk = Desk(project)
    for name, capacity in (("ben", 2), ("Cyd", 1), ("ann", 2)):
        desk.set_agent(name, capacity, online=name != "ann")
    desk.go_to(weekday=chance.randrange(5), hour=9)
    for number in range(40):
        concerned = random_step(desk, chance)
        desk.check(*concerned)
        if number % 9 == 8:
            desk.check()
    for ticket in desk.truth.tickets:
        desk.check_messages(ticket)


def test_the_clock_runs_in_working_hours_while_the_ticket_is_open(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 5)
    desk.go_to(weekday=4, hour=16)
    first, second = desk.open("zoe"), desk.open("zoe", priority="low")
    due = project.query("desk:ticket", user="ann", ticket=first.id)["due"]
    assert due - first.since == 4 * DAY
    assert date_of(due - 4 * DAY) == date_of(project.now())
    desk.check()
    desk.advance(days=2, hours=17)
    desk.do("ask", "ann", first, body="?")
    assert project.query("desk:ticket", user="ann", ticket=first.id)["due"] is None
    desk.advance(hours=3, minutes=30)
    desk.do("reply", "zoe", first, body="!")
    again = project.query("desk:ticket", user="ann", ticket=first.id)["due"]
    assert 19 * HOUR + 1_800_000 - 1000 < again - due < 19 * HOUR + 1_800_000 + 60_000
    desk.check()
    desk.advance(days=3)
    desk.check()
    assert project.query("desk:ticket", user="zoe", ticket=first.id)["overdue"]
    assert not project.query("desk:ticket", user="zoe", ticket=second.id)["overdue"]
    assert desk.events(first.id)[-1] == {"at": again, "by": "system", "what": "overdue", "detail": None}


def test_a_ticket_is_overdue_at_the_earliest_moment(project: Deployment) -> None:
    desk = Desk(project)
    desk.go_to(weekday=2, hour=5)
    ticket = desk.open("zoe", priority="high")
    assert desk.truth.due(ticket) == ticket.since // DAY * DAY + 17 * HOUR
    desk.check()
    desk.advance(hours=11, minutes=58)
    desk.check()
    assert not ticket.overdue
    with project.subscribe("desk:ticket", user="admin", ticket=ticket.id) as live:
        desk.advance(minutes=3)
        live.wait_until(lambda seen: seen["overdue"])
    desk.check()
    assert ticket.overdue


def test_holidays_move_the_due_times_of_open_tickets(project: Deployment) -> None:
    desk = Desk(project)
    desk.go_to(weekday=0, hour=10)
    ticket = desk.open("zoe", priority="low")
    late = desk.open("zoe", priority="urgent")
    for days, holiday in ((2, True), (5, True), (7, True), (7, True), (3, True), (3, False), (4, False)):
        desk.set_holiday(days, holiday)
        desk.check(ticket, late)
    desk.advance(days=6)
    desk.set_holiday(3)
    desk.check()
    desk.advance(days=8)
    desk.check()
    today = date_of(project.now())
    for date in (today, date_of(project.now() - DAY), "2032-02-30", "2032-2-3", "2032-13-01", "tomorrow", ""):
        desk.refused("INVALID", "setHoliday", user="admin", date=date, holiday=True)


def test_priorities_make_tickets_overdue_at_once_and_never_undo_it(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 5)
    desk.go_to(weekday=1, hour=9)
    ticket, waiting = desk.open("zoe", priority="low"), desk.open("zoe", priority="low")
    desk.advance(hours=3)
    desk.do("ask", "ann", waiting, body="?")
    desk.do("prioritize", "ann", ticket, priority="high")
    desk.check()
    for each in (ticket, waiting):
        desk.do("prioritize", "ann", each, priority="urgent")
    desk.check()
    assert ticket.overdue and waiting.overdue
    desk.do("prioritize", "ann", ticket, priority="low")
    desk.do("prioritize", "ann", ticket, priority="low")
    desk.do("reply", "zoe", waiting, body="!")
    desk.check()


def test_solved_tickets_are_closed_after_72_hours_unless_the_customer_replies(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 5)
    first, second = desk.open("zoe"), desk.open("zoe")
    for ticket in (first, second):
        desk.do("solve", "ann", ticket)
    desk.advance(hours=48)
    desk.do("reply", "ann", first, body="done?")
    desk.do("reply", "zoe", second, body="no")
    desk.advance(hours=23, minutes=58)
    desk.check()
    desk.do("solve", "ann", second)
    with project.subscribe("desk:ticket", user="admin", ticket=first.id) as live:
        desk.advance(minutes=4)
        live.wait_until(lambda seen: seen["status"] == "closed")
    desk.check()
    assert (first.status, second.status) == ("closed", "solved")
    for what, arguments in (("reply", {"user": "zoe", "body": "x"}), ("note", {"user": "ann", "body": "x"})):
        desk.refused("CLOSED", what, ticket=first, **arguments)
    desk.do("tag", "ann", first, tags=["b", "a", "b"])
    desk.do("reply", "zoe", second, body="still not")
    desk.advance(hours=80)
    desk.check()
    assert second.status == "open"


def test_tickets_are_assigned_in_order_as_soon_as_somebody_is_available(project: Deployment) -> None:
    desk = Desk(project)
    desk.go_to(weekday=0, hour=9)
    opened = [
        desk.open("zoe", priority=priority) for priority in ("low", "normal", "urgent", "normal", "urgent", "low")
    ]
    desk.set_agent("Zed", 0)
    desk.set_agent("bob", 1, online=False)
    desk.check()
    desk.set_agent("Zed", 1)
    desk.set_agent("ann", 1)
    desk.check()
    assert [ticket.assignee for ticket in opened] == [None, None, "Zed", None, "ann", None]
    desk.do("ask", "ann", opened[2], body="?")
    desk.check()
    desk.do("solve", "ann", opened[4])
    desk.check()
    assert opened[1].assignee == "ann"
    desk.advance(days=2)
    desk.set_agent("ann", 2)
    desk.check()
    desk.do("assign", "bob", opened[0], agent="bob")
    desk.do("assign", "bob", opened[0], agent="bob")
    desk.do("assign", "ann", opened[3], agent="bob")
    desk.check()
    desk.set_agent("ann", 0, online=False)
    desk.do("reply", "zoe", opened[4], body="again")
    desk.check()
    assert opened[4].assignee is None
    desk.set_agent("bob", 9)
    desk.check()


def test_of_agents_with_the_same_load_the_first_by_name_gets_the_ticket(project: Deployment) -> None:
    desk = Desk(project)
    for name in ("ann", "Zed", "Bob"):
        desk.set_agent(name, 2)
    opened = [desk.open("zoe") for _ in range(5)]
    assert [ticket.assignee for ticket in opened] == ["Bob", "Zed", "ann", "Bob", "Zed"]
    desk.check()


def test_overdue_tickets_are_assigned_first(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 0)
    desk.go_to(weekday=0, hour=9)
    low = desk.open("zoe", priority="low")
    desk.advance(hours=7)
    desk.open("yan", priority="high")
    desk.open("yan", priority="urgent")
    desk.do("prioritize", "ann", low, priority="urgent")
    desk.do("prioritize", "ann", low, priority="low")
    desk.set_agent("ann", 1)
    desk.check()
    assert low.assignee == "ann"


def test_merged_tickets_live_on_in_the_other_one(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 2)
    desk.go_to(weekday=1, hour=9)
    old = desk.open("zoe", "Old", "one", "low")
    desk.advance(hours=5)
    new, third, other = desk.open("zoe", "New", "two", "high"), desk.open("zoe", "Third", "three"), desk.open("yan")
    desk.do("note", "ann", old, body="inside")
    desk.do("reply", "zoe", new, body="four")
    desk.do("tag", "ann", old, tags=["b", "a"])
    desk.do("tag", "ann", new, tags=["c", "a"])
    desk.refused("INVALID", "merge", user="ann", ticket=old, into=other)
    desk.refused("INVALID", "merge", user="ann", ticket=old, into=old)
    desk.do("merge", "ann", old, into=new)
    desk.check()
    desk.check_messages(new)
    desk.check_messages(old)
    for into in (third, other):
        desk.refused("CLOSED" if into is third else "INVALID", "merge", user="ann", ticket=old, into=into)
    desk.refused("CLOSED", "merge", user="ann", ticket=third, into=old)
    desk.do("ask", "ann", third, body="?")
    desk.do("merge", "ann", new, into=third)
    desk.do("reply", "zoe", old, body="five")
    desk.do("note", "ann", old, body="six")
    desk.check()
    desk.check_messages(third)
    assert third.status == "open"
    for what, arguments in (("solve", {}), ("ask", {"body": "?"}), ("prioritize", {"priority": "low"})):
        desk.refused("CLOSED", what, user="ann", ticket=old, **arguments)
    desk.do("solve", "ann", third)
    desk.advance(hours=73)
    desk.refused("CLOSED", "reply", user="zoe", ticket=old, body="x")
    desk.check()


def test_a_merge_can_make_a_ticket_overdue(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 1)
    desk.go_to(weekday=1, hour=9)
    old = desk.open("zoe", priority="low")
    desk.advance(hours=4)
    new, more = desk.open("zoe", priority="urgent"), desk.open("zoe", priority="urgent")
    desk.do("merge", "ann", old, into=more)
    desk.check()
    assert (more.overdue, more.assignee, new.assignee) == (True, "ann", None)


def test_messages_can_be_split_off(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 1)
    ticket = desk.open("zoe", "First", "one", "high")
    desk.do("reply", "zoe", ticket, body="two")
    desk.do("note", "ann", ticket, body="three")
    desk.do("reply", "ann", ticket, body="four")
    desk.do("tag", "ann", ticket, tags=["x"])
    other = desk.open("zoe")
    ids = [each["id"] for each in project.query("desk:messages", user="ann", ticket=ticket.id)]
    foreign = project.query("desk:messages", user="ann", ticket=other.id)[0]["id"]
    for messages in ([], [ids[0]], [ids[1], ids[0]], [ids[1], foreign]):
        desk.refused("INVALID", "split", user="ann", ticket=ticket, messages=messages, subject="x")
    new = desk.split("ann", ticket, [1, 2], "Second")
    desk.check()
    for each in (ticket, new):
        desk.check_messages(each)
    desk.refused("INVALID", "split", user="ann", ticket=ticket, messages=[ids[1]], subject="x")
    desk.do("solve", "ann", ticket)
    desk.refused("CLOSED", "split", user="ann", ticket=ticket, messages=[ids[3]], subject="x")
    desk.check()


def test_search_counts_facets_without_their_own_filter(project: Deployment) -> None:
    chance = random.Random(3)
    desk = Desk(project)
    desk.set_agent("ann", 5)
    words = ["Printer", "on-fire", "login2", "again", "cafe", "fire"]
    for _ in range(14):
        customer, text = chance.choice(["zoe", "yan"]), " ".join(chance.sample(words, 2))
        ticket = desk.open(customer, text, f"My {chance.choice(words)}.", chance.choice(PRIORITIES))
        desk.do("tag", "ann", ticket, tags=chance.sample(["red", "Blue", "old"], chance.randint(0, 2)))
        if chance.random() < 0.5:
            desk.do("note", "ann", ticket, body=f"secret {chance.choice(words)}")
        if chance.random() < 0.3:
            desk.do("solve", "ann", ticket)
    mergeable = [ticket for ticket in desk.truth.tickets if ticket.is_active and ticket.customer == "zoe"]
    desk.do("merge", "ann", mergeable[0], into=mergeable[1])
    for _ in range(40):
        asked: dict[str, str] = {
            "text": chance.choice(["", "FIRE", "fire printer", "login", "my again", "secret", "on"])
        }
        for name, values in (("status", ["open", "solved"]), ("priority", PRIORITIES), ("tag", ["red", "Blue", "no"])):
            if chance.random() < 0.35:
                asked[name] = chance.choice(values)
        for user in ("ann", "zoe", "admin", "stranger"):
            received = project.query("desk:find", user=user, **asked)
            assert received == desk.truth.find(user, **asked), f"{user} looks for {asked}"


def test_search_returns_the_20_newest(project: Deployment) -> None:
    desk = Desk(project)
    ids = [project.mutation("desk:open", user="zoe", subject="a", body="b", priority="low") for _ in range(23)]
    found = project.query("desk:find", user="zoe", text="A b")
    assert (found["total"], found["tickets"]) == (23, ids[:2:-1])
    assert desk.events(ids[0])[0]["what"] == "opened"


def test_everybody_may_do_what_they_are_there_for(project: Deployment) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 5)
    ticket = desk.open("zoe")
    desk.do("tag", "ann", ticket, tags=["vip"])
    desk.do("note", "ann", ticket, body="rude")
    for user in ("zoe", "ann"):
        desk.refused("FORBIDDEN", "setAgent", user=user, agent="x", capacity=-1, online=True)
        desk.refused("FORBIDDEN", "setHoliday", user=user, date="x", holiday=True)
    for user in ("ann", "admin"):
        desk.refused("FORBIDDEN", "open", user=user, subject="", body="", priority="low")
    for user in ("admin", "yan"):
        desk.refused("FORBIDDEN", "reply", user=user, ticket=ticket, body="x")
    other = desk.open("yan")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("ask", {"body": "x"}),
        ("solve", {}),
        ("note", {"body": "x"}),
        ("prioritize", {"priority": "low"}),
        ("tag", {"tags": []}),
        ("assign", {"agent": "nobody"}),
        ("merge", {"into": other}),
        ("split", {"messages": [], "subject": "x"}),
    ]
    for what, arguments in calls:
        for user in ("zoe", "yan", "admin"):
            desk.refused("FORBIDDEN", what, user=user, ticket=ticket, **arguments)
    for path in ("ticket", "messages", "events"):
        with project.fails(data={"code": "FORBIDDEN"}):
            project.query(f"desk:{path}", user="yan", ticket=ticket.id)
    for path, arguments in (("events", {"ticket": ticket.id}), ("agents", {})):
        with project.fails(data={"code": "FORBIDDEN"}):
            project.query(f"desk:{path}", user="zoe", **arguments)
    assert project.query("desk:ticket", user="zoe", ticket=ticket.id) == desk.truth.shown(ticket, is_desk=False)
    desk.refused("INVALID", "assign", user="ann", ticket=ticket, agent="zoe")
    for agent, capacity in (("zoe", 1), ("admin", 1), ("new", -1), ("new", 1.5), ("ann", -1)):
        desk.refused("INVALID", "setAgent", user="admin", agent=agent, capacity=capacity, online=True)
    desk.check()
    desk.check_messages(ticket)


@pytest.mark.parametrize("user", ["ann", "zoe"])
def test_a_subscription_to_a_ticket_is_not_run_again_because_of_others(project: Deployment, user: str) -> None:
    desk = Desk(project)
    desk.set_agent("ann", 5)
    mine, other = desk.open("zoe"), desk.open("yan")
    with project.subscribe("desk:ticket", user=user, ticket=mine.id) as live:
        third = desk.open("zoe")
        desk.do("reply", "yan", other, body="x")
        desk.do("ask", "ann", third, body="x")
        desk.do("tag", "ann", third, tags=["x"])
        desk.do("merge", "ann", third, into=desk.open("zoe"))
        desk.do("solve", "ann", other)
        assert live.executions() == 1
        desk.do("prioritize", "ann", mine, priority="high")
        live.wait_until(lambda ticket: ticket["priority"] == "high")


FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "setAgent": ("mutation", {"user": "admin", "agent": "ann", "capacity": 1, "online": True}),
    "setHoliday": ("mutation", {"user": "admin", "date": "2050-01-01", "holiday": True}),
    "open": ("mutation", {"user": "zoe", "subject": "s", "body": "b", "priority": "low"}),
    "reply": ("mutation", {"user": "zoe", "ticket": "", "body": "b"}),
    "ask": ("mutation", {"user": "ann", "ticket": "", "body": "b"}),
    "solve": ("mutation", {"user": "ann", "ticket": ""}),
    "note": ("mutation", {"user": "ann", "ticket": "", "body": "b"}),
    "prioritize": ("mutation", {"user": "ann", "ticket": "", "priority": "low"}),
    "tag": ("mutation", {"user": "ann", "ticket": "", "tags": []}),
    "assign": ("mutation", {"user": "ann", "ticket": "", "agent": "ann"}),
    "merge": ("mutation", {"user": "ann", "ticket": "", "into": ""}),
    "split": ("mutation", {"user": "ann", "ticket": "", "messages": [], "subject": "s"}),
    "ticket": ("query", {"user": "ann", "ticket": ""}),
    "messages": ("query", {"user": "ann", "ticket": ""}),
    "events": ("query", {"user": "ann", "ticket": ""}),
    "find": ("query", {"user": "ann", "text": ""}),
    "agents": ("query", {"user": "ann"}),
}


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {f"desk:{name}": kind for name, (kind, _) in FUNCTIONS.items()}
    ticket = Desk(project).open("zoe").id
    for name, (kind, declared) in FUNCTIONS.items():
        arguments = {key: ticket if key in ("ticket", "into") else value for key, value in declared.items()}
        for argument, value in arguments.items():
            wrong = {**arguments, argument: "1" if isinstance(value, int | list) else 1}
            for rejected in (wrong, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    getattr(project, kind)(f"desk:{name}", rejected)
    for wrong in ({"status": "merged"}, {"priority": "none"}, {"tag": 1}):
        with project.fails("ArgumentValidationError"):
            project.query("desk:find", {"user": "ann", "text": "", **wrong})
