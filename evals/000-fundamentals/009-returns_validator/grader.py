"""Every function declares what it returns, exactly, and returns that."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema

User = dict[str, Any]
ADA: User = {"name": "Ada", "email": "ada@example.com", "age": 36, "role": "admin"}
BOB: User = {"name": "Bob", "email": "bob@example.com", "role": "member"}
EVE: User = {"name": "Eve", "email": "eve@example.com", "age": 0, "role": "member"}
FUNCTIONS = ("create", "get", "profiles", "stats", "remove", "ping")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_declared_result_is_exactly_the_described_one(project: Deployment, answer: Deployment, name: str) -> None:
    same_function_spec(project, answer, [f"index:{name}"], returns=True)


def test_the_schema_is_that_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


@pytest.mark.parametrize("user", [ADA, BOB, EVE], ids=["Ada", "Bob", "Eve"])
def test_a_created_user_comes_back_as_it_is_stored(project: Deployment, user: User) -> None:
    user_id = project.mutation("index:create", user)
    [stored] = project.documents("users")
    assert stored["_id"] == user_id
    assert_same(stored, user, what="the stored user")
    assert project.query("index:get", userId=user_id) == stored


def test_a_user_that_is_gone_is_null(project: Deployment) -> None:
    user_id = project.insert("users", ADA)
    project.delete("users", user_id)
    assert project.query("index:get", userId=user_id) is None


def test_profiles_have_name_and_role_only_and_the_oldest_comes_first(project: Deployment) -> None:
    assert project.query("index:profiles") == []
    for user in (EVE, ADA, BOB):
        project.insert("users", user)
    profiles = [{"name": user["name"], "role": user["role"]} for user in (EVE, ADA, BOB)]
    assert project.query("index:profiles") == profiles


@pytest.mark.parametrize(
    ("users", "average", "admins", "members"),
    [([], None, 0, 0), ([BOB], None, 0, 1), ([EVE], 0, 0, 1), ([ADA, BOB, EVE], 18, 1, 2), ([ADA, ADA], 36, 2, 0)],
    ids=["nobody", "no known age", "age 0", "three users", "admins only"],
)
def test_stats_count_roles_and_average_known_ages(
    project: Deployment, users: list[User], average: float | None, admins: int, members: int
) -> None:
    project.insert_many("users", users)
    assert project.query("index:stats") == {"averageAge": average, "roles": {"admin": admins, "member": members}}


def test_removing_a_user_returns_null(project: Deployment) -> None:
    gone, kept = project.insert_many("users", [ADA, BOB])
    assert project.mutation("index:remove", userId=gone) is None
    assert [user["_id"] for user in project.documents("users")] == [kept]


def test_ping_returns_pong(project: Deployment) -> None:
    assert project.action("index:ping") == "pong"
