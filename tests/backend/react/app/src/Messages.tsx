import { optimisticallyUpdateValueInPaginatedQuery, useMutation, usePaginatedQuery } from "convex/react";
import { api } from "../convex/_generated/api";
import type { Doc } from "../convex/_generated/dataModel";

const PAGE = 5;

export function Messages() {
  const { results, status, loadMore } = usePaginatedQuery(api.messages.newest, {}, { initialNumItems: PAGE });
  return (
    <section aria-label="Messages" data-status={status}>
      <ol>
        {results.map((message) => (
          <Message key={message._id} message={message} />
        ))}
      </ol>
      {status === "Exhausted" ? (
        <p>That is all</p>
      ) : (
        <button disabled={status !== "CanLoadMore"} onClick={() => loadMore(PAGE)}>
          Load more
        </button>
      )}
    </section>
  );
}

function Message({ message }: { message: Doc<"messages"> }) {
  const remove = useMutation(api.messages.remove);
  const like = useMutation(api.messages.like).withOptimisticUpdate((store, { id }) => {
    optimisticallyUpdateValueInPaginatedQuery(store, api.messages.newest, {}, (shown) =>
      shown._id === id ? { ...shown, likes: shown.likes + 1 } : shown,
    );
  });
  return (
    <li>
      <p>{message.body}</p>
      <small>{message.author}</small>
      <button aria-label={`Like ${message.body}`} onClick={() => void like({ id: message._id })}>
        ♥ {message.likes}
      </button>
      <button aria-label={`Remove ${message.body}`} onClick={() => void remove({ id: message._id })}>
        ×
      </button>
    </li>
  );
}
