"""The tests that the model wrote must tell right backends from wrong ones."""

import pytest

from convex_evals.pipeline.grading.kit import Edit, Variant, WrittenTests

ACCOUNTS, ACCESS, HTTP = "convex/accounts.ts", "convex/access.ts", "convex/http.ts"
LOANS, QUEUE, TOOLS = "convex/loans.ts", "convex/queue.ts", "convex/tools.ts"

# Small differences as well as large ones, so that how far a source is from the original says nothing.
RIGHT: dict[str, Variant] = {
    "unchanged": [],
    "queue and holds in tables of their own": "own_tables",
    "holds end after a delay": [Edit(QUEUE, "runAt(now + HOLD,", "runAfter(HOLD,")],
    "nobody waits for a copy that is free": [
        Edit(LOANS, "if (waiting === 0 && taken < tool.copies)", "if (waiting + taken < tool.copies)")
    ],
    "newest first by sorting": [
        Edit(
            LOANS,
            '      .order("desc")\n      .collect();',
            "      .collect()\n      .then((found) => found.reverse());",
        ),
    ],
    "days late without rounding up": [
        Edit(
            LOANS,
            "Math.max(Math.ceil((now - (loan.until ?? now)) / DAY), 0)",
            "Math.max(-Math.floor(((loan.until ?? now) - now) / DAY), 0)",
        ),
    ],
    "cents from 1": [Edit(HTTP, "cents > 0", "cents >= 1")],
}
WRONG: dict[str, Variant] = {
    "a hold takes one day": [Edit(QUEUE, "HOLD = 48 * HOUR", "HOLD = 24 * HOUR")],
    "a hold is counted from the reservation": [
        Edit(
            QUEUE,
            'await ctx.db.patch("loans", loanId, { status: "held", since: now, until: now + HOLD });\n'
            "  await ctx.scheduler.runAt(now + HOLD,",
            'const since = (await ctx.db.get("loans", loanId))?.since ?? now;\n'
            '  await ctx.db.patch("loans", loanId, { status: "held", since: now, until: since + HOLD '
            "});\n"
            "  await ctx.scheduler.runAt(since + HOLD,",
        ),
    ],
    "a loan that is out ends with its hold": [
        Edit(
            LOANS,
            'if (loan === null || loan.status !== "held") return null;',
            'if (loan === null || (loan.status !== "held" && loan.status !== "out")) return null;',
        )
    ],
    "a hold that ends does not serve the queue": [
        Edit(
            LOANS,
            '{ status: "expired", since: Date.now() });\n    await serveQueue(ctx, loan.toolId);',
            '{ status: "expired", since: Date.now() });',
        ),
    ],
    "cancelling does not serve the queue": [
        Edit(
            LOANS,
            '{ status: "cancelled", since: Date.now() });\n    await serveQueue(ctx, loan.toolId);',
            '{ status: "cancelled", since: Date.now() });',
        ),
    ],
    "only the first one in the queue is served": [
        Edit(QUEUE, "Math.max(tool.copies - taken, 0))) await", "Math.min(Math.max(tool.copies - taken, 0), 1))) await")
    ],
    "the last one in the queue is served first": [Edit(QUEUE, "of queued.slice(", "of queued.reverse().slice(")],
    "four open loans": [Edit(LOANS, "open.length >= MOST_LOANS", "open.length > MOST_LOANS")],
    "queued loans are not open": [Edit(LOANS, '["queued", "held", "out"]', '["held", "out"]')],
    "1000 cents are too much": [Edit(LOANS, "> MOST_OWED_CENTS", ">= MOST_OWED_CENTS")],
    "days that have begun are free": [Edit(LOANS, "Math.ceil(", "Math.floor(")],
    "no deposit, no limit": [Edit(LOANS, "tool?.depositCents ?? 0)", "tool?.depositCents || Infinity)")],
    "fees are not limited by the deposit": [
        Edit(
            LOANS,
            "Math.min(daysLate * LATE_CENTS_PER_DAY, tool?.depositCents ?? 0)",
            "tool === null ? 0 : daysLate * LATE_CENTS_PER_DAY",
        )
    ],
    "staff pay the fees": [
        Edit(LOANS, "await charge(ctx, loan.member, fee)", "await charge(ctx, await requireMember(ctx), fee)")
    ],
    "a later fee replaces an earlier one": [
        Edit(
            ACCOUNTS,
            "const owedCents = (account?.owedCents ?? 0) + cents;",
            "const owedCents = cents > 0 ? cents : (account?.owedCents ?? 0) + cents;",
        )
    ],
    "due days after the hold began": [
        Edit(LOANS, "const until = now + loan.days * DAY;", "const until = loan.since + loan.days * DAY;")
    ],
    "extended from now": [Edit(LOANS, "until: until + days * DAY", "until: Date.now() + days * DAY")],
    "three extensions": [Edit(LOANS, "loan.extensions >= MOST_EXTENSIONS", "loan.extensions > MOST_EXTENSIONS")],
    "days of earlier extensions are forgotten": [
        Edit(LOANS, "days: loan.days + days, until", "days: loan.days, until")
    ],
    "wanted only if two wait": [Edit(LOANS, ".waiting > 0", ".waiting > 1")],
    "staff extend anybody's loan": [
        Edit(
            LOANS,
            'if (loan.member !== member) throw failure("FORBIDDEN");\n    const until',
            'if (loan.member !== member && !(await isStaff(ctx))) throw failure("FORBIDDEN");\n    const until',
        )
    ],
    "staff cannot cancel": [
        Edit(LOANS, " && !(await isStaff(ctx))) throw", ") throw"),
        Edit(LOANS, "failure, isStaff, requireMember", "failure, requireMember"),
    ],
    "a loan that is out can be cancelled": [
        Edit(LOANS, 'loanWith(ctx, loanId, "queued", "held");', 'loanWith(ctx, loanId, "queued", "held", "out");')
    ],
    "whose loan comes before its status": [
        Edit(
            LOANS,
            'const loan = await loanWith(ctx, loanId, "queued", "held");\n'
            '    if (loan.member !== member && !(await isStaff(ctx))) throw failure("FORBIDDEN");',
            'const found = await ctx.db.get("loans", loanId);\n'
            "    if (found !== null && found.member !== member && !(await isStaff(ctx))) throw "
            'failure("FORBIDDEN");\n'
            '    const loan = await loanWith(ctx, loanId, "queued", "held");',
        ),
    ],
    "the oldest first": [Edit(LOANS, '      .order("desc")\n', "")],
    "positions from 0": [Edit(QUEUE, "_id === loan._id) + 1", "_id === loan._id)")],
    "closed loans keep their end": [
        Edit(LOANS, "hasEnd ? (loan.until ?? null) : null", "loan.until ?? null"),
        Edit(LOANS, '        const hasEnd = loan.status === "held" || loan.status === "out";\n', ""),
    ],
    "expired loans stay in the list": [
        Edit(
            LOANS,
            "closed === true || OPEN.includes(status)",
            'closed === true || status === "expired" || OPEN.includes(status)',
        )
    ],
    "held copies are free": [Edit(QUEUE, "taken: held.length + out.length", "taken: out.length")],
    "free copies below 0": [
        Edit(TOOLS, "const free = Math.max(tool.copies - taken, 0);", "const free = tool.copies - taken;")
    ],
    "names are compared with their white space": [Edit(TOOLS, 'q.eq("name", name.trim())', 'q.eq("name", name)')],
    "the deposit is not checked": [Edit(TOOLS, "!isCount(copies) || !isCount(depositCents)", "!isCount(copies)")],
    "14 days are too many": [Edit(LOANS, "days <= MOST_DAYS", "days < MOST_DAYS")],
    "any role is staff": [Edit(ACCESS, 'identity.role === "staff"', "identity.role !== undefined")],
    "nobody has no loans": [
        Edit(
            LOANS,
            "handler: async (ctx, { closed }) => {\n    const member = await requireMember(ctx);",
            "handler: async (ctx, { closed }) => {\n"
            '    const member = (await ctx.auth.getUserIdentity())?.subject ?? "";',
        ),
    ],
    "a repeated payment is told to whom it says": [Edit(ACCOUNTS, "owedBy(ctx, known.member)", "owedBy(ctx, member)")],
    "no key is a key": [Edit(HTTP, "key !== undefined && request", "request")],
    "part of the key is enough": [
        Edit(
            HTTP,
            'request.headers.get("Authorization") === `Bearer ${key}`',
            '(request.headers.get("Authorization") ?? "").includes(key)',
        )
    ],
    "parts of cents": [Edit(HTTP, " && Number.isInteger(cents)", "")],
    "tools that somebody waits for": [
        Edit(TOOLS, "tools.filter(({ free }) => free > 0)", "tools.filter(({ waiting }) => waiting === 0)")
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
