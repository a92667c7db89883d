import { usePaginatedQuery } from "convex/react";
import { useEffect } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

export const TOPICS = ["All", "art", "law", "war"] as const;
export type Topic = (typeof TOPICS)[number];
const PAGE = 3;

type Props = {
  topic: Topic;
  isShown: boolean;
  isBusy: boolean;
  current: Id<"articles"> | null;
  onArrival: (topic: Topic) => void;
  onClick: (id: Id<"articles">) => void;
};

/** The list of a topic. It begins to load before it is shown, and says when its first articles have arrived. */
export function Titles({ topic, isShown, isBusy, current, onArrival, onClick }: Props) {
  const args = { topic: topic === "All" ? null : topic };
  const { results, status, loadMore } = usePaginatedQuery(api.articles.list, args, { initialNumItems: PAGE });
  const hasArrived = status !== "LoadingFirstPage";
  useEffect(() => {
    if (hasArrived && !isShown) onArrival(topic);
  }, [hasArrived, isShown, onArrival, topic]);
  if (!isShown) return null;
  return (
    <section>
      <h2>{topic === "All" ? "All articles" : `Articles about ${topic}`}</h2>
      <ul aria-busy={isBusy}>
        {results.map(({ id, title }) => (
          <li key={id}>
            <button aria-current={id === current ? true : undefined} onClick={() => onClick(id)}>
              {title}
            </button>
          </li>
        ))}
      </ul>
      {status !== "Exhausted" && (
        <button disabled={status !== "CanLoadMore"} onClick={() => loadMore(PAGE)}>
          Load more
        </button>
      )}
    </section>
  );
}
