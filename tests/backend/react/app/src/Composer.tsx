import { insertAtTop, useMutation } from "convex/react";
import { ConvexError } from "convex/values";
import { type FormEvent, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

export function Composer() {
  const [body, setBody] = useState("");
  const [problem, setProblem] = useState("");
  const send = useMutation(api.messages.send).withOptimisticUpdate((store, { body }) => {
    insertAtTop({
      paginatedQuery: api.messages.newest,
      localQueryStore: store,
      item: {
        _id: crypto.randomUUID() as Id<"messages">,
        _creationTime: Date.now(),
        body,
        author: "being sent",
        likes: 0,
      },
    });
    const count = store.getQuery(api.messages.count);
    if (count !== undefined) store.setQuery(api.messages.count, {}, count + 1);
  });

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBody("");
    setProblem("");
    try {
      await send({ body });
    } catch (error) {
      setProblem(error instanceof ConvexError ? String(error.data) : "Something went wrong.");
    }
  }

  return (
    <form onSubmit={submit}>
      <input aria-label="Message" value={body} onChange={(event) => setBody(event.target.value)} required />
      <button>Send</button>
      {problem !== "" && <p role="alert">{problem}</p>}
    </form>
  );
}
