"""Calls across the border of a component."""

from typing import Any

import pytest

from convex_evals.backend.identity import User

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN_CHILD = ["nowhere", "public", "list"]
UNKNOWN_FUNCTION = ["notebook", "public", "missing"]
INTERNAL_FUNCTION = ["notebook", "public", "addLater"]
GRANDCHILD = ["outer", "inner", "public", "list"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (UNKNOWN_CHILD, 'Child component "nowhere" not found'),
        (UNKNOWN_FUNCTION, 'Child component "notebook" does not export [public, missing]'),
        (INTERNAL_FUNCTION, 'Child component "notebook" does not export [public, addLater]'),
        (GRANDCHILD, 'Child component "outer" does not export [inner, public, list]'),
    ],
)
async def test_only_public_functions_of_direct_children_can_be_named(local: Any, path: list[str], message: str) -> None:
    for caller in ("calls:byQuery", "calls:byMutation"):
        assert f"Uncaught Error: {message}" in await local.failure(caller, path=path, args={}, **{"as": "query"})
    assert f"Uncaught Error: {message}" in await local.failure("calls:schedule", path=path, args={})
    assert f"Uncaught Error: {message}" in await local.failure("calls:handleOf", path=path)
    from_action = await local.failure("calls:byAction", path=path, args={}, **{"as": "query"})
    assert f"Uncaught Error: Couldn't resolve {'.'.join(path)}" in from_action


@pytest.mark.parametrize("caller", ["calls:byMutation", "calls:byAction"])
@pytest.mark.parametrize(
    ("path", "kind", "args", "message"),
    [
        (
            ["notebook", "public", "add"],
            "query",
            {"text": "x"},
            "Trying to execute public.js:add in 'notebook' as Query, but it is defined as Mutation.",
        ),
        (
            ["notebook", "public", "add"],
            "mutation",
            {},
            "ArgumentValidationError: Object is missing the required field `text`.",
        ),
        (
            ["notebook", "public", "wrongReturn"],
            "query",
            {},
            "ReturnsValidationError: Value does not match validator.",
        ),
        (["notebook", "public", "addAndFail"], "mutation", {"text": "x"}, "Uncaught Error: no more paper"),
    ],
)
async def test_a_callee_that_fails_says_why_to_its_caller(
    local: Any, caller: str, path: list[str], kind: str, args: dict[str, Any], message: str
) -> None:
    assert f"Uncaught Error: {message}" in await local.failure(caller, path=path, args=args, **{"as": kind})


async def test_an_action_calls_every_kind_of_function(local: Any) -> None:
    def call(kind: str, module: str, function: str, args: dict[str, Any]) -> Any:
        return local.run("calls:byAction", path=["second", module, function], args=args, **{"as": kind})

    await call("mutation", "public", "add", {"text": "by an action"})
    assert "by an action" in await call("query", "public", "list", {})
    stored = await call("action", "files", "store", {"text": "by an action of an action"})
    assert await call("action", "files", "read", {"id": stored}) == "by an action of an action"


async def test_a_user_is_not_known_in_components_that_an_action_calls(local: Any) -> None:
    ada = User({"subject": "ada"})
    path = ["notebook", "public", "whoAmI"]
    assert await local.run("calls:byAction", identity=ada, path=path, args={}, **{"as": "query"}) is None


async def test_log_lines_of_a_component_say_where_they_come_from(local: Any) -> None:
    outcome = await local.call("notes:addEverywhere", text="x")
    assert [(line.text, line.component_path, line.udf_path) for line in outcome.log_lines] == [
        ("[LOG] 'adding' 'x of the first'", "notebook", "public:add"),
        ("[LOG] 'adding' 'x of the second'", "second", "public:add"),
        ("[LOG] 'adding' 'x of the inner'", "outer/inner", "public:add"),
    ]


async def test_calls_are_at_most_eight_deep(local: Any) -> None:
    assert await local.run("calls:descend", left=8.0) == 8
    assert "Cross component call depth limit exceeded. Do you have an infinite loop in your app?" in (
        await local.failure("calls:descend", left=9.0)
    )


async def test_a_component_does_not_paginate_but_walks_an_index(local: Any) -> None:
    for number in range(5):
        await local.run("relay:add", "outer", text=f"page {number}")
    assert "paginate() is only supported in the app. Learn more at https://docs.convex.dev/components/authoring" in (
        await local.failure("public:page", "outer/inner")
    )
    texts: list[str] = []
    cursor, is_done = None, False
    while not is_done:
        page = await local.run("public:pageByIndex", "outer/inner", cursor=cursor)
        texts, cursor, is_done = texts + page["page"], page["continueCursor"], page["isDone"]
    assert texts == sorted(await local.run("public:list", "outer/inner"))


class TestHandles:
    async def test_a_handle_is_the_same_every_time_and_differs_by_instance(self, local: Any) -> None:
        handles = [
            await local.run("calls:handleOf", path=[instance, "public", "add"])
            for instance in ("notebook", "notebook", "second")
        ]
        assert handles[0] == handles[1] != handles[2]
        assert all(handle.startswith("function://") and handle.endswith("#public:add") for handle in handles)

    async def test_it_reaches_what_no_reference_reaches(self, local: Any) -> None:
        handle = await local.run("handles:ofInternal", "outer/inner")
        await local.run("calls:callHandle", handle=handle, args={"text": "by handle"})
        assert "by handle" in await local.run("public:list", "outer/inner")

    async def test_only_its_id_counts(self, local: Any) -> None:
        handle = await local.run("calls:handleOf", path=["second", "public", "add"])
        await local.run("calls:callHandle", handle=handle.partition("#")[0], args={"text": "without a name"})
        assert "without a name" in await local.run("public:list", "second")

    @pytest.mark.parametrize("handle", ["function://", "function://nothing#public:add", "function://public:add"])
    async def test_an_unknown_one_is_refused(self, local: Any, handle: str) -> None:
        message = await local.failure("calls:callHandle", handle=handle, args={"text": "x"})
        assert "Uncaught Error: Function handle not found" in message

    @pytest.mark.parametrize("later", [False, True])
    async def test_a_component_calls_back_into_the_app(self, local: Any, later: bool) -> None:
        text = f"lent, later: {later}"
        await local.run("calls:lend", text=text, later=later)
        await local.until(lambda: _has_note(local, text))

    async def test_an_action_of_a_component_calls_back_into_the_app(self, local: Any) -> None:
        await local.run("calls:lendFromAction", text="lent by an action")
        assert await _has_note(local, "lent by an action")


async def _has_note(local: Any, text: str) -> bool:
    return text in (await local.run("notes:listEverywhere"))["app"]
