from dataclasses import dataclass
from typing import Any, Literal

import pytest

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import ConvexError, DeveloperError, RequestError
from convex_evals.backend.functions.system_calls import SystemCall
from convex_evals.backend.identity import ANONYMOUS, ActingAdmin, Identity, User
from convex_evals.backend.values import Value

World = Any


@dataclass(frozen=True)
class Counting:
    """Counts documents of a table, or adds one to it."""

    kind: Literal["query", "mutation"]

    async def run(self, call: SystemCall) -> Value:
        table = str(call.args["table"])
        if table == "wrong":
            raise DeveloperError("Uncaught Error: wrong table")
        if table == "very wrong":
            raise ConvexError("Uncaught ConvexError: very wrong table", '"data"')
        if self.kind == "mutation":
            call.transaction.insert("", table, {})
        return float(call.transaction.count("", table))


class Library:
    def find(self, path: FunctionPath) -> Counting | None:
        match path.stripped:
            case "_system/count":
                return Counting("query")
            case "_system/add":
                return Counting("mutation")
            case _:
                return None


@pytest.fixture
def app(world: World) -> World:
    world.host.system_functions = Library()
    return world


async def test_system_functions_run_in_ordinary_transactions(app: World) -> None:
    counted = await app.runner.query(app.admin("_system/count", {"table": "messages"}))
    assert counted.value == "0.0"
    before = app.database.latest
    added = await app.runner.mutation(app.admin("_system/add", {"table": "messages"}))
    assert (added.value, added.ts) == ("1.0", app.database.latest)
    assert app.database.changed_since(counted.read_set, before)


@pytest.mark.parametrize("identity", [ANONYMOUS, User({}), ActingAdmin(User({}))])
async def test_only_administrators_as_themselves_may_call_them(app: World, identity: Identity) -> None:
    call = app.call("_system/count", {"table": "messages"}, identity=identity)
    assert (await app.runner.query(call)).failure.message == "Operation query not permitted\n"
    assert (await app.runner.mutation(call)).failure.message == "Operation mutation not permitted\n"
    with pytest.raises(RequestError) as refused:
        await app.runner.action(call)
    assert (refused.value.status, refused.value.code) == (403, "SystemIdentityRequired")


@pytest.mark.parametrize(
    ("kind", "path", "args", "message"),
    [
        ("query", "_system/nope", {"table": "a"}, "Couldn't find system module '\"_system/nope.js\"'.\n"),
        (
            "query",
            "_system/add",
            {"table": "a"},
            "Function _system/add.js:default is registered as a mutation but is being run as a query.\n",
        ),
        ("query", "_system/count", {"table": "wrong"}, "Uncaught Error: wrong table\n"),
        ("query", "_system/count", {"table": "very wrong"}, "Uncaught ConvexError: very wrong table\n"),
        ("query", "_system/count", [], "Expected to receive an object as the function's argument.\n"),
    ],
)
async def test_their_failures_are_outcomes(app: World, kind: str, path: str, args: object, message: str) -> None:
    outcome = await getattr(app.runner, kind)(app.admin(path, args))
    assert outcome.failure.message == message
    assert (outcome.failure.data is not None) == ("ConvexError" in message)


async def test_calls_by_registration_do_not_reach_them(app: World) -> None:
    outcome = await app.runner.run_any(app.admin("_system/count", {"table": "messages"}))
    assert outcome.failure.message == (
        "Could not find function for '_system/count'. Did you forget to run `npx convex dev`?\n"
    )
