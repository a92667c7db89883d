"""The dialogue over a real socket. Function calls are played by the toy deployment of conftest.py: here it matters what
is said when, and only a toy can be stopped at every point."""

import asyncio
import hashlib
import statistics
import time
from typing import Any

import pytest
import websockets

SESSION = "b831f486-43ac-4d02-976e-a1a6000c618a"

# The types of conftest.py, which tests cannot import.
Deployment = Any
Client = Any
Until = Any
Json = dict[str, Any]


def updated(query_id: int, value: object, journal: str | None = None) -> Json:
    return {"type": "QueryUpdated", "queryId": query_id, "value": value, "logLines": [], "journal": journal}


async def subscribed(client: Client, *keys: str) -> None:
    for query_id, key in enumerate(keys):
        await client.subscribe(query_id, "list", key=key)
        await client.transition()


# Queries


async def test_nothing_is_said_until_the_client_asks(client: Client) -> None:
    await client.silence()


async def test_an_empty_query_set_is_answered(client: Client) -> None:
    await client.modify()
    assert await client.transition() == []
    assert client.version == {"querySet": 1, "identity": 0, "ts": "6AMAAAAAAAA="}


async def test_a_subscription_is_answered_and_follows_the_writes_of_others(
    deployment: Deployment, client: Client
) -> None:
    await client.subscribe(0, "list", key="a")
    assert await client.transition() == [updated(0, [])]
    deployment.world.append("a", "hi")
    assert await client.transition() == [updated(0, ["hi"])]
    assert client.version == {"querySet": 1, "identity": 0, "ts": "0AcAAAAAAAA="}


async def test_a_write_elsewhere_wakes_nobody(deployment: Deployment, client: Client) -> None:
    await subscribed(client, "a")
    deployment.world.append("b", "hi")
    await client.silence()
    assert deployment.functions.started == ["list"]


async def test_only_the_touched_query_runs_again(deployment: Deployment, client: Client) -> None:
    await subscribed(client, "a", "b")
    deployment.functions.calls.clear()
    deployment.world.append("b", "hi")
    assert await client.transition() == [updated(1, ["hi"])]
    assert [call.args for call in deployment.functions.calls] == [[{"key": "b"}]]


async def test_writes_during_an_update_are_answered_together_by_the_next_one(
    deployment: Deployment, client: Client, until: Until
) -> None:
    gate = deployment.functions.gates["list"] = asyncio.Event()
    await client.subscribe(0, "list", key="a")
    await until(lambda: deployment.functions.started == ["list"])
    for item in "xyz":
        deployment.world.append("a", item)
    gate.set()
    assert await client.transition() == [updated(0, [])]
    assert await client.transition() == [updated(0, ["x", "y", "z"])]
    await client.silence()
    assert deployment.functions.started == ["list", "list"]


async def test_all_queries_of_a_transition_see_one_snapshot(
    deployment: Deployment, client: Client, until: Until
) -> None:
    await subscribed(client, "a")
    gate = deployment.functions.gates["slow"] = asyncio.Event()
    await client.modify(
        {"type": "Add", "queryId": 1, "udfPath": "m:list", "args": [{"key": "b", "gate": "slow"}]},
        {"type": "Add", "queryId": 2, "udfPath": "m:list", "args": [{"key": "c"}]},
    )
    await until(lambda: "slow" in deployment.functions.started)
    deployment.world.append("a", "late")
    deployment.world.append("b", "late")
    gate.set()
    assert await client.transition() == [updated(1, []), updated(2, [])]
    assert await client.transition() == [updated(0, ["late"]), updated(1, ["late"])]


async def test_a_failing_query_is_a_result(client: Client) -> None:
    await client.subscribe(0, "nope")
    (failed,) = await client.transition()
    assert failed["type"] == "QueryFailed"
    assert failed["errorMessage"].startswith("[Request ID: ")
    assert failed["errorMessage"].endswith("] Server Error\nCould not find public function for 'm:nope'.\n")
    assert "errorData" not in failed


async def test_a_path_that_cannot_be_read_fails_the_query_not_the_socket(client: Client) -> None:
    await client.subscribe(0, "unparseable")
    (failed,) = await client.transition()
    assert failed["errorMessage"].endswith("Server Error\nx is not a valid path to a Convex function.")


async def test_the_journal_of_the_client_reaches_the_query(deployment: Deployment, client: Client) -> None:
    await client.modify({"type": "Add", "queryId": 0, "udfPath": "m:list", "args": [{"key": "a"}], "journal": "j"})
    assert await client.transition() == [updated(0, [], journal="j")]
    assert deployment.functions.journals == ["j"]


