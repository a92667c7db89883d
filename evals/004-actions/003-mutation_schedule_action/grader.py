"""A mutation that makes actions run once it is committed, and only then."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import (
    Deployment,
    Reply,
    WebServer,
    same_function_spec,
    same_schema,
    wait_until,
)

FUNCTIONS = ("index:signUp", "index:sendWelcome", "index:markWelcomed")
MOST_DELAY_MS = 1000


def sign_up(project: Deployment, mail_url: str, *emails: str) -> Any:
    return project.mutation("index:signUp", emails=emails, mailUrl=mail_url)


def send_welcome(project: Deployment, member: str, mail_url: str) -> Any:
    return project.admin.action("index:sendWelcome", memberId=member, email="ada@example.com", mailUrl=mail_url)


def members(project: Deployment) -> list[tuple[str, bool]]:
    return [(member["email"], member["isWelcomed"]) for member in project.documents("members")]


def states(project: Deployment) -> set[str]:
    """Of all scheduled functions, once they are over."""
    found = {job.state for job in project.scheduled()}
    assert not found & {"pending", "inProgress"}
    return found


def test_new_members_are_stored_and_their_mails_scheduled_at_once(project: Deployment, web_server: WebServer) -> None:
    emails = ["c@example.com", "a@example.com", "b@example.com"]
    ids = sign_up(project, web_server.url, *emails)
    assert [(member["_id"], member["email"]) for member in project.documents("members")] == list(
        zip(ids, emails, strict=True)
    )
    jobs = {job.args["memberId"]: job for job in project.scheduled()}
    assert {job.function for job in jobs.values()} == {"index:sendWelcome"}
    assert [jobs[each].args for each in ids] == [
        {"memberId": each, "email": email, "mailUrl": web_server.url} for each, email in zip(ids, emails, strict=True)
    ]
    assert len(project.scheduled()) == 3
    assert max(abs(job.delay_ms) for job in jobs.values()) < MOST_DELAY_MS, "mails must be sent without delay"


def test_every_new_member_is_sent_one_mail_and_is_welcomed_then(project: Deployment, web_server: WebServer) -> None:
    mail_url = web_server.reply("POST", "/mails", Reply.json({"queued": True}, 202))
    sign_up(project, mail_url, "a@example.com", "b@example.com")
    wait_until(lambda: all(is_welcomed for _, is_welcomed in members(project)), "the welcome of both members")
    assert wait_until(lambda: states(project), "the end of the actions") == {"success"}
    assert sorted(request.json()["to"] for request in web_server.requests) == ["a@example.com", "b@example.com"]
    assert [request.json().keys() for request in web_server.requests] == [{"to"}, {"to"}]


def test_a_mail_that_cannot_be_sent_leaves_the_member_as_it_is(project: Deployment, web_server: WebServer) -> None:
    mail_url = web_server.reply("POST", "/mails", Reply.text("down", 503))
    sign_up(project, mail_url, "a@example.com")
    assert wait_until(lambda: states(project), "the end of the action") == {"failed"}
    assert members(project) == [("a@example.com", False)]
    assert len(web_server.requests) == 1


@pytest.mark.parametrize(
    "emails",
    [
        ("old@example.com",),
        ("new@example.com", "old@example.com"),
        ("new@example.com", "old@example.com", "other@example.com"),
    ],
    ids=["alone", "last", "in the middle"],
)
def test_a_known_email_undoes_the_whole_list(
    project: Deployment, web_server: WebServer, emails: tuple[str, ...]
) -> None:
    project.insert("members", email="old@example.com", isWelcomed=True)
    with project.fails(data={"code": "ALREADY_A_MEMBER", "email": "old@example.com"}):
        sign_up(project, web_server.url, *emails)
    assert members(project) == [("old@example.com", True)]
    assert project.scheduled() == []
    assert web_server.requests == []


def test_an_email_that_stands_in_the_list_twice_undoes_it(project: Deployment, web_server: WebServer) -> None:
    with project.fails(data={"code": "ALREADY_A_MEMBER", "email": "a@example.com"}):
        sign_up(project, web_server.url, "a@example.com", "b@example.com", "a@example.com")
    assert members(project) == []
    assert project.scheduled() == []
    assert web_server.requests == []
    assert sign_up(project, web_server.url) == []


def test_signing_up_does_not_read_other_members(project: Deployment, web_server: WebServer) -> None:
    others = [{"email": f"{number}@example.com", "isWelcomed": True} for number in range(50)]
    project.insert_many("members", others)
    with project.trace() as work:
        sign_up(project, web_server.url, "new@example.com")
    assert work.documents_read < 10


def test_the_action_welcomes_after_the_server_has_accepted_the_mail(project: Deployment, web_server: WebServer) -> None:
    member, other = project.insert_many("members", [{"email": each, "isWelcomed": False} for each in ("a", "b")])
    mail_url = web_server.reply("POST", "/mails", Reply.text("ok"))
    with project.trace() as work:
        assert send_welcome(project, member, mail_url) is None
    assert [call.function for call in work.nested_calls] == ["index:markWelcomed"]
    assert members(project) == [("a", True), ("b", False)]
    with project.fails():
        send_welcome(project, other, web_server.url + "/nowhere")
    assert members(project) == [("a", True), ("b", False)]
    assert [(request.method, request.json()) for request in web_server.requests] == [
        ("POST", {"to": "ada@example.com"})
    ] * 2


def test_welcoming_a_member_who_is_gone_does_nothing(project: Deployment) -> None:
    member, other = project.insert_many("members", [{"email": each, "isWelcomed": False} for each in ("a", "b")])
    project.delete("members", member)
    assert project.admin.mutation("index:markWelcomed", memberId=member) is None
    assert members(project) == [("b", False)]
    assert project.admin.mutation("index:markWelcomed", memberId=other) is None
    assert members(project) == [("b", True)]


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    with project.fails("Could not find public function"):
        project.action("index:sendWelcome", memberId="", email="", mailUrl="")
    with project.fails("Could not find public function"):
        project.mutation("index:markWelcomed", memberId="")
    with project.fails("ArgumentValidationError"):
        project.mutation("index:signUp", emails="a@example.com", mailUrl="")
