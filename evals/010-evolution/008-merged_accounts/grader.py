"""Two accounts of one person become one, and every rule of the given code still holds."""

import copy
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment

TABLES = (
    *("workspaces", "members", "teams", "teamMembers", "projects", "access", "tasks", "votes", "watchers", "comments"),
    *("reactions", "notifications", "timeEntries", "timesheets", "pins", "reminders", "activity"),
)
MONTHS = ("2026-02", "2026-03")
MOST_PINS = 6
RANKS = ("guest", "member", "admin", "owner")

Document = dict[str, Any]
Tables = dict[str, list[Document]]


def is_live(document: Document) -> bool:
    return "deletedAt" not in document


def is_open(task: Document) -> bool:
    return is_live(task) and task["state"] == "open"


def by_id(documents: list[Document]) -> dict[str, Document]:
    return {document["_id"]: document for document in documents}


# What must be true after a merge, from the documents before it.


def once(documents: list[Document], keep: str, duplicate: str, *subject: str) -> list[Document]:
    """Of what a member can have only once, the kept account's stays; both are the same member afterwards."""
    own = {tuple(each[name] for name in subject) for each in documents if each["memberId"] == keep}
    left = []
    for each in documents:
        if each["memberId"] == duplicate:
            if tuple(each[name] for name in subject) in own:
                continue
            each = {**each, "memberId": keep}
        left.append(each)
    return left


def merged(before: Tables, keep: str, duplicate: str) -> Tables:
    tables = copy.deepcopy(before)
    accounts = by_id(tables["members"])

    def same(member: str | None) -> str | None:
        return keep if member == duplicate else member

    tables["teamMembers"] = once(tables["teamMembers"], keep, duplicate, "teamId")
    tables["access"] = once(tables["access"], keep, duplicate, "projectId")
    tables["votes"] = once(tables["votes"], keep, duplicate, "taskId")
    tables["watchers"] = once(tables["watchers"], keep, duplicate, "taskId")
    tables["reactions"] = once(tables["reactions"], keep, duplicate, "commentId", "emoji")
    tables["reminders"] = once(tables["reminders"], keep, duplicate, "taskId")
    for team in tables["teams"]:
        if "leadId" in team:
            team["leadId"] = same(team["leadId"])
    for project in tables["projects"]:
        project["ownerId"] = same(project["ownerId"])
    for document in tables["tasks"] + tables["comments"]:
        if document["authorId"] == duplicate:
            document["authorId"] = keep
            document["authorName"] = accounts[keep]["name"]
    for task in tables["tasks"]:
        task["assigneeIds"] = list(dict.fromkeys(map(same, task["assigneeIds"])))
    for comment in tables["comments"]:
        comment["mentions"] = list(dict.fromkeys(map(same, comment["mentions"])))
    for entry in tables["timeEntries"]:
        entry["memberId"] = same(entry["memberId"])
    tables["notifications"] = merged_notifications(tables["notifications"], keep, duplicate)
    tables["timesheets"] = merged_timesheets(tables["timesheets"], keep, duplicate)
    tables["pins"] = merged_pins(tables["pins"], keep, duplicate)
    accounts[keep]["role"] = max((accounts[each]["role"] for each in (keep, duplicate)), key=RANKS.index)
    tables["members"] = [member for member in tables["members"] if member["_id"] != duplicate]
    count(tables)
    return tables


def merged_notifications(notifications: list[Document], keep: str, duplicate: str) -> list[Document]:
    def subject(each: Document) -> tuple[Any, ...]:
        return each["taskId"], each["kind"]

    own = {subject(each): each for each in notifications if each["memberId"] == keep and not each["read"]}
    left = []
    for each in notifications:
        each["actorId"] = keep if each["actorId"] == duplicate else each["actorId"]
        if each["memberId"] == duplicate:
            if not each["read"] and subject(each) in own:
                own[subject(each)]["times"] += each["times"]
                continue
            each["memberId"] = keep
        left.append(each)
    return left


def merged_timesheets(sheets: list[Document], keep: str, duplicate: str) -> list[Document]:
    for sheet in sheets:
        if sheet.get("approvedBy") in (keep, duplicate):
            sheet["approvedBy"] = keep
            if sheet["memberId"] in (keep, duplicate):
                del sheet["approvedBy"]
    own = {sheet["month"]: sheet for sheet in sheets if sheet["memberId"] == keep}
    left = []
    for sheet in sheets:
        if sheet["memberId"] == duplicate:
            if sheet["month"] in own:
                if "approvedBy" not in sheet:
                    own[sheet["month"]].pop("approvedBy", None)
                continue
            sheet["memberId"] = keep
        left.append(sheet)
    return left