async def test_new_code_runs_every_query_again(deployment: Deployment, client: Client) -> None:
    await subscribed(client, "a", "b")
    deployment.functions.started.clear()
    deployment.sync.on_new_code()
    assert await client.transition() == []
    assert deployment.functions.started == ["list", "list"]


async def test_the_clock_skew_of_the_client_is_reported_back(deployment: Deployment) -> None:
    client = await (await deployment.socket()).connect(clientTs=0)
    await client.modify()
    message = await client.receive()
    assert message["clientClockSkew"] < -1_700_000_000_000
    assert isinstance(message["serverTs"], int)


# Mutations


async def test_a_mutation_is_answered_before_the_transition_that_shows_it(client: Client) -> None:
    await subscribed(client, "a")
    await client.mutate(0, "push", key="a", item="hi")
    assert await client.receive() == {
        "type": "MutationResponse",
        "requestId": 0,
        "success": True,
        "result": "hi",
        "ts": "0AcAAAAAAAA=",
        "logLines": [],
    }
    assert await client.transition() == [updated(0, ["hi"])]
    assert client.version["ts"] == "0AcAAAAAAAA="


async def test_nothing_shows_the_effect_of_a_mutation_before_its_response(
    deployment: Deployment, client: Client, until: Until
) -> None:
    await subscribed(client, "a", "b")
    gate = deployment.functions.gates["committed"] = asyncio.Event()
    await client.mutate(0, "push", key="a", item="mine")
    await until(lambda: deployment.world.latest == 2000)
    deployment.world.append("b", "theirs")
    await client.silence()
    gate.set()
    assert (await client.receive())["type"] == "MutationResponse"
    assert await client.transition() == [updated(0, ["mine"]), updated(1, ["theirs"])]


async def test_a_slow_mutation_does_not_delay_updates(deployment: Deployment, client: Client, until: Until) -> None:
    await subscribed(client, "a")
    deployment.functions.gates["push"] = asyncio.Event()
    await client.mutate(0, "push", key="a", item="mine")
    await until(lambda: "push" in deployment.functions.started)
    deployment.world.append("a", "theirs")
    assert await client.transition() == [updated(0, ["theirs"])]


async def test_the_transition_does_not_wait_until_the_response_was_acknowledged(client: Client) -> None:
    delays = []
    for request_id in range(40):
        await client.mutate(request_id, "push", key="a", item="x")
        await client.receive()
        answered = time.monotonic()
        await client.transition()
        delays.append(time.monotonic() - answered)
    quarter = statistics.quantiles(delays, n=4)[0]  # of the others, a busy machine may delay some
    assert quarter < 0.03


async def test_a_client_without_queries_gets_its_transition_too(client: Client) -> None:
    await client.mutate(0, "push", key="a", item="hi")
    assert (await client.receive())["success"] is True
    assert await client.transition() == []
    assert client.version == {"querySet": 0, "identity": 0, "ts": "0AcAAAAAAAA="}


async def test_a_failed_mutation_is_followed_by_a_transition(client: Client) -> None:
    await client.mutate(0, "refuse")
    request_id = hashlib.sha256(f"{SESSION}|0".encode()).hexdigest()[:16]
    assert await client.receive() == {
        "type": "MutationResponse",
        "requestId": 0,
        "success": False,
        "result": f"[Request ID: {request_id}] Server Error\nUncaught ConvexError: no\n",
        "errorData": "no",
        "ts": None,
        "logLines": [],
    }
    assert await client.transition() == []


async def test_mutations_run_one_after_the_other_in_the_order_they_came(
    deployment: Deployment, client: Client, until: Until
) -> None:
    gate = deployment.functions.gates["first"] = asyncio.Event()
    await client.mutate(0, "push", key="a", item="1", gate="first")
    await client.mutate(1, "push", key="a", item="2", gate="second")
    await until(lambda: deployment.functions.started == ["first"])
    await client.silence()
    gate.set()
    responses = [message async for message in responses_of(client, 2)]
    assert [response["requestId"] for response in responses] == [0, 1]
    assert deployment.world.read("a", deployment.world.latest) == ["1", "2"]


async def responses_of(client: Client, count: int) -> Any:
    while count:
        message = await client.receive()
        if message["type"] != "Transition":
            count -= 1
            yield message


