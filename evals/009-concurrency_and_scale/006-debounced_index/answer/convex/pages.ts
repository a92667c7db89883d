import { v } from "convex/values";
import { internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import {
  internalAction,
  internalMutation,
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";

const QUIET_MS = 60_000;
const LONGEST_WAIT_MS = 10 * 60_000;
const RETRY_MS = 2 * 60_000;

export const edit = mutation({
  args: { page: v.string(), text: v.string(), indexUrl: v.string() },
  handler: async (ctx, { page, text, indexUrl }) => {
    const now = Date.now();
    const found = await findPage(ctx, page);
    if (found === null) {
      const pageId = await ctx.db.insert("pages", {
        page,
        text,
        indexUrl,
        indexedText: null,
        firstOpenEdit: now,
        lastEdit: now,
        state: "waiting",
      });
      await scheduleLook(ctx, pageId, now + QUIET_MS);
      return null;
    }
    const isIdle = found.state === "idle";
    await ctx.db.patch("pages", found._id, {
      text,
      lastEdit: now,
      firstOpenEdit: found.firstOpenEdit ?? now,
      state: isIdle ? "waiting" : found.state,
    });
    if (isIdle) await scheduleLook(ctx, found._id, now + QUIET_MS);
    return null;
  },
});

export const read = query({
  args: { page: v.string() },
  handler: async (ctx, { page }) => {
    const found = await findPage(ctx, page);
    return found && { text: found.text, indexedText: found.indexedText };
  },
});

/** Begins a request if it is due. There may have been edits since this was scheduled: then looks again. */
export const look = internalMutation({
  args: { pageId: v.id("pages") },
  handler: async (ctx, { pageId }) => {
    const page = await ctx.db.get("pages", pageId);
    if (page === null) return;
    const due = page.state === "failed" ? 0 : dueTime(page);
    if (due > Date.now()) await scheduleLook(ctx, pageId, due);
    else await send(ctx, page);
  },
});

export const post = internalAction({
  args: {
    pageId: v.id("pages"),
    indexUrl: v.string(),
    page: v.string(),
    text: v.string(),
  },
  handler: async (ctx, { pageId, indexUrl, page, text }) => {
    let isAccepted = false;
    try {
      const response = await fetch(indexUrl, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ page, text }),
      });
      isAccepted = response.ok;
    } catch {
      // No connection is a failure like any other.
    }
    const outcome = { pageId, text, isAccepted };
    await ctx.runMutation(internal.pages.finish, outcome);
  },
});

export const finish = internalMutation({
  args: { pageId: v.id("pages"), text: v.string(), isAccepted: v.boolean() },
  handler: async (ctx, { pageId, text, isAccepted }) => {
    const page = await ctx.db.get("pages", pageId);
    if (page === null) return;
    if (!isAccepted) {
      await ctx.db.patch("pages", pageId, { state: "failed" });
      await scheduleLook(ctx, pageId, Date.now() + RETRY_MS);
      return;
    }
    const hasOpenEdits = page.firstOpenEdit !== null;
    await ctx.db.patch("pages", pageId, {
      indexedText: text,
      state: hasOpenEdits ? "waiting" : "idle",
    });
    if (hasOpenEdits) await scheduleLook(ctx, pageId, dueTime(page));
  },
});

function dueTime({ firstOpenEdit, lastEdit }: Doc<"pages">): number {
  const latest = (firstOpenEdit ?? lastEdit) + LONGEST_WAIT_MS;
  return Math.min(lastEdit + QUIET_MS, latest);
}

async function send(ctx: MutationCtx, page: Doc<"pages">): Promise<void> {
  await ctx.db.patch("pages", page._id, {
    state: "sending",
    firstOpenEdit: null,
  });
  await ctx.scheduler.runAfter(0, internal.pages.post, {
    pageId: page._id,
    indexUrl: page.indexUrl,
    page: page.page,
    text: page.text,
  });
}

async function scheduleLook(
  ctx: MutationCtx,
  pageId: Id<"pages">,
  at: number,
): Promise<void> {
  const soonest = Math.max(at, Date.now());
  await ctx.scheduler.runAt(soonest, internal.pages.look, { pageId });
}

async function findPage(ctx: QueryCtx, page: string) {
  return await ctx.db
    .query("pages")
    .withIndex("by_page", (q) => q.eq("page", page))
    .unique();
}
