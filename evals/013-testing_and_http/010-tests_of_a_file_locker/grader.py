"""The tests that the model wrote must tell right backends from wrong ones."""

import pytest

from convex_evals.pipeline.grading.kit import Edit, Variant, WrittenTests

ACCOUNT, BIN, CLEANUP, CONTENTS = "convex/account.ts", "convex/bin.ts", "convex/cleanup.ts", "convex/contents.ts"
FILES, FOLDERS, HTTP, NAMES = "convex/files.ts", "convex/folders.ts", "convex/http.ts", "convex/names.ts"
RANGES, SCHEMA, SHARES, UPLOADS = "convex/ranges.ts", "convex/schema.ts", "convex/shares.ts", "convex/uploads.ts"

PUT_INTO_BIN = 'await ctx.db.patch("files", file._id, { deletedAt });\n'
ADDED = '  await ctx.db.insert("versions", { fileId, contentId, number, at: Date.now() });\n'
TRIMMED = (
    "  for (const old of versions.slice(MOST_VERSIONS - 1)) {\n"
    '    await ctx.db.delete("versions", old._id);\n'
    "    await release(ctx, old.contentId);\n"
    "  }\n"
)
GONE = "    if (share.expiresAt <= Date.now() || share.remaining === 0) return { status: 410 as const };\n"
IN_BIN = "    if (file === null || file.deletedAt !== null) return { status: 404 as const };\n"
KNOWN_TAG = "    if (isKnown(ifNoneMatch, hash)) return { status: 304 as const, hash };\n"
ASKED = (
    "    const asked = parseRange(range, size);\n"
    '    if (asked === "none") return { status: 416 as const, hash, size };\n'
)
NO_FILE = '    if (file === null) throw failure("NOT_FOUND");\n'
NO_COUNT = '    if (!isCount(downloads, MOST_DOWNLOADS) || !isCount(minutes, MOST_MINUTES)) throw failure("INVALID");\n'
PAID = '    if (asked === "all" || asked.first === 0) {\n'

