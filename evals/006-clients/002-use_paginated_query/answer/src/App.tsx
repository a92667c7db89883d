import { usePaginatedQuery } from "convex/react";
import { api } from "../convex/_generated/api";

const PAGE_SIZE = 5;

export default function App() {
  return (
    <main>
      <h1>Events</h1>
      <Events />
    </main>
  );
}

function Events() {
  const { results, status, loadMore } = usePaginatedQuery(api.events.list, {}, { initialNumItems: PAGE_SIZE });
  if (status === "LoadingFirstPage") {
    return <p role="status">Loading…</p>;
  }
  if (status === "Exhausted" && results.length === 0) {
    return <p>No events yet.</p>;
  }
  return (
    <>
      <ul>
        {results.map((event) => (
          <li key={event._id}>{event.text}</li>
        ))}
      </ul>
      {status === "Exhausted" ? (
        <p>That is all.</p>
      ) : (
        <button onClick={() => loadMore(PAGE_SIZE)} disabled={status === "LoadingMore"}>
          Load more
        </button>
      )}
    </>
  );
}
