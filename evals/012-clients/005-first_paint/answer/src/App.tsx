import { useMutation, useQuery } from "convex/react";
import type { FunctionReturnType } from "convex/server";
import { ConvexError } from "convex/values";
import { useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

export type Board = {
  notices: FunctionReturnType<typeof api.board.list>;
  totals: FunctionReturnType<typeof api.board.totals>;
  me: FunctionReturnType<typeof api.board.me> | null;
};

/** `board` is what the server has rendered. It is shown until the deployment sends what it is now. */
export default function App({ board }: { board: Board }) {
  const [tab, setTab] = useState<"Notices" | "About">("Notices");
  const [wasLeft, setWasLeft] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  const current = useQuery(api.board.list, tab === "Notices" ? {} : "skip");
  const notices = current ?? (wasLeft ? undefined : board.notices);
  const totals = useQuery(api.board.totals, {}) ?? board.totals;
  const me = useQuery(api.board.me, board.me === null ? "skip" : {}) ?? board.me;

  const like = useMutation(api.board.like).withOptimisticUpdate((store, { noticeId }) => {
    // The client knows nothing of what was rendered, so until the first result arrives, a like is added to that.
    const before = store.getQuery(api.board.list, {}) ?? notices;
    const after = before?.map((notice) => (notice.id === noticeId ? { ...notice, likes: notice.likes + 1n } : notice));
    store.setQuery(api.board.list, {}, after);
    if (before?.some(({ id }) => id === noticeId)) {
      const sums = store.getQuery(api.board.totals, {}) ?? totals;
      store.setQuery(api.board.totals, {}, { ...sums, likes: sums.likes + 1n });
    }
  });

  async function likeNotice(noticeId: Id<"notices">) {
    try {
      await like({ noticeId });
    } catch (error) {
      setFailure(error instanceof ConvexError ? String(error.data) : "Something went wrong");
    }
  }

  function show(next: "Notices" | "About") {
    setTab(next);
    if (next === "About") setWasLeft(true);
  }

  return (
    <main>
      <h1>{`${totals.notices} notices, ${totals.likes} likes`}</h1>
      <p role="status">{me === null ? "Not signed in" : `Signed in as ${me.name}, ${me.posted} posted`}</p>
      <nav>
        {(["Notices", "About"] as const).map((name) => (
          <button key={name} aria-pressed={name === tab} onClick={() => show(name)}>
            {name}
          </button>
        ))}
      </nav>
      {failure !== null && <p role="alert">{failure}</p>}
      {tab === "About" && <h2>About</h2>}
      {tab === "Notices" && notices === undefined && <p>Loading…</p>}
      {tab === "Notices" && notices !== undefined && (
        <ul>
          {notices.map(({ id, title, likes }) => (
            <li key={id}>
              <span>{title}</span>
              <button onClick={() => void likeNotice(id)}>{`Like (${likes})`}</button>
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}