async def test_a_mutation_runs_as_whoever_the_client_was_when_it_sent_it(
    deployment: Deployment, client: Client, admin_key: str, until: Until
) -> None:
    gate = deployment.functions.gates["first"] = asyncio.Event()
    await client.mutate(0, "push", key="a", item="1", gate="first")
    await client.mutate(1, "push", key="a", item="2", gate="second")
    await client.send(type="Authenticate", baseVersion=0, tokenType="Admin", value=admin_key)
    await client.mutate(2, "push", key="a", item="3", gate="third")
    await client.transition()
    gate.set()
    await until(lambda: len(deployment.functions.calls) == 3)
    assert [type(call.identity).__name__ for call in deployment.functions.calls] == ["Anonymous", "Anonymous", "Admin"]


async def test_a_mutation_sent_again_over_a_new_socket_is_not_run_again(deployment: Deployment) -> None:
    first = await deployment.client()
    await first.mutate(0, "push", key="a", item="once")
    original = await first.receive()
    await first.connection.close()
    second = await deployment.client()
    await second.mutate(0, "push", key="a", item="once")
    assert await second.receive() == original
    assert await second.transition() == []
    assert deployment.world.read("a", deployment.world.latest) == ["once"]


async def test_a_mutation_ends_though_its_client_vanished(deployment: Deployment, client: Client, until: Until) -> None:
    gate = deployment.functions.gates["push"] = asyncio.Event()
    await client.mutate(0, "push", key="a", item="hi")
    await until(lambda: deployment.functions.started == ["push"])
    client.connection.transport.abort()
    gate.set()
    await until(lambda: deployment.world.read("a", deployment.world.latest) == ["hi"])


async def test_a_thousand_mutations_may_wait_and_no_more(deployment: Deployment, client: Client) -> None:
    deployment.functions.gates["push"] = asyncio.Event()
    for request_id in range(1002):
        await client.mutate(request_id, "push", key="a", item="x")
    assert await client.closed() == (1013, "TooManyConcurrentMutations")


# Actions


async def test_actions_run_side_by_side_and_block_nothing(deployment: Deployment, client: Client) -> None:
    gate = deployment.functions.gates["slow"] = asyncio.Event()
    await client.act(0, "m:answer", gate="slow", say="first")
    await client.act(1, "m:answer", say="second")
    response = await client.receive()
    assert response == {
        "type": "ActionResponse",
        "requestId": 1,
        "success": True,
        "result": "second",
        "logLines": [],
    }
    assert await client.transition() == []
    await client.subscribe(0, "list", key="a")
    assert await client.transition() == [updated(0, [])]
    gate.set()
    assert (await client.receive())["result"] == "first"


