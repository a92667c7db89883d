"""Single settings are changed deep inside a document, and everything beside them stays."""

from copy import deepcopy
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema

Settings = dict[str, Any]
FULL: Settings = {
    "theme": "dark",
    "language": "en",
    "notifications": {"email": True, "push": False, "quietHours": {"from": 22, "to": 7}},
}
BARE: Settings = {"theme": "light", "notifications": {"email": False, "push": True}}


@pytest.fixture
def ada(project: Deployment) -> str:
    """The id of a user with all settings; another one like her is beside her."""
    user, _ = project.insert_many("users", [{"name": "Ada", "settings": FULL}] * 2)
    return user


@pytest.fixture
def alan(project: Deployment) -> str:
    """The id of a user without optional settings."""
    return project.insert("users", name="Alan", settings=BARE)


def changed(project: Deployment, function: str, user: str, **arguments: Any) -> Settings:
    """The settings that the mutation returns, which must be those that are stored; the name must stay."""
    before: Any = project.get(user)
    received: Settings = project.mutation(f"index:{function}", {"userId": user, **arguments})
    after: Any = project.get(user)
    assert received == after["settings"], "the stored settings must be returned"
    assert {**after, "settings": None} == {**before, "settings": None}
    return received


def notified(settings: Settings, **notifications: Any) -> Settings:
    return {**settings, "notifications": {**settings["notifications"], **notifications}}


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


def test_a_new_theme_leaves_all_other_settings(project: Deployment, ada: str, alan: str) -> None:
    assert_same(changed(project, "setTheme", ada, theme="sepia"), {**FULL, "theme": "sepia"})
    assert_same(changed(project, "setTheme", alan, theme=""), {**BARE, "theme": ""})


def test_notifications_that_are_not_given_stay(project: Deployment, ada: str, alan: str) -> None:
    for user, expected in ((ada, FULL), (alan, BARE)):
        for given in ({"push": True}, {"email": False}, {"push": False, "email": True}, {}):
            expected = notified(expected, **given)
            assert_same(changed(project, "updateNotifications", user, **given), expected, what=f"settings, {given}")


def test_quiet_hours_are_changed_as_a_whole(project: Deployment, ada: str, alan: str) -> None:
    for user, settings in ((ada, FULL), (alan, BARE)):
        quiet = {"from": 0, "to": 6.5}
        assert_same(
            changed(project, "updateNotifications", user, quietHours=quiet), notified(settings, quietHours=quiet)
        )


def test_the_language_can_be_removed(project: Deployment, ada: str, alan: str) -> None:
    without_language = deepcopy(FULL)
    del without_language["language"]
    assert_same(changed(project, "clearLanguage", ada), without_language)
    assert_same(changed(project, "clearLanguage", ada), without_language)
    assert_same(changed(project, "clearLanguage", alan), BARE)


def test_other_users_stay_as_they_are(project: Deployment, ada: str) -> None:
    changed(project, "setTheme", ada, theme="sepia")
    changed(project, "updateNotifications", ada, email=False, push=True)
    changed(project, "clearLanguage", ada)
    _, other = project.documents("users")
    assert_same(other, {"name": "Ada", "settings": FULL}, what="the other user")


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("setTheme", {"theme": "sepia"}), ("updateNotifications", {"push": True}), ("clearLanguage", {})],
    ids=["setTheme", "updateNotifications", "clearLanguage"],
)
def test_a_user_who_is_gone_is_an_error(project: Deployment, ada: str, function: str, arguments: Settings) -> None:
    changed(project, function, ada, **arguments)
    project.delete("users", ada)
    with project.fails():
        project.mutation(f"index:{function}", {"userId": ada, **arguments})
    assert_same(project.documents("users"), [{"name": "Ada", "settings": FULL}], what="the users")


def test_other_arguments_are_rejected(project: Deployment, ada: str) -> None:
    before = project.documents("users")
    wrong: list[tuple[str, Settings]] = [
        ("setTheme", {"userId": ada}),
        ("setTheme", {"theme": "sepia"}),
        ("setTheme", {"userId": "Ada", "theme": "sepia"}),
        ("setTheme", {"userId": ada, "theme": 5}),
        ("setTheme", {"userId": ada, "theme": "sepia", "language": "de"}),
        ("updateNotifications", {"push": True}),
        ("updateNotifications", {"userId": "Ada", "push": True}),
        ("updateNotifications", {"userId": ada, "push": "yes"}),
        ("updateNotifications", {"userId": ada, "email": None}),
        ("updateNotifications", {"userId": ada, "quietHours": {"from": 22}}),
        ("updateNotifications", {"userId": ada, "quietHours": {"from": "22", "to": 7}}),
        ("updateNotifications", {"userId": ada, "quietHours": {"from": 22, "to": 7, "days": 2}}),
        ("updateNotifications", {"userId": ada, "sms": True}),
        ("clearLanguage", {}),
        ("clearLanguage", {"userId": "Ada"}),
        ("clearLanguage", {"userId": project.storage.upload(b"not a user")}),
    ]
    for function, arguments in wrong:
        with project.fails("ArgumentValidationError"):
            project.mutation(f"index:{function}", arguments)
    assert project.documents("users") == before


def test_no_other_users_are_read(project: Deployment) -> None:
    ids = project.insert_many("users", [{"name": "Ada", "settings": FULL}] * 100)
    with project.trace() as work:
        project.mutation("index:setTheme", userId=ids[50], theme="sepia")
        project.mutation("index:updateNotifications", userId=ids[60], push=True)
        project.mutation("index:clearLanguage", userId=ids[70])
    # Looking, changing and looking again may count as several reads of the same user.
    assert work.documents_read <= 15, f"3 of 100 users were to be changed, and {work.documents_read} were read"
