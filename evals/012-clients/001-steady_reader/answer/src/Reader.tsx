import { type RequestForQueries, useQueries } from "convex/react";
import { ConvexError } from "convex/values";
import { useEffect, useMemo } from "react";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";

export type Reading = { shown: Id<"articles"> | null; wanted: Id<"articles"> | null };
type Content = { article: Doc<"articles"> | null; notes: string[] } | Error;

export function startReading({ shown }: Reading, wanted: Id<"articles">): Reading {
  return { shown, wanted };
}

/** What has arrived of these articles, by id. Failures are values here, so that the rest goes on. */
function useContents({ shown, wanted }: Reading): Map<Id<"articles">, Content> {
  const requests = useMemo(() => {
    const requests: RequestForQueries = {};
    for (const id of [shown, wanted]) {
      if (id === null) continue;
      requests[`article ${id}`] = { query: api.articles.get, args: { id } };
      requests[`notes ${id}`] = { query: api.articles.notes, args: { articleId: id } };
    }
    return requests;
  }, [shown, wanted]);
  const results = useQueries(requests);
  const contents = new Map<Id<"articles">, Content>();
  for (const id of [shown, wanted]) {
    if (id === null) continue;
    const article = results[`article ${id}`] as Doc<"articles"> | null | undefined | Error;
    const notes = results[`notes ${id}`] as string[] | undefined | Error;
    if (article instanceof Error) contents.set(id, article);
    else if (notes instanceof Error) contents.set(id, notes);
    else if (article !== undefined && notes !== undefined) contents.set(id, { article, notes });
  }
  return contents;
}

export function Reader({ reading, onArrival }: { reading: Reading; onArrival: (reading: Reading) => void }) {
  const { shown, wanted } = reading;
  const contents = useContents(reading);
  const former = shown === null ? undefined : contents.get(shown);
  const next = wanted === null ? undefined : contents.get(wanted);
  const hasArrived = next !== undefined && !(next instanceof Error) && shown !== wanted;
  useEffect(() => {
    if (hasArrived) onArrival({ shown: wanted, wanted });
  }, [hasArrived, onArrival, wanted]);
  return (
    <>
      {former !== undefined && !(former instanceof Error) && <Article {...former} />}
      {next instanceof Error && <p role="alert">{next instanceof ConvexError ? String(next.data) : next.message}</p>}
    </>
  );
}

function Article({ article, notes }: Exclude<Content, Error>) {
  if (article === null) {
    return (
      <article>
        <p>This article has been removed.</p>
      </article>
    );
  }
  return (
    <article>
      <h3>{article.title}</h3>
      <p>{article.body}</p>
      <ol>
        {notes.map((note, number) => (
          <li key={number}>{note}</li>
        ))}
      </ol>
    </article>
  );
}
