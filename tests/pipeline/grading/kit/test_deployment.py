"""What graders can do with a deployment, each against a real one."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from convex_evals.pipeline.grading.kit import (
    CallFailed,
    Deployment,
    Int64,
    Reply,
    Route,
    WebServer,
    contents,
    trace,
    wait_until,
)
from convex_evals.pipeline.grading.kit.contents import clean, clean_step_by_step
from convex_evals.pipeline.grading.kit.errors import CallTimedOut, DeploymentLost, EvalBroken, Refused
from convex_evals.pipeline.grading.kit.transport import Clock, Transport


@pytest.mark.parametrize(
    "value",
    [None, True, 5, 5.5, -0.0, 2**60 * 1.0, Int64(5), "text", b"\x00\xff", [1, [2]], {"a": {"b": Int64(-1)}}],
    ids=repr,
)
def test_values_come_back_as_they_were_sent(project: Deployment, value: object) -> None:
    received = project.query("messages:echo", value=value)
    assert received == value
    assert type(received) is type(value)


def test_arguments_are_named_or_given_as_a_dict(project: Deployment) -> None:
    project.mutation("messages:send", {"channel": "a"}, body="hi")
    assert [message["body"] for message in project.query("messages:list", {"channel": "a"})] == ["hi"]


def test_a_failing_function_raises_with_its_own_words(project: Deployment) -> None:
    with pytest.raises(CallFailed) as caught:
        project.query("messages:broken")
    assert caught.value.message == "boom"
    assert str(caught.value).startswith(
        "messages:broken failed on the project deployment: Uncaught Error: boom\n    at "
    )


def test_expected_failures_are_checked_by_text_and_data(project: Deployment) -> None:
    with project.fails("ArgumentValidationError"):
        project.mutation("messages:send", channel=1, body="hi")
    with project.fails(data={"code": "EMPTY", "field": "body"}) as failure:
        project.mutation("messages:send", channel="a", body="")
    assert failure.data == {"code": "EMPTY", "field": "body"}
    assert "EMPTY" in failure.message


FAILS_WRONGLY: list[tuple[dict[str, object], str, str]] = [
    ({"text": "boom"}, "messages:whoAmI", "expected a call to fail with 'boom', but all calls succeeded"),
    ({"text": "bang"}, "messages:broken", "failed, as it must, but for another reason"),
    ({"text": "handler"}, "messages:broken", "failed, as it must, but for another reason"),  # stands in a frame
    ({"data": {"code": 1}}, "messages:broken", "messages:broken must throw a ConvexError"),
]


@pytest.mark.parametrize(("expected", "path", "complaint"), FAILS_WRONGLY)
def test_a_call_that_does_not_fail_as_expected_fails_the_test(
    project: Deployment, expected: dict[str, object], path: str, complaint: str
) -> None:
    with pytest.raises(AssertionError, match=complaint), project.fails(**expected):  # type: ignore[arg-type]
        project.query(path)


def test_clients_cannot_call_internal_functions_and_administrators_can(project: Deployment) -> None:
    with project.fails("Could not find public function for 'messages:secret'"):
        project.query("messages:secret")
    assert project.admin.query("messages:secret") == "secret"


def test_users_have_the_identity_they_were_given(project: Deployment) -> None:
    assert project.query("messages:whoAmI") is None
    assert project.as_user("ada", name="Ada").query("messages:whoAmI") == {"subject": "ada", "name": "Ada"}


def token(subject: str) -> str:
    claims = {"iss": "https://sign-in.example", "aud": "tests", "sub": subject, "exp": int(time.time()) + 3000}
    key = ec.derive_private_key(2026, ec.SECP256R1())  # its public half is in auth.config.ts
    return jwt.encode({**claims, "iat": claims["exp"] - 3600}, key, "ES256", {"kid": "test"})


def test_a_token_is_checked_by_the_deployment_and_can_be_exchanged(project: Deployment) -> None:
    ada = project.with_token(token("ada"))
    assert ada.query("messages:whoAmI")["subject"] == "ada"
    with ada.clients(1) as (client,):
        live = client.subscribe("messages:whoAmI")
        assert live.value["subject"] == "ada"
        client.authenticate(token("ben"))
        live.wait_until(lambda who: who and who["subject"] == "ben", seconds=60)
        client.authenticate(None)
        live.wait_until(lambda who: who is None, seconds=60)


def test_documents_are_inserted_listed_replaced_and_deleted(project: Deployment) -> None:
    first = project.insert("messages", channel="a", body="1")
    second, third = project.insert_many("messages", [{"channel": "a", "body": str(n)} for n in (2, 3)])
    assert [document["_id"] for document in project.documents("messages")] == [first, second, third]
    project.replace(second, {"channel": "b", "body": "two", "likes": 2})
    project.delete("messages", first, third)
    assert project.get(first) is None
    [left] = project.documents("messages")
    assert (left["channel"], left["likes"]) == ("b", 2)
    project.clear("messages")
    assert project.documents("messages") == []
    assert project.tables() == ["counters", "messages"]


def test_an_insert_that_the_schema_refuses_says_why(project: Deployment) -> None:
    with pytest.raises(CallFailed, match=r'insert into "messages" failed on the project deployment: (.|\n)*missing'):
        project.insert("messages", body="no channel")


def test_a_thousand_and_one_documents_are_all_listed(project: Deployment) -> None:
    project.insert_many("messages", [{"channel": "a", "body": str(n)} for n in range(1001)])
    assert [document["body"] for document in project.documents("messages")][-2:] == ["999", "1000"]


def test_int64_fields_are_int64(project: Deployment) -> None:
    project.insert("counters", value=Int64(7))
    assert project.documents("counters")[0]["value"] == Int64(7)
    assert project.documents("counters")[0]["value"] != 7


def test_http_endpoints_are_asked_and_answer_as_they_like(project: Deployment) -> None:
    echoed = project.http.post("/echo?x=1", json={"a": 1})
    assert (echoed.status, echoed.json()) == (201, {"body": '{"a": 1}', "query": "?x=1"})
    assert echoed.header("x-kind") == "application/json"
    assert project.http.get("/files/a.txt").text == "a file"
    assert project.http.get("/nowhere", query={"a": "b"}).status == 404
    with pytest.raises(AssertionError, match="expected a JSON body, received 200 'a file'"):
        project.http.get("/files/a.txt").json()


def test_schema_functions_routes_and_crons_are_read(project: Deployment) -> None:
    messages = project.schema().table("messages")
    assert {name: str(field) for name, field in messages.fields.items()} == {
        "channel": "v.string()",
        "body": "v.string()",
        "likes": "v.optional(v.number())",
    }
    assert messages.indexes == {"by_channel": ["channel"]}
    assert messages.has_index_on("channel") and not messages.has_index_on("body")
    assert messages.search_indexes["search_body"].filter_fields == {"channel"}
    remove = project.functions()["messages:remove"]
    assert (remove.kind, remove.visibility, remove.returns_type) == ("mutation", "internal", "v.null()")
    assert str(remove.arguments["id"]) == 'v.id("messages")'
    assert project.routes() == [Route("GET", "/files/*"), Route("POST", "/echo")]
    keep_alive = project.crons()["keep alive"]
    assert keep_alive.schedule == {"type": "interval", "seconds": 7200}
    assert (keep_alive.function, keep_alive.args) == ("messages:keep", {"body": "tick"})
    assert wait_until(lambda: project.crons()["keep alive"].runs, seconds=60) == ("success",)  # intervals start at once


def test_a_missing_table_is_named_with_its_likely_spelling(project: Deployment) -> None:
    with pytest.raises(AssertionError, match=r"the schema has no table mesages; did you mean messages?"):
        project.schema().table("mesages")


def test_scheduled_functions_are_seen_before_and_after_they_ran(project: Deployment) -> None:
    document = project.insert("messages", channel="a", body="gone soon")
    project.mutation("messages:removeLater", id=document, delay=60_000)
    [job] = project.scheduled()
    assert (job.function, job.args, job.state) == ("messages:remove", {"id": document}, "pending")
    assert job.delay_ms == pytest.approx(60_000, abs=500)
    project.mutation("messages:removeLater", id=document, delay=0)
    wait_until(lambda: project.scheduled()[1].state == "success", "the removal", seconds=60)
    assert project.documents("messages") == []


def test_subscriptions_follow_changes(project: Deployment) -> None:
    with project.subscribe("messages:list", channel="a") as live:
        assert live.value == []
        project.mutation("messages:send", channel="a", body="hi")
        assert live.wait_until(lambda messages: len(messages) == 1, seconds=60)[0]["body"] == "hi"
        assert len(live.updates) == 2
        with pytest.raises(
            AssertionError, match=r"did not show a result that meets the condition within 0.1 s; newest"
        ):
            live.wait_until(lambda messages: len(messages) == 2, seconds=0.1)


def test_users_subscribe_as_themselves(project: Deployment) -> None:
    with project.as_user("ada").subscribe("messages:whoAmI") as live:
        assert live.value == {"subject": "ada", "name": None}


def test_a_subscription_to_a_failing_query_fails_when_looked_at(project: Deployment) -> None:
    with project.subscribe("messages:broken") as live, project.fails("boom"):
        _ = live.value


def test_pages_are_walked_to_the_end(project: Deployment) -> None:
    project.insert_many("messages", [{"channel": "a", "body": str(n)} for n in range(5)])
    pages = project.pages("messages:page", num_items=2)
    assert [[message["body"] for message in page.items] for page in pages] == [["0", "1"], ["2", "3"], ["4"]]


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("messages:endless", "messages:endless never comes to an end: page 2 still has isDone false"),
        ("messages:echo", "messages:echo must return a page"),
    ],
)
def test_a_result_that_is_not_paginated_fails_the_test(project: Deployment, path: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        project.pages(path, {"value": 1} if path.endswith("echo") else {}, **_options(path))


def _options(path: str) -> dict[str, str]:
    return {"options": "value"} if path.endswith("echo") else {}


def test_files_are_uploaded_listed_and_downloaded(project: Deployment) -> None:
    first = project.storage.upload(b"one", "text/plain")
    second = project.storage.upload_to(project.mutation("messages:uploadUrl"), b"second")
    files = project.storage.files()
    assert [(file.id, file.size, file.content_type) for file in files] == [(first, 3, "text/plain"), (second, 6, None)]
    assert project.storage.download(files[0].url).body == b"one"
    found = project.storage.get(second)
    assert found is not None and found.size == 6


def test_environment_variables_are_set_and_removed(project: Deployment) -> None:
    project.env.set(GREETING="hello")
    assert project.query("messages:variable", name="GREETING") == "hello"
    project.env.set(GREETING=None)
    assert project.query("messages:variable", name="GREETING") is None


def test_functions_fetch_from_the_web_server(project: Deployment) -> None:
    with WebServer.run() as server:
        address = server.reply("POST", "/texts", Reply.json(["a", "b"]))
        assert project.action("messages:fetchAndKeep", url=address) == 200
    assert [request.json() for request in server.requests] == [{"hello": "there"}]
    assert [document["body"] for document in project.documents("messages")] == ["a", "b"]


@pytest.mark.parametrize("url", [None, "", "/api/storage/a", "http://127.0.0.1:1/api/storage/a"])
def test_a_url_that_leads_nowhere_fails_the_test_and_blames_no_deployment(project: Deployment, url: Any) -> None:
    with pytest.raises(AssertionError, match="expected a URL"):
        project.storage.download(url)
    with pytest.raises(AssertionError, match="expected a URL"):
        project.storage.upload_to(url, b"x")


def test_work_is_measured(project: Deployment) -> None:
    project.insert_many("messages", [{"channel": "a" if n < 3 else "b", "body": str(n)} for n in range(10)])
    for _ in range(2):  # the second time, nothing comes from a cache
        with project.trace() as work:
            project.query("messages:list", channel="a")
        assert (work.documents_read, work.indexes) == (3, {"messages.by_channel"})
    with project.trace() as work:
        project.query("messages:scan", channel="a")
    assert (work.documents_read, work.indexes) == (10, {"messages.by_creation_time"})
    assert work.bytes_read > 0


@pytest.mark.parametrize("is_ordinary", [False, True], ids=["simulated", "ordinary"])
def test_functions_cannot_tell_that_they_are_measured(
    project: Deployment, is_ordinary: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_ordinary", {project.transport.url} if is_ordinary else set())
    for _ in range(2):
        with project.trace() as work:
            assert project.query("messages:variable", name=trace.VARIABLE) is None
        assert [call.function for call in work.calls] == ["messages:variable"]


def test_reads_that_are_under_way_together_are_one_round_trip(project: Deployment) -> None:
    ids = project.insert_many("messages", [{"channel": "a", "body": str(n)} for n in range(40)])
    with project.trace() as one_by_one:
        project.query("messages:oneByOne", ids=ids)
    with project.trace() as together:
        project.query("messages:together", ids=ids[:10])
    assert one_by_one.round_trips == 40
    assert together.round_trips <= 2  # the collect is longer than what is fetched at first


def test_calls_that_an_action_makes_are_measured_too(project: Deployment) -> None:
    with WebServer.run() as server, project.trace() as work:
        project.action("messages:fetchAndKeep", url=server.reply("POST", "/texts", Reply.json(["a", "b"])))
    assert [call.function for call in work.nested_calls] == ["messages:keep", "messages:keep"]
    assert [call.kind for call in work.calls] == ["mutation", "mutation", "action"]
    assert work.documents_written == 2
    assert len(work.calls_of("messages:fetchAndKeep")) == 1


def test_a_call_that_an_action_repeats_counts_again_but_reads_nothing_again(project: Deployment) -> None:
    project.insert("messages", channel="a", body="hi")
    with project.trace() as work:
        project.action("messages:listTwice", channel="a")
    assert [call.function for call in work.nested_calls] == ["messages:list", "messages:list"]
    assert work.documents_read == 1


def test_http_endpoints_are_measured(project: Deployment) -> None:
    with project.trace() as work:
        project.http.get("/files/a.txt")
    assert [call.function for call in work.calls] == ["GET /files/*"]


def test_a_measured_call_that_reaches_no_function_fails_the_test(
    project: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "LOG_SECONDS", 0.2)
    unmeasured = pytest.raises(AssertionError, match="1 of 1 measured calls reached no function")
    with unmeasured, project.trace(), pytest.raises(Refused):
        project.query("a:b:c")


def test_threads_may_share_a_deployment(project: Deployment) -> None:
    def send(number: int) -> str:
        return str(project.mutation("messages:send", channel="a", body=str(number)))

    with ThreadPoolExecutor(4) as pool:
        ids = set(pool.map(send, range(12)))
    assert len(ids) == len(project.documents("messages")) == 12


def test_a_function_that_does_not_answer_in_time_is_named(project: Deployment, clock: Clock) -> None:
    clock.start(0.3)
    with pytest.raises(CallTimedOut, match=r"the action messages:slow did not answer within \d\.\d+ s on the project"):
        project.action("messages:slow", ms=20_000)


def test_a_deployment_that_is_gone_is_nobodys_mistake(clock: Clock) -> None:
    gone = Deployment(Transport("project", "http://127.0.0.1:9", "http://127.0.0.1:9", "key", clock))
    with pytest.raises(DeploymentLost):
        gone.query("messages:list")
    with pytest.raises(DeploymentLost), gone.clients(1):
        pass


def test_a_request_that_makes_no_sense_is_refused(project: Deployment) -> None:
    with pytest.raises(Refused, match="the query a:b:c was refused by the project deployment: 400"):
        project.query("a:b:c")


CHANGES: dict[str, Callable[[Deployment], object]] = {
    "documents": lambda project: project.insert("messages", channel="a", body="x"),
    "files": lambda project: project.storage.upload(b"x"),
    "jobs": lambda project: project.mutation(
        "messages:removeLater", id=project.insert("messages", channel="a", body="x"), delay=60_000
    ),
    "variables": lambda project: project.env.set(A="b"),
}


@pytest.mark.parametrize("way", [clean, clean_step_by_step], ids=["at once", "step by step"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_cleaning_leaves_nothing(
    project: Deployment,
    transport: Transport,
    change: Callable[[Deployment], object],
    way: Callable[[Transport], None],
) -> None:
    change(project)
    way(transport)
    assert [project.documents(table) for table in project.tables()] == [[], []]
    assert (project.storage.files(), project.scheduled(), project.env.all()) == ([], [], {})


def test_ids_that_cannot_be_known_are_not_invented(project: Deployment) -> None:
    with pytest.raises(EvalBroken, match="at most 4096 documents"):
        project.insert_many("messages", [{"channel": "a", "body": "x"}] * 4097)