def merged_pins(pins: list[Document], keep: str, duplicate: str) -> list[Document]:
    ordered = sorted(pins, key=lambda pin: (pin["memberId"] != keep, pin["position"]))
    pinned = list(dict.fromkeys(pin["taskId"] for pin in ordered if pin["memberId"] in (keep, duplicate)))[:MOST_PINS]
    others = [pin for pin in pins if pin["memberId"] not in (keep, duplicate)]
    return others + [{"memberId": keep, "taskId": task, "position": position} for position, task in enumerate(pinned)]


def count(tables: Tables) -> None:
    """All numbers that are kept, from what they count."""
    tasks = by_id(tables["tasks"])
    for workspace in tables["workspaces"]:
        workspace["activeMembers"] = sum(member["active"] for member in tables["members"])
    for team in tables["teams"]:
        team["size"] = sum(each["teamId"] == team["_id"] for each in tables["teamMembers"])
    for project in tables["projects"]:
        project["openTasks"] = sum(is_open(task) and task["projectId"] == project["_id"] for task in tables["tasks"])
    for task in tables["tasks"]:
        task["votes"] = sum(vote["taskId"] == task["_id"] for vote in tables["votes"])
        task["comments"] = sum(is_live(each) and each["taskId"] == task["_id"] for each in tables["comments"])
        task["minutes"] = sum(each["minutes"] for each in tables["timeEntries"] if each["taskId"] == task["_id"])
    for comment in tables["comments"]:
        emoji = [each["emoji"] for each in tables["reactions"] if each["commentId"] == comment["_id"]]
        comment["reactions"] = dict(Counter(emoji))
    for sheet in tables["timesheets"]:
        booked = [each for each in tables["timeEntries"] if each["memberId"] == sheet["memberId"]]
        sheet["minutes"] = sum(each["minutes"] for each in booked if each["day"].startswith(sheet["month"]))
    for member in tables["members"]:
        own = member["_id"]
        member["openTasks"] = sum(is_open(task) and own in task["assigneeIds"] for task in tables["tasks"])
        unread = [each for each in tables["notifications"] if each["memberId"] == own and not each["read"]]
        member["unread"] = sum(each["times"] for each in unread)
        votes = [vote for vote in tables["votes"] if vote["memberId"] != own]
        member["karma"] = sum(tasks[vote["taskId"]]["authorId"] == own for vote in votes)


# What people see, from the documents and from the functions.


def expected_sight(tables: Tables) -> dict[str, Any]:
    names = {member["_id"]: member["name"] for member in tables["members"]}
    live = [task for task in tables["tasks"] if is_live(task)]
    shown = {
        "members": sorted(
            (
                {"memberId": member["_id"]}
                | {name: member[name] for name in ("name", "email", "role", "active", "openTasks", "unread", "karma")}
                for member in tables["members"]
            ),
            key=lambda member: member["name"],
        ),
        "teams": [
            {
                "teamId": team["_id"],
                "name": team["name"],
                "size": team["size"],
                "lead": names.get(team.get("leadId", "")),
            }
            for team in tables["teams"]
        ],
        "projects": [
            (project["name"], project["openTasks"], names[project["ownerId"]]) for project in tables["projects"]
        ],
        "activeMembers": tables["workspaces"][0]["activeMembers"],
        "tasks": {
            task["_id"]: {
                "author": task.get("authorName", names[task["authorId"]]),
                "assignees": [names[each] for each in task["assigneeIds"]],
                **{name: task[name] for name in ("votes", "comments", "minutes", "state")},
            }
            for task in live
        },
        "comments": {
            task["_id"]: [
                {"commentId": each["_id"], "author": each["authorName"]}
                | {name: each[name] for name in ("body", "mentions", "reactions")}
                for each in tables["comments"]
                if is_live(each) and each["taskId"] == task["_id"]
            ]
            for task in live
        },
    }
    active = [member["_id"] for member in tables["members"] if member["active"]]
    return shown | {"own": {names[member]: expected_own(tables, member) for member in active}}


def expected_own(tables: Tables, member: str) -> dict[str, Any]:
    names = {each["_id"]: each["name"] for each in tables["members"]}
    tasks = by_id(tables["tasks"])
    live = [task["_id"] for task in tables["tasks"] if is_live(task)]

    def mine(table: str) -> list[Document]:
        return [each for each in tables[table] if each["memberId"] == member]

    sheets = {sheet["month"]: sheet for sheet in mine("timesheets")}
    watched = {each["taskId"]: {"muted": each["muted"]} for each in mine("watchers")}
    pins = sorted(mine("pins"), key=lambda pin: pin["position"])
    unread = [each for each in mine("notifications") if not each["read"] and each["taskId"] in live]
    return {
        "unread": sorted((each["kind"], each["taskId"], names[each["actorId"]], each["times"]) for each in unread),
        "votes": {task: any(vote["taskId"] == task for vote in mine("votes")) for task in live},
        "watched": {task: watched.get(task) for task in live},
        "sheets": [
            {
                "minutes": sheets[month]["minutes"] if month in sheets else 0,
                "approvedBy": names.get(sheets.get(month, {}).get("approvedBy", "")),
            }
            for month in MONTHS
        ],
        "pins": [tasks[pin["taskId"]]["title"] for pin in pins if pin["taskId"] in live],
        "reminders": sorted((each["taskId"], each["at"]) for each in mine("reminders")),
        "tasks": sorted(task["_id"] for task in tables["tasks"] if is_open(task) and member in task["assigneeIds"]),
    }


