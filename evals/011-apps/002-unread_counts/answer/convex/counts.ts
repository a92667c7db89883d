import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";

type Message = Doc<"messages">;
type Member = Doc<"members">;

export function mentions({ body }: { body: string }, user: string): boolean {
  return body.split(" ").includes(`@${user}`);
}

export async function isBlocked(
  ctx: QueryCtx,
  user: string,
  other: string,
): Promise<boolean> {
  const found = await ctx.db
    .query("blocks")
    .withIndex("by_user_and_other", (q) =>
      q.eq("user", user).eq("other", other),
    )
    .unique();
  return found !== null;
}

async function isUnread(
  ctx: QueryCtx,
  message: Message,
  { user, position }: Member,
): Promise<boolean> {
  return (
    message.number > position &&
    message.author !== user &&
    !(await isBlocked(ctx, user, message.author))
  );
}

/**
 * Brings the counts of all members up to date with one message: what it was,
 * and what it is now. Null is a message that does not exist.
 */
export async function countChange(
  ctx: MutationCtx,
  channel: Id<"channels">,
  before: Message | null,
  after: Message | null,
): Promise<void> {
  const members = await ctx.db
    .query("members")
    .withIndex("by_channel_and_user", (q) => q.eq("channel", channel))
    .collect();
  for (const member of members) {
    const { user } = member;
    const message = after ?? before;
    if (message !== null && (await isUnread(ctx, message, member))) {
      const wasMention = before !== null && mentions(before, user);
      const isMention = after !== null && mentions(after, user);
      await ctx.db.patch("members", member._id, {
        unread:
          member.unread + Number(after !== null) - Number(before !== null),
        mentions: member.mentions + Number(isMention) - Number(wasMention),
      });
    }
  }
}

/** Moves the read position, or stays there, and counts again from there. */
export async function recount(
  ctx: MutationCtx,
  member: Member,
  position: number = member.position,
): Promise<void> {
  const later = await ctx.db
    .query("messages")
    .withIndex("by_channel_and_number", (q) =>
      q.eq("channel", member.channel).gt("number", position),
    )
    .collect();
  const authors = [...new Set(later.map(({ author }) => author))];
  const blocked = new Set<string>();
  for (const author of authors) {
    if (await isBlocked(ctx, member.user, author)) {
      blocked.add(author);
    }
  }
  const unread = later.filter(
    ({ author }) => author !== member.user && !blocked.has(author),
  );
  await ctx.db.patch("members", member._id, {
    position,
    unread: unread.length,
    mentions: unread.filter((each) => mentions(each, member.user)).length,
  });
}
