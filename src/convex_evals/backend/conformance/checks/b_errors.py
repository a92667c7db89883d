"""Errors and logs."""

import re

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target, embedded_target


@check(26, "A thrown Error reaches the client with request id, message and source-mapped frames", p1=True)
async def thrown_error(t: Target) -> None:
    failure = await expect.failure(t.query("errors:boom"))
    expect.matches(
        failure.text,
        r"^\[Request ID: [0-9a-f]{16}\] Server Error\n"
        r"Uncaught Error: boom\n    at handler \(\.\./convex/errors\.ts:\d+:\d+\)\n$",
    )


@check(27, "Line and column are those of the TypeScript source", p1=True)
async def source_position(t: Target) -> None:
    expect.contains((await expect.failure(t.query("errors:boom"))).text, "errors.ts:15:10)")
    expect.contains((await expect.failure(t.action("errors:actionBoom"))).text, "errors.ts:169:10)")


@check(28, "A custom error's name is shown")
async def custom_name(t: Target) -> None:
    expect.starts((await expect.failure(t.query("errors:custom"))).message, "Uncaught MyErr: msg\n")


@check(29, "A thrown string is shown without frames")
async def thrown_string(t: Target) -> None:
    expect.equal((await expect.failure(t.query("errors:throwsString"))).message, "Uncaught foo\n")


@check(30, "Frames inside the SDK are shown neither first nor last")
async def no_sdk_frames(t: Target) -> None:
    frames = [line for line in (await expect.failure(t.query("errors:badId"))).text.splitlines() if "    at " in line]
    expect.true(frames, "expected at least one frame")
    expect.true("convex/src/server/impl" not in frames[0] + frames[-1], f"SDK frames at the border: {frames}")


@check(31, "A ConvexError with a text carries it as message and data", p1=True)
async def convex_error_text(t: Target) -> None:
    failure = await expect.failure(t.query("errors:convexText"))
    expect.starts(failure.message, "Uncaught ConvexError: x\n")
    expect.equal(failure.data, "x")


@check(32, "A ConvexError with an object carries its JSON as message and the object as data", p1=True)
async def convex_error_object(t: Target) -> None:
    failure = await expect.failure(t.query("errors:convexObject"))
    expect.matches(failure.message, r'^Uncaught ConvexError: \{"code":1(\.0)?\}\n')
    expect.equal(failure.data, {"code": 1.0})


@check(33, "A ConvexError of a callee is a ConvexError with the same data in the caller")
async def convex_error_of_callee(t: Target) -> None:
    caught = await t.query("errors:catchesConvexError")
    expect.equal(caught, {"isConvexError": True, "data": {"kind": "callee", "n": 7}})


@check(34, "A plain Error of a callee rejects with its message and the callee's frames")
async def error_of_callee(t: Target) -> None:
    message = await t.query("errors:catchesError")
    expect.starts(message, "Uncaught Error: from the callee\n")
    expect.contains(message, "../convex/errors.ts:")


@check(35, "A ConvexError whose data is no Convex value carries no data")
async def convex_error_invalid_data(t: Target) -> None:
    failure = await expect.failure(t.query("errors:convexInvalid"))
    expect.true(not failure.has_data, f"expected no data, found {failure.data!r}")
    expect.contains(failure.message, "is not a supported Convex type")  # the SDK says it before the backend could


@check(36, "console.log renders each argument", p1=True)
async def console_log(t: Target) -> None:
    expect.equal((await t.reply("errors:logs")).logs, ["[LOG] 'hi' {\n  a: 1\n}"])


@check(37, "warn, error, info and debug have their levels")
async def console_levels(t: Target) -> None:
    expect.equal((await t.reply("errors:levels")).logs, ["[WARN] 'w'", "[ERROR] 'e'", "[INFO] 'i'", "[DEBUG] 'd'"])


@check(38, "console.time measures; an unknown label is warned about")
async def console_time(t: Target) -> None:
    first, second = (await t.reply("errors:timers")).logs
    expect.matches(first, r"^\[INFO\] x: \d+(\.\d+)?ms$")
    expect.matches(second, r"^\[WARN\] Timer 'y' does not exist$")


@check(39, "Only 256 lines are delivered, the last says so")
async def log_overflow(t: Target) -> None:
    logs = (await t.reply("errors:manyLines")).logs
    expect.equal(len(logs), 256)
    expect.equal(logs[-1], "[ERROR] Log overflow (maximum 256). Remaining log lines omitted.")


@check(40, "A line of 40,000 bytes is cut at 32,768 and says so")
async def long_line(t: Target) -> None:
    (line,) = (await t.reply("errors:longLine")).logs
    expect.true(line.endswith(" (truncated due to length)"), f"ends with {line[-40:]!r}")
    expect.true(len(line) <= 32_768 + len("[LOG]  (truncated due to length)"), f"{len(line)} characters")


@check(41, "Lines written before an exception are delivered with it", p1=True)
async def logs_of_failure(t: Target) -> None:
    expect.equal((await expect.failure(t.query("errors:logThenThrow"))).logs, ["[LOG] 'before'"])


@check(42, "Lines of a nested call appear where the call was made")
async def nested_logs(t: Target) -> None:
    expect.equal((await t.reply("errors:nestedLogs")).logs, ["[LOG] 'first'", "[LOG] 'inner'", "[LOG] 'last'"])


@check(
    43,
    "With redaction an error is only its request id, without log lines, but ConvexError data is sent",
    owns_deployment=True,
    embedded_only=True,
)
async def redaction(t: Target) -> None:
    async with embedded_target(t.toolchain, t.pusher, redact=True) as redacting:
        await redacting.push()
        plain = await expect.failure(redacting.query("errors:logThenThrow"))
        expect.true(re.fullmatch(r"\[Request ID: [0-9a-f]{16}\] Server Error", plain.text), f"found {plain.text!r}")
        expect.equal(plain.logs, [])
        expect.equal((await expect.failure(redacting.query("errors:convexText"))).data, "x")


@check(44, "An error message above 64 KiB is cut")
async def long_message(t: Target) -> None:
    failure = await expect.failure(t.query("errors:longMessage", {"length": 100_000.0}))
    expect.true(len(failure.message) < 70_000, f"{len(failure.message)} characters")