def sight(project: Deployment, tables: Tables, owner: str) -> dict[str, Any]:
    """The same, from the functions. `tables` only says what there is to ask for."""
    live = [task["_id"] for task in tables["tasks"] if is_live(task)]
    projects = project.query("projects:list", actorId=owner)
    shown = [
        each for one in projects for each in project.query("tasks:list", actorId=owner, projectId=one["projectId"])
    ]
    fields = ("author", "assignees", "votes", "comments", "minutes", "state")
    return {
        "members": project.query("members:list", actorId=owner),
        "teams": project.query("teams:list", actorId=owner),
        "projects": [(each["name"], each["openTasks"], each["owner"]) for each in projects],
        "activeMembers": project.query("workspaces:get", actorId=owner)["activeMembers"],
        "tasks": {task["taskId"]: {name: task[name] for name in fields} for task in shown},
        "comments": {task: project.query("comments:list", actorId=owner, taskId=task) for task in live},
        "own": {
            member["name"]: own_sight(project, live, member["_id"]) for member in tables["members"] if member["active"]
        },
    }


def own_sight(project: Deployment, live: list[str], member: str) -> dict[str, Any]:
    def ask(path: str, **arguments: Any) -> Any:
        return project.query(path, actorId=member, **arguments)

    unread = ask("notifications:unread")
    return {
        "unread": sorted((each["kind"], each["taskId"], each["actor"], each["times"]) for each in unread),
        "votes": {task: ask("votes:mine", taskId=task) for task in live},
        "watched": {task: ask("watchers:get", taskId=task) for task in live},
        "sheets": [ask("time:sheet", month=month) for month in MONTHS],
        "pins": ask("pins:list"),
        "reminders": sorted((each["taskId"], each["at"]) for each in ask("reminders:pending")),
        "tasks": sorted(ask("tasks:mine")),
    }


# A workspace in which a lot has happened.


