"""The tests that the model wrote must tell right backends from wrong ones."""

import pytest

from convex_evals.pipeline.grading.kit import Edit, Variant, WrittenTests

DELIVERIES, ENDPOINTS, EVENTS = "convex/deliveries.ts", "convex/endpoints.ts", "convex/events.ts"
ACCESS, HTTP, SIGNATURE, TYPES = "convex/access.ts", "convex/http.ts", "convex/signature.ts", "convex/types.ts"

# Small differences as well as large ones, so that how far a source is from the original says nothing.
RIGHT: dict[str, Variant] = {
    "unchanged": [],
    "attempts in a table of their own": "attempts",
    "a delay instead of a time": [Edit(DELIVERIES, "runAt(nextAt,", "runAfter(Math.max(nextAt - Date.now(), 0),")],
    "success by the first digit": [Edit(DELIVERIES, "status >= 200 && status < 300", "Math.floor(status / 100) === 2")],
    "matching without slices": [
        Edit(TYPES, "type.startsWith(pattern.slice(0, -1))", 'type.startsWith(pattern.replace("*", ""))'),
    ],
    "a limit from the other side": [
        Edit(EVENTS, "payload.length > MOST_CHARACTERS", "MOST_CHARACTERS < payload.length")
    ],
    "the newest first by sorting": [
        Edit(
            DELIVERIES,
            '      .order("desc")\n      .take(count);',
            "      .collect()\n      .then((found) => found.reverse().slice(0, count));",
        ),
    ],
    "a sum the other way round": [
        Edit(
            DELIVERIES,
            "    const failures = endpoint.failures + 1;\n"
            '    await ctx.db.patch("endpoints", endpoint._id, { failures });\n',
            "    const failures = 1 + endpoint.failures;\n"
            '    await ctx.db.patch("endpoints", endpoint._id, { failures });\n',
        ),
    ],
}
WRONG: dict[str, Variant] = {
    "endpoints of others can be found": [Edit(ACCESS, " || endpoint.owner !== owner", " || owner === ''")],
    "one good pattern is enough": [Edit(ENDPOINTS, "!types.every(isPattern)", "!types.some(isPattern)")],
    "the same URL for one owner only": [
        Edit(
            ENDPOINTS,
            "if (own.some((endpoint) => endpoint.url === url))",
            'if ((await ctx.db.query("endpoints").collect()).some((endpoint) => endpoint.url === url))',
        ),
    ],
    "too many before registered": [
        Edit(
            ENDPOINTS,
            '    if (own.some((endpoint) => endpoint.url === url)) throw failure("REGISTERED");\n'
            '    if (own.length >= MOST_ENDPOINTS) throw failure("TOO_MANY");\n',
            '    if (own.length >= MOST_ENDPOINTS) throw failure("TOO_MANY");\n'
            '    if (own.some((endpoint) => endpoint.url === url)) throw failure("REGISTERED");\n',
        ),
    ],
    "a disabled endpoint can be paused": [
        Edit(ENDPOINTS, 'endpoint.state !== "active"', 'endpoint.state === "paused"')
    ],
    "resuming keeps the failures": [Edit(ENDPOINTS, '{ state: "active", failures: 0 }', '{ state: "active" }')],
    "resuming waits for the plan": [
        Edit(
            ENDPOINTS,
            "await plan(ctx, delivery._id, Date.now());",
            "await plan(ctx, delivery._id, Math.max(delivery.nextAt, Date.now()));",
        ),
    ],
    "resuming sends one of them": [
        Edit(
            ENDPOINTS,
            "of await waitingFor(ctx, endpointId)) await plan",
            "of (await waitingFor(ctx, endpointId)).slice(0, 1)) await plan",
        ),
    ],
    "old plans stay": [Edit(DELIVERIES, " || delivery.round !== round) return", " || delivery.round < round) return")],
    "removing leaves what waits": [
        Edit(
            ENDPOINTS,
            '    await dropWaiting(ctx, endpointId);\n    await ctx.db.delete("endpoints", endpointId);',
            '    await ctx.db.patch("endpoints", endpointId, { owner: "", types: ["nothing"] });',
        ),
    ],
    "a prefix without its dot": [Edit(TYPES, "pattern.slice(0, -1)", "pattern.slice(0, -2)")],
    "a prefix stands for itself": [
        Edit(TYPES, "? type.startsWith(pattern.slice(0, -1))", "? `${type}.`.startsWith(pattern.slice(0, -1))"),
    ],
    "types in capitals": [Edit(TYPES, "$/;", "$/i;")],
    "types end anywhere": [Edit(TYPES, "*$/", "*/")],
    "1000 characters are too many": [Edit(EVENTS, "payload.length > MOST", "payload.length >= MOST")],
    "keys are known for ever": [
        Edit(EVENTS, 'q.eq("owner", owner).eq("key", key).gt("at", at - DAY))', 'q.eq("owner", owner))'),
        Edit(EVENTS, "      .first();", "      .filter((q) => q.eq(q.field('key'), key))\n      .first();"),
    ],
    "keys are known for an hour": [Edit(EVENTS, 'gt("at", at - DAY)', 'gt("at", at - DAY / 24)')],
    "a repeated event counts its endpoints again": [
        Edit(
            EVENTS,
            "    if (known !== null) return { eventId: known._id, deliveries: known.deliveries, isNew: false };\n  }",
            "    if (known !== null) {\n      const all = await ctx.db.query('endpoints').collect();\n"
            "      const deliveries = all.filter((each) => each.owner === owner).length;\n"
            "      return { eventId: known._id, deliveries, isNew: false };\n    }\n  }",
        ),
    ],
    "keys before types": [
        Edit(EVENTS, '  if (!isType(type) || payload.length > MOST_CHARACTERS) throw failure("INVALID");\n', ""),
        Edit(
            EVENTS,
            "  const endpoints = await",
            '  if (!isType(type) || payload.length > MOST_CHARACTERS) throw failure("INVALID");\n'
            "  const endpoints = await",
        ),
    ],
    "paused endpoints miss events": [Edit(EVENTS, 'state !== "disabled"', 'state === "active"')],
    "one delivery per pattern": [
        Edit(
            EVENTS,
            "  const eventId = await",
            "  for (const endpoint of [...wanted]) {\n"
            "    const count = endpoint.types.filter((pattern) => matches(pattern, type)).length;\n"
            "    for (let more = 1; more < count; more += 1) wanted.push(endpoint);\n  }\n  const eventId = await",
        ),
    ],
    "the time of the attempt": [
        Edit(DELIVERIES, "payload: event.payload, at: event.at }", "payload: event.payload, at: Date.now() }")
    ],
    "another hash": [Edit(SIGNATURE, '"SHA-256"', '"SHA-512"')],
    "redirections are fine": [Edit(DELIVERIES, "status < 300", "status < 400")],
    "the second pause is the first": [Edit(DELIVERIES, "PAUSES[attempts - 1]", "PAUSES[Math.max(attempts - 2, 0)]")],
    "Retry-After with any status": [Edit(DELIVERIES, "status === 429 && seconds > 0", "seconds > 0")],
    "Retry-After without limit": [
        Edit(DELIVERIES, "Math.min(retryAfter, LONGEST_PAUSE)", "Math.min(retryAfter, 24 * LONGEST_PAUSE)")
    ],
    "429 is no attempt": [
        Edit(
            DELIVERIES,
            "const attempts = delivery.attempts + 1;",
            "const attempts = delivery.attempts + (retryAfter === null ? 1 : 0);",
        )
    ],
    "410 fails, and that is all": [
        Edit(DELIVERIES, "if (isGone || failures >= MOST_FAILURES)", "if (failures >= MOST_FAILURES)")
    ],
    "success does not reset the failures": [
        Edit(DELIVERIES, '      await ctx.db.patch("endpoints", endpoint._id, { failures: 0 });\n', "")
    ],
    "what waits stays when disabled": [
        Edit(DELIVERIES, "      await dropWaiting(ctx, endpoint._id);\n", ""),
        Edit(DELIVERIES, 'import { dropWaiting } from "./endpoints";\n', ""),
    ],
    "the last status is kept": [
        Edit(DELIVERIES, "{ attempts, lastStatus: status }", "{ attempts, lastStatus: status ?? delivery.lastStatus }")
    ],
    "retrying goes on counting": [Edit(DELIVERIES, '{ status: "waiting", attempts: 0 }', '{ status: "waiting" }')],
    "dropped deliveries can be retried": [
        Edit(
            DELIVERIES, 'delivery.status !== "failed"', 'delivery.status !== "failed" && delivery.status !== "dropped"'
        )
    ],
    "disabled before the status": [
        Edit(
            DELIVERIES,
            '    if (delivery.status !== "failed") throw failure("WRONG_STATUS");\n'
            '    if (endpoint.state === "disabled") throw failure("DISABLED");\n',
            '    if (endpoint.state === "disabled") throw failure("DISABLED");\n'
            '    if (delivery.status !== "failed") throw failure("WRONG_STATUS");\n',
        ),
    ],
    "the next attempt of what is over": [
        Edit(
            DELIVERIES, "nextAt: isWaiting ? nextAt : null", "nextAt: isWaiting || status === 'dropped' ? nextAt : null"
        )
    ],
    "50 is too many": [Edit(DELIVERIES, "count > MOST_LISTED", "count >= MOST_LISTED")],
    "no key is a key": [Edit(HTTP, "key === undefined || request", "request")],
    "a number as a key": [Edit(HTTP, ' && (key === undefined || typeof key === "string")', "")],
    "anybody's events": [
        Edit(HTTP, "if (owner === null || !isPosted(posted))", "if (!isPosted(posted))"),
        Edit(
            HTTP, 'const owner = request.headers.get("X-Owner");', 'const owner = request.headers.get("X-Owner") ?? "";'
        ),
    ],
}
VARIANTS = RIGHT | WRONG


@pytest.mark.parametrize("name", RIGHT)
def test_the_tests_pass_with_right_backends(written_tests: WrittenTests, name: str) -> None:
    run = written_tests.run(VARIANTS)[name]
    assert run.verdict == "passed", run.explanation


@pytest.mark.parametrize("name", WRONG)
def test_a_test_fails_with_wrong_backends(written_tests: WrittenTests, name: str) -> None:
    assert written_tests.run(VARIANTS)[name].verdict == "failed", f"no test notices this mistake: {name}"
