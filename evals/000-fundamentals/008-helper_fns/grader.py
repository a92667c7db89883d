"""Two helpers that three functions share: the rules hold everywhere, and stand in one place."""

from dataclasses import dataclass
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Sources, same_function_spec, same_schema

FUNCTIONS = ("getTeam", "leave", "rename")
HELPERS = ("requireMember", "requireAdmin")
NOT_A_MEMBER = {"code": "NOT_A_MEMBER"}
NOT_AN_ADMIN = {"code": "NOT_AN_ADMIN"}


@dataclass(frozen=True)
class Teams:
    """Ada is an admin of red and an ordinary member of blue; Bob is the other way round."""

    project: Deployment
    red: str
    blue: str

    def call(self, function: str, team: str, user: str) -> Any:
        args = {"teamId": team, "user": user}
        if function == "getTeam":
            return self.project.query("index:getTeam", args)
        return self.project.mutation(f"index:{function}", args | ({"name": "new"} if function == "rename" else {}))

    @property
    def names(self) -> list[str]:
        return [team["name"] for team in self.project.documents("teams")]

    @property
    def members(self) -> list[tuple[str, str]]:
        return [(member["teamId"], member["user"]) for member in self.project.documents("members")]


@pytest.fixture
def teams(project: Deployment) -> Teams:
    red, blue = project.insert_many("teams", [{"name": "red"}, {"name": "blue"}])
    roles = [(red, "ada", "admin"), (red, "bob", "guest"), (blue, "ada", "guest"), (blue, "bob", "admin")]
    project.insert_many("members", [{"teamId": team, "user": user, "role": role} for team, user, role in roles])
    return Teams(project, red, blue)


def test_members_see_the_team_and_their_role(teams: Teams) -> None:
    assert teams.call("getTeam", teams.red, "ada") == {"name": "red", "role": "admin"}
    assert teams.call("getTeam", teams.red, "bob") == {"name": "red", "role": "guest"}
    assert teams.call("getTeam", teams.blue, "ada") == {"name": "blue", "role": "guest"}


def test_members_leave_one_team_and_are_strangers_then(teams: Teams) -> None:
    assert teams.call("leave", teams.red, "ada") is None
    assert teams.members == [(teams.red, "bob"), (teams.blue, "ada"), (teams.blue, "bob")]
    with teams.project.fails(data=NOT_A_MEMBER):
        teams.call("getTeam", teams.red, "ada")


def test_admins_rename_their_team(teams: Teams) -> None:
    assert teams.call("rename", teams.red, "ada") is None
    assert teams.names == ["new", "blue"]


def test_members_who_are_not_admins_rename_nothing(teams: Teams) -> None:
    with teams.project.fails(data=NOT_AN_ADMIN):
        teams.call("rename", teams.blue, "ada")
    assert teams.names == ["red", "blue"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_strangers_are_told_that_they_are_not_members(teams: Teams, function: str) -> None:
    with teams.project.fails(data=NOT_A_MEMBER):
        teams.call(function, teams.red, "eve")
    assert teams.names == ["red", "blue"]
    assert len(teams.members) == 4


def test_other_members_are_not_read(teams: Teams) -> None:
    others = [{"teamId": teams.red, "user": f"user {number}", "role": "guest"} for number in range(50)]
    teams.project.insert_many("members", others)
    with teams.project.trace() as work:
        teams.call("getTeam", teams.red, "user 49")
        teams.call("rename", teams.red, "ada")
    assert work.documents_read < 10


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


def test_the_helpers_are_ordinary_functions(project: Deployment, files: Sources) -> None:
    helpers = files.module("convex/helpers.ts")
    assert [name for name in HELPERS if name not in helpers.exports] == []
    assert [name for name in project.functions() if name.startswith("helpers:")] == []
    assert [name for name in ("runQuery", "runMutation") if helpers.calls_of(name)] == []


def test_the_functions_leave_the_checks_to_the_helpers(files: Sources) -> None:
    index = files.module("convex/index.ts")
    assert [name for name in HELPERS if not index.calls_of(name)] == []
    lookups = [chain.text for chain in index.chains if chain.starts_with("db", "query")]
    assert lookups == [], "members are looked up by the helpers only"
