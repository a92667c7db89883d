"""The tests that the model wrote must tell right backends from wrong ones."""

import pytest

from convex_evals.pipeline.grading.kit import Edit, Variant, WrittenTests

BIDS, LOTS, OFFERS = "convex/bids.ts", "convex/lots.ts", "convex/offers.ts"
PAYMENTS, PRICING, WATCHING = "convex/payments.ts", "convex/pricing.ts", "convex/watching.ts"

# Small differences as well as large ones, so that how far a source is from the original says nothing.
RIGHT: dict[str, Variant] = {
    "unchanged": [],
    "the functions that end things are late": [
        Edit(
            LOTS,
            "runAt(endsAt, internal.lots.end, { lotId, endsAt })",
            "runAt(endsAt + 1, internal.lots.end, { lotId, endsAt })",
        ),
        Edit(
            LOTS,
            "runAt(endsAt, internal.lots.end, { lotId: lot._id, endsAt })",
            "runAt(endsAt + 1, internal.lots.end, { lotId: lot._id, endsAt })",
        ),
        Edit(OFFERS, "runAt(dueAt, ", "runAt(dueAt + 1, "),
    ],
    "other keys": [
        Edit(PAYMENTS, '"Idempotency-Key": paymentId', '"Idempotency-Key": `payment ${paymentId}, call 1`'),
    ],
    "a request instead of an address": [
        Edit(
            PAYMENTS,
            'fetch(PROVIDER, { method: "POST", headers, body: JSON.stringify(charge) })',
            'fetch(new Request(PROVIDER, { method: "POST", headers, body: JSON.stringify(charge, null, 2) }))',
        ),
    ],
    "pages with gaps": [
        Edit(
            LOTS,
            '.withIndex("by_state_and_end", (q) => q.eq("state", "open"))',
            '.withIndex("by_end")',
        ),
        Edit(LOTS, "page: lots.page.map(", 'page: lots.page.filter(({ state }) => state === "open").map('),
        Edit("convex/schema.ts", '.index("by_state_and_end", ["state", "endsAt"])', '.index("by_end", ["endsAt"])'),
    ],
    "success by the first digit": [Edit(PAYMENTS, "status >= 200 && status < 300", "Math.floor(status / 100) === 2")],
    "the step is added elsewhere": [
        Edit(
            PRICING,
            "Math.min(second.maxCents + stepCents, maxCents)",
            "Math.min(second.maxCents, maxCents - stepCents) + stepCents",
        )
    ],
    "at least as long instead of not shorter": [
        Edit(
            LOTS,
            "!(duration >= SHORTEST && duration <= LONGEST)",
            "!(duration > SHORTEST - 1) || !(LONGEST >= duration)",
        )
    ],
    "one alarm for everything": "alarm",
    "rounds that have offers": "rounds",
}
WRONG: dict[str, Variant] = {
    # Lots.
    "an hour is too short": [Edit(LOTS, "duration >= SHORTEST", "duration > SHORTEST")],
    "bids below the reserve can be left behind": [
        Edit(LOTS, "if (bids.length > 0) throw", "if (standing(lot, bids).reserveMet) throw")
    ],
    "bids of the first time prevent withdrawing": [
        Edit(
            LOTS,
            "    const bids = await bidsOf(ctx, lot);\n    if (bids",
            "    const bids = await bidsOf(ctx, { ...lot, round: 1 });\n    if (bids",
        )
    ],
    # Bids.
    "the last of equal bids leads": [Edit(PRICING, "[...last.values()].sort(", "[...last.values()].reverse().sort(")],
    "whoever bid first wins a tie": [Edit(PRICING, "    last.delete(bid.member);\n", "")],
    "the price passes the leader's maximum": [
        Edit(PRICING, "Math.min(second.maxCents + stepCents, maxCents)", "second.maxCents + stepCents")
    ],
    "the price stays below the reserve": [
        Edit(PRICING, "priceCents: Math.max(priceCents, reserveCents)", "priceCents")
    ],
    "members bid against themselves": [
        Edit(
            PRICING,
            "    last.delete(bid.member);\n    last.set(bid.member, bid);\n",
            "    last.set(`${bid.member} ${String(bid.maxCents)}`, bid);\n",
        )
    ],
    "leaders add a step": [Edit(BIDS, "before.maxCents + 1", "before.maxCents + lot.stepCents")],
    "leaders bid the same again": [Edit(BIDS, "before.maxCents + 1", "before.maxCents")],
    "too low before anything else": [
        Edit(
            BIDS,
            'if (!isAmount(maxCents)) throw failure("INVALID");\n',
            'if (!isAmount(maxCents)) throw failure("INVALID");\n'
            '    if (maxCents < lot.startCents) throw failure("TOO_LOW");\n',
        )
    ],
    # Extensions.
    "5 minutes before the end is late": [Edit(BIDS, "endsAt - now < LAST_MINUTES", "endsAt - now <= LAST_MINUTES")],
    "leaders extend": [Edit(BIDS, "if (!led && endsAt", "if (endsAt")],
    "only those who lead then extend": [Edit(BIDS, "if (!led && endsAt", "if (!led && leader === member && endsAt")],
    "four extensions": [Edit(BIDS, "lot.extensions < MOST_EXTENSIONS", "lot.extensions <= MOST_EXTENSIONS")],
    "the first end is the end": [Edit(LOTS, " || lot.endsAt !== endsAt) return null;", ") return null;")],
    "extensions of the first time count": [
        Edit(LOTS, ", round: lot.round + 1, extensions: 0 }", ", round: lot.round + 1 }")
    ],
    # Buying.
    "blocked members can buy": [
        Edit(
            BIDS,
            "    const lot = await findLot(ctx, lotId);\n    await checkBuyer(ctx, lot, member);\n",
            "    const lot = await findLot(ctx, lotId);\n"
            '    if (lot.seller === member) throw failure("OWN_LOT");\n    if (!isOpen(lot)) throw failure("ENDED");\n',
        )
    ],
    "buying at the lot's price": [Edit(BIDS, "priceCents >= lot.buyNowCents", "priceCents > lot.buyNowCents")],
    "buyers pay as if the lot had ended later": [
        Edit(
            BIDS,
            "    const endsAt = Date.now();\n    await ctx.db.patch",
            "    const { endsAt } = lot;\n    await ctx.db.patch",
        )
    ],
    "bought lots are not offered to bidders": [
        Edit(
            OFFERS,
            "if (leader !== null && reserveMet) {",
            "if (leader !== null && reserveMet && offer.priceCents !== lot.buyNowCents) {",
        )
    ],
    # Offers.
    "a new offer begins when the old one was due": [
        Edit(
            OFFERS,
            "makeOffer(ctx, lot, leader, priceCents, endedAt)",
            "makeOffer(ctx, lot, leader, priceCents, offer.dueAt)",
        )
    ],
    "further offers do not need the reserve": [
        Edit(OFFERS, "if (leader !== null && reserveMet) {", "if (leader !== null) {")
    ],
    "the same price for the next": [
        Edit(
            OFFERS,
            "const { leader, priceCents, reserveMet } = standing(lot, others);",
            "const { leader, maxCents, reserveMet } = standing(lot, others);\n"
            "  const priceCents = Math.min(offer.priceCents, maxCents);",
        )
    ],
    "only the last offer counts": [
        Edit(OFFERS, "new Set((await offersOf(ctx, lot)).map(({ member }) => member))", "new Set([offer.member])")
    ],
    "two offers at most": [
        Edit(OFFERS, "if (leader !== null && reserveMet) {", "if (leader !== null && reserveMet && had.size < 2) {")
    ],
    "offers of the first time count": [
        Edit(OFFERS, 'q.eq("lotId", _id).eq("round", round)', 'q.eq("lotId", _id).lte("round", round)')
    ],
    "an old time is up": [
        Edit(
            OFFERS,
            '    const offer = await ctx.db.get("offers", offerId);\n    if (offer',
            '    const due = await ctx.db.get("offers", offerId);\n    if (due === null) return null;\n'
            '    const all = await ctx.db.query("offers")'
            '.withIndex("by_lot", (q) => q.eq("lotId", due.lotId)).collect();\n'
            '    const offer = all.find(({ state }) => state === "open") ?? null;\n    if (offer',
        ),
        Edit(OFFERS, '"lapsed", offer.dueAt)', '"lapsed", due.dueAt)'),
    ],
    # Again.
    "again and again": [Edit(OFFERS, "lot.round < MOST_ROUNDS", "lot.round <= MOST_ROUNDS")],
    "as long as it took": [
        Edit(
            BIDS,
            "{ extensions: lot.extensions + 1 }",
            "{ extensions: lot.extensions + 1, duration: lot.duration + EXTENSION }",
        )
    ],
    "the history of both times": [Edit(BIDS, 'q.eq("lotId", lotId).eq("round", round)', 'q.eq("lotId", lotId)')],
    # Blocked.
    "blocked at 30 days": [Edit(OFFERS, '        .gt("endedAt", ', '        .gte("endedAt", ')],
    "the last lapse blocks for 30 days": [
        Edit(
            OFFERS,
            "    .take(BLOCKING_LAPSES);\n  return lapsed.length >= BLOCKING_LAPSES;",
            "    .take(1);\n  const all = await ctx.db\n    .query('offers')\n"
            "    .withIndex('by_member_and_end', (q) => q.eq('member', member).eq('state', 'lapsed'))\n"
            "    .collect();\n  return lapsed.length > 0 && all.length >= BLOCKING_LAPSES;",
        ),
    ],
    "blocked members get no offers": [
        Edit(
            OFFERS,
            "if (leader !== null && reserveMet) {",
            "if (leader !== null && reserveMet && !(await isBlocked(ctx, leader))) {",
        )
    ],
    # Payments.
    "one key per offer": [
        Edit(PAYMENTS, '"Idempotency-Key": paymentId', '"Idempotency-Key": `${charge.lot} ${charge.member}`')
    ],
    "payments do not hold up the end": [
        Edit(OFFERS, " || (await isPaying(ctx, offerId))) return null", ") return null")
    ],
    "lapsed when it was due": [Edit(PAYMENTS, "Math.max(at, offer.dueAt)", "offer.dueAt")],
    "not offered before pending": [
        Edit(
            OFFERS,
            '  if (await isPaying(ctx, offer._id)) throw failure("PENDING");\n'
            '  if (Date.now() >= offer.dueAt) throw failure("NOT_OFFERED");\n',
            '  if (Date.now() >= offer.dueAt) throw failure("NOT_OFFERED");\n'
            '  if (await isPaying(ctx, offer._id)) throw failure("PENDING");\n',
        )
    ],
    "no answer is no failure": [
        Edit(
            PAYMENTS,
            "    await ctx.scheduler.runAt(at, internal.payments.settle, { paymentId, number, status: null, at });\n",
            "",
        )
    ],
    "late failures count again": [
        Edit(
            PAYMENTS,
            "if (number <= payment.failedCalls) return",
            "if ((status === null || status === DECLINED) && number <= payment.failedCalls) return",
        )
    ],
    "late refusals count": [
        Edit(
            PAYMENTS,
            "if (number <= payment.failedCalls) return",
            "if (status !== DECLINED && number <= payment.failedCalls) return",
        )
    ],
    "late success does not count": [
        Edit(
            PAYMENTS,
            "    if (status !== null && status >= 200",
            "    if (number <= payment.failedCalls) return null;\n    if (status !== null && status >= 200",
        )
    ],
    "late success of a failed payment does not count": [
        Edit(PAYMENTS, "status !== null && status >= 200", "payment.isPending && status !== null && status >= 200")
    ],
    "success counts for ever": [
        Edit(
            PAYMENTS,
            'if (payment === null || offer?.state !== "open") return null;\n    if (status',
            "if (payment === null || offer === null) return null;\n"
            '    if (offer.state !== "open" && (status === null || status >= 300)) return null;\n    if (status',
        )
    ],
    "calls after success": [
        Edit(
            PAYMENTS,
            'if (offer?.state !== "open") return null;\n    const at',
            "if (offer === null) return null;\n    const at",
        )
    ],
    # Lists.
    "what is added again moves up": [
        Edit(
            WATCHING,
            '  if (watch === null) await ctx.db.insert("watches", { member, lotId });',
            '  if (watch !== null) await ctx.db.delete("watches", watch._id);\n'
            '  await ctx.db.insert("watches", { member, lotId });',
        )
    ],
    "the oldest lots first": [
        Edit(
            LOTS,
            '.withIndex("by_state_and_end", (q) => q.eq("state", "open"))',
            '.filter((q) => q.eq(q.field("state"), "open"))',
        )
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
