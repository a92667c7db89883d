import { ConvexError, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import {
  mutation,
  query,
  type MutationCtx,
  type QueryCtx,
} from "./_generated/server";
import { countChange, isBlocked, recount } from "./counts";

const MOST_SHOWN = 20;

const inChannel = { user: v.string(), channel: v.id("channels") };
const onMessage = { user: v.string(), message: v.id("messages") };
const twoUsers = { user: v.string(), other: v.string() };

export const createChannel = mutation({
  args: { user: v.string(), name: v.string() },
  handler: async (ctx, { user, name }) => {
    const channel = await ctx.db.insert("channels", { name, posted: 0 });
    await addMember(ctx, channel, user, 0);
    return channel;
  },
});

export const join = mutation({
  args: inChannel,
  handler: async (ctx, { user, channel }) => {
    const { posted } = await requireChannel(ctx, channel);
    if ((await findMember(ctx, channel, user)) === null) {
      await addMember(ctx, channel, user, posted);
    }
    return null;
  },
});

export const leave = mutation({
  args: inChannel,
  handler: async (ctx, { user, channel }) => {
    await requireChannel(ctx, channel);
    const member = await findMember(ctx, channel, user);
    if (member !== null) {
      await ctx.db.delete("members", member._id);
    }
    return null;
  },
});

export const post = mutation({
  args: { ...inChannel, body: v.string() },
  handler: async (ctx, { user, channel, body }) => {
    const { posted } = await requireChannel(ctx, channel);
    await requireMember(ctx, channel, user);
    const number = posted + 1;
    await ctx.db.patch("channels", channel, { posted: number });
    const id = await ctx.db.insert("messages", {
      channel,
      number,
      author: user,
      body,
    });
    await countChange(ctx, channel, null, await ctx.db.get("messages", id));
    return id;
  },
});

export const edit = mutation({
  args: { ...onMessage, body: v.string() },
  handler: async (ctx, { user, message: id, body }) => {
    const message = await requireOwn(ctx, id, user);
    await ctx.db.patch("messages", id, { body });
    await countChange(ctx, message.channel, message, { ...message, body });
    return null;
  },
});

export const remove = mutation({
  args: onMessage,
  handler: async (ctx, { user, message: id }) => {
    const message = await requireOwn(ctx, id, user);
    await ctx.db.delete("messages", id);
    await countChange(ctx, message.channel, message, null);
    return null;
  },
});

export const markRead = mutation({
  args: onMessage,
  handler: async (ctx, { user, message: id }) => {
    const { channel, number } = await requireMessage(ctx, id);
    const member = await requireMember(ctx, channel, user);
    if (member.position < number) {
      await recount(ctx, member, number);
    }
    return null;
  },
});

export const markUnread = mutation({
  args: onMessage,
  handler: async (ctx, { user, message: id }) => {
    const { channel, number } = await requireMessage(ctx, id);
    const member = await requireMember(ctx, channel, user);
    if (member.position >= number) {
      await recount(ctx, member, number - 1);
    }
    return null;
  },
});

export const block = mutation({
  args: twoUsers,
  handler: async (ctx, { user, other }) => {
    if (!(await isBlocked(ctx, user, other))) {
      await ctx.db.insert("blocks", { user, other });
      await recountAll(ctx, user);
    }
    return null;
  },
});

export const unblock = mutation({
  args: twoUsers,
  handler: async (ctx, { user, other }) => {
    const blocked = await ctx.db
      .query("blocks")
      .withIndex("by_user_and_other", (q) =>
        q.eq("user", user).eq("other", other),
      )
      .unique();
    if (blocked !== null) {
      await ctx.db.delete("blocks", blocked._id);
      await recountAll(ctx, user);
    }
    return null;
  },
});

export const channels = query({
  args: { user: v.string() },
  handler: async (ctx, { user }) => {
    const memberships = await membershipsOf(ctx, user);
    const found = await Promise.all(
      memberships.map(async ({ channel: id, unread, mentions }) => {
        const channel = await requireChannel(ctx, id);
        return { channel, unread, mentions };
      }),
    );
    return found
      .sort(
        ({ channel: a }, { channel: b }) =>
          compare(a.name, b.name) || a._creationTime - b._creationTime,
      )
      .map(({ channel: { _id, name }, unread, mentions }) => ({
        channel: _id,
        name,
        unread,
        mentions,
      }));
  },
});

export const messages = query({
  args: inChannel,
  handler: async (ctx, { user, channel }) => {
    await requireChannel(ctx, channel);
    const { position } = await requireMember(ctx, channel, user);
    const shown = [];
    const newest = ctx.db
      .query("messages")
      .withIndex("by_channel_and_number", (q) => q.eq("channel", channel))
      .order("desc");
    for await (const { _id, author, body, number } of newest) {
      if (shown.length === MOST_SHOWN) {
        break;
      }
      if (!(await isBlocked(ctx, user, author))) {
        const unread = number > position && author !== user;
        shown.push({ id: _id, author, body, unread });
      }
    }
    return shown;
  },
});

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function addMember(
  ctx: MutationCtx,
  channel: Id<"channels">,
  user: string,
  position: number,
): Promise<void> {
  await ctx.db.insert("members", {
    channel,
    user,
    position,
    unread: 0,
    mentions: 0,
  });
}

async function membershipsOf(
  ctx: QueryCtx,
  user: string,
): Promise<Doc<"members">[]> {
  return await ctx.db
    .query("members")
    .withIndex("by_user", (q) => q.eq("user", user))
    .collect();
}

async function recountAll(ctx: MutationCtx, user: string): Promise<void> {
  for (const member of await membershipsOf(ctx, user)) {
    await recount(ctx, member);
  }
}

async function findMember(
  ctx: QueryCtx,
  channel: Id<"channels">,
  user: string,
): Promise<Doc<"members"> | null> {
  return await ctx.db
    .query("members")
    .withIndex("by_channel_and_user", (q) =>
      q.eq("channel", channel).eq("user", user),
    )
    .unique();
}

async function requireChannel(
  ctx: QueryCtx,
  id: Id<"channels">,
): Promise<Doc<"channels">> {
  const channel = await ctx.db.get("channels", id);
  if (channel === null) {
    throw new ConvexError({ code: "NOT_FOUND" });
  }
  return channel;
}

async function requireMember(
  ctx: QueryCtx,
  channel: Id<"channels">,
  user: string,
): Promise<Doc<"members">> {
  const member = await findMember(ctx, channel, user);
  if (member === null) {
    throw new ConvexError({ code: "NOT_A_MEMBER" });
  }
  return member;
}

async function requireMessage(
  ctx: QueryCtx,
  id: Id<"messages">,
): Promise<Doc<"messages">> {
  const message = await ctx.db.get("messages", id);
  if (message === null) {
    throw new ConvexError({ code: "NOT_FOUND" });
  }
  return message;
}

async function requireOwn(
  ctx: QueryCtx,
  id: Id<"messages">,
  user: string,
): Promise<Doc<"messages">> {
  const message = await requireMessage(ctx, id);
  if (message.author !== user) {
    throw new ConvexError({ code: "NOT_YOURS" });
  }
  return message;
}
