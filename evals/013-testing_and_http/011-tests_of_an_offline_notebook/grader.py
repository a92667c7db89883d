"""The tests that the model wrote must tell right backends from wrong ones."""

import pytest

from convex_evals.pipeline.grading.kit import Edit, Variant, WrittenTests

ACCESS, CONFLICTS, DEVICES = "convex/access.ts", "convex/conflicts.ts", "convex/devices.ts"
FEED, NOTEBOOKS, OPERATIONS, SYNC = "convex/feed.ts", "convex/notebooks.ts", "convex/operations.ts", "convex/sync.ts"

# Small differences as well as large ones, so that how far a source is from the original says nothing.
RIGHT: dict[str, Variant] = {
    "unchanged": [],
    "a journal, and nothing is scheduled": "journal",
    "snapshots of what devices have": "snapshots",
    "a delay instead of a time": [
        Edit(DEVICES, "runAt(syncedAt + LONGEST_SILENCE,", "runAfter(LONGEST_SILENCE,"),
        Edit(OPERATIONS, "runAt(receivedAt + PURGED_AFTER,", "runAfter(PURGED_AFTER,"),
    ],
    "numbers with gaps": [Edit(FEED, "(counter?.number ?? 0) + 1", "(counter?.number ?? 10) + 3")],
    "no removals on a first page of removals": [
        Edit(
            SYNC,
            "    return { changes, cursor: format",
            "    if (cursor === null && changes.every(({ removed }) => removed) && !more) changes.length = 0;\n"
            "    return { changes, cursor: format",
        ),
    ],
    "the newest changes first on a page": [
        Edit(SYNC, "return { changes, cursor: format", "return { changes: changes.reverse(), cursor: format"),
    ],
    "a delete that looks at two times": [
        Edit(OPERATIONS, "field.at > at + HOUR)", "field.at - HOUR > at)"),
        Edit(OPERATIONS, "at <= note.deletion.at + HOUR", "!(at - HOUR > note.deletion.at)"),
    ],
    "copies with short IDs": [
        Edit(OPERATIONS, "noteId: crypto.randomUUID()", "noteId: `~${Math.random().toString(36).slice(2)}`"),
    ],
    "a new role is a new row": [
        Edit(
            NOTEBOOKS,
            '      await ctx.db.patch("members", member._id, { role });',
            '      await ctx.db.delete("members", member._id);\n'
            '      await ctx.db.insert("members", { notebookId, user, role });',
        ),
    ],
}
WRONG: dict[str, Variant] = {
    # Devices
    "too many before taken": [
        Edit(
            DEVICES,
            '    if (devices.some((device) => device.name === name)) throw failure("TAKEN");\n'
            '    if (devices.length >= MOST_DEVICES) throw failure("TOO_MANY");\n',
            '    if (devices.length >= MOST_DEVICES) throw failure("TOO_MANY");\n'
            '    if (devices.some((device) => device.name === name)) throw failure("TAKEN");\n',
        ),
    ],
    "forgotten 20 days after the registration": [
        Edit(
            DEVICES,
            "    if (due > Date.now()) await ctx.scheduler.runAt(due, internal.devices.forget, { deviceId });\n"
            '    else await ctx.db.delete("devices", deviceId);',
            '    if (due > 0) await ctx.db.delete("devices", deviceId);',
        ),
    ],
    "pulling is not a sync": [
        Edit(SYNC, "    await recordSync(ctx, device, device.done);\n", ""),
    ],
    "pushing what is known is not a sync": [
        Edit(
            SYNC,
            "    await recordSync(ctx, device, done);",
            "    if (done > device.done) await recordSync(ctx, device, done);",
        ),
    ],
    "a device of anybody": [
        Edit(
            DEVICES,
            '    .withIndex("by_user_and_name", (q) => q.eq("user", user).eq("name", name))\n    .unique();',
            '    .filter((q) => q.eq(q.field("name"), name))\n    .first();',
        ),
    ],
    "looked at once, and never again": [
        Edit(
            DEVICES,
            "    if (due > Date.now()) await ctx.scheduler.runAt(due, internal.devices.forget, { deviceId });\n"
            '    else await ctx.db.delete("devices", deviceId);',
            '    if (due <= Date.now()) await ctx.db.delete("devices", deviceId);',
        ),
    ],
    # Notebooks
    "nobody can leave": [Edit(NOTEBOOKS, 'role !== "owner" && user !== caller', 'role !== "owner"')],
    "a new role brings all notes again": [
        Edit(
            NOTEBOOKS,
            '      await ctx.db.patch("members", member._id, { role });',
            '      await ctx.db.patch("members", member._id, { role });\n'
            "      await announceNotebook(ctx, notebookId, user);",
        ),
    ],
    "what was shared before is not sent again": [
        Edit(
            FEED,
            "  for (const { noteId } of notes) await announce(ctx, noteId, [user]);",
            "  const member = await ctx.db\n"
            '    .query("members")\n'
            '    .withIndex("by_notebook_and_user", (q) => q.eq("notebookId", notebookId).eq("user", user))\n'
            "    .unique();\n"
            "  for (const { noteId } of notes) {\n"
            "    const row = await ctx.db\n"
            '      .query("feed")\n'
            '      .withIndex("by_note_and_user", (q) => q.eq("noteId", noteId).eq("user", user))\n'
            "      .unique();\n"
            "    if (member === null || row === null) await announce(ctx, noteId, [user]);\n"
            "  }",
        ),
    ],
    # Pushing
    "20 operations are too many": [
        Edit(SYNC, "operations.length > MOST_OPERATIONS", "operations.length >= MOST_OPERATIONS"),
    ],
    "a gap of one": [Edit(SYNC, "from > device.done + 1", "from > device.done + 2")],
    "the whole batch is repeated": [
        Edit(SYNC, "const isRepeated = from + index <= device.done;", "const isRepeated = from <= device.done;"),
    ],
    "the number goes back": [
        Edit(
            SYNC,
            "Math.max(device.done, from + operations.length - 1)",
            "operations.length === 0 ? device.done : from + operations.length - 1",
        ),
    ],
    "a failure stops the batch": [
        Edit(
            SYNC,
            '      results.push(isRepeated ? "repeated" : await apply(ctx, author, change));\n    }\n'
            "    const done = Math.max(device.done, from + operations.length - 1);",
            '      const outcome = isRepeated ? "repeated" : await apply(ctx, author, change);\n'
            "      results.push(outcome);\n"
            '      if (outcome === "unknown" || outcome === "forbidden") break;\n    }\n'
            "    const done = Math.max(device.done, from + results.length - 1);",
        ),
    ],
    # Times and conflicts
    "times in the future": [Edit(OPERATIONS, "Math.min(change.at, Date.now())", "change.at")],
    "deletes in the future": [
        Edit(OPERATIONS, "{ deletion: { at, receivedAt } }", "{ deletion: { at: change.at, receivedAt } }"),
    ],
    "whoever came first wins a tie": [Edit(CONFLICTS, "return author.device >= field.device;", "return false;")],
    "whoever came last wins a tie": [Edit(CONFLICTS, "return author.device >= field.device;", "return true;")],
    "the same name loses a tie": [
        Edit(CONFLICTS, "author.device >= field.device", "author.device > field.device"),
    ],
    "any change of the note is a conflict": [
        Edit(
            OPERATIONS,
            "const inConflict = isForeign(field, author, change.base);",
            "const inConflict = isForeign({ ...field, version: note.version }, author, change.base);",
        ),
    ],
    "conflicts with oneself": [
        Edit(
            CONFLICTS,
            "return !isOwn && field.version > base;",
            "return isOwn ? field.version > base : field.version > base;",
        )
    ],
    "no conflicts among devices of a user": [
        Edit(CONFLICTS, "field.user === author.user && field.device === author.device", "field.user === author.user"),
    ],
    "no conflicts among devices of one name": [
        Edit(
            CONFLICTS, "field.user === author.user && field.device === author.device", "field.device === author.device"
        ),
    ],
    "early edits lose without a conflict": [
        Edit(
            OPERATIONS,
            "const wins = !inConflict || beats(at, author, field);",
            "const wins = beats(at, author, field);",
        ),
    ],
    "a winner has the time of the loser": [
        Edit(
            OPERATIONS,
            "const origin = { at, ...author, version: note.version + 1 };",
            "const origin = { at: inConflict ? field.at : at, ...author, version: note.version + 1 };",
        ),
    ],
    "only what arrives is copied": [
        Edit(OPERATIONS, "  if (inConflict && change.kind", "  if (inConflict && !wins && change.kind"),
    ],
    "copies of equal texts": [Edit(OPERATIONS, " && change.value !== note.body.value) {", ") {")],
    "copies named after whoever pushes": [
        Edit(OPERATIONS, "${note.title.value} (${device})`;", "${note.title.value} (${author.device})`;"),
        Edit(
            OPERATIONS,
            "async function keepCopy(ctx: MutationCtx, note",
            "async function keepCopy(ctx: MutationCtx, author: Author, note",
        ),
        Edit(OPERATIONS, "await keepCopy(ctx, note,", "await keepCopy(ctx, author, note,"),
    ],
    "losing does not restore": [
        Edit(OPERATIONS, "    if (note.deletion !== null) await update(ctx, note, { deletion: null });\n", ""),
    ],
    # Operations
    "readers restore": [
        Edit(
            OPERATIONS,
            "  if (!(await mayWrite(ctx, note.notebook.value, author.user))) return",
            '  if (change.kind !== "restore" && !(await mayWrite(ctx, note.notebook.value, author.user))) return',
        ),
    ],
    "moved to where one only reads": [
        Edit(
            OPERATIONS,
            '  if (change.kind === "move" && !(await mayWrite(ctx, change.notebookId, author.user))) '
            'return "forbidden";\n',
            '  if (change.kind === "move" && (await roleIn(ctx, change.notebookId, author.user)) === null) '
            'return "forbidden";\n',
        ),
    ],
    "IDs of deleted notes are free": [
        Edit(
            OPERATIONS,
            '  if ((await findNote(ctx, change.noteId)) !== null) return "taken";',
            "  const known = await findNote(ctx, change.noteId);\n"
            '  if (known !== null && known.deletion === null) return "taken";\n'
            '  if (known !== null) await ctx.db.delete("notes", known._id);',
        ),
    ],
    "exactly an hour later is enough": [
        Edit(OPERATIONS, "at <= note.deletion.at + HOUR", "at < note.deletion.at + HOUR")
    ],
    "an hour after the delete was received": [
        Edit(OPERATIONS, "at <= note.deletion.at + HOUR", "at <= note.deletion.receivedAt + HOUR"),
    ],
    "deletes lose against what they know": [
        Edit(
            OPERATIONS, "isForeign(field, author, change.base) && field.at", "isForeign(field, author, 0) && field.at"
        ),
    ],
    "deletes ignore moves": [
        Edit(CONFLICTS, "return [note.title, note.body, note.notebook];", "return [note.title, note.body];")
    ],
    "deleted once more": [
        Edit(OPERATIONS, '  if (note.deletion !== null) return "unchanged";\n  const isNewer', "  const isNewer"),
    ],
    # Purging
    "restored notes are purged": [
        Edit(
            OPERATIONS,
            "if (note === null || note.deletion?.receivedAt !== receivedAt)",
            "if (note === null || receivedAt < 0)",
        ),
    ],
    "purged after the first delete": [
        Edit(OPERATIONS, "note.deletion?.receivedAt !== receivedAt", "(note.deletion?.receivedAt ?? 0) < receivedAt"),
    ],
    "purged by the clock of the device": [
        Edit(OPERATIONS, "runAt(receivedAt + PURGED_AFTER,", "runAt(Math.max(at + PURGED_AFTER, receivedAt),"),
    ],
    # Pulling
    "cursors last a millisecond longer": [
        Edit(SYNC, "now - start.time >= CURSORS_LAST", "now - start.time > CURSORS_LAST")
    ],
    "every page has a new time": [Edit(SYNC, "time: more ? start.time : now", "time: now")],
    "cursors get no younger without changes": [
        Edit(SYNC, "time: more ? start.time : now", "time: more || page.length === 0 ? start.time : now"),
    ],
    "a full page has more": [
        Edit(SYNC, ".take(limit + 1);", ".take(limit);"),
        Edit(SYNC, "rows.length > limit;", "rows.length === limit;"),
    ],
    "restored notes do not come back": [
        Edit(
            OPERATIONS,
            '  if (note.deletion === null) return "unchanged";\n  await update(ctx, note, { deletion: null });',
            '  if (note.deletion === null) return "unchanged";\n'
            '  await ctx.db.patch("notes", note._id, { deletion: null, version: note.version + 1 });',
        ),
    ],
    "numbers are used again": [
        Edit(
            FEED,
            "  const number = (counter?.number ?? 0) + 1;",
            "  const newest = await ctx.db\n"
            '    .query("feed")\n'
            '    .withIndex("by_user_and_number", (q) => q.eq("user", user))\n'
            '    .order("desc")\n'
            "    .first();\n"
            "  const number = (newest?.number ?? 0) + 1;",
        ),
    ],
    "those left behind do not hear of moves": [
        Edit(
            OPERATIONS,
            "await announce(ctx, note.noteId, [...before, ...after]);",
            "await announce(ctx, note.noteId, changes.notebook === undefined ? before : after);",
        ),
    ],
    "copies only for whoever lost": [
        Edit(
            OPERATIONS,
            "  await announce(ctx, noteId, await audienceOf(ctx, notebookId));",
            "  const isCopy = title.endsWith(`(${origin.device})`);\n"
            "  await announce(ctx, noteId, isCopy ? [origin.user] : await audienceOf(ctx, notebookId));",
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