@dataclass
class World:
    """Two accounts of one person, `kay` and `kim`, among others."""

    given: Deployment
    chance: random.Random
    members: dict[str, str] = field(default_factory=dict)
    workspace: str = ""
    teams: list[str] = field(default_factory=list)
    projects: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    comments: list[tuple[str, str]] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    approved: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def begin(cls, given: Deployment, seed: int = 0, **roles: str) -> "World":
        world = cls(given, random.Random(seed))
        created = given.mutation("workspaces:create", name="Works", ownerName="olga", ownerEmail="Olga@x.org")
        world.workspace, world.members["olga"] = created["workspaceId"], created["memberId"]
        for name, role in ({"ann": "admin", "kay": "member", "kim": "member", "max": "member"} | roles).items():
            email = f"{name}@X.org"
            world.members[name] = world.do("members:add", "olga", name=name, email=email, role=role)
        world.teams = [world.do("teams:create", "ann", name=name) for name in ("red", "blue")]
        world.projects = [world.do("projects:create", name, name=f"of {name}") for name in ("kay", "kim")]
        for number in range(6):
            author = ("kay", "kim", "max", "kim", "olga", "kay")[number]
            where = world.projects[number % 2]
            world.tasks.append(world.do("tasks:create", author, projectId=where, title=f"task {number}"))
        return world

    def do(self, path: str, actor: str, **arguments: Any) -> Any:
        return self.given.mutation(path, actorId=self.members[actor], **arguments)

    def somebody(self) -> str:
        return self.chance.choice(["kay", "kay", "kim", "kim", "ann", "max", "olga"])

    def live_task(self) -> str:
        return self.chance.choice([task for task in self.tasks if task not in self.deleted])

    def documents(self) -> Tables:
        return {table: self.given.documents(table) for table in TABLES}

    def live_for(self, steps: int) -> None:
        actions = [self.vote, self.vote, self.assign, self.assign, self.comment, self.comment, self.react, self.react]
        actions += [self.watch, self.book, self.book, self.pin, self.pin, self.remind, self.team, self.misc]
        for _ in range(steps):
            self.chance.choice(actions)()

    def vote(self) -> None:
        self.do(self.chance.choice(["votes:vote"] * 3 + ["votes:withdraw"]), self.somebody(), taskId=self.live_task())

    def assign(self) -> None:
        path = self.chance.choice(["tasks:assign"] * 4 + ["tasks:unassign"])
        self.do(path, self.somebody(), taskId=self.live_task(), memberId=self.members[self.somebody()])

    def comment(self) -> None:
        task = self.live_task()
        mentions = [self.members[self.somebody()] for _ in range(self.chance.choice([0, 2, 4]))]
        author = self.somebody()
        made = self.do("comments:add", author, taskId=task, body="…", mentions=mentions)
        self.comments.append((made, task))
        if self.chance.random() < 0.15:
            self.do("comments:remove", author, commentId=made)
            self.comments.pop()

    def react(self) -> None:
        found = [comment for comment, task in self.comments if task not in self.deleted][-4:]
        if found:
            comment, emoji = self.chance.choice(found), self.chance.choice(["up", "party"])
            self.do("reactions:toggle", self.somebody(), commentId=comment, emoji=emoji)

    def watch(self) -> None:
        muted = self.chance.choice([True, False, None])
        self.do("watchers:set", self.somebody(), taskId=self.live_task(), muted=muted)

    def book(self) -> None:
        member, month = self.somebody(), self.chance.choice(MONTHS)
        if (member, month) in self.approved:
            return
        minutes = self.chance.randint(1, 90)
        self.do(
            "time:book", member, taskId=self.live_task(), day=f"{month}-{self.chance.randint(10, 28)}", minutes=minutes
        )
        if self.chance.random() < 0.35:
            approver = self.chance.choice([name for name in ("ann", "olga") if name != member])
            self.do("time:approve", approver, memberId=self.members[member], month=month)
            self.approved.add((member, month))

    def pin(self) -> None:
        path = self.chance.choice(["pins:pin"] * 3 + ["pins:unpin"])
        self.do(path, self.somebody(), taskId=self.live_task())

    def remind(self) -> None:
        minutes = self.chance.randint(60, 600)
        self.do("reminders:set", self.somebody(), taskId=self.live_task(), inMinutes=minutes)

    def team(self) -> None:
        member, team = self.somebody(), self.chance.choice(self.teams)
        if self.chance.random() < 0.3:
            self.do("teams:leave", member, teamId=team)
        else:
            self.do("teams:join", member, teamId=team)
            if self.chance.random() < 0.4:
                self.do("teams:setLead", "ann", teamId=team, memberId=self.members[member])

    def misc(self) -> None:
        choice = self.chance.random()
        if choice < 0.3:
            self.do("tasks:setState", "max", taskId=self.live_task(), state=self.chance.choice(["open", "done"]))
        elif choice < 0.5 and len(self.deleted) < 2:
            task = self.live_task()
            self.do("tasks:remove", "max", taskId=task)
            self.deleted.add(task)
        elif choice < 0.65:
            self.do("notifications:readAll", self.somebody())
        elif choice < 0.8:
            owner, project = self.somebody(), self.chance.choice(self.projects)
            self.do("projects:setOwner", "ann", projectId=project, memberId=self.members[owner])
        else:
            self.do("members:rename", "max", name="max")

    def merge(self, project: Deployment, actor: str = "ann", keep: str = "kay", duplicate: str = "kim") -> None:
        ids = {"keepId": self.members[keep], "duplicateId": self.members[duplicate]}
        assert project.mutation("members:merge", actorId=self.members[actor], **ids) is None


def check_merge(world: World, project: Deployment, before: Tables, keep: str = "kay", duplicate: str = "kim") -> Tables:
    after = merged(before, world.members[keep], world.members[duplicate])
    received, expected = sight(project, after, world.members["olga"]), expected_sight(after)
    for part, value in expected.items():
        if part == "own":
            for name, own in value.items():
                assert received["own"][name] == own, f"what {name} sees"
        else:
            assert received[part] == value, part
    return after


@pytest.mark.parametrize("seed", range(3))
def test_everything_is_as_if_there_had_only_been_one_account(given: GivenDeployment, seed: int) -> None:
    world = World.begin(given, seed)
    world.live_for(90)
    before = world.documents()
    project = given.upgrade()
    world.merge(project)
    after = check_merge(world, project, before)
    for task in world.deleted:
        project.mutation("tasks:restore", actorId=world.members["max"], taskId=task)
    for task in after["tasks"]:
        task.pop("deletedAt", None)
    count(after)
    received, expected = sight(project, after, world.members["olga"]), expected_sight(after)
    assert received["members"] == expected["members"], "after deleted tasks were restored"
    assert received["tasks"] == expected["tasks"], "after deleted tasks were restored"
    assert received["own"] == expected["own"], "after deleted tasks were restored"
    lines = project.query("workspaces:activity", actorId=world.members["olga"], limit=500)
    assert lines[len(world.deleted)] == {
        "actorId": world.members["ann"],
        "actorName": "ann",
        "action": "member.merge",
        "subject": "kim",
    }
    fields = ("actorId", "actorName", "action", "subject")
    old = [{name: line[name] for name in fields} for line in reversed(before["activity"])]
    assert lines[len(world.deleted) + 1 :] == old


