"""Profiles are changed in part: a field that is not given stays, null removes it, everything else is stored."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema

Profile = dict[str, Any]
ADA: Profile = {"name": "Ada", "isPublic": True, "bio": "Counts", "website": "https://ada.example", "age": 36}
ALAN: Profile = {"name": "Alan", "isPublic": False}


@pytest.fixture
def ada(project: Deployment) -> str:
    """The id of a profile with all fields; another one like it is beside it."""
    profile, _ = project.insert_many("profiles", [ADA, ADA])
    return profile


def updated(project: Deployment, profile: str, **changes: Any) -> Profile:
    """What the mutation returns, which must be what is stored."""
    received: Profile = project.mutation("index:updateProfile", {"profileId": profile, **changes})
    assert received == project.get(profile), "the stored document must be returned"
    return received


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


def test_fields_that_are_not_given_stay(project: Deployment, ada: str) -> None:
    expected = ADA
    for changes in ({"name": "Ada L."}, {"age": 37}, {}, {"bio": "Programs", "website": "https://a.example"}):
        expected = {**expected, **changes}
        assert_same(updated(project, ada, **changes), expected, what=f"the profile after {changes}")


def test_null_removes_a_field(project: Deployment, ada: str) -> None:
    expected = dict(ADA)
    for field in ("bio", "age", "website"):
        del expected[field]
        assert_same(updated(project, ada, **{field: None}), expected, what=f"the profile without {field}")
    assert_same(updated(project, ada, bio=None, age=5), {**expected, "age": 5}, what="the profile")


def test_empty_and_false_values_are_stored(project: Deployment, ada: str) -> None:
    changes: Profile = {"name": "", "isPublic": False, "bio": "", "website": "", "age": 0}
    for field, value in changes.items():
        assert updated(project, ada, **{field: value})[field] == value
    assert_same(project.get(ada), changes, what="the profile")


def test_a_field_that_was_missing_can_be_added(project: Deployment) -> None:
    alan = project.insert("profiles", ALAN)
    assert_same(updated(project, alan, website="", isPublic=True), {"name": "Alan", "isPublic": True, "website": ""})
    assert_same(
        updated(project, alan, bio="Thinks"), {"name": "Alan", "isPublic": True, "website": "", "bio": "Thinks"}
    )


def test_only_this_profile_is_changed_and_it_stays_the_same_document(project: Deployment, ada: str) -> None:
    before: Any = project.get(ada)
    updated(project, ada, name="Ada L.", bio=None)
    project.mutation("index:resetProfile", profileId=ada)
    first, second = project.documents("profiles")
    assert (first["_id"], first["_creationTime"]) == (ada, before["_creationTime"])
    assert_same(second, ADA, what="the other profile")


def test_a_reset_removes_all_optional_fields_and_no_others(project: Deployment, ada: str) -> None:
    alan = project.insert("profiles", ALAN)
    for profile, expected in ((ada, {"name": "Ada", "isPublic": True}), (alan, ALAN)):
        assert project.mutation("index:resetProfile", profileId=profile) is None
        assert_same(project.get(profile), expected, what="the profile")


def test_a_profile_that_is_gone_is_null_and_cannot_be_reset(project: Deployment, ada: str) -> None:
    project.delete("profiles", ada)
    assert project.mutation("index:updateProfile", profileId=ada, name="Ada L.") is None
    assert project.mutation("index:updateProfile", profileId=ada) is None
    with project.fails() as failure:
        project.mutation("index:resetProfile", profileId=ada)
    assert "Could not find public function" not in failure.message
    assert_same(project.documents("profiles"), [ADA], what="the profiles")


def test_other_arguments_are_rejected(project: Deployment, ada: str) -> None:
    before = project.documents("profiles")
    wrong: list[tuple[str, Profile]] = [
        ("updateProfile", {"name": "Ada L."}),
        ("updateProfile", {"profileId": "Ada", "name": "Ada L."}),
        ("updateProfile", {"profileId": ada, "name": None}),
        ("updateProfile", {"profileId": ada, "isPublic": None}),
        ("updateProfile", {"profileId": ada, "isPublic": "yes"}),
        ("updateProfile", {"profileId": ada, "bio": 5}),
        ("updateProfile", {"profileId": ada, "website": False}),
        ("updateProfile", {"profileId": ada, "age": "36"}),
        ("updateProfile", {"profileId": ada, "email": "ada@example.com"}),
        ("resetProfile", {}),
        ("resetProfile", {"profileId": "Ada"}),
        ("resetProfile", {"profileId": project.storage.upload(b"not a profile")}),
    ]
    for function, arguments in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation(f"index:{function}", arguments)
    assert project.documents("profiles") == before


def test_no_other_profiles_are_read(project: Deployment) -> None:
    ids = project.insert_many("profiles", [ADA] * 100)
    with project.trace() as work:
        project.mutation("index:updateProfile", profileId=ids[50], bio=None)
        project.mutation("index:resetProfile", profileId=ids[60])
    # Looking, changing and looking again may count as several reads of the same profile.
    assert work.documents_read <= 10, f"2 of 100 profiles were to be changed, and {work.documents_read} were read"