# Small differences as well as large ones, so that how far a source is from the original says nothing.
RIGHT: dict[str, Variant] = {
    "unchanged": [],
    "nothing is scheduled": "entries",
    "counted references and one job": "counters",
    "cleaned up almost an hour later": [Edit(CLEANUP, "LITTLE_LATER = 1000", "LITTLE_LATER = 59 * 60 * 1000")],
    "the other side of a limit": [
        Edit(UPLOADS, "used + reserved + size > QUOTA", "used + size > QUOTA - reserved"),
        Edit(UPLOADS, "uploads.length >= MOST_UPLOADS", "uploads.length + 1 > MOST_UPLOADS"),
    ],
    "links that end by subtraction": [
        Edit(
            SHARES,
            "share.expiresAt <= Date.now() || share.remaining === 0",
            "!(share.expiresAt - Date.now() > 0 && share.remaining > 0)",
        ),
    ],
    "a version goes before the next one comes, but not its content": [
        Edit(
            FILES,
            ADDED + TRIMMED,
            "  const gone = versions.slice(MOST_VERSIONS - 1);\n"
            '  for (const { _id } of gone) await ctx.db.delete("versions", _id);\n'
            '  await ctx.db.insert("versions", { fileId, contentId, at: Date.now(), number });\n'
            "  for (const old of gone) await release(ctx, old.contentId);\n",
        ),
    ],
    "the bin is sorted": [
        Edit(
            BIN,
            '    .order("desc")\n    .collect();',
            "    .collect()\n    .then((found) => found.sort((a, b) => (b.deletedAt ?? 0) - (a.deletedAt ?? 0)));",
        ),
    ],
    "the time of deletion is kept": [
        Edit(
            SCHEMA,
            "deletedAt: v.union(v.number(), v.null()),",
            "deletedAt: v.union(v.number(), v.null()),\n    before: v.optional(v.number()),",
        ),
        Edit(BIN, "{ name, deletedAt: null }", "{ name, deletedAt: null, before: file.deletedAt }"),
    ],
}
WRONG: dict[str, Variant] = {
    "anybody restores": [Edit(BIN, "!file || file.owner !== owner || file.deletedAt", "!file || file.deletedAt")],
    "contents of others are known": [
        Edit(
            CONTENTS,
            '    .withIndex("by_owner_and_hash", (q) => q.eq("owner", owner).eq("hash", hash))\n    .unique();',
            "    .collect()\n    .then((found) => found.find((each) => each.hash === hash) ?? null);",
        ),
    ],
    "empty parts": [Edit(NAMES, r"[a-z0-9.-]+(\/[a-z0-9.-]+)*", r"[a-z0-9.-]+(\/[a-z0-9.-]*)*")],
    "the quota cannot be filled": [Edit(UPLOADS, "reserved + size > QUOTA", "reserved + size >= QUOTA")],
    "the quota before the number": [
        Edit(UPLOADS, '    if (uploads.length >= MOST_UPLOADS) throw failure("TOO_MANY");\n', ""),
        Edit(
            UPLOADS,
            '    if (used + reserved + size > QUOTA) throw failure("QUOTA");\n',
            '    if (used + reserved + size > QUOTA) throw failure("QUOTA");\n'
            '    if (uploads.length >= MOST_UPLOADS) throw failure("TOO_MANY");\n',
        ),
    ],
    "a wrong size ends the upload": [
        Edit(
            HTTP,
            'if (content.size !== size) return json({ error: "WRONG_SIZE" }, 400);',
            "if (content.size !== size) {\n"
            "      await ctx.runMutation(internal.uploads.giveUp, { token });\n"
            '      return json({ error: "WRONG_SIZE" }, 400);\n    }',
        ),
        Edit(
            UPLOADS,
            "/** Makes what was stored",
            "export const giveUp = internalMutation({\n  args: { token: v.string() },\n"
            "  handler: async (ctx, { token }) => {\n    const upload = await findUpload(ctx, token);\n"
            '    if (upload !== null) await ctx.db.delete("uploads", upload._id);\n  },\n});\n\n'
            "/** Makes what was stored",
        ),
    ],
    "the last millisecond of an upload": [
        Edit(UPLOADS, "upload.expiresAt <= Date.now()", "upload.expiresAt < Date.now()")
    ],
    "expired uploads keep their bytes": [
        Edit(
            CLEANUP,
            '    for (const upload of uploads) await ctx.db.delete("uploads", upload._id);\n',
            "    void uploads;\n",
        ),
    ],
    "known contents keep their reservation": [
        Edit(UPLOADS, '    await ctx.db.delete("uploads", upload._id);\n    const known', "    const known"),
        Edit(
            UPLOADS,
            "    if (known !== null) await ctx.storage.delete(storageId);\n",
            "    if (known !== null) await ctx.storage.delete(storageId);\n"
            '    else await ctx.db.delete("uploads", upload._id);\n',
        ),
    ],
    "the same again is created": [Edit(HTTP, "isNew ? 201 : 200", "isNew || version > 0 ? 201 : 200")],
    "an older version is the same": [
        Edit(
            FILES,
            "  if (newest?.contentId === contentId) return { version: newest.number, isNew: false };\n",
            "  const same = versions.find((each) => each.contentId === contentId);\n"
            "  if (same !== undefined) return { version: same.number, isNew: false };\n",
        ),
    ],
    "numbers count what is there": [Edit(FILES, "(newest?.number ?? 0) + 1", "versions.length + 1")],
    "the oldest goes first": [Edit(FILES, ADDED + TRIMMED, TRIMMED + ADDED)],
    "reverting keeps the time": [
        Edit(FILES, 'contentId: Id<"contents">) {', 'contentId: Id<"contents">, at = Date.now()) {'),
        Edit(FILES, "number, at: Date.now() }", "number, at }"),
        Edit(FILES, "wanted.contentId)", "wanted.contentId, wanted.at)"),
    ],
    "every file counts": [
        Edit(
            ACCOUNT,
            "    used: contents.reduce((sum, { size }) => sum + size, 0),\n",
            "    used,\n",
        ),
        Edit(
            ACCOUNT,
            "  return {\n",
            "  let used = 0;\n  for (const { _id, size } of contents) {\n"
            '    const query = ctx.db.query("versions").withIndex("by_content", (q) => q.eq("contentId", _id));\n'
            "    const found = await query.collect();\n"
            "    used += size * new Set(found.map(({ fileId }) => fileId)).size;\n  }\n  return {\n",
        ),
    ],
    "the bin holds no contents": [
        Edit(
            CONTENTS,
            '  const version = await ctx.db\n    .query("versions")\n'
            '    .withIndex("by_content", (q) => q.eq("contentId", contentId))\n    .first();\n'
            "  if (version !== null) return;\n",
            '  const query = ctx.db.query("versions").withIndex("by_content", (q) => q.eq("contentId", contentId));\n'
            "  const found = await query.collect();\n"
            '  const files = await Promise.all(found.map(({ fileId }) => ctx.db.get("files", fileId)));\n'
            "  if (files.some((file) => file?.deletedAt === null)) return;\n",
        ),
    ],
    "folders by their first letters": [Edit(NAMES, "name.startsWith(`${folder}/`)", "name.startsWith(folder)")],
    "files in the way move, too": [
        Edit(FOLDERS, "files.filter((file) => !moved.includes(file)).map", "files.map"),
    ],
    "one of them can be moved": [Edit(FOLDERS, "renamed.some(", "renamed.every(")],
    "names in the bin are taken": [
        Edit(
            BIN,
            "(await findFile(ctx, owner, free)) !== null;",
            "(await findFile(ctx, owner, free)) ??\n"
            "    (number > 1 && (await binOf(ctx, owner)).some((each) => each.name === free));",
        ),
    ],
    "there is one other name": [
        Edit(
            BIN,
            "  let free = name;\n"
            "  for (let number = 1; (await findFile(ctx, owner, free)) !== null; number += 1) "
            "free = `${name}.${String(number)}`;\n"
            "  return free;\n",
            "  return (await findFile(ctx, owner, name)) === null ? name : `${name}.1`;\n",
        ),
    ],
    "removed files lose their links": [
        Edit(
            FILES,
            "    " + PUT_INTO_BIN,
            "    " + PUT_INTO_BIN + '    for (const share of await ctx.db.query("shares").collect()) {\n'
            '      if (share.fileId === file._id) await ctx.db.delete("shares", share._id);\n    }\n',
        ),
    ],
    "the first plan empties the bin": [
        Edit(
            FILES,
            "LITTLE_LATER, internal.cleanup.run, {});",
            "LITTLE_LATER, internal.cleanup.run, { fileId: file._id });",
        ),
        Edit(CLEANUP, "  args: {},\n", '  args: { fileId: v.optional(v.id("files")) },\n'),
        Edit(CLEANUP, "handler: async (ctx) => {", "handler: async (ctx, { fileId }) => {"),
        Edit(
            CLEANUP,
            '    const files = await ctx.db\n      .query("files")\n'
            '      .withIndex("by_deletion", (q) => q.gt("deletedAt", null).lte("deletedAt", now - BIN_TIME))\n'
            "      .collect();\n    for (const file of files) await purge(ctx, file._id);\n",
            '    const file = fileId && (await ctx.db.get("files", fileId));\n'
            "    if (file && file.deletedAt !== null) await purge(ctx, file._id);\n",
        ),
    ],
    "links lead to the name": [
        Edit(
            SHARES,
            '    const file = await ctx.db.get("files", share.fileId);\n    if (file === null || file.deletedAt',
            '    let file = await ctx.db.get("files", share.fileId);\n'
            "    if (file !== null) file = await findFile(ctx, file.owner, file.name);\n"
            "    if (file === null || file.deletedAt",
        ),
    ],
    "the last millisecond of a link": [Edit(SHARES, "share.expiresAt <= Date.now()", "share.expiresAt < Date.now()")],
    "expired before removed": [
        Edit(SHARES, IN_BIN + GONE, GONE + IN_BIN),
    ],
    "known contents for ever": [
        Edit(SHARES, "share.expiresAt <= Date.now() || share.remaining === 0", "share.expiresAt <= Date.now()"),
        Edit(SHARES, KNOWN_TAG, KNOWN_TAG + "    if (share.remaining === 0) return { status: 410 as const };\n"),
    ],
    "a part is known": [
        Edit(
            SHARES,
            KNOWN_TAG + ASKED,
            "    const asked = parseRange(range, size);\n"
            '    if (asked === "all" && isKnown(ifNoneMatch, hash)) return { status: 304 as const, hash };\n'
            '    if (asked === "none") return { status: 416 as const, hash, size };\n',
        )
    ],
    "too many from the end": [
        Edit(RANGES, "Math.max(size - Number(to), 0)", "size - Number(to)"),
        Edit(RANGES, "return first < size ?", "return first >= 0 && first < size ?"),
    ],
    "none from the end": [
        Edit(
            RANGES,
            'return first < size ? { first, last: size - 1 } : "none";',
            'return first < size ? { first, last: size - 1 } : "all";',
        )
    ],
    "characters for bytes": [Edit(HTTP, "content.size !== size", "(await content.text()).length !== size")],
    "uploads of all owners": [
        Edit(
            UPLOADS,
            '    const uploads = await ctx.db\n      .query("uploads")\n'
            '      .withIndex("by_owner", (q) => q.eq("owner", owner))\n      .collect();\n',
            '    const uploads = await ctx.db.query("uploads").collect();\n',
        ),
    ],
    "uploads know their file": [
        Edit(
            SCHEMA,
            "    name: v.string(),\n    size:",
            '    name: v.string(),\n    fileId: v.optional(v.id("files")),\n    size:',
        ),
        Edit(
            UPLOADS,
            'await ctx.db.insert("uploads", { owner, name, size, token, expiresAt });',
            "const fileId = (await findFile(ctx, owner, name))?._id;\n"
            '    await ctx.db.insert("uploads", { owner, name, size, token, expiresAt, fileId });',
        ),
        Edit(
            UPLOADS,
            "const file = await findFile(ctx, owner, name);",
            'const begun = upload.fileId && (await ctx.db.get("files", upload.fileId));\n'
            "    const file = begun ?? (await findFile(ctx, owner, name));",
        ),
    ],
    "all uploads are cleaned up": [Edit(CLEANUP, '.withIndex("by_expiry", (q) => q.lte("expiresAt", now))', "")],
    "the stored one is deleted": [
        Edit(
            UPLOADS,
            "if (known !== null) await ctx.storage.delete(storageId)",
            "if (known !== null) await ctx.storage.delete(known.storageId)",
        )
    ],
    "released while it is there": [
        Edit(
            FILES,
            '    await ctx.db.delete("versions", old._id);\n    await release(ctx, old.contentId);\n',
            '    await release(ctx, old.contentId);\n    await ctx.db.delete("versions", old._id);\n',
        ),
    ],
    "other versions of the file do not count": [
        Edit(CONTENTS, 'contentId: Id<"contents">) {', 'contentId: Id<"contents">, fileId?: Id<"files">) {'),
        Edit(
            CONTENTS,
            '    .withIndex("by_content", (q) => q.eq("contentId", contentId))\n    .first();',
            '    .withIndex("by_content", (q) => q.eq("contentId", contentId))\n'
            '    .filter((q) => q.neq(q.field("fileId"), fileId ?? null))\n    .first();',
        ),
        Edit(
            FILES,
            "    await release(ctx, old.contentId);\n",
            "    if (old.contentId !== contentId) await release(ctx, old.contentId, fileId);\n",
        ),
    ],
    "reverting compares numbers": [
        Edit(FILES, 'contentId: Id<"contents">) {', 'contentId: Id<"contents">, isOld = false) {'),
        Edit(FILES, "  if (newest?.contentId === contentId)", "  if (newest?.contentId === contentId && !isOld)"),
        Edit(
            FILES,
            "    const added = await addVersion(ctx, file._id, wanted.contentId);\n",
            "    const [newest] = await versionsOf(ctx, file._id);\n"
            "    if (newest.number === version) return version;\n"
            "    const added = await addVersion(ctx, file._id, wanted.contentId, true);\n",
        ),
    ],
    "reverting needs space": [
        Edit(
            FILES,
            'import { failure, requireOwner } from "./access";\n',
            'import { failure, requireOwner } from "./access";\nimport { usageOf } from "./account";\n',
        ),
        Edit(
            FILES,
            "    const added = await addVersion",
            "    const { used, reserved } = await usageOf(ctx, file.owner);\n"
            '    const content = await ctx.db.get("contents", wanted.contentId);\n'
            '    if (used + reserved + (content?.size ?? 0) > 10_000) throw failure("QUOTA");\n'
            "    const added = await addVersion",
        ),
    ],
    "the newest content is freed": [
        Edit(
            BIN,
            "  for (const version of await versionsOf(ctx, fileId)) {\n"
            '    await ctx.db.delete("versions", version._id);\n'
            "    await release(ctx, version.contentId);\n  }\n",
            "  const versions = await versionsOf(ctx, fileId);\n"
            '  for (const version of versions) await ctx.db.delete("versions", version._id);\n'
            "  await release(ctx, versions[0].contentId);\n",
        ),
    ],
    "everybody's bin": [
        Edit(
            BIN,
            "    const files = await binOf(ctx, await requireOwner(ctx));\n    for",
            "    await requireOwner(ctx);\n"
            '    const all = await ctx.db.query("files").collect();\n'
            "    const files = all.filter(({ deletedAt }) => deletedAt !== null);\n    for",
        ),
    ],
    "every part is replaced": [
        Edit(FOLDERS, "name: to + name.slice(from.length)", "name: name.replaceAll(`${from}/`, `${to}/`)"),
    ],
    "the bin is in the way": [
        Edit(
            FOLDERS,
            "    const renamed =",
            '    const all = await ctx.db.query("files").collect();\n'
            "    for (const file of all) if (file.owner === owner && file.deletedAt !== null) staying.add(file.name);\n"
            "    const renamed =",
        ),
    ],
    "the bin is renamed": [
        Edit(
            FOLDERS,
            "    return renamed.length;\n",
            '    for (const { _id, name, deletedAt } of await ctx.db.query("files").collect()) {\n'
            "      if (deletedAt === null || !isInFolder(name, from)) continue;\n"
            '      await ctx.db.patch("files", _id, { name: to + name.slice(from.length) });\n'
            "    }\n    return renamed.length;\n",
        ),
    ],
    "limits before the file": [
        Edit(SHARES, NO_FILE + NO_COUNT, NO_COUNT + NO_FILE),
    ],
    "the most is too many": [Edit(SHARES, "value <= most", "value < most")],
    "one may always go on": [
        Edit(SHARES, "share.remaining === 0)", '(share.remaining === 0 && !/^bytes=[1-9]/.test(range ?? "")))'),
    ],
    "the storage is freed first": [
        Edit(CONTENTS, "  if (content === null) return;\n  await ctx.storage.delete(content.storageId);\n", ""),
        Edit(
            CONTENTS,
            '  if (version !== null) return;\n  const content = await ctx.db.get("contents", contentId);\n',
            '  const content = await ctx.db.get("contents", contentId);\n'
            "  if (content === null) return;\n"
            "  await ctx.storage.delete(content.storageId);\n"
            "  if (version !== null) return;\n",
        ),
    ],
    "uploads take names": [
        Edit(
            BIN,
            "  let free = name;\n",
            '  const query = ctx.db.query("uploads").withIndex("by_owner", (q) => q.eq("owner", owner));\n'
            "  const uploads = await query.collect();\n"
            "  let free = name;\n",
        ),
        Edit(
            BIN,
            "(await findFile(ctx, owner, free)) !== null;",
            "(await findFile(ctx, owner, free)) !== null || uploads.some((each) => each.name === free);",
        ),
    ],
    "the same again is newer": [
        Edit(
            FILES,
            "  if (newest?.contentId === contentId) return { version: newest.number, isNew: false };\n",
            "  if (newest?.contentId === contentId) {\n"
            '    await ctx.db.patch("versions", newest._id, { at: Date.now() });\n'
            "    return { version: newest.number, isNew: false };\n  }\n",
        ),
    ],
    "the end is free": [
        Edit(SHARES, PAID, '    if (asked === "all" || (asked.first === 0 && !range?.startsWith("bytes=-"))) {\n')
    ],
    "everything is no part": [
        Edit(
            RANGES,
            'return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };',
            'const last = to === "" ? size - 1 : Math.min(Number(to), size - 1);\n'
            '  return last - first + 1 === size ? "all" : { first, last };',
        ),
    ],
    "used links are not listed": [
        Edit(SHARES, "    return shares.map(", "    return shares.filter((share) => share.remaining > 0).map("),
    ],
    "links in the bin stay": [
        Edit(SHARES, "file?.owner !== owner)", "file?.owner !== owner || file.deletedAt !== null)")
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
