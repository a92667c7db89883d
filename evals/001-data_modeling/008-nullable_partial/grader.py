"""Null, absent and given values, in fields, arguments and an index."""

from typing import Any

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, assert_same, same_function_spec

ADA: dict[str, Any] = {"handle": "ada", "bio": "Engines", "nickname": "Countess", "website": "https://ada.example"}
BEN: dict[str, Any] = {"handle": "ben", "bio": None, "website": None}
CY: dict[str, Any] = {"handle": "cy", "bio": "Poems"}


def is_accepted(project: Deployment, path: str, arguments: dict[str, Any]) -> bool:
    try:
        project.mutation(path, arguments)
    except CallFailed:
        return False
    return True


def test_the_fields_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    assert project.schema().table("profiles").fields == answer.schema().table("profiles").fields
    same_function_spec(project, answer)


def test_a_new_profile_has_only_the_fields_that_are_given(project: Deployment) -> None:
    for given in (
        {"handle": "ada"},
        {"handle": "ada", "website": None},
        {"handle": "ada", "website": "", "nickname": ""},
    ):
        profile = project.mutation("index:create", given)
        assert_same(project.get(profile), {**given, "bio": None}, what="the new profile")


def test_an_update_sets_what_is_given_and_leaves_the_rest(project: Deployment) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"bio": None},
        {"bio": "New", "website": None},
        {"website": "https://new.example"},
        {"bio": "", "website": ""},
    ]
    for before in (ADA, BEN, CY):
        for change in changes:
            profile = project.insert("profiles", before)
            assert project.mutation("index:update", profileId=profile, **change) is None
            assert_same(project.get(profile), {**before, **change}, what=f"{before} updated with {change}")


def test_clearing_a_nickname_removes_the_field(project: Deployment) -> None:
    ada, ben = project.insert("profiles", ADA), project.insert("profiles", BEN)
    for profile in (ada, ada, ben):
        assert project.mutation("index:clearNickname", profileId=profile) is None
    assert_same(project.get(ada), {name: value for name, value in ADA.items() if name != "nickname"}, what="ada")
    assert_same(project.get(ben), BEN, what="a profile without nickname")


def test_profiles_that_are_gone_cannot_be_changed(project: Deployment) -> None:
    profile = project.insert("profiles", ADA)
    project.delete("profiles", profile)
    for path, changes in (("index:update", {"bio": "x"}), ("index:update", {}), ("index:clearNickname", {})):
        with project.fails():
            project.mutation(path, profileId=profile, **changes)


def test_null_absent_and_given_websites_are_told_apart_without_reading_others(project: Deployment) -> None:
    empty = {**CY, "website": ""}
    project.insert_many("profiles", [ADA, BEN, CY, empty, CY, BEN, CY, ADA, CY])
    profiles = project.documents("profiles")
    asked: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [2, 4, 6, 8]),
        ({"website": None}, [1, 5]),
        ({"website": ""}, [3]),
        ({"website": "https://ada.example"}, [0, 7]),
        ({"website": "https://nobody.example"}, []),
    ]
    for arguments, expected in asked:
        with project.trace() as work:
            received = project.query("index:byWebsite", arguments)
        assert_same(received, [profiles[n] for n in expected], ignore=(), what=f"byWebsite with {arguments}")
        assert work.documents_read == len(expected), f"documents read by byWebsite with {arguments}"


def test_null_is_refused_where_only_text_is_allowed(project: Deployment) -> None:
    profile = project.insert("profiles", ADA)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("index:create", {"handle": None}),
        ("index:create", {"handle": "ada", "nickname": None}),
        ("index:create", {"handle": "ada", "website": 1}),
        ("index:create", {"handle": "ada", "bio": "Engines"}),
        ("index:update", {"profileId": profile, "nickname": "Countess"}),
        ("index:update", {"profileId": profile, "bio": False}),
        ("index:clearNickname", {"profileId": None}),
    ]
    assert [call for call in wrong if is_accepted(project, *call)] == []
    assert_same(project.documents("profiles"), [ADA], what="the profiles")