def test_life_goes_on_after_a_merge(given: GivenDeployment) -> None:
    world = World.begin(given, 11)
    world.live_for(50)
    project = given.upgrade()
    world.merge(project, "olga")
    world.given = project
    world.members["kim"] = world.members["kay"]
    sheets = {month: project.query("time:sheet", actorId=world.members["kay"], month=month) for month in MONTHS}
    for month, sheet in sheets.items():
        taken = {("kay", month), ("kim", month)}
        world.approved = world.approved - taken if sheet["approvedBy"] is None else world.approved | taken
    world.live_for(60)
    tables = world.documents()
    gone = [member for member in tables["members"] if member["name"] == "kim"]
    tables["members"] = [member for member in tables["members"] if member["name"] != "kim"]
    assert not any(member["active"] for member in gone)
    count(tables)
    received, expected = sight(project, tables, world.members["olga"]), expected_sight(tables)
    for part in expected:
        assert received[part] == expected[part], part


def test_old_documents_without_the_newer_fields_are_merged_too(given: GivenDeployment) -> None:
    world = World.begin(given)
    olga, kim = world.members["olga"], world.members["kim"]
    task = given.documents("tasks")[1]
    bare = {key: value for key, value in task.items() if key not in ("_id", "_creationTime", "authorName")}
    old = given.insert("tasks", **{**bare, "number": 99, "title": "old", "authorId": kim})
    project = given.upgrade()
    world.merge(project)
    assert project.query("tasks:get", actorId=olga, taskId=old)["author"] == "kay"
    project.mutation("members:rename", actorId=world.members["kay"], name="Kay K.")
    assert project.query("tasks:get", actorId=olga, taskId=old)["author"] == "Kay K."
    assert project.query("tasks:get", actorId=olga, taskId=world.tasks[1])["author"] == "Kay K."
    for voter in ("max", "olga"):
        project.mutation("votes:vote", actorId=world.members[voter], taskId=old)
    karma = {each["name"]: each["karma"] for each in project.query("members:list", actorId=olga)}
    assert karma["Kay K."] == 2


def test_accounts_with_200_documents_of_a_kind_are_merged(given: GivenDeployment) -> None:
    world = World.begin(given)
    task = {"state": "done", "assigneeIds": [], "votes": 1, "comments": 1, "minutes": 0}
    for name, where in zip(("kay", "kim"), world.projects, strict=True):
        author = {"authorId": world.members[name], "authorName": name}
        numbered = [{"number": number, "title": f"{name} {number}"} for number in range(100, 298)]
        made = given.insert_many("tasks", [{"projectId": where, **task, **author, **each} for each in numbered])
        own = [{"taskId": each, "memberId": world.members[name]} for each in made]
        given.insert_many("votes", own)
        given.insert_many("watchers", [{**each, "muted": False} for each in own])
        comment = {**author, "body": "…", "mentions": [], "reactions": {}}
        given.insert_many("comments", [{"taskId": each, **comment} for each in made])
    after = merged(world.documents(), world.members["kay"], world.members["kim"])
    project = given.upgrade()
    world.merge(project)
    olga, expected = world.members["olga"], expected_sight(after)
    assert project.query("members:list", actorId=olga) == expected["members"]
    for where in world.projects:
        shown = project.query("tasks:list", actorId=olga, projectId=where)
        authors = {each["taskId"]: each["author"] for each in shown}
        assert authors == {each: expected["tasks"][each]["author"] for each in authors}
    for table in ("comments", "votes", "watchers"):
        assert len(project.documents(table)) == len(after[table]), table
    written = [each["authorName"] for each in project.documents("comments")]
    assert written == ["kay"] * 396


def test_votes_for_ones_own_tasks_give_no_points(given: GivenDeployment) -> None:
    world = World.begin(given)
    for number, voters in enumerate([("kim", "max"), ("kay", "kim"), ("kay", "kim", "max"), ("olga",), ("kim",)]):
        for voter in voters:
            world.do("votes:vote", voter, taskId=world.tasks[number])
    world.do("tasks:remove", "max", taskId=world.tasks[3])
    before = world.documents()
    project = given.upgrade()
    world.merge(project)
    check_merge(world, project, before)
    karma = {each["name"]: each["karma"] for each in project.query("members:list", actorId=world.members["olga"])}
    assert karma == {"ann": 0, "kay": 2, "max": 1, "olga": 1}
    project.mutation("votes:withdraw", actorId=world.members["kay"], taskId=world.tasks[2])
    project.mutation("votes:withdraw", actorId=world.members["kay"], taskId=world.tasks[1])
    karma = {each["name"]: each["karma"] for each in project.query("members:list", actorId=world.members["olga"])}
    assert karma == {"ann": 0, "kay": 2, "max": 0, "olga": 1}


