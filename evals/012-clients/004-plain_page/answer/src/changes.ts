import type { ConvexClient, OptimisticLocalStore } from "convex/browser";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";

const PENDING = "pending:";

/** Whether the deployment has not stored it yet. */
export function isPending({ _id }: Doc<"messages">): boolean {
  return _id.startsWith(PENDING);
}

function count(store: OptimisticLocalStore, roomId: Id<"rooms">, change: number): void {
  const rooms = store.getQuery(api.rooms.list, {});
  const changed = rooms?.map((room) => (room.roomId === roomId ? { ...room, messages: room.messages + change } : room));
  store.setQuery(api.rooms.list, {}, changed);
}

export function send(convex: ConvexClient, roomId: Id<"rooms">, text: string): Promise<unknown> {
  const _id = `${PENDING}${crypto.randomUUID()}` as Id<"messages">;
  const message = { _id, _creationTime: Date.now(), roomId, text, likes: 0 };
  const optimisticUpdate = (store: OptimisticLocalStore) => {
    count(store, roomId, +1);
    const messages = store.getQuery(api.messages.list, { roomId });
    if (messages !== undefined) store.setQuery(api.messages.list, { roomId }, [...messages, message]);
  };
  return convex.mutation(api.messages.send, { roomId, text }, { optimisticUpdate });
}

export function like(convex: ConvexClient, messageId: Id<"messages">): Promise<unknown> {
  const optimisticUpdate = (store: OptimisticLocalStore) => {
    for (const { args, value } of store.getAllQueries(api.messages.list)) {
      const changed = value?.map((each) => (each._id === messageId ? { ...each, likes: each.likes + 1 } : each));
      store.setQuery(api.messages.list, args, changed);
    }
  };
  return convex.mutation(api.messages.like, { messageId }, { optimisticUpdate });
}

export function remove(convex: ConvexClient, roomId: Id<"rooms">, messageId: Id<"messages">): Promise<unknown> {
  let isThere = true;
  const optimisticUpdate = (store: OptimisticLocalStore) => {
    const messages = store.getQuery(api.messages.list, { roomId });
    // If the list is not loaded, only what it was like when it was last seen is known.
    isThere = messages?.some(({ _id }) => _id === messageId) ?? isThere;
    if (!isThere) return;
    count(store, roomId, -1);
    const left = messages?.filter(({ _id }) => _id !== messageId);
    if (left !== undefined) store.setQuery(api.messages.list, { roomId }, left);
  };
  return convex.mutation(api.messages.remove, { messageId }, { optimisticUpdate });
}
