"""Subscriptions over a WebSocket: with the unmodified `convex` CLI, and message by message."""

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import ClientConnection

from convex_evals.core.processes import start_piped
from convex_evals.scores import ScoresStore
from convex_evals.web import Site
from convex_evals.web.functions import subscriptions

PATIENCE = 120.0
CONNECT = {"type": "Connect", "sessionId": "6c5b0d5e-0000-4000-8000-000000000000", "connectionCount": 0, "clientTs": 0}


def adding(*paths: str, base: int = 0) -> dict[str, Any]:
    added = [{"type": "Add", "queryId": base + at, "udfPath": path, "args": [{}]} for at, path in enumerate(paths)]
    return {"type": "ModifyQuerySet", "baseVersion": base, "newVersion": base + 1, "modifications": added}


def token(value: str, kind: str = "Admin") -> dict[str, Any]:
    return {"type": "Authenticate", "baseVersion": 0, "tokenType": kind, "value": value}


@asynccontextmanager
async def connected(url: str, *messages: dict[str, Any], **options: Any) -> AsyncIterator[ClientConnection]:
    address = url.replace("http:", "ws:") + "/api/1.44.0/sync"
    async with websockets.connect(address, **options) as socket:
        with suppress(websockets.ConnectionClosed):
            for message in (CONNECT, *messages):
                await socket.send(json.dumps(message))
        yield socket


async def received(socket: ClientConnection) -> dict[str, Any]:
    """The next message that is no ping."""
    message: dict[str, Any] = {"type": "Ping"}
    while message["type"] == "Ping":
        message = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
    return message


async def closed(socket: ClientConnection) -> tuple[int, str]:
    await asyncio.wait_for(socket.wait_closed(), PATIENCE)
    return socket.close_code or 0, socket.close_reason or ""


@pytest.fixture
async def closed_site(serve: Callable[[Site], Awaitable[str]], site: Site) -> str:
    """The address of a server that lets only tokens read."""
    return await serve(replace(site, read="token"))


@pytest.fixture
def migrated(tmp_path: Path, store: ScoresStore) -> Callable[[int], None]:
    """`migrated(7)`: seven rows are done."""

    def migrated(rows: int) -> None:
        with sqlite3.connect(tmp_path / "scores.db") as database:
            database.execute("UPDATE data_migrations SET state = 'running', done = ?, total = 9", (rows,))
        database.close()

    return migrated