def test_reminders_of_both_come_when_they_were_due_and_once(given: GivenDeployment) -> None:
    world = World.begin(given)
    for actor, task, minutes in (("kim", 0, 60), ("kay", 1, 90), ("kim", 1, 30), ("kim", 2, 200), ("max", 2, 30)):
        world.do("reminders:set", actor, taskId=world.tasks[task], inMinutes=minutes)
    project = given.upgrade()
    world.merge(project)
    kay = world.members["kay"]
    project.advance(minutes=55)
    assert project.query("notifications:unread", actorId=kay) == []
    project.advance(minutes=10)
    found = [(each["taskId"], each["times"]) for each in project.query("notifications:unread", actorId=kay)]
    assert found == [(world.tasks[0], 1)]
    project.advance(minutes=30)
    found = [(each["taskId"], each["times"]) for each in project.query("notifications:unread", actorId=kay)]
    assert found == [(world.tasks[1], 1), (world.tasks[0], 1)]
    project.mutation("reminders:set", actorId=kay, taskId=world.tasks[2], inMinutes=500)
    project.advance(minutes=200)
    assert len(project.query("notifications:unread", actorId=kay)) == 2
    project.advance(minutes=400)
    assert len(project.query("notifications:unread", actorId=kay)) == 3
    unread = {each["name"]: each["unread"] for each in project.query("members:list", actorId=kay)}
    assert (unread["kay"], unread["max"]) == (3, 1)


def test_nobody_has_approved_their_own_timesheet_after_a_merge(given: GivenDeployment) -> None:
    world = World.begin(given, kay="admin", kim="admin", zoe="member")
    months = [f"2026-0{number}" for number in range(1, 8)]

    def book(member: str, month: str, approver: str | None) -> None:
        world.do("time:book", member, taskId=world.tasks[0], day=f"{month}-10", minutes=10)
        if approver is not None:
            world.do("time:approve", approver, memberId=world.members[member], month=month)

    cases = [("kay", "kim", None), ("kim", "kay", None), ("kay", "ann", "olga"), ("kay", "kim", "olga")]
    cases += [("kay", "ann", "none"), ("kim", "ann", None), ("kay", "none", "ann")]
    for month, (member, approver, other) in zip(months, cases, strict=True):
        book(member, month, None if approver == "none" else approver)
        if other is not None:
            book("kim", month, None if other == "none" else other)
    book("zoe", "2026-01", "kim")
    book("max", "2026-01", "kay")
    project = given.upgrade()
    world.merge(project)
    kay = world.members["kay"]
    sheets = [project.query("time:sheet", actorId=kay, month=month) for month in months]
    assert [sheet["approvedBy"] for sheet in sheets] == [None, None, "ann", None, None, "ann", None]
    assert [sheet["minutes"] for sheet in sheets] == [10, 10, 20, 20, 20, 10, 20]
    for name in ("zoe", "max"):
        sheet = project.query("time:sheet", actorId=world.members[name], month="2026-01")
        assert sheet == {"minutes": 10, "approvedBy": "kay"}
    for month in (months[2], months[5]):
        with project.fails(data={"code": "APPROVED"}):
            project.mutation("time:book", actorId=kay, taskId=world.tasks[0], day=f"{month}-11", minutes=1)
    entry = next(each for each in given.documents("timeEntries") if each["day"] == "2026-02-10")
    project.mutation("time:cancel", actorId=kay, entryId=entry["_id"])
    assert project.query("time:sheet", actorId=kay, month="2026-02")["minutes"] == 0


def test_pins_of_the_kept_account_come_first_as_far_as_there_is_room(given: GivenDeployment) -> None:
    world = World.begin(given)
    more = [world.do("tasks:create", "max", projectId=world.projects[0], title=f"more {n}") for n in range(4)]
    for task in (world.tasks[3], more[0], world.tasks[1], more[1]):
        world.do("pins:pin", "kay", taskId=task)
    for task in (more[2], world.tasks[1], more[3], world.tasks[5], world.tasks[4]):
        world.do("pins:pin", "kim", taskId=task)
    world.do("tasks:remove", "max", taskId=more[2])
    project = given.upgrade()
    world.merge(project)
    kay = world.members["kay"]
    assert project.query("pins:list", actorId=kay) == ["task 3", "more 0", "task 1", "more 1", "more 3"]
    with project.fails(data={"code": "FULL"}):
        project.mutation("pins:pin", actorId=kay, taskId=world.tasks[5])
    project.mutation("tasks:restore", actorId=world.members["max"], taskId=more[2])
    assert project.query("pins:list", actorId=kay) == ["task 3", "more 0", "task 1", "more 1", "more 2", "more 3"]
    project.mutation("pins:unpin", actorId=kay, taskId=more[0])
    project.mutation("pins:pin", actorId=kay, taskId=world.tasks[0])
    assert project.query("pins:list", actorId=kay) == ["task 3", "task 1", "more 1", "more 2", "more 3", "task 0"]


