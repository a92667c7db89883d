"""Limits that hold on every path, count what was there before, and never refuse what does not grow."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, GivenDeployment, at_once

LIMITS = {
    "free": {"projects": 3, "seats": 3, "bytes": 1000},
    "team": {"projects": 8, "seats": 8, "bytes": 5000},
}
TEMPLATES = {"agency": (2, 100), "school": (3, 50)}
TABLES = ("workspaces", "projects", "files", "members", "invitations")
USERS = [f"u{number}" for number in range(6)]
Numbers = dict[str, int]


State = dict[str, list[Any]]


def state(deployment: Deployment) -> State:
    return {table: deployment.documents(table) for table in TABLES}


def usage(stored: State, workspace: str, now: float) -> Numbers:
    """What the documents say."""
    projects = [each for each in stored["projects"] if each["workspaceId"] == workspace]
    ids = {each["_id"] for each in projects}
    invited = [each for each in stored["invitations"] if each["expiresAt"] > now]
    seats = [each for each in [*stored["members"], *invited] if each["workspaceId"] == workspace]
    files = [each["bytes"] for each in stored["files"] if each["projectId"] in ids]
    return {
        "projects": len([each for each in projects if not each["isArchived"]]),
        "seats": len(seats),
        "bytes": int(sum(files)),
    }


def exceeded(stored: State, workspace: str, used: Numbers, added: Numbers) -> dict[str, Any] | None:
    """The error that a call must end with, if it adds this to a workspace."""
    for limit, max_ in limits(stored, workspace).items():
        if added.get(limit, 0) > 0 and used[limit] + added[limit] > max_:
            return {"code": "LIMIT", "limit": limit, "max": max_}
    return None


def limits(stored: State, workspace: str) -> Numbers:
    return LIMITS[next(each["plan"] for each in stored["workspaces"] if each["_id"] == workspace)]


def check(deployment: Deployment, *ids: str, after: str = "") -> list[Numbers]:
    """What the query says is what the documents say, which is returned."""
    stored, now = state(deployment), deployment.now()
    numbers = []
    for workspace in ids:
        found = deployment.query("workspaces:usage", workspaceId=workspace)
        used, allowed = usage(stored, workspace, now), limits(stored, workspace)
        assert found == {kind: {"used": used[kind], "max": allowed[kind]} for kind in allowed}, after
        numbers.append(used)
    return numbers


class Company:
    """Calls functions of a deployment, with the result that the rules say."""

    def __init__(self, deployment: Deployment, seed: int = 0) -> None:
        self.deployment, self.chance, self.done = deployment, random.Random(seed), list[str]()
        self.look()

    def call(self, workspace: str, added: Numbers, name: str, /, **arguments: Any) -> Any:
        before, now = self.stored, self.deployment.now()
        used = usage(before, workspace, now)
        error = exceeded(before, workspace, used, added)
        self.done.append(f"{name} {added} -> {'refused' if error else 'fine'}")
        what = f"after {self.done[-8:]} with {used}"
        try:
            result = self.deployment.mutation(name, arguments)
        except CallFailed as failure:
            assert failure.data == error, what
            assert self.look() == before, f"a refused call has no effect, {what}"
            return None
        assert error is None, f"{name} must be refused: {error}, {what}"
        expected = {kind: number + added.get(kind, 0) for kind, number in used.items()}
        assert usage(self.look(), workspace, now) == expected, what
        return result

    def look(self) -> State:
        self.stored = state(self.deployment)
        return self.stored

    def some(self, table: str) -> dict[str, Any] | None:
        documents = self.stored[table]
        return self.chance.choice(documents) if documents else None

    def any_workspace(self) -> str:
        return str(self.chance.choice(self.stored["workspaces"])["_id"])

    def size(self, project: str) -> int:
        return int(sum(each["bytes"] for each in self.stored["files"] if each["projectId"] == project))

    def workspace_of(self, project: str) -> str:
        return str(next(each["workspaceId"] for each in self.stored["projects"] if each["_id"] == project))

    # ------------------------------------------------------------------ calls

    def create(self) -> None:
        workspace = self.any_workspace()
        self.call(workspace, {"projects": 1}, "projects:create", workspaceId=workspace, name="p")

    def template(self) -> None:
        workspace, template = self.any_workspace(), self.chance.choice([*TEMPLATES])
        count, size = TEMPLATES[template]
        added = {"projects": count, "bytes": count * size}
        self.call(workspace, added, "templates:apply", workspaceId=workspace, template=template)

    def duplicate(self) -> None:
        if project := self.some("projects"):
            added = {"projects": 1, "bytes": self.size(project["_id"])}
            self.call(project["workspaceId"], added, "projects:duplicate", projectId=project["_id"])

    def archive(self) -> None:
        if project := self.some("projects"):
            archived = self.chance.random() < 0.5
            added = {"projects": int(project["isArchived"]) - int(archived)}
            arguments = {"projectId": project["_id"], "isArchived": archived}
            self.call(project["workspaceId"], added, "projects:setArchived", **arguments)

    def move(self) -> None:
        if project := self.some("projects"):
            workspace = self.any_workspace()
            added = {"projects": int(not project["isArchived"]), "bytes": self.size(project["_id"])}
            added = {} if workspace == project["workspaceId"] else added
            self.call(workspace, added, "projects:moveTo", projectId=project["_id"], workspaceId=workspace)

    def remove(self) -> None:
        if project := self.some("projects"):
            added = {"projects": -int(not project["isArchived"]), "bytes": -self.size(project["_id"])}
            self.call(project["workspaceId"], added, "projects:remove", projectId=project["_id"])

    def add_file(self) -> None:
        if project := self.some("projects"):
            size = self.chance.choice([0, 100, 300])
            arguments = {"projectId": project["_id"], "name": "f", "bytes": size}
            self.call(project["workspaceId"], {"bytes": size}, "files:add", **arguments)

    def replace_file(self) -> None:
        if file := self.some("files"):
            size = self.chance.choice([10, 250, int(file["bytes"])])
            added = {"bytes": size - int(file["bytes"])}
            workspace = self.workspace_of(file["projectId"])
            self.call(workspace, added, "files:replace", fileId=file["_id"], bytes=size)

    def move_file(self) -> None:
        file, project = self.some("files"), self.some("projects")
        if file and project:
            inside = self.workspace_of(file["projectId"]) == project["workspaceId"]
            added = {} if inside else {"bytes": int(file["bytes"])}
            self.call(project["workspaceId"], added, "files:move", fileId=file["_id"], projectId=project["_id"])

    def remove_file(self) -> None:
        if file := self.some("files"):
            workspace = self.workspace_of(file["projectId"])
            self.call(workspace, {"bytes": -int(file["bytes"])}, "files:remove", fileId=file["_id"])

    def invite(self) -> None:
        workspace, user, now = self.any_workspace(), self.chance.choice(USERS), self.deployment.now()
        rows = [*self.stored["members"], *self.stored["invitations"]]
        here = [each for each in rows if (each["workspaceId"], each["user"]) == (workspace, user)]
        has_seat = any(each.get("expiresAt", now + 1) > now for each in here)
        self.call(workspace, {"seats": int(not has_seat)}, "members:invite", workspaceId=workspace, user=user)

    def accept(self) -> None:
        if invitation := self.some("invitations"):
            if invitation["expiresAt"] <= self.deployment.now():
                with self.deployment.fails(data={"code": "EXPIRED"}):
                    self.deployment.mutation("members:accept", invitationId=invitation["_id"])
            else:
                self.call(invitation["workspaceId"], {}, "members:accept", invitationId=invitation["_id"])

    def leave(self) -> None:
        if member := self.some("members"):
            self.call(member["workspaceId"], {"seats": -1}, "members:remove", memberId=member["_id"])

    def change_plan(self) -> None:
        workspace, plan = self.any_workspace(), self.chance.choice([*LIMITS])
        self.deployment.admin.mutation("workspaces:setPlan", workspaceId=workspace, plan=plan)
        self.look()

    def wait(self) -> None:
        self.deployment.advance(days=2)
        self.look()

    def acts(self) -> list[Callable[[], None]]:
        projects = [self.create, self.create, self.template, self.duplicate, self.archive, self.archive, self.move]
        files = [self.add_file, self.add_file, self.replace_file, self.move_file, self.remove_file]
        people = [self.invite, self.invite, self.invite, self.accept, self.leave]
        return [*projects, self.remove, *files, *people, self.change_plan, self.wait]


def workspaces(deployment: Deployment, *names: str) -> list[str]:
    return [deployment.mutation("workspaces:create", name=name, user="u0") for name in names]


@pytest.mark.parametrize("seed", range(3))
def test_no_call_exceeds_a_limit_and_no_other_call_is_refused(project: Deployment, seed: int) -> None:
    ids = workspaces(project, "x", "y")
    company = Company(project, seed)
    for _ in range(45):
        company.chance.choice(company.acts())()
        check(project, *ids, after=f"after {company.done[-8:]}")


def test_workspaces_that_are_above_their_limits_can_only_shrink(given: GivenDeployment) -> None:
    (ws, other) = workspaces(given, "x", "y")
    for _ in range(3):
        given.mutation("templates:apply", workspaceId=ws, template="agency")
    given.mutation("projects:create", workspaceId=other, name="p")
    invitations = [given.mutation("members:invite", workspaceId=ws, user=user) for user in USERS[1:]]
    first = given.documents("files")[0]["_id"]
    given.mutation("files:replace", fileId=first, bytes=3000)
    project = given.upgrade()
    assert check(project, ws) == [{"projects": 6, "seats": 6, "bytes": 3500}]
    company = Company(project)
    before = [each["_id"] for each in project.documents("projects") if each["workspaceId"] == ws]
    call = company.call
    call(ws, {}, "members:accept", invitationId=invitations[0])
    call(ws, {}, "members:invite", workspaceId=ws, user="u2")
    call(ws, {"seats": -1}, "members:withdraw", invitationId=invitations[2])
    call(ws, {"seats": 1}, "members:invite", workspaceId=ws, user="u3")
    call(ws, {"bytes": -1}, "files:replace", fileId=first, bytes=2999)
    call(ws, {}, "files:replace", fileId=first, bytes=2999)
    call(ws, {"bytes": 1}, "files:replace", fileId=first, bytes=3000)
    call(ws, {"projects": -1}, "projects:setArchived", projectId=before[0], isArchived=True)
    call(ws, {"projects": 1}, "projects:setArchived", projectId=before[0], isArchived=False)
    call(ws, {}, "projects:setArchived", projectId=before[1], isArchived=False)
    call(ws, {}, "files:move", fileId=first, projectId=before[1])
    call(ws, {}, "projects:moveTo", projectId=before[1], workspaceId=ws)
    call(other, {"projects": 1, "bytes": 100}, "projects:moveTo", projectId=before[2], workspaceId=other)
    call(other, {"projects": 0, "bytes": 2999}, "files:move", fileId=first, projectId=before[2])
    call(ws, {"projects": 1, "bytes": 0}, "projects:create", workspaceId=ws, name="p")
    call(ws, {"bytes": 0}, "files:add", projectId=before[1], name="empty", bytes=0)
    project.admin.mutation("workspaces:setPlan", workspaceId=ws, plan="team")
    company.look()
    call(ws, {"projects": 1}, "projects:create", workspaceId=ws, name="p")
    call(ws, {"seats": 1}, "members:invite", workspaceId=ws, user="u3")


def test_an_archived_project_can_be_moved_to_a_workspace_without_room_for_projects(project: Deployment) -> None:
    full, other = workspaces(project, "x", "y")
    for _ in range(3):
        project.mutation("projects:create", workspaceId=full, name="p")
    item = project.mutation("projects:create", workspaceId=other, name="p")
    project.mutation("files:add", projectId=item, name="f", bytes=700)
    project.mutation("projects:setArchived", projectId=item, isArchived=True)
    Company(project).call(full, {"bytes": 700}, "projects:moveTo", projectId=item, workspaceId=full)
    assert check(project, full) == [{"projects": 3, "seats": 1, "bytes": 700}]


def test_an_expired_invitation_takes_no_seat_until_it_is_renewed(project: Deployment) -> None:
    (ws,) = workspaces(project, "x")
    company = Company(project)
    first = company.call(ws, {"seats": 1}, "members:invite", workspaceId=ws, user="u1")
    project.advance(days=6, hours=23)
    company.call(ws, {"seats": 1}, "members:invite", workspaceId=ws, user="u2")
    company.call(ws, {"seats": 1}, "members:invite", workspaceId=ws, user="u3")
    project.advance(hours=2)
    assert check(project, ws)[0]["seats"] == 2
    company.look()
    third = company.call(ws, {"seats": 1}, "members:invite", workspaceId=ws, user="u3")
    company.call(ws, {"seats": 1}, "members:invite", workspaceId=ws, user="u1")
    with project.fails(data={"code": "EXPIRED"}):
        project.mutation("members:accept", invitationId=first)
    company.call(ws, {}, "members:accept", invitationId=third)
    company.call(ws, {}, "members:invite", workspaceId=ws, user="u3")
    assert check(project, ws)[0]["seats"] == 3


def test_the_first_of_several_limits_is_named(project: Deployment) -> None:
    (ws,) = workspaces(project, "x")
    company = Company(project)
    for template, added in (("agency", {"projects": 2, "bytes": 200}), ("school", {"projects": 3, "bytes": 150})):
        company.call(ws, added, "templates:apply", workspaceId=ws, template=template)
    file = project.documents("files")[0]
    company.call(ws, {"bytes": 800}, "files:replace", fileId=file["_id"], bytes=900)
    for _ in range(2):
        company.call(ws, {"projects": 1, "bytes": 900}, "projects:duplicate", projectId=file["projectId"])
        company.call(ws, {"projects": 1}, "projects:create", workspaceId=ws, name="p")
    assert check(project, ws) == [{"projects": 3, "seats": 1, "bytes": 1000}]


def test_weekly_projects_are_created_where_there_is_room(project: Deployment) -> None:
    full, small, team = workspaces(project, "full", "small", "team")
    project.admin.mutation("workspaces:setPlan", workspaceId=team, plan="team")
    for workspace in (full, team):
        project.mutation("templates:apply", workspaceId=workspace, template="school")
    for workspace in (full, small, team):
        project.mutation("workspaces:setWeekly", workspaceId=workspace, isWeekly=True)
    rest = workspaces(project, "not weekly")[0]
    project.advance(days=7)
    assert [each["projects"] for each in check(project, full, small, team, rest)] == [3, 1, 4, 0]
    archived = next(each for each in project.documents("projects") if each["workspaceId"] == full)
    project.mutation("projects:setArchived", projectId=archived["_id"], isArchived=True)
    project.advance(days=21)
    assert [each["projects"] for each in check(project, full, small, team, rest)] == [3, 3, 7, 0]
    names = [each["name"] for each in project.documents("projects") if each["workspaceId"] == small]
    assert all(name.startswith("Week of 20") for name in names)


def test_other_errors_come_first(project: Deployment) -> None:
    (ws,) = workspaces(project, "x")
    for _ in range(3):
        item = project.mutation("projects:create", workspaceId=ws, name="p")
    gone = project.insert("workspaces", name="gone", plan="free")
    project.delete("workspaces", gone)
    lost = project.insert("projects", workspaceId=ws, name="lost", isArchived=True)
    project.delete("projects", lost)
    file = project.mutation("files:add", projectId=item, name="f", bytes=1000)
    for name, arguments in (
        ("projects:create", {"workspaceId": gone, "name": "p"}),
        ("templates:apply", {"workspaceId": gone, "template": "agency"}),
        ("projects:moveTo", {"projectId": item, "workspaceId": gone}),
        ("projects:duplicate", {"projectId": lost}),
        ("projects:setArchived", {"projectId": lost, "isArchived": False}),
        ("files:add", {"projectId": lost, "name": "f", "bytes": 5000}),
        ("files:move", {"fileId": file, "projectId": lost}),
        ("members:invite", {"workspaceId": gone, "user": "u1"}),
    ):
        with project.fails(data={"code": "NOT_FOUND"}):
            project.mutation(name, arguments)
    with project.fails(data={"code": "NOT_FOUND"}):
        project.query("workspaces:usage", workspaceId=gone)
    assert check(project, ws) == [{"projects": 3, "seats": 1, "bytes": 1000}]


def test_limits_hold_when_many_call_at_the_same_time(project: Deployment) -> None:
    (ws,) = workspaces(project, "x")
    with project.clients(6) as clients:
        at_once([partial(each.mutation, "projects:create", workspaceId=ws, name="p") for each in clients])
        at_once(
            [
                partial(each.mutation, "members:invite", workspaceId=ws, user=user)
                for each, user in zip(clients, USERS, strict=True)
            ]
        )
    assert check(project, ws) == [{"projects": 3, "seats": 3, "bytes": 0}]


def test_the_functions_are_the_old_ones_and_usage(project: Deployment, given: GivenDeployment) -> None:
    functions = project.functions()
    for name, spec in given.functions().items():
        assert name in functions, f"{name} is gone"
        new = functions[name]
        assert (new.kind, new.visibility, new.arguments) == (spec.kind, spec.visibility, spec.arguments), name
    with project.fails("ArgumentValidationError"):
        project.query("workspaces:usage")
    ws, other = workspaces(project, "x", "y")
    item = project.mutation("projects:create", workspaceId=ws, name="p")
    project.mutation("projects:create", workspaceId=other, name="p")
    (listed,) = project.query("projects:list", workspaceId=ws)
    assert listed["_id"] == item
    assert set(listed) == {"_id", "_creationTime", "workspaceId", "name", "isArchived"}
