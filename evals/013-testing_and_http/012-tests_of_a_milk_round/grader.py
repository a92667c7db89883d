"""The tests that the model wrote must tell right backends from wrong ones."""

import pytest

from convex_evals.pipeline.grading.kit import Edit, Variant, WrittenTests

ACCOUNTS, CALENDAR, HTTP = "convex/accounts.ts", "convex/calendar.ts", "convex/http.ts"
INVOICES, PAYMENTS, PLANS = "convex/invoices.ts", "convex/payments.ts", "convex/plans.ts"
PRODUCTS, ROUNDS = "convex/products.ts", "convex/rounds.ts"

KNOWN_REPORT = (
    "    const known = await ctx.db\n"
    '      .query("reports")\n'
    '      .withIndex("by_report", (q) => q.eq("report", report))\n'
    "      .unique();\n"
    "    if (known !== null) return { status: 200, cents: known.cents };\n"
)
TOO_MANY_MISSED = "    if (delivery.missed + quantity > delivery.quantity) return { status: 409, cents: 0 };\n"
TOO_LATE = "    if (today() > addDays(date, DAYS_FOR_REPORTS)) return { status: 410, cents: 0 };\n"
CHANGEABLE = "    const { _id: accountId } = await changeableAccount(ctx);\n"
IS_PAUSED = "  if (pauses.some(({ from, to }) => from <= date && date <= to)) return [];\n"
QUANTITY = "    const quantity = change?.quantity ?? (await weeklyOn(ctx, account._id, productId, date));\n"

