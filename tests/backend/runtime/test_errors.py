"""Error texts and stack frames, as clients see them."""

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("direct", "Uncaught Error: boom\n    at handler (../convex/errors.ts:7:10)\n"),
        (
            "inHelper",
            "Uncaught Error: in a helper\n"
            "    at fail (../../convex/helpers.ts:2:8)\n    at handler (../convex/errors.ts:14:4)\n",
        ),
        (
            "inConstructor",
            "Uncaught RangeError: bad size -4\n    at new Thing (../../convex/helpers.ts:7:24)\n"
            "    at e.grow (../../convex/helpers.ts:11:11)\n    at handler (../convex/errors.ts:20:36)\n",
        ),
        (
            "inDatabase",
            "Uncaught Error: Unknown async operation 1.0/get\n    at async handler (../convex/errors.ts:26:4)\n",
        ),
        (
            "afterAwait",
            "Uncaught TypeError: later\n    at slowly (../convex/errors.ts:32:8)\n"
            "    at async handler (../convex/errors.ts:38:4)\n",
        ),
    ],
)
async def test_frames_point_into_the_authors_files(stage: Stage, function: str, message: str) -> None:
    assert (await stage.run(f"errors:{function}")).failure.message == message


async def test_user_code_sees_frames_without_the_message(stage: Stage) -> None:
    assert (await stage.run("errors:stack")).result == '"    at handler (../convex/errors.ts:44:23)"'


@pytest.mark.parametrize(
    ("thrown", "message"),
    [
        ("new Error('m')", "Uncaught Error: m\n"),
        ("new Error()", "Uncaught Error\n"),
        ("Object.assign(new Error('m'), { name: 'MyErr' })", "Uncaught MyErr: m\n"),
        ("Object.assign(new Error('m'), { name: '' })", "Uncaught m\n"),
        ("new (class Odd extends TypeError {})('m')", "Uncaught TypeError: m\n"),
        ("'foo'", "Uncaught foo\n"),
        ("undefined", "Uncaught undefined\n"),
        ("null", "Uncaught null\n"),
        ("5n", "Uncaught 5\n"),
        ("Symbol('s')", "Uncaught Symbol(s)\n"),
        ("({ a: 1 })", "Uncaught #<Object>\n"),
        ("[1]", "Uncaught [object Array]\n"),
        ("new (class Thing {})()", "Uncaught #<Thing>\n"),
        ("new DOMException('no', 'AbortError')", "Uncaught AbortError: no\n"),
        ("{ get message() { throw 1; }, __proto__: Error.prototype }", "Uncaught Error\n"),
    ],
)
async def test_anything_can_be_thrown(stage: Stage, thrown: str, message: str) -> None:
    assert (await stage.evaluate(f"throw ({thrown});")).failure.message == message


async def test_the_data_of_a_convex_error_travels_along(stage: Stage) -> None:
    failure = (await stage.run("messages:refuse")).failure
    assert failure.message.startswith('Uncaught ConvexError: {"code":1}')
    assert failure.data == '{"code":1}'


async def test_data_that_is_not_json_is_refused(stage: Stage) -> None:
    failure = (
        await stage.evaluate("throw Object.assign(new Error('x'), {[Symbol.for('ConvexError')]: true, data: '{'});")
    ).failure
    assert failure.message.startswith("ConvexError with invalid data: ")
    assert failure.data is None


async def test_a_long_message_is_cut_at_64_kibibytes(stage: Stage) -> None:
    failure = (await stage.evaluate("throw new Error('ä'.repeat(100000));")).failure
    assert 65530 < len(failure.message.encode()) <= 65536


async def test_an_endless_getter_of_a_thrown_value_costs_only_the_call(stage: Stage) -> None:
    outcome = await stage.evaluate("Promise.reject({ get toString() { for (;;); } }); return 1;")
    assert outcome.failure is not None
    assert await stage.value("return 1;") == 1


async def test_user_code_cannot_replace_the_formatting_of_stacks(stage: Stage) -> None:
    body = "Error.prepareStackTrace = (e, sites) => sites; return typeof new Error('x').stack;"
    assert await stage.value(body) == "string"


async def test_at_most_ten_frames_unless_asked_for(stage: Stage) -> None:
    stage.modules["deep.js"] = stage.modules["errors.js"]
    body = "const down = (n) => n ? [down(n - 1)] : (() => { throw new Error('deep'); })(); down(30);"
    assert (await stage.evaluate(body)).failure.message.startswith("Uncaught Error: deep\n")
