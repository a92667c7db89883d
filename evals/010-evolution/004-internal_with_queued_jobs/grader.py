"""Functions become internal and strict, and what was waiting in the scheduler still runs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment, Reply, WebServer, wait_until

PUBLIC = {
    "subscribers:subscribe",
    "subscribers:unsubscribe",
    "subscribers:isSubscribed",
    "campaigns:create",
    "campaigns:schedule",
    "campaigns:cancel",
    "campaigns:get",
    "delivery:delivered",
}
DAY = 86_400_000


def prepare(deployment: Deployment, web_server: WebServer, *replies: int) -> None:
    """A mail server that gives these statuses, and 200 from then on; an automation; two subscribers."""
    statuses = list(replies)
    url = web_server.reply("POST", "/mail", lambda _: Reply.json({}, statuses.pop(0) if statuses else 200))
    deployment.insert("settings", key="footer", value="Bye")
    deployment.insert("settings", key="mailUrl", value=url)
    deployment.insert("automations", event="subscribed", handler="delivery:welcome")
    deployment.insert_many("subscribers", [{"email": f"{name}@x.org", "name": name} for name in ("ada", "ben")])


def mails(web_server: WebServer) -> list[tuple[str, str]]:
    return sorted((mail["email"], mail["subject"]) for mail in (each.json() for each in web_server.requests))


def delivered(deployment: Deployment) -> list[tuple[str, float]]:
    return sorted((each["email"], each["attempts"]) for each in deployment.documents("deliveries"))


def failed(deployment: Deployment) -> list[Any]:
    return [(each.function, each.args, each.error) for each in deployment.scheduled() if each.state == "failed"]


def schedule(deployment: Deployment, subject: str, at: float | str, **more: Any) -> str:
    campaign = deployment.mutation("campaigns:create", subject=subject)
    assert deployment.mutation("campaigns:schedule", campaignId=campaign, at=at, **more) is True
    return str(campaign)


def iso(deployment: Deployment, days: float) -> str:
    return (datetime.fromtimestamp(deployment.now() / 1000, UTC) + timedelta(days=days)).isoformat()


def to_both(subject: str) -> list[tuple[str, str]]:
    return [("ada@x.org", subject), ("ben@x.org", subject)]


def test_campaigns_that_are_waiting_are_sent_at_their_time(given: GivenDeployment, web_server: WebServer) -> None:
    prepare(given, web_server)
    by_number = schedule(given, "by number", given.now() + DAY)
    schedule(given, "by text", iso(given, 2), timeZone="Europe/Berlin")
    schedule(given, "by text alone", iso(given, 3))
    cancelled = schedule(given, "cancelled", given.now() + DAY)
    moved = schedule(given, "moved", given.now() + DAY, timeZone="UTC")
    project = given.upgrade()
    assert project.mutation("campaigns:cancel", campaignId=cancelled) is True
    assert project.mutation("campaigns:cancel", campaignId=cancelled) is False
    assert project.mutation("campaigns:schedule", campaignId=moved, at=iso(project, 10)) is True
    project.advance(hours=23)
    assert mails(web_server) == []
    expected: list[tuple[str, str]] = []
    for days, subject in ((1, "by number"), (1, "by text"), (1, "by text alone"), (8, "moved")):
        project.advance(days=days)
        expected += to_both(subject)
        assert mails(web_server) == sorted(expected), f"after {subject!r} was due"
    assert failed(project) == []
    assert project.query("campaigns:get", campaignId=by_number) == {"subject": "by number", "status": "sent"}
    assert project.query("campaigns:get", campaignId=cancelled) == {"subject": "cancelled", "status": "draft"}
    assert project.mutation("campaigns:schedule", campaignId=by_number, at=1) is False


@pytest.mark.parametrize("more", [{"at": 5}, {"at": "2026-09-21T14:13:20Z", "timeZone": "UTC"}, {}])
def test_a_campaign_that_an_older_version_has_scheduled_is_sent(
    given: GivenDeployment, web_server: WebServer, more: dict[str, Any]
) -> None:
    prepare(given, web_server)
    campaign = given.insert("campaigns", subject="old", status="scheduled")
    project = given.upgrade()
    assert project.admin.mutation("delivery:sendCampaign", id=campaign, **more) is None
    wait_until(lambda: mails(web_server) == to_both("old"), "the two mails")
    assert project.admin.mutation("delivery:sendCampaign", id=campaign, **more) is None
    project.advance(minutes=1)
    assert mails(web_server) == to_both("old"), "a campaign is sent once"


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_mails_that_are_to_be_tried_again_are(given: GivenDeployment, web_server: WebServer, failures: int) -> None:
    prepare(given, web_server, *[500] * failures)
    given.delete("subscribers", given.documents("subscribers")[1]["_id"])
    schedule(given, "news", given.now() + 1000)
    given.advance(minutes=1)
    assert len(web_server.requests) == 1
    project = given.upgrade()
    project.advance(hours=1)
    assert mails(web_server) == [("ada@x.org", "news")] * min(failures + 1, 3)
    assert delivered(project) == ([("ada@x.org", failures + 1)] if failures < 3 else [])
    assert failed(project) == []


def test_automations_go_on_working(given: GivenDeployment, web_server: WebServer) -> None:
    prepare(given, web_server)
    given.mutation("subscribers:subscribe", email="Cyd@x.org", name=None, source="footer")
    given.mutation("subscribers:subscribe", email="dot@x.org", name="Dot")
    project = given.upgrade()
    project.mutation("subscribers:subscribe", email=" Eve@x.org ", name="Eve", source="footer")
    project.mutation("subscribers:subscribe", email="fay@x.org", name=None)
    assert mails(web_server) == []
    project.advance(minutes=2)
    welcomed = [f"{name}@x.org" for name in ("cyd", "dot", "eve", "fay")]
    assert mails(web_server) == [(email, "Welcome!") for email in welcomed]
    assert failed(project) == []
    assert delivered(project) == [(email, 1) for email in welcomed]


def test_the_calls_of_apps_keep_their_effects(project: Deployment, web_server: WebServer) -> None:
    prepare(project, web_server, 500)
    first = project.mutation("subscribers:subscribe", email=" Cyd@x.org", name=None, source="footer")
    assert project.mutation("subscribers:subscribe", email="cyd@X.org", name="Cyd") == first
    project.mutation("subscribers:subscribe", email="dot@x.org", name="Dot", source="app")
    project.mutation("subscribers:subscribe", email="eve@x.org", name="Eve")
    people = [(each["email"], each["name"]) for each in project.documents("subscribers")[2:]]
    assert people == [("cyd@x.org", "cyd@x.org"), ("dot@x.org", "Dot"), ("eve@x.org", "Eve")]
    assert project.mutation("subscribers:unsubscribe", email="cyd@x.org", reason="no") is None
    assert project.mutation("subscribers:unsubscribe", email="eve@x.org") is None
    names = ("ada", "ben", "cyd", "dot", "eve")
    known = [name for name in names if project.query("subscribers:isSubscribed", email=f"{name}@x.org")]
    assert known == ["ada", "ben", "dot"]
    assert project.admin.query("subscribers:everybody") == ["ada@x.org", "ben@x.org", "dot@x.org"]
    project.clear("subscribers")
    project.insert("subscribers", email="ada@x.org", name="ada")
    project.advance(minutes=30)
    campaign = schedule(project, "one", iso(project, 1), timeZone="UTC")
    assert project.query("campaigns:get", campaignId=campaign) == {"subject": "one", "status": "scheduled"}
    assert project.mutation("campaigns:schedule", campaignId=campaign, at=project.now() + 2 * DAY) is True
    project.advance(days=1, hours=1)
    assert project.query("delivery:delivered", campaignId=campaign) == 0
    project.advance(days=1)
    assert project.query("delivery:delivered", campaignId=campaign) == 1
    assert ("ada@x.org", "one") in mails(web_server)
    assert failed(project) == []


def test_only_the_calls_of_apps_are_accepted(project: Deployment) -> None:
    campaign = project.mutation("campaigns:create", subject="a")
    for name, arguments in (
        ("subscribers:subscribe", {"email": "a"}),
        ("subscribers:subscribe", {"name": "a"}),
        ("subscribers:subscribe", {"email": None, "name": "a"}),
        ("subscribers:subscribe", {"email": "a", "name": 5}),
        ("subscribers:subscribe", {"email": "a", "name": "a", "source": None}),
        ("subscribers:subscribe", {"email": "a", "name": "a", "id": campaign}),
        ("subscribers:unsubscribe", {}),
        ("subscribers:unsubscribe", {"email": 5}),
        ("subscribers:unsubscribe", {"email": "a", "reason": None}),
        ("subscribers:unsubscribe", {"email": "a", "source": "a"}),
        ("campaigns:create", {}),
        ("campaigns:create", {"subject": None}),
        ("campaigns:create", {"subject": "a", "status": "sent"}),
        ("campaigns:schedule", {"campaignId": campaign}),
        ("campaigns:schedule", {"at": 5}),
        ("campaigns:schedule", {"campaignId": "a", "at": 5}),
        ("campaigns:schedule", {"campaignId": campaign, "at": None}),
        ("campaigns:schedule", {"campaignId": campaign, "at": "2026-09-21T14:13:20Z", "timeZone": None}),
        ("campaigns:schedule", {"campaignId": campaign, "at": 5, "id": campaign}),
        ("campaigns:cancel", {"campaignId": "a"}),
        ("campaigns:cancel", {}),
    ):
        with project.fails("ArgumentValidationError"):
            project.mutation(name, arguments)
    for name, wanted in (
        ("subscribers:isSubscribed", {}),
        ("subscribers:isSubscribed", {"email": 5}),
        ("subscribers:isSubscribed", {"email": "a", "name": "a"}),
        ("campaigns:get", {}),
        ("campaigns:get", {"campaignId": "a"}),
        ("delivery:delivered", {}),
        ("delivery:delivered", {"campaignId": "a"}),
    ):
        with project.fails("ArgumentValidationError"):
            project.query(name, wanted)
    for name, arguments in (
        ("delivery:record", {"email": "a"}),
        ("delivery:record", {"email": 5, "attempts": 1}),
        ("delivery:record", {"email": "a", "attempts": 1, "campaignId": 5}),
        ("delivery:welcome", {"name": "a"}),
        ("housekeeping:forget", {"days": "30"}),
    ):
        with project.fails("ArgumentValidationError"):
            project.admin.mutation(name, arguments)
    assert project.documents("subscribers") == []


def test_what_was_forgotten_after_thirty_days_still_is(given: GivenDeployment) -> None:
    given.insert("deliveries", email="a@x.org", attempts=1)
    project = given.upgrade()
    job = project.crons()["forget deliveries"]
    assert (job.function, job.args, job.schedule) == (
        "housekeeping:forget",
        {"days": 30},
        {"type": "interval", "seconds": 43200},
    )
    assert list(project.crons()) == ["forget deliveries"]
    assert project.admin.mutation("housekeeping:forget", days=30) == 0
    project.advance(days=29)
    assert len(project.documents("deliveries")) == 1
    project.advance(days=2)
    assert project.documents("deliveries") == []


def test_only_the_listed_functions_are_public_and_all_are_still_there(
    project: Deployment, given: GivenDeployment
) -> None:
    functions = project.functions()
    assert {name for name, spec in functions.items() if spec.is_public} == PUBLIC
    for name, spec in given.functions().items():
        assert name in functions, f"{name} is gone"
        assert functions[name].kind == spec.kind, name
        assert functions[name].has_args, f"{name} declares no arguments"
    for name in ("delivery:mailUrl", "subscribers:everybody"):
        with project.fails():
            project.query(name)
    assert project.routes() == []