# Small differences as well as large ones, so that how far a source is from the original says nothing.
RIGHT: dict[str, Variant] = {
    "unchanged": [],
    "one clock for all, and no deliveries in tables": "one_clock",
    "a list of tasks": "tasks",
    "a delay instead of a time": [
        Edit(
            ROUNDS,
            "runAt(cutOffOf(next), internal.rounds.fix,",
            "runAfter(Math.max(cutOffOf(next) - Date.now(), 0), internal.rounds.fix,",
        )
    ],
    "prices looked up for the invoice": [
        Edit(
            INVOICES,
            "    const cents = deliveries.reduce((sum, { quantity, unitCents }) => sum + quantity * unitCents, 0);\n",
            "    let cents = 0;\n"
            "    for (const { productId, quantity, date: day } of deliveries) {\n"
            "      cents += quantity * (await priceOn(ctx, productId, day));\n"
            "    }\n",
        ),
        Edit(
            INVOICES,
            'import { invoiceStatus } from "./schema";\n',
            'import { priceOn } from "./products";\nimport { invoiceStatus } from "./schema";\n',
        ),
    ],
    "months end on the 31st": [Edit(INVOICES, '.lte("date", lastDayOf(month))', '.lte("date", `${month}-31`)')],
    "closed from the other side": [Edit(CALENDAR, "Date.now() >= cutOffOf(date)", "!(cutOffOf(date) > Date.now())")],
    "the last of the dates of a pause": [
        Edit(PLANS, "to >= addDays(from, MOST_DAYS_OF_PAUSE)", "to > addDays(from, MOST_DAYS_OF_PAUSE - 1)")
    ],
    "another comparison": [
        Edit(
            PAYMENTS,
            "if (invoice.pending === attempt) await",
            "if (attempt === (invoice.pending ?? -attempt)) await",
        )
    ],
    "a week and a day": [
        Edit(
            ROUNDS,
            "today() > addDays(date, DAYS_FOR_REPORTS)",
            "today() >= addDays(date, DAYS_FOR_REPORTS + 1)",
        )
    ],
}
WRONG: dict[str, Variant] = {
    "invoices of others can be paid": [
        Edit(INVOICES, "invoice?.accountId !== account._id", "invoice === null"),
    ],
    "a price announced later replaces all": [
        Edit(
            PRODUCTS,
            '    if (isClosed(from)) throw failure("CLOSED");\n',
            '    if (isClosed(from)) throw failure("CLOSED");\n'
            "    const later = await ctx.db\n"
            '      .query("prices")\n'
            '      .withIndex("by_product", (q) => q.eq("productId", productId).gt("from", from))\n'
            "      .collect();\n"
            '    for (const price of later) await ctx.db.delete("prices", price._id);\n',
        )
    ],
    "the first price for a date stays": [
        Edit(PRODUCTS, '    else await ctx.db.patch("prices", known._id, { cents });\n', "")
    ],
    "the price of the cut-off": [
        Edit(ROUNDS, "priceOn(ctx, productId, date)", "priceOn(ctx, productId, addDays(date, -1))")
    ],
    "prices for closed dates": [
        Edit(PRODUCTS, 'if (isClosed(from)) throw failure("CLOSED")', 'if (from <= today()) throw failure("CLOSED")'),
        Edit(PRODUCTS, "import { isClosed, isDate }", "import { isDate, today }"),
    ],
    "credits at the price of today": [
        Edit(ROUNDS, "quantity * delivery.unitCents", "quantity * (await priceOn(ctx, delivery.productId, today()))")
    ],
    "open at 18:00": [Edit(CALENDAR, "Date.now() >= cutOffOf(date)", "Date.now() > cutOffOf(date)")],
    "months without a 31st": [
        Edit(
            CALENDAR,
            "  const monthAfter = monthOf(addDays(firstDayOf(month), 31));\n"
            "  return addDays(firstDayOf(monthAfter), -1);\n",
            "  return `${month}-30`;\n",
        )
    ],
    "twelve months and no more": [
        Edit(
            CALENDAR,
            "monthOf(addDays(firstDayOf(month), 31))",
            '`${month.slice(0, 5)}${String(Number(month.slice(5)) + 1).padStart(2, "0")}`',
        )
    ],
    "nothing is no change": [Edit(PLANS, QUANTITY, QUANTITY.replace("??", "||"))],
    "a new plan forgets the changes": [
        Edit(
            PLANS,
            "    await storePlan(ctx, account._id, productId, quantities);\n",
            "    await storePlan(ctx, account._id, productId, quantities);\n"
            "    const changes = await ctx.db\n"
            '      .query("changes")\n'
            '      .withIndex("by_account_and_product", (q) => q.eq("accountId", account._id))\n'
            "      .filter((q) => q.eq(q.field('productId'), productId))\n"
            "      .collect();\n"
            '    for (const each of changes) await ctx.db.delete("changes", each._id);\n',
        )
    ],
    "a change is all there is": [
        Edit(
            PLANS,
            "  const lines = [];\n",
            "  const lines = [];\n"
            '  const all = await ctx.db.query("changes").collect();\n'
            "  const isChanged = all.some((each) => each.accountId === account._id && each.date === date);\n",
        ),
        Edit(
            PLANS,
            QUANTITY,
            "    const weekly = isChanged ? 0 : await weeklyOn(ctx, account._id, productId, date);\n"
            "    const quantity = change?.quantity ?? weekly;\n",
        ),
    ],
    "changes beat pauses": [
        Edit(
            PLANS,
            IS_PAUSED,
            "  const isPaused = pauses.some(({ from, to }) => from <= date && date <= to);\n",
        ),
        Edit(
            PLANS,
            QUANTITY,
            "    const weekly = isPaused ? 0 : await weeklyOn(ctx, account._id, productId, date);\n"
            "    const quantity = change?.quantity ?? weekly;\n",
        ),
    ],
    "pauses forget the changes": [
        Edit(
            PLANS,
            '    await ctx.db.insert("pauses", { accountId, from, to });\n',
            '    await ctx.db.insert("pauses", { accountId, from, to });\n'
            '    for (const each of await ctx.db.query("changes").collect()) {\n'
            "      const isIn = each.accountId === accountId && from <= each.date && each.date <= to;\n"
            '      if (isIn) await ctx.db.delete("changes", each._id);\n'
            "    }\n",
        )
    ],
    "28 dates are too many": [
        Edit(PLANS, "to >= addDays(from, MOST_DAYS_OF_PAUSE)", "addDays(to, 1) >= addDays(from, MOST_DAYS_OF_PAUSE)")
    ],
    "a pause around another": [
        Edit(
            PLANS,
            "pauses.some((other) => from <= other.to && other.from <= to)",
            "pauses.some((other) => [from, to].some((date) => other.from <= date && date <= other.to))",
        )
    ],
    "pauses end on the date": [Edit(PLANS, "{ to: addDays(date, -1) }", "{ to: date }")],
    "pauses end altogether": [
        Edit(
            PLANS,
            '    if (paused.from === date) await ctx.db.delete("pauses", paused._id);\n'
            '    else await ctx.db.patch("pauses", paused._id, { to: addDays(date, -1) });\n',
            '    await ctx.db.delete("pauses", paused._id);\n',
        ),
    ],
    "closed before cancelled": [
        Edit(
            PLANS,
            f'{CHANGEABLE}    if (isClosed(date)) throw failure("CLOSED");\n    const known',
            f'    if (isClosed(date)) throw failure("CLOSED");\n{CHANGEABLE}    const known',
        )
    ],
    "the last date must not be closed": [Edit(PLANS, "if (isClosed(addDays(date, 1)))", "if (isClosed(date))")],
    "totals as they come": [Edit(ROUNDS, "[...totals.keys()].sort()", "[...totals.keys()]")],
    "known reports are checked again": [
        Edit(ROUNDS, KNOWN_REPORT, ""),
        Edit(ROUNDS, TOO_MANY_MISSED, TOO_MANY_MISSED + KNOWN_REPORT),
    ],
    "each report for itself": [
        Edit(ROUNDS, "delivery.missed + quantity > delivery.quantity", "quantity > delivery.quantity")
    ],
    "refused reports are known": [
        Edit(
            ROUNDS,
            TOO_MANY_MISSED,
            "    if (delivery.missed + quantity > delivery.quantity) {\n"
            '      await ctx.db.insert("reports", { report, cents: 0 });\n'
            "      return { status: 409, cents: 0 };\n"
            "    }\n",
        )
    ],
    "six days for reports": [Edit(ROUNDS, "today() > addDays(date, DAYS", "today() >= addDays(date, DAYS")],
    "too many before too late": [Edit(ROUNDS, TOO_LATE + TOO_MANY_MISSED, TOO_MANY_MISSED + TOO_LATE)],
    "the month of the cut-off": [
        Edit(
            INVOICES,
            '.gte("date", firstDayOf(month)).lte("date", lastDayOf(month))',
            '.gt("date", firstDayOf(month)).lte("date", addDays(lastDayOf(month), 1))',
        ),
    ],
    "invoices for nothing": [Edit(INVOICES, "account === null || deliveries.length === 0", "account === null")],
    "credit beyond the sum": [Edit(INVOICES, "Math.min(account.creditCents, cents)", "account.creditCents")],
    "the rest of the credit is lost": [
        Edit(INVOICES, "addCredit(ctx, accountId, -creditCents)", "addCredit(ctx, accountId, -account.creditCents)")
    ],
    "nothing is collected": [Edit(INVOICES, '    if (status === "paid") return null;\n', "")],
    "two invoices at the end of a month": [
        Edit(
            ROUNDS,
            "    if (isOver) return null;\n",
            "    if (isOver) {\n"
            "      const args = { accountId, month: monthOf(dayBefore), date };\n"
            "      await ctx.scheduler.runAt(morningOf(date), internal.invoices.make, args);\n"
            "      return null;\n"
            "    }\n",
        ),
        Edit(ROUNDS, "if (isOver || date === firstDayOf(monthOf(date)))", "if (date === firstDayOf(monthOf(date)))"),
    ],
    "only the last invoice": [
        Edit(
            ROUNDS,
            "if (isOver || date === firstDayOf(monthOf(date)))",
            "if (isOver || (account.lastDate === null && date === firstDayOf(monthOf(date))))",
        )
    ],
    "no invoices while suspended": [
        Edit(
            INVOICES,
            "account === null || deliveries.length === 0",
            "account === null || account.suspended || deliveries.length === 0",
        )
    ],
    "the third attempt a week after the second": [Edit(INVOICES, "RETRY_DAYS = [3, 7]", "RETRY_DAYS = [3, 10]")],
    "three attempts and no more": [
        Edit(
            INVOICES,
            "if (RETRY_DAYS.includes(days)) await",
            "if (RETRY_DAYS.includes(days) && invoice.attempts < 3) await",
        )
    ],
    "any success will do": [Edit(PAYMENTS, "if (response.status !== 200)", "if (!response.ok)")],
    "what fetch throws": [
        Edit(
            PAYMENTS,
            "      // No answer, or one that nobody understands: not paid.\n",
            "      return null;\n",
        )
    ],
    "until 18:00": [
        Edit(
            CALENDAR,
            "  const halfDays = Math.floor((Date.now() - MORNING) / (EVENING - MORNING)) + 1;\n"
            "  return halfDays * (EVENING - MORNING) + MORNING;\n",
            "  return Math.floor((Date.now() - EVENING) / DAY) * DAY + DAY + EVENING;\n",
        )
    ],
    "late answers do not count": [
        Edit(
            PAYMENTS,
            "    if (invoice.pending === attempt) await",
            "    if (invoice.pending !== attempt) return null;\n    await",
        )
    ],
    "late answers end what is in progress": [Edit(PAYMENTS, "    if (invoice.pending === attempt) await", "    await")],
    "credited with what was reduced already": [
        Edit(PAYMENTS, "invoice.accountId, invoice.dueCents", "invoice.accountId, invoice.cents")
    ],
    "busy before paid": [
        Edit(
            INVOICES,
            '    if (invoice.status === "paid") throw failure("PAID");\n'
            '    if (invoice.pending !== null) throw failure("BUSY");\n',
            '    if (invoice.pending !== null) throw failure("BUSY");\n'
            '    if (invoice.status === "paid") throw failure("PAID");\n',
        )
    ],
    "one payment is enough": [
        Edit(PAYMENTS, '    if (invoices.some(({ status }) => status === "overdue")) return null;\n', ""),
        Edit(PAYMENTS, "    const invoices = await invoicesOf(ctx, account._id);\n", ""),
        Edit(PAYMENTS, "import { invoicesOf, notify }", "import { notify }"),
    ],
    "all must be paid": [
        Edit(PAYMENTS, '(({ status }) => status === "overdue")', '(({ status }) => status !== "paid")')
    ],
    "suspended again": [Edit(INVOICES, "account === null || account.suspended", "account === null")],
    "suspension takes what was fixed": [
        Edit(
            INVOICES,
            '  await notify(ctx, invoice, "suspended");\n',
            '  await notify(ctx, invoice, "suspended");\n'
            "  const coming = await ctx.db\n"
            '    .query("deliveries")\n'
            '    .withIndex("by_account_and_date", (q) => q.eq("accountId", account._id).gte("date", today()))\n'
            "    .collect();\n"
            '  for (const { _id } of coming) await ctx.db.delete("deliveries", _id);\n',
        ),
        Edit(INVOICES, "lastDayOf, morningOf }", "lastDayOf, morningOf, today }"),
    ],
    "resumed with what is closed": [
        Edit(
            PAYMENTS,
            '    await notify(ctx, invoice, "resumed");\n',
            '    await notify(ctx, invoice, "resumed");\n'
            "    const date = account.fixedUntil;\n"
            "    const known = await ctx.db\n"
            '      .query("deliveries")\n'
            '      .withIndex("by_account_and_date", (q) => q.eq("accountId", account._id).eq("date", date))\n'
            "      .collect();\n"
            "    const resumed = { ...account, suspended: false };\n"
            "    const lines = known.length > 0 ? [] : await plannedFor(ctx, resumed, date);\n"
            "    for (const { productId, quantity } of lines) {\n"
            "      const line = { productId, quantity, unitCents: await priceOn(ctx, productId, date), missed: 0 };\n"
            '      await ctx.db.insert("deliveries", { accountId: account._id, date, ...line });\n'
            "    }\n",
        ),
        Edit(
            PAYMENTS,
            'import { invoicesOf, notify } from "./invoices";\n',
            'import { invoicesOf, notify } from "./invoices";\nimport { plannedFor } from "./plans";\n'
            'import { priceOn } from "./products";\n',
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