def test_the_person_can_log_in_with_both_addresses(given: GivenDeployment) -> None:
    world = World.begin(given)
    project = given.upgrade()
    world.merge(project)
    kay, olga, max_ = world.members["kay"], world.members["olga"], world.members["max"]

    def login(email: str) -> str | None:
        found = project.query("members:login", workspaceId=world.workspace, email=email)
        return None if found is None else found["memberId"]

    def change(member: str, email: str) -> None:
        project.mutation("members:changeEmail", actorId=member, email=email)

    assert (login("KIM@x.org"), login("kay@x.org")) == (kay, kay)
    for email in ("kim@x.org", "Kay@x.org"):
        with project.fails(data={"code": "TAKEN"}):
            project.mutation("members:add", actorId=olga, name="new", email=email, role="member")
        with project.fails(data={"code": "TAKEN"}):
            change(max_, email)
    change(kay, "kim@x.org")
    assert (login("kim@x.org"), login("kay@x.org")) == (kay, None)
    change(max_, "kay@x.org")
    change(kay, "third@x.org")
    assert (login("third@x.org"), login("kim@x.org"), login("kay@x.org")) == (kay, None, max_)
    new = project.mutation("members:add", actorId=olga, name="new", email="kim@x.org", role="member")
    assert login("kim@x.org") == new
    emails = {each["name"]: each["email"] for each in project.query("members:list", actorId=olga)}
    assert emails["kay"] == "third@x.org"


def test_changing_the_address_leaves_the_other_one_in_use(given: GivenDeployment) -> None:
    world = World.begin(given)
    project = given.upgrade()
    world.merge(project)
    kay = world.members["kay"]
    project.mutation("members:changeEmail", actorId=kay, email="New@x.org")
    found = {
        email: project.query("members:login", workspaceId=world.workspace, email=email)
        for email in ("kim@x.org", "kay@x.org", "new@x.org")
    }
    logged_in = {"memberId": kay, "name": "kay", "role": "member"}
    assert found == {"kim@x.org": logged_in, "kay@x.org": None, "new@x.org": logged_in}


def test_a_kept_account_can_be_merged_into_a_third_one(given: GivenDeployment) -> None:
    world = World.begin(given, 5)
    world.live_for(60)
    before = world.documents()
    project = given.upgrade()
    world.merge(project)
    world.merge(project, "olga", "max", "kay")
    middle = merged(before, world.members["kay"], world.members["kim"])
    check_merge(world, project, middle, "max", "kay")
    for name in ("kay", "kim", "max"):
        found = project.query("members:login", workspaceId=world.workspace, email=f"{name}@x.org")
        assert found == {"memberId": world.members["max"], "name": "max", "role": "member"}


def test_the_duplicate_is_gone_for_everybody(given: GivenDeployment) -> None:
    world = World.begin(given)
    world.do("members:deactivate", "olga", memberId=world.members["kim"])
    project = given.upgrade()
    world.merge(project)
    kim, kay = world.members["kim"], world.members["kay"]
    for viewer in ("olga", "ann", "max"):
        listed = [each["name"] for each in project.query("members:list", actorId=world.members[viewer])]
        assert listed == ["ann", "kay", "max", "olga"]
    for arguments in ({"keepId": kay, "duplicateId": kim}, {"keepId": kim, "duplicateId": kay}):
        with project.fails(data={"code": "NOT_FOUND"}):
            project.mutation("members:merge", actorId=world.members["ann"], **arguments)
    for path in ("members:reactivate", "members:deactivate"):
        with project.fails(data={"code": "NOT_FOUND"}):
            project.mutation(path, actorId=world.members["olga"], memberId=kim)
    with project.fails(data={"code": "NOT_FOUND"}):
        project.mutation("tasks:assign", actorId=kay, taskId=world.tasks[0], memberId=kim)
    with project.fails(data={"code": "FORBIDDEN"}):
        project.query("tasks:mine", actorId=kim)
    assert project.query("workspaces:get", actorId=kay)["activeMembers"] == 4