@pytest.fixture
def nowhere() -> Iterator[int]:
    descriptor = os.open(os.devnull, os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


async def test_the_cli_watches_data_migrations_until_it_is_stopped(
    convex_cli: Any, migrated: Callable[[int], None], nowhere: int
) -> None:
    command = convex_cli.run("--component", "migrations", "lib:getStatus", "--watch")
    async with start_piped(**command, stderr=nowhere) as watching:

        async def shown(text: str) -> None:
            async with asyncio.timeout(PATIENCE):
                while text not in (await watching.stdout.readline()).decode():
                    pass

        await shown('"state": "success"')
        for rows in (4, 7):
            migrated(rows)
            await shown(f'"processed": {rows}')
        os.kill(watching.process.pid, signal.SIGINT)
        assert (await asyncio.wait_for(watching.process.wait(), PATIENCE)).exit_code == 0


async def test_only_what_changed_is_reported(serve: Any, site: Site, record: Any) -> None:
    async with connected(await serve(site), adding("runs:list", "leaderboard:getScores")) as socket:
        first = await received(socket)
        assert [each["value"] for each in first["modifications"]] == [[], []]
        assert first["serverTs"] > 0 > first["clientClockSkew"]  # or clients warn that answers took long to arrive
        run_id = record.begin()
        second = await received(socket)
        assert second["startVersion"] == first["endVersion"]
        (changed,) = second["modifications"]
        assert (changed["queryId"], changed["value"][0]["_id"]) == (0, run_id)


async def test_a_token_is_needed_where_only_tokens_read(closed_site: str, store: ScoresStore) -> None:
    async with connected(closed_site, adding("runs:list")) as socket:
        (failed,) = (await received(socket))["modifications"]
        assert failed["errorMessage"].endswith("TokenNeeded: This needs a token with the right to read.")
    for kind in ("Admin", "User"):
        reader = store.tokens.create(kind, ["read"]).token
        async with connected(closed_site, token(reader, kind), adding("runs:list")) as socket:
            told = await received(socket)
            assert told["modifications"][0]["value"] == [] and told["endVersion"]["identity"] == 1


async def test_a_revoked_token_ends_the_subscription(closed_site: str, store: ScoresStore) -> None:
    reader = store.tokens.create("analyst", ["read"]).token
    async with connected(closed_site, token(reader), adding("runs:list")) as socket:
        await received(socket)
        store.tokens.revoke("analyst")
        told = await received(socket)
        assert (told["type"], told["authUpdateAttempted"], told["baseVersion"]) == ("AuthError", False, 1)
        assert reader not in json.dumps(told)
        await closed(socket)


async def test_production_refuses_a_token_of_development(serve: Any, site: Site, store: ScoresStore) -> None:
    made = store.tokens.create("dev", ["admin"], deployment="development").token
    url = await serve(replace(site, name="production"))
    for sent, text in ((made, "is for development, but this server is production"), ("x", "is unknown, expired")):
        async with connected(url, token(sent), adding("runs:list")) as socket:
            told = await received(socket)
            assert (told["type"], told["authUpdateAttempted"]) == ("AuthError", True) and text in told["error"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("nope:nope", "Could not find public function for 'nope:nope'."),
        ("admin:startRun", "Trying to execute admin.js:startRun as Query, but it is defined as Mutation."),
        ("debug:getEvalDebugInfo", "ArgumentValidationError: Object missing required field `evalId`"),
    ],
)
async def test_impossible_queries_fail_as_they_do_in_convex(serve: Any, site: Site, path: str, text: str) -> None:
    async with connected(await serve(site), adding(path)) as socket:
        (failed,) = (await received(socket))["modifications"]
        assert failed["type"] == "QueryFailed" and f"Server Error\n{text}" in failed["errorMessage"]


async def test_mutations_are_left_to_http(serve: Any, site: Site, store: ScoresStore) -> None:
    call = {"type": "Mutation", "requestId": 0, "udfPath": "migrations:runAll", "args": [{}]}
    async with connected(await serve(site), call) as socket:
        told = await received(socket)
        assert (told["type"], told["success"], told["result"]) == (
            "MutationResponse",
            False,
            subscriptions.ONLY_QUERIES,
        )
        assert (await received(socket))["type"] == "Transition"


async def test_the_functions_are_described_with_their_arguments(serve: Any, site: Site) -> None:
    async with connected(await serve(site), adding("_system/cli/modules:apiSpec")) as socket:
        (answered,) = (await received(socket))["modifications"]
    described = {each["identifier"]: each for each in answered["value"]}
    assert described["runs.js:list"]["functionType"] == "Query"
    arguments = described["admin.js:startRun"]["args"]["value"]
    assert arguments["plannedEvals"]["fieldType"] == {"type": "array", "value": {"type": "string"}}
    assert (arguments["model"]["optional"], arguments["experiment"]["optional"]) == (False, True)


@pytest.mark.parametrize(
    ("messages", "limit"),
    [([adding(*["runs:list"] * 3)], "MOST_QUERIES"), ([], "MOST_SOCKETS")],
)
async def test_clients_over_the_limit_are_asked_to_come_back(
    serve: Any, site: Site, messages: list[Any], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, limit, 2 if messages else 0)
    async with connected(await serve(site), *messages) as socket:
        assert await closed(socket) == (1013, "TooManyConcurrentRequests")


async def test_nothing_but_the_protocol_is_understood(serve: Any, site: Site) -> None:
    async with connected(await serve(site), {"type": "Nonsense"}) as socket:
        assert (await received(socket))["type"] == "FatalError"
        await closed(socket)


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"Cookie": "a=b"}],
    ids=lambda each: str(each),
)
async def test_cross_origin_pages_cannot_subscribe(serve: Any, site: Site, headers: dict[str, str]) -> None:
    url = await serve(site)
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with connected(url, additional_headers=headers):
            pass
    assert refused.value.response.status_code == 403