async def test_an_action_runs_on_when_its_client_is_gone(
    deployment: Deployment, client: Client, until: Until, caplog: pytest.LogCaptureFixture
) -> None:
    gate = deployment.functions.gates["answer"] = asyncio.Event()
    await client.act(0, "m:answer")
    await until(lambda: deployment.functions.started == ["answer"])
    await client.connection.close()
    gate.set()
    await asyncio.sleep(0.02)
    assert [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


async def test_an_action_of_the_system_ends_the_socket_of_everyone_else(client: Client) -> None:
    await client.act(0, "_system/frontend/x:y")
    assert await client.receive() == {"type": "FatalError", "error": "Operation action not permitted"}
    assert await client.closed() == (1000, "SystemIdentityRequired")


# Authentication


async def test_authentication_is_confirmed_by_a_transition_with_the_next_identity_version(
    client: Client, admin_key: str
) -> None:
    await client.subscribe(0, "whoami")
    assert await client.transition() == [updated(0, "Anonymous")]
    await client.send(type="Authenticate", baseVersion=0, tokenType="Admin", value=admin_key)
    assert await client.transition() == [updated(0, "Admin")]
    assert client.version["identity"] == 1
    acting = {"issuer": "https://a.example", "subject": "ada"}
    await client.send(type="Authenticate", baseVersion=1, tokenType="Admin", value=admin_key, impersonating=acting)
    assert await client.transition() == [updated(0, "ActingAdmin")]
    await client.send(type="Authenticate", baseVersion=2, tokenType="User", value="user")
    assert await client.transition() == [updated(0, "User")]
    await client.send(type="Authenticate", baseVersion=3, tokenType="None")
    assert await client.transition() == [updated(0, "Anonymous")]
    assert client.version["identity"] == 4


async def test_a_refused_token_is_an_auth_error_and_the_end(client: Client) -> None:
    await client.send(type="Authenticate", baseVersion=0, tokenType="User", value="wrong")
    assert await client.receive() == {
        "type": "AuthError",
        "error": "Could not parse JWT payload.",
        "baseVersion": 0,
        "authUpdateAttempted": True,
    }
    assert (await client.closed())[0] == 1005


async def test_a_refused_admin_key_is_an_auth_error(client: Client) -> None:
    await client.send(type="Authenticate", baseVersion=0, tokenType="Admin", value="test|wrong")
    assert (await client.receive())["error"] == "The provided admin key was invalid for this instance"


async def test_a_provider_that_is_down_says_nothing_about_the_token(client: Client) -> None:
    await client.send(type="Authenticate", baseVersion=0, tokenType="User", value="down")
    assert await client.closed() == (1013, "AuthProviderDown")


@pytest.mark.parametrize("then", ["mutation", "action", "nothing"])
async def test_an_identity_that_expired_ends_the_socket(client: Client, then: str) -> None:
    await client.send(type="Authenticate", baseVersion=0, tokenType="User", value="expired")
    match then:
        case "mutation":
            await client.mutate(0, "push", key="a", item="x")
        case "action":
            await client.act(0, "m:answer")
    assert await client.receive() == {
        "type": "AuthError",
        "error": "Convex token identity expired",
        "baseVersion": 0,
        "authUpdateAttempted": False,
    }
    assert (await client.closed())[0] == 1005


# The end


FATAL: list[tuple[str, str]] = [
    ("nonsense", "Received Invalid JSON on websocket: "),
    ('{"type": "Nope"}', "Received Invalid JSON on websocket: unknown variant `Nope`"),
    (
        '{"type": "ModifyQuerySet", "baseVersion": 3, "newVersion": 4, "modifications": []}',
        "Base version 3 passed up doesn't match the current version 0",
    ),
    (
        '{"type": "Authenticate", "baseVersion": 3, "tokenType": "None"}',
        "Base version 3 passed up doesn't match the current version 0",
    ),
]


@pytest.mark.parametrize(("frame", "error"), FATAL)
async def test_breaking_the_protocol_is_fatal(client: Client, frame: str, error: str) -> None:
    await client.connection.send(frame)
    message = await client.receive()
    assert message["type"] == "FatalError"
    assert message["error"].startswith(error)
    assert (await client.closed())[0] == 1005


async def test_the_first_message_must_be_connect(deployment: Deployment) -> None:
    client = await deployment.socket()
    await client.modify()
    assert (await client.receive())["type"] == "FatalError"


async def test_a_binary_frame_ends_the_socket(client: Client) -> None:
    await client.connection.send(b"{}")
    assert await client.closed() == (1011, "InternalServerError")


async def test_adding_a_query_twice_ends_the_socket(client: Client) -> None:
    await subscribed(client, "a")
    await client.subscribe(0, "list", key="a")
    assert await client.closed() == (1011, "InternalServerError")


async def test_a_client_with_a_timestamp_from_the_future_is_refused(deployment: Deployment) -> None:
    client = await (await deployment.socket()).connect(maxObservedTimestamp="0AcAAAAAAAA=")
    assert await client.closed() == (1011, "InternalServerError")


async def test_a_failure_of_our_own_ends_the_socket(client: Client) -> None:
    await client.subscribe(0, "broken")
    assert await client.closed() == (1011, "InternalServerError")


async def test_a_mutation_that_lost_too_often_asks_the_client_to_come_back(client: Client) -> None:
    await client.mutate(0, "contended")
    assert await client.closed() == (1013, "OptimisticConcurrencyControlFailure")


async def test_a_frame_that_is_too_large_ends_the_socket(client: Client) -> None:
    with pytest.raises(websockets.ConnectionClosed):
        for _ in range(2):
            await client.connection.send("x" * (64 * 1024 * 1024 + 1))
    assert client.connection.protocol.close_rcvd.code == 1009


async def test_a_stopping_server_says_so(deployment: Deployment, client: Client) -> None:
    await subscribed(client, "a")
    await deployment.sync.stop()
    assert await client.closed() == (1001, "")


async def test_one_client_leaving_does_not_disturb_another(deployment: Deployment, client: Client) -> None:
    other = await deployment.client()
    await subscribed(client, "a")
    await subscribed(other, "a")
    other.connection.transport.abort()
    deployment.world.append("a", "hi")
    assert await client.transition() == [updated(0, ["hi"])]


async def test_telemetry_is_ignored(client: Client) -> None:
    await client.send(type="Event", eventType="ClientConnect", event=[])
    await client.silence()