def test_the_kept_account_gets_the_higher_role_if_there_is_a_seat(given: GivenDeployment) -> None:
    world = World.begin(given, kim="admin", gil="guest", pat="guest", ida="owner")
    given.replace(world.workspace, {"name": "Works", "activeMembers": 8, "seats": 6})
    project = given.upgrade()
    olga = world.members["olga"]
    world.merge(project, "olga", "gil", "kim")
    roles = {each["name"]: each["role"] for each in project.query("members:list", actorId=olga)}
    assert roles["gil"] == "admin"
    world.merge(project, "olga", "max", "pat")
    project.mutation("members:deactivate", actorId=olga, memberId=world.members["ann"])
    pat = project.mutation("members:add", actorId=olga, name="pat2", email="p2@x.org", role="guest")
    project.mutation("members:add", actorId=olga, name="new", email="n@x.org", role="member")
    with project.fails(data={"code": "NO_SEATS"}):
        project.mutation("members:merge", actorId=olga, keepId=pat, duplicateId=world.members["ann"])
    listed = {each["name"]: (each["role"], each["active"]) for each in project.query("members:list", actorId=olga)}
    assert listed["pat2"] == ("guest", True)
    assert listed["ann"] == ("admin", False)
    with project.fails(data={"code": "NO_SEATS"}):
        project.mutation("members:reactivate", actorId=olga, memberId=world.members["ann"])


def test_access_of_guests_is_kept(given: GivenDeployment) -> None:
    world = World.begin(given, gil="guest", gus="guest")
    third = world.do("projects:create", "max", name="third")
    shares = [("gil", world.projects[0], "read"), ("gus", world.projects[0], "write"), ("gus", third, "write")]
    for name, where, level in shares:
        world.do("projects:share", "max", projectId=where, memberId=world.members[name], level=level)
    project = given.upgrade()
    world.merge(project, "ann", "gil", "gus")
    found = project.query("projects:list", actorId=world.members["gil"])
    assert [(each["name"], each["mayWrite"]) for each in found] == [("of kay", False), ("third", True)]
    project.mutation(
        "projects:share", actorId=world.members["max"], projectId=third, memberId=world.members["gil"], level=None
    )
    assert len(project.query("projects:list", actorId=world.members["gil"])) == 1


def test_merges_that_are_not_allowed_change_nothing(given: GivenDeployment) -> None:
    world = World.begin(given, ida="owner")
    other = given.mutation("workspaces:create", name="Other", ownerName="x", ownerEmail="x@x.org")["memberId"]
    world.do("members:deactivate", "olga", memberId=world.members["max"])
    before = given.query("members:list", actorId=world.members["olga"])
    project = given.upgrade()
    ids = world.members | {"other": other}
    cases = [
        ("kay", "kay", "kim", "FORBIDDEN"),
        ("max", "kay", "kim", "FORBIDDEN"),
        ("kay", "kim", "kim", "FORBIDDEN"),
        ("ann", "kim", "kim", "INVALID"),
        ("ann", "kay", "ann", "INVALID"),
        ("olga", "other", "olga", "INVALID"),
        ("ann", "max", "kim", "NOT_FOUND"),
        ("ann", "other", "kim", "NOT_FOUND"),
        ("ann", "kay", "other", "NOT_FOUND"),
        ("ann", "max", "olga", "NOT_FOUND"),
        ("ann", "kay", "olga", "FORBIDDEN"),
        ("ann", "olga", "kay", "FORBIDDEN"),
    ]
    for actor, keep, duplicate, code in cases:
        with project.fails(data={"code": code}):
            project.mutation("members:merge", actorId=ids[actor], keepId=ids[keep], duplicateId=ids[duplicate])
    assert project.query("members:list", actorId=ids["olga"]) == before
    assert not any(line["action"] == "member.merge" for line in project.documents("activity"))
    world.merge(project, "ann", "ann", "max")
    world.merge(project, "olga", "kay", "ida")
    roles = {each["name"]: each["role"] for each in project.query("members:list", actorId=ids["olga"])}
    assert roles == {"ann": "admin", "kay": "owner", "kim": "member", "olga": "owner"}


def test_the_interface_is_what_it_was_and_merge(project: Deployment, given: GivenDeployment) -> None:
    def public(deployment: Deployment) -> dict[str, str]:
        return {name: spec.kind for name, spec in deployment.functions().items() if spec.is_public}

    assert public(project) == public(given) | {"members:merge": "mutation"}
    created = project.mutation("workspaces:create", name="w", ownerName="o", ownerEmail="o@x.org")
    ids = dict.fromkeys(("actorId", "keepId", "duplicateId"), created["memberId"])
    for name in ids:
        for wrong in ({**ids, name: "nobody"}, {key: value for key, value in ids.items() if key != name}):
            with project.fails("ArgumentValidationError"):
                project.mutation("members:merge", wrong)
